"""A context reads what it wrote, and nothing older than before; a node that was frozen knows what it missed before it answers."""

from __future__ import annotations

import time

import pytest

import hanaming
from hanaming import HAContext, NameNotFoundError
from hanaming.testing import Cluster
from waiting import until


def test_a_resolution_says_whether_it_is_stale():
    with hanaming.Node("n1") as node, HAContext(node.url) as ctx:
        ctx.bind("a", 1)
        assert ctx.resolve("a").stale is False


@pytest.mark.parametrize("pause", [0.4, 3.0], ids=["suspected by nobody", "given up by the others"])
def test_a_node_that_was_frozen_neither_denies_a_name_nor_finds_nothing_to_remove(pause):
    with Cluster(3, processes=True) as nodes:
        frozen = nodes[2]
        with HAContext([nodes[0].url, nodes[1].url], follow_views=False, timeout=10.0) as others:
            for number in range(5):
                # Its own context, which has seen nothing: all that is known is what the node itself knows.
                with HAContext(frozen.url, follow_views=False, timeout=10.0) as ctx:
                    ctx.get("warm")
                    frozen.pause()
                    began = time.monotonic()
                    others.bind(f"bound{number}", number)
                    others.bind(f"removed{number}", number)
                    time.sleep(max(0.0, pause - (time.monotonic() - began)))
                    frozen.resume()
                    assert ctx.lookup(f"bound{number}") == number
                    assert ctx.unbind(f"removed{number}") is True
                with HAContext(frozen.url, follow_views=False, timeout=10.0) as ctx:
                    assert ctx.get(f"removed{number}") is None


def test_reads_its_writes_from_node_to_node():
    with Cluster(3, processes=True) as nodes, nodes.client() as ctx:
        for number in range(200):
            ctx.rebind("counter", number)
            assert [ctx.lookup("counter") for _ in nodes] == [number] * 3
        ctx.unbind("counter")
        for _ in nodes:
            with pytest.raises(NameNotFoundError):
                ctx.lookup("counter")
        nodes[1].kill()
        ctx.rebind("counter", -1)
        until(lambda: [ctx.lookup("counter") for _ in nodes] == [-1] * 3, "all that are left have it")
