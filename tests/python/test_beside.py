"""What works beside a context, its watches and leases, knows whom the context was told of, and not the providers alone."""

from __future__ import annotations

import time

import pytest

from hanaming import HAContext, Node
from waiting import until

LONG = 20.0


@pytest.fixture
def orphaned():
    """A context whose only provider is gone; it lives on with a node that it was told of."""
    with Node("n1") as n1, Node("n2", seeds=[n1.address]) as n2, HAContext(n1.url, timeout=LONG) as ctx:
        ctx.bind("before", 1)
        # It hears of the other with an answer.
        until(lambda: ctx.lookup("before") == 1 and len(ctx.targets) == 2, "both nodes are known")
        n1.close()
        assert ctx.lookup("before") == 1
        until(lambda: len(n2.view.members) == 1, "the other is alone")
        yield ctx


def test_a_lease_is_renewed(orphaned):
    orphaned.bind("leased", 1, lease=2.0)
    end = time.monotonic() + 4.5
    while time.monotonic() < end:
        assert orphaned.lookup("leased") == 1
        time.sleep(0.1)


def test_a_watch_begins(orphaned):
    with orphaned.watch() as events:
        assert next(events).name == "before"
        orphaned.bind("after", 2)
        assert next(event.new.value for event in events if event.name == "after") == 2
