"""Fixtures that many tests need."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from aio_places import AIO_PLACES
from hanaming import Node
from hanaming.testing import Cluster, DnsZone
from moving_servers import Servers
from places import PLACES, Place

# Whoever runs the tests in the background may have them ignore Ctrl-C, and the programs that they start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=[*PLACES, *AIO_PLACES])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A fresh tree, reached in each of the ways that there are."""
    with (PLACES | AIO_PLACES)[request.param]() as opened:
        yield opened


@pytest.fixture
def ctx(place: Place) -> Any:
    """The root context of a fresh tree."""
    return place.ctx


@pytest.fixture
def node() -> Iterator[Node]:
    """A node alone in its cluster."""
    with Node("n1") as started:
        yield started


@pytest.fixture
def cluster() -> Iterator[Callable[[int], list[Node]]]:
    """Makes a cluster of as many nodes as asked for: `n1`, `n2`, ... all in view of each other."""
    with ExitStack() as stack:

        def start(count: int) -> list[Node]:
            names = [f"n{number}" for number in range(1, count + 1)]
            return [one.node for one in stack.enter_context(Cluster(names))]

        yield start


@pytest.fixture
def zone() -> Iterator[DnsZone]:
    """A name server that answers as the test says."""
    with DnsZone() as server:
        yield server


@pytest.fixture
def moving() -> Iterator[Servers]:
    """Nodes that come, go and change their addresses."""
    with ExitStack() as stack:
        yield Servers(stack)
