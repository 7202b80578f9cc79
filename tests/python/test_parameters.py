"""Each parameter of each public callable is given what it can't be: the error names the parameter, on every Python.

The signatures themselves are gone through, so a new parameter must be put into the table of kinds here.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import hanaming
from hanaming import Balancer, Context, HAContext, LinkRef, Name, Node, Reference, aio, corba, jndi, simulation, testing
from hanaming.aio.jndi import InitialContext as AioInitialContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HUGE = 10**400
NO_TEXT = "\ud800"

TEXT = [5, None, [], NO_TEXT]
SOME_TEXT = [5, [], NO_TEXT]
NAME = [5, None, [], NO_TEXT]
FLAG = ["x", 2, None, HUGE]
SECONDS = ["x", [], True, HUGE, math.nan, -1, -math.inf]
SHARE = [*SECONDS, None, math.inf, 0]
COUNT = ["x", 1.5, True, HUGE, math.nan, -1]
PATH = [5, [], NO_TEXT]
LIST = [5, "x", [5], [NO_TEXT]]
FUNCTION = [5, None, "x"]

# What a parameter can't be, by its name, which is the same wherever it occurs.
KINDS: dict[str, list[Any]] = {
    "name": NAME, "old": NAME, "new": NAME, "text": NAME, "target": NAME, "names": [5, "x", [5], [NO_TEXT], None],
    "timeout": SECONDS, "attempt_timeout": SECONDS, "lease": SECONDS, "weight": SHARE,
    "policy": TEXT, "tree": TEXT, "scope": TEXT, "operation_id": TEXT, "node": TEXT, "listen": TEXT, "class_name": TEXT,
    "advertise": SOME_TEXT, "mdns_interface": SOME_TEXT, "cluster": SOME_TEXT, "instance": SOME_TEXT, "factory": SOME_TEXT,
    "create_parents": FLAG, "all": FLAG, "initial": FLAG, "mdns": FLAG, "insecure": FLAG, "follow_views": FLAG, "cache": FLAG,
    "idempotent": FLAG, "data": FLAG, "processes": FLAG, "balancer": FLAG, "new_addresses": FLAG,
    "data_dir": PATH, "path": PATH, "seeds": LIST, "dns_servers": [5, "x", [5], [NO_TEXT], []],
    "provider": [5, [5], [], NO_TEXT], "dns_refresh": [[], True, HUGE, math.nan, -1, NO_TEXT, "x"],
    "metadata": [5, "x", [], {"a": object()}], "keep": [5, []], "components": LIST, "addresses": [5, [5], [("a", 5)]],
    "start": ["x", 1.5, None], "stop": ["x", 1.5],
    "fn": FUNCTION, "cls": [5, None, "x"], "source": [5, None, NO_TEXT],
    "properties": [5, "x", [5]], "environment": [5, "x", [5]],
    "minor": ["x", None, 1.5, HUGE], "completed": [5, None, "x"],
    "nodes": [None, 1.5, HUGE, -1, "x", [5], [NO_TEXT]], "senders": [5, ["x"]], "receivers": [5, ["x"]], "within": SECONDS,
    "upstream": [5, None, "x", NO_TEXT], "host": [5, None, NO_TEXT],
    "seconds": ["x", None, [], HUGE, math.nan, -1, math.inf], "bytes_per_second": ["x", None, HUGE, math.nan, -1, 0],
    "times": ["x", 1.5, 0, -1], "after": ["x", None, 1.5, -1], "ttl": ["x", 1.5, HUGE, math.nan, -1],
    "how": [5, None, "x"], "kind": [5, "x"], "services": [5, [5], [("x", 0, 1, "t")]], "since": ["x", []],
    "calls": [5, None], "among": [5], "ratio": ["x", None, math.nan, 0.5], "applied": [5, None], "accepted": [5, None],
    "max_events": COUNT, "progress": [5, "x"],
    **{key: [*COUNT, None] for key in ("servers", "clients", "contexts", "samples", "seed")},
    **{key: [*SECONDS, None, math.inf] for key in ("weeks", "restarts_per_week", "downtime")},
    **{key: [*SECONDS, math.inf] for key in ("restart_gap", "call_every")},
    **{key: [5, [5], [(1, 2, 3)], [("x", 1)], [(1, "x")]] for key in ("scaling", "dns_failures")},
}  # fmt: skip

# Where a parameter of that name is another thing.
OTHERWISE: dict[tuple[str, str], list[Any]] = {
    ("Node", "name"): TEXT,
    ("aio.Node", "name"): TEXT,
    ("register_object_factory", "name"): TEXT,
    ("Context", "provider"): TEXT,
    ("aio.Context", "provider"): TEXT,
    ("Balancer.attempts", "value"): FLAG,
    ("aio.Balancer.attempts", "value"): FLAG,
    ("Node", "cluster"): TEXT,
    ("aio.Node", "cluster"): TEXT,
    ("read_failures", "since"): [5, "x"],
    ("read_failures", "source"): [5, None],
    ("simulate", "ttl"): [*SECONDS, None, math.inf],
    ("simulate", "policy"): [5, None, "x"],
    ("DnsZone", "addresses"): [5, {"n": [5]}, {"n": ["x"]}, {5: ["127.0.0.1"]}],
    ("DnsZone.set", "addresses"): [5, "x", [5], ["x"]],
    ("DnsZone.set_alias", "target"): [5, None, NO_TEXT],
    ("wait_converged", "cluster"): [5, None],
    ("Cluster.wait_converged", "nodes"): [5, ["x"]],
    ("wait_converged", "nodes"): [5, ["x"]],
    ("ProviderUrl.parse", "text"): TEXT,
    ("Environment.from_properties", "source"): [5, None, []],
    ("InitialContext.from_properties", "path"): [5, None, []],
    ("aio.InitialContext.from_properties", "path"): [5, None, []],
}

# Anything will do, or the parameters belong to a call that is passed on.
ANYTHING = {"value", "default", "args", "kwargs", "options", "groups"}

# What is given where a parameter is needed and another one is tried.
GIVEN: dict[str, Any] = {
    "name": "n", "old": "a", "new": "b", "names": ["n"], "value": 1, "keep": None, "operation_id": f"{0:032x}.1", "node": "n9",
    "provider": "127.0.0.1:1", "source": ["127.0.0.1:1"], "text": "a", "target": "a", "components": ["a"], "class_name": "C",
    "fn": str, "cls": Balancer, "timeout": 1.0, "upstream": "127.0.0.1:1", "seconds": 1.0, "bytes_per_second": 1.0,
    "addresses": [], "services": [], "how": "empty", "calls": ["a"], "applied": [], "senders": [0], "receivers": [0],
    "environment": None, "path": "x",
}  # fmt: skip


def methods(label: str, of: Any, *but: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of an object that take anything."""
    for name, method in inspect.getmembers(of, callable):
        if not name.startswith("_") and name not in but and inspect.signature(method).parameters:
            yield f"{label}.{name}", method


MADE: dict[str, Callable[..., Any]] = {
    "Context": Context,
    "HAContext": HAContext,
    "Node": Node,
    "Balancer": Balancer,
    "Name": Name,
    "Name.from_components": Name.from_components,
    "Name.index": Name("n").index,
    "LinkRef": LinkRef,
    "Reference": Reference,
    "register_object_factory": hanaming.register_object_factory,
    "register_state_factory": hanaming.register_state_factory,
    "read_failures": hanaming.read_failures,
    "aio.Context": aio.Context,
    "aio.HAContext": aio.HAContext,
    "aio.Balancer": aio.Balancer,
    "Environment": jndi.Environment,
    "Environment.from_properties": jndi.Environment.from_properties,
    "ProviderUrl.parse": jndi.ProviderUrl.parse,
    "InitialContext": jndi.InitialContext,
    "InitialContext.from_properties": jndi.InitialContext.from_properties,
    "aio.InitialContext": AioInitialContext,
    "aio.InitialContext.from_properties": AioInitialContext.from_properties,
    "SystemException": corba.TRANSIENT,
    "simulate": simulation.simulate,
    "Cluster": testing.Cluster,
    "FaultProxy": testing.FaultProxy,
    "DnsZone": testing.DnsZone,
    "assert_balanced": testing.assert_balanced,
    "assert_applied_once": testing.assert_applied_once,
}


Case = tuple[str, str, tuple[Any, ...], dict[str, Any]]


def cases(label: str, call: Callable[..., Any]) -> Iterator[Case]:
    """Each parameter with each argument that it can't be: how that is told, the parameter, and what to call with."""
    parameters = inspect.signature(call).parameters
    for name, parameter in parameters.items():
        if name.startswith("_") or (name in ANYTHING and (label, name) not in OTHERWISE):
            continue
        needed = {
            other: GIVEN[other]
            for other, one in parameters.items()
            if one.default is one.empty and other != name and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        }
        for wrong in OTHERWISE.get((label, name)) or KINDS[name]:
            if parameter.default is not wrong:
                yield f"{label}({name}={str(wrong)[:20]!a})", name, (), {**needed, name: wrong}


def judged(told: str, name: str, error: BaseException | None) -> list[str]:
    """What is not as it should be."""
    if isinstance(error, (TypeError, ValueError)) and re.search(rf"\b{name}\b", str(error)):
        return []
    return [f"{told}: taken" if error is None else f"{told}: {type(error).__name__}: {error!s}"]


def check(label: str, call: Callable[..., Any]) -> list[str]:
    failures = []
    for told, name, arguments, options in cases(label, call):
        raised: BaseException | None = None
        try:
            call(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
            raised = error
        failures += judged(told, name, raised)
    return failures


async def check_awaited(label: str, call: Callable[..., Any]) -> list[str]:
    """The same of what raises when it is called, or when it is awaited."""
    failures = []
    for told, name, arguments, options in cases(label, call):
        raised: BaseException | None = None
        try:
            made = call(*arguments, **options)
            if inspect.isawaitable(made):
                await made
        except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
            raised = error
        failures += judged(told, name, raised)
    return failures


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("label", MADE)
def test_what_is_made(label: str) -> None:
    failures = check(label, MADE[label])
    assert not failures, "\n".join(failures)


@pytest.mark.filterwarnings("ignore")
def test_what_a_node_and_its_contexts_do() -> None:
    failures = []
    with Node("n1") as node, node.context() as ctx:
        for label, of in {"HAContext": ctx, "Context": node.local, "Node": node}.items():
            for name, method in methods(label, of):
                failures += check(name, method)
    assert not failures, "\n".join(failures)


@pytest.mark.filterwarnings("ignore")
def test_what_their_twins_do() -> None:
    async def main() -> list[str]:
        async def started(**options: Any) -> None:
            async with aio.Node(**options):
                pass

        started.__signature__ = inspect.signature(aio.Node)  # type: ignore[attr-defined]
        failures = await check_awaited("aio.Node", started)
        async with aio.Node("n1") as node:
            for label, of in {"HAContext": node.context(), "Context": node.local, "Node": node}.items():
                for name, method in methods(label, of):
                    failures += await check_awaited(f"aio.{name}", method)
        return failures

    failures = asyncio.run(main())
    assert not failures, "\n".join(failures)


def test_what_a_balancer_does() -> None:
    failures = []
    for label, kind in {"Balancer": Balancer, "aio.Balancer": aio.Balancer}.items():
        balancer = kind("127.0.0.1:1")
        failures += check(f"{label}.attempts", balancer.attempts)
        failures += check(f"{label}.add_classifier", balancer.add_classifier)
    assert not failures, "\n".join(failures)


def test_what_a_cluster_for_tests_does() -> None:
    with testing.Cluster(2) as cluster, testing.FaultProxy("127.0.0.1:1") as proxy, testing.DnsZone() as zone:
        failures = check("wait_converged", partial(testing.wait_converged, cluster))
        for label, of in {"Cluster": cluster, "FaultProxy": proxy, "DnsZone": zone}.items():
            for name, method in methods(label, of, "count", "index"):
                failures += check(name, method)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("x", [5, None, []])
def test_what_is_no_failure_is_not_classified(x: Any) -> None:
    with pytest.raises(TypeError, match="classify takes an exception, a mapping, or text, not"):
        hanaming.classify(x)
