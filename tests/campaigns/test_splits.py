"""Splits of a real network: both sides write, and when it has healed nothing is lost, and nothing comes back."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import namespaces
from comparison import Comparison
from fleet import FleetNode, until
from hanaming import Binding, Event, Receipt, aio
from namespaces import Namespaces

_WHY_NOT = namespaces.why_not()
pytestmark = pytest.mark.skipif(_WHY_NOT is not None, reason=str(_WHY_NOT))

# How long the trees may take to become equal.
_HEALED = 5.0


class Listener:
    """Watches through one node, and keeps what it is told."""

    def __init__(self, stack: ExitStack, node: FleetNode) -> None:
        self.events: list[Event] = []
        ctx = stack.enter_context(node.context())
        watch = ctx.watch()
        thread = threading.Thread(target=lambda: self.events.extend(watch))
        thread.start()
        stack.callback(thread.join)
        stack.callback(watch.close)

    def told(self, kind: str, name: str) -> bool:
        return any((event.kind, event.name) == (kind, name) for event in self.events)


def is_alone(side: list[FleetNode]) -> bool:
    names = {node.name for node in side}
    return all({member.name for member in node.status().members} == names for node in side)


@pytest.mark.parametrize(
    ("sizes", "one_way"),
    [((2, 3), False), ((2, 2), False), ((1, 1, 1), False), ((1, 2), True), ((2, 1), True)],
    ids=["minority and majority", "halves", "everybody alone", "one is not heard", "one hears nobody"],
)
def test_both_sides_write_and_the_trees_become_equal(tmp_path: Path, sizes: tuple[int, ...], one_way: bool) -> None:
    with Namespaces(tmp_path, sum(sizes)) as network, Comparison(network.fleet), ExitStack() as stack:
        fleet = network.fleet
        fleet.start()
        rest = iter(fleet.nodes)
        sides = [[next(rest) for _ in range(size)] for size in sizes]
        contexts = {node.name: stack.enter_context(node.context(10.0)) for node in fleet.nodes}
        first, last = contexts[sides[0][0].name], contexts[sides[-1][-1].name]
        for name in ("kept", "changed", "deleted", "doomed/below"):
            first.bind(name, 1, create_parents=True)
        fleet.settled()
        listeners = [Listener(stack, node) for node in fleet.nodes]
        until(lambda: all(listener.told("added", "deleted") for listener in listeners), "the watches begin")
        for index, side in enumerate(sides):
            others = [node for other in sides[index + 1 :] for node in other]
            if others:
                network.drop(side, others)
                if not one_way:
                    network.drop(others, side)
        until(lambda: all(is_alone(side) for side in sides), "each side is alone")
        for index, side in enumerate(sides):
            contexts[side[0].name].bind("both", f"side {index}'s")
            contexts[side[-1].name].bind(f"only/{index}", index, create_parents=True)
        last.rebind("changed", 2)
        assert first.unbind("deleted")
        assert last.unbind("doomed/below")

        network.heal()
        healed = time.monotonic()
        fleet.settled()
        took = time.monotonic() - healed
        assert took < _HEALED, f"equal after {took:.1f} s"
        expected = {
            "kept": 1,
            "changed": 2,
            "doomed": (),
            "only": (),
            **{f"only/{index}": index for index in range(len(sides))},
        }
        for node in fleet.nodes:
            found = node.dump()
            assert found.pop("both") in {f"side {index}'s" for index in range(len(sides))}
            assert found == expected
            (conflict,) = contexts[node.name].check().conflicts
            values = {conflict.shown.value, *(other.value for other in conflict.others)}
            assert (conflict.name, values) == ("both", {f"side {index}'s" for index in range(len(sides))})
        for listener in listeners:
            until(lambda told=listener.told: told("conflict", "both"), "the conflict is told")  # type: ignore[misc]
            removed = [index for index, event in enumerate(listener.events) if event.kind == "removed"]
            back = {event.name for event in listener.events[removed[0] :] if event.kind == "added"}
            assert not back & {"deleted", "doomed/below"}
        last.rebind("both", "settled")
        fleet.settled()
        assert all(ctx.check().conflicts == [] and ctx["both"] == "settled" for ctx in contexts.values())


def resolve(node: FleetNode, name: str, keep: Binding | None) -> Receipt:
    with node.context() as ctx:
        return ctx.resolve_conflict(name, keep)


def resolve_with_asyncio(node: FleetNode, name: str, keep: Binding | None) -> Receipt:
    async def run() -> Receipt:
        async with aio.HAContext(node.url, follow_views=False, timeout=10.0) as ctx:
            return await ctx.resolve_conflict(name, keep)

    return asyncio.run(run())


def test_a_conflict_is_ended_by_the_version_that_is_kept(tmp_path: Path) -> None:
    with Namespaces(tmp_path, 2) as network, Comparison(network.fleet), ExitStack() as stack:
        fleet = network.fleet
        fleet.start()
        fleet.settled()
        contexts = [stack.enter_context(node.context(10.0)) for node in fleet.nodes]
        network.drop(fleet.nodes[:1], fleet.nodes[1:])
        network.drop(fleet.nodes[1:], fleet.nodes[:1])
        until(lambda: all(is_alone([node]) for node in fleet.nodes), "each is alone")
        twins = {"sync": resolve, "aio": resolve_with_asyncio}
        for index, ctx in enumerate(contexts):
            for twin in twins:
                ctx.bind(f"{twin}/both", f"side {index}'s", create_parents=True)
        for twin in twins:
            contexts[0].bind(f"{twin}/place", "a value")
            contexts[1].bind(f"{twin}/place/below", 1, create_parents=True)
        network.heal()
        fleet.settled()
        for number, (twin, resolved) in enumerate(twins.items()):
            conflicts = {conflict.name: conflict for conflict in contexts[number].check(twin).conflicts}
            assert set(conflicts) == {f"{twin}/both", f"{twin}/place"}
            (lost,) = conflicts[f"{twin}/both"].others
            assert contexts[number][f"{twin}/both"] != lost.value
            # Through the other node than the one that told of it.
            receipt = resolved(fleet.nodes[1 - number], f"{twin}/both", lost)
            assert receipt.version is not None
            assert sorted(receipt.acked_by) == ["n1", "n2"]
            resolved(fleet.nodes[number], f"{twin}/place", None)
            fleet.settled()
            for ctx in contexts:
                assert ctx[f"{twin}/both"] == lost.value
                assert ctx[f"{twin}/place/below"] == 1
                assert ctx.check(twin).conflicts == []
