"""What the stubs promise, as mypy reads it; `stubtest` can't see this. It is checked and not run.

A comment that silences an error which is none any longer is an error itself, so each line is a test in both
directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import assert_type

from hanaming import (
    Action,
    Attempt,
    Balancer,
    Binding,
    Category,
    CheckReport,
    CompletionStatus,
    Context,
    Event,
    HAContext,
    Instance,
    LinkRef,
    Name,
    NameAlreadyBoundError,
    NameEntry,
    NameNotFoundError,
    NamingError,
    Node,
    Receipt,
    Reference,
    Registration,
    Report,
    Resolution,
    ServiceUnavailableError,
    Target,
    TimeLimitExceededError,
    Verdict,
    View,
    Watch,
    aio,
    classify,
    corba,
    jndi,
    read_failures,
    register_object_factory,
    register_state_factory,
    simulation,
)
from hanaming.testing import (
    Cluster,
    ClusterNode,
    DnsZone,
    FaultProxy,
    assert_applied_once,
    assert_balanced,
    wait_converged,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hanaming import Value


def names() -> None:
    name = Name("a/b")
    assert_type(name / "c", Name)
    assert_type("c" / name, Name)
    assert_type(name[0], str)
    assert_type(name[1:], Name)
    assert_type(list(name), list[str])
    sequence: Sequence[str] = name
    Name(1)  # type: ignore[arg-type]
    name[0] = "x"  # type: ignore[index]
    _ = name < "a"  # type: ignore[operator]
    del sequence


def values() -> None:
    reference = Reference("Orders", [("url", "x"), ("stub", b"x")], factory="orders")
    assert_type(reference.addresses, list[tuple[str, str | bytes]])
    value: Value = {"a": [1, None, True, b"x", {"b": reference, "c": LinkRef("x")}]}
    wrong: Value = {1}  # type: ignore[assignment]
    reference.factory = "x"  # type: ignore[misc]
    del value, wrong


def contexts(ctx: Context) -> None:
    assert_type(ctx.lookup("a"), Any)
    assert_type(ctx.lookup_many(["a", Name("b")]), dict[str, Any])
    assert_type(ctx.resolve("a"), Resolution)
    assert_type(ctx.resolve("a", all=True), list[Resolution])
    assert_type(ctx.bind("a", 1, create_parents=True, timeout=1), Receipt)
    assert_type(ctx.rebind("a", 1), Receipt)
    assert_type(ctx.unbind("a"), bool)
    assert_type(ctx.list_names(), list[NameEntry])
    assert_type(ctx.list_bindings("a", tree="local"), list[Binding])
    assert_type(ctx.create_subcontext("a"), Context)
    assert_type(ctx.check(), CheckReport)
    assert_type(ctx.explain(), list[Attempt])
    strings: Iterator[str] = iter(ctx)
    del strings
    with ctx as same:
        assert_type(same, Context)
    ctx.list_names(tree="global")  # type: ignore[arg-type]
    ctx.lookup(b"a")  # type: ignore[arg-type]
    ctx.lookup("a", 5)  # type: ignore[call-arg]
    ctx.wait_for("a")  # type: ignore[call-arg]
    ctx["a"] = 1  # type: ignore[index]
    ctx.instances("a")  # type: ignore[attr-defined]
    Context(["hn://a", "hn://b"])  # type: ignore[arg-type]


def ha_contexts() -> None:
    with HAContext(["hn://a", "hn://b"], policy="least_loaded", timeout=5) as ctx:
        assert_type(ctx, HAContext)
        assert_type(ctx.targets, list[Target])
        assert_type(ctx.view, View | None)
        assert_type(ctx.instances("a"), list[Instance])
        plain: Context = ctx
    HAContext(policy="fastest")  # type: ignore[arg-type]
    HAContext("hn://a", "round_robin")  # type: ignore[call-arg]
    del plain


def watches(ctx: Context) -> None:
    with ctx.watch("a", scope="one_level", initial=False) as events:
        assert_type(events, Watch)
        for event in events:
            assert_type(event, Event)
            assert_type(event.new, Binding | None)
    ctx.watch(scope="all")  # type: ignore[arg-type]


async def watches_on_asyncio(ctx: aio.Context) -> None:
    async with ctx.watch() as events:
        assert_type(events, aio.Watch)
        async for event in events:
            assert_type(event, Event)


def nodes() -> None:
    with Node("n1", seeds=["127.0.0.1:11100"]) as node:
        assert_type(node, Node)
        assert_type(node.local, Context)
        assert_type(node.context(), HAContext)
        assert_type(node.view, View)
        assert_type(node.register("a", 1, weight=2, metadata={"zone": "a"}), Registration)
        assert_type(node.check(), CheckReport)
    node.name = "x"  # type: ignore[misc]


def failures(error: OSError) -> None:
    assert_type(classify(error), Verdict)
    assert_type(classify({"exception": "x"}), Verdict)
    assert_type(classify(b"text").completion, CompletionStatus | None)
    assert_type(classify("text").action_if_idempotent, Action)
    assert_type(classify("text").category, Category)
    classify(1)  # type: ignore[arg-type]
    report = read_failures("server.log", max_events=10)
    assert_type(report, Report)
    assert_type(report.groups[0].verdict, Verdict)
    assert_type(report.records, list[dict[str, Any]])
    assert_type(corba.TRANSIENT(1, CompletionStatus.NO).completed, CompletionStatus)
    corba.TRANSIENT(completed=None)  # type: ignore[arg-type]


def settings() -> None:
    url = jndi.ProviderUrl.parse("t3://a,b:7001")
    assert_type(url.endpoints[0].port, int | None)
    assert_type(jndi.Environment.from_properties("a=b").provider_url, jndi.ProviderUrl | None)
    with jndi.InitialContext({"java.naming.provider.url": "a"}, timeout=1) as ctx:
        assert_type(ctx, jndi.InitialContext)
        assert_type(ctx.lookup("a"), Any)
    assert_type(jndi.InitialContext.from_properties("jndi.properties"), jndi.InitialContext)


def scenarios() -> None:
    result = simulation.simulate(servers=4, weeks=1, clients=72, dns_refresh="on_empty", scaling=[(2, 6)])
    assert_type(result, simulation.Simulation)
    assert_type(result.records, list[simulation.Record])
    assert_type(result.final, dict[str, float])
    simulation.simulate(policy="random")  # type: ignore[arg-type]


def balancers(ctx: HAContext) -> None:
    def get(target: Target, path: str, *, limit: int = 1) -> bytes:
        return f"{target}{path}{limit}".encode()

    with Balancer(ctx.service("orders"), policy="least_loaded", timeout=2) as balancer:
        assert_type(balancer, Balancer)
        assert_type(balancer.idempotent, Balancer)
        assert_type(balancer.targets, list[Target])
        assert_type(balancer.explain(), list[Attempt])
        assert_type(balancer.call(get, "/orders", limit=2), bytes)
        for attempt in balancer.attempts(idempotent=True):
            with attempt as target:
                assert_type(target, Target)
                assert_type(attempt.time_left, float)
        balancer.call(get, 5)  # type: ignore[arg-type]
        balancer.attempts(True)  # type: ignore[call-arg]
    balancer.add_classifier(lambda error: classify(error) if isinstance(error, OSError) else None)
    balancer.add_classifier(str)  # type: ignore[arg-type]
    Balancer("a:1", policy="fastest")  # type: ignore[arg-type]


async def balancers_on_asyncio(balancer: aio.Balancer) -> None:
    async def get(target: Target, path: str) -> bytes:
        return f"{target}{path}".encode()

    assert_type(await balancer.call(get, "/orders"), bytes)
    assert_type(await balancer.idempotent.call(str), str)
    async for attempt in balancer.attempts():
        async with attempt as target:
            assert_type(target, Target)


def errors(error: NamingError) -> None:
    assert_type(error.name, str | None)
    assert_type(error.completion, CompletionStatus)
    assert_type(error.attempts, list[Attempt])
    if isinstance(error, NameAlreadyBoundError):
        assert_type(error.existing, NameEntry | None)
    if isinstance(error, ServiceUnavailableError):
        assert_type(error.silent, list[str])
    not_found: KeyError = NameNotFoundError()
    late: TimeoutError = TimeLimitExceededError("late", name="a")
    broken: ConnectionError = TimeLimitExceededError()
    NamingError("x", completion="YES")  # type: ignore[arg-type]
    del not_found, late, broken


def factories() -> None:
    def make(reference: Reference) -> str:
        return reference.class_name

    register_object_factory("orders", make)
    register_state_factory(complex, lambda number: [number.real, number.imag])
    register_object_factory("orders", 1)  # type: ignore[arg-type]


def faults() -> None:
    with Cluster(3, data=True) as cluster:
        assert_type(cluster[0], ClusterNode)
        assert_type(cluster[1:], list[ClusterNode])
        assert_type(cluster.client(timeout=1.0), HAContext)
        assert_type(cluster.aclient(), aio.HAContext)
        assert_type([node.name for node in cluster], list[str])
        assert_type(cluster[0].node, Node)
        cluster.partition([0], [1, 2])
        cluster.partition(0, 1)  # type: ignore[arg-type]
        wait_converged(cluster, [1, 2], within=1.0)
        with FaultProxy(cluster[0]) as proxy:
            assert_type(proxy.address, str)
    with DnsZone({"a.test": ["127.0.0.1"]}) as zone:
        zone.fail("servfail", kind="A")
        zone.fail("angry")  # type: ignore[arg-type]
        assert_balanced([query.name for query in zone.queries], among=["a.test"])
        assert_applied_once({"a": 1})
