"""The balancers' contract, for both twins: sources, blocks and calls, what comes out, what is shown."""

from __future__ import annotations

import gc
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

import hanaming
from hanaming import (
    Action,
    Category,
    CompletionStatus,
    ConfigurationError,
    ContextClosedError,
    HAContext,
    Node,
    Reference,
    ServiceUnavailableError,
    Target,
)
from line_servers import LineServer, ServerError, ask
from twins import TWINS, Sync
from waiting import until

POLICIES: tuple[hanaming.Policy, ...] = ("round_robin", "random_robin", "least_loaded")


@pytest.fixture(params=TWINS)
def twin(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with TWINS[request.param]() as opened:
        yield opened


@pytest.fixture
def servers() -> Iterator[list[LineServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(LineServer()) for _ in range(3)]


@pytest.fixture
def balancer(twin: Sync, servers: list[LineServer]) -> Any:
    return twin.make([server.address for server in servers])


def dead_address() -> str:
    """Where nobody listens."""
    with LineServer() as server:
        return server.address


def test_the_target_says_where_to_call(twin: Sync, servers: list[LineServer]) -> None:
    port = servers[0].port
    target = twin.call(twin.make(f"localhost:{port}"), lambda target: (ask(target), target)[1])
    assert str(target) == f"127.0.0.1:{port}"
    assert (target.hostname, target.host, target.port, target.origin) == ("localhost", "127.0.0.1", port, "dns")
    assert isinstance(target, Target)


SOURCES: dict[str, Callable[[str, str], Any]] = {
    "a list": lambda a, b: [a, b],
    "a tuple": lambda a, b: (a, b),
    "a text": lambda a, b: f"{a}, {b}",
    "urls": lambda a, b: [f"http://{a}/x", f"thing://{b}"],
    "dicts": lambda a, b: [{"url": f"http://{a}"}, {"host": b.split(":")[0], "port": int(b.split(":")[1])}],
    "a reference": lambda a, b: Reference("Orders", [("url", f"http://{a}/"), ("stub", b"x"), ("host:port", b)]),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_sources(twin: Sync, servers: list[LineServer], make: Callable[[str, str], Any]) -> None:
    addresses = [server.address for server in servers[:2]]
    balancer = twin.make(make(*addresses))
    assert Counter(twin.call(balancer, ask) for _ in range(4)) == dict.fromkeys(addresses, 2)
    origin = "reference" if isinstance(make(*addresses), Reference) else "provider"
    assert [(str(target), target.origin) for target in balancer.targets] == [(one, origin) for one in addresses]


def test_a_reference_that_was_looked_up(twin: Sync, servers: list[LineServer], node: Node) -> None:
    node.local.bind("orders", Reference("Orders", [("url", f"http://{servers[0].address}")]))
    assert twin.call(twin.make(node.local.lookup("orders")), ask) == servers[0].address


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ([], "source names no server; write a list of addresses"),
        ("", 'source: "" is not an address: the host is missing'),
        ("dns://orders.prod.svc", 'source: "dns://orders.prod.svc" has no port'),
        (["srv://orders:80"], 'source[0]: "srv://orders:80" must be one name and nothing else'),
        ("hn+srv://blue", "for any service write srv://blue"),
        (["hn+srv://blue:80"], "for any service write srv://blue"),
        ("hn+mdns://prod", "for any service write host:port"),
        (["a:1", "b"], 'source[1]: "b" has no port; write host:port'),
        (5, "source is of the type int, which names no server; write"),
        (None, "source is of the type NoneType"),
        ({"uri": "http://a"}, 'source is a dict with "uri"; a server\'s has a "url" (a str)'),
        (Reference("Orders", [("ior", "IOR:00")]), 'no address that is read here: it has "ior"; the types "url" and'),
        (object(), "a balancer's source is a list of addresses"),
    ],
)
def test_a_source_that_is_none_says_what_to_do(twin: Sync, source: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        twin.make(source)


def test_its_help_names_every_source_and_option() -> None:
    for kind in (hanaming.Balancer, hanaming.aio.Balancer):
        assert kind.__doc__ is not None
        sources = ("dns://", "srv://", "Reference", "ctx.service(")
        for word in (*sources, *[f"`{name}`" for name in list(inspect.signature(kind).parameters)]):
            assert word in kind.__doc__, (kind, word)


def test_options_are_checked(twin: Sync) -> None:
    with pytest.raises(ConfigurationError, match='policy="fastest" is unknown; there are round_robin'):
        twin.make("a:1", policy="fastest")
    with pytest.raises(ConfigurationError, match="timeout is 0: give a positive number"):
        twin.make("a:1", timeout=0)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_policies_share(twin: Sync, servers: list[LineServer], policy: str) -> None:
    balancer = twin.make([server.address for server in servers], policy=policy)
    counts = Counter(twin.call(balancer, str) for _ in range(600))
    most = 1 if policy == "round_robin" else 75
    assert all(abs(counts[server.address] - 200) <= most for server in servers), counts


def test_an_elected_target_is_used_until_it_fails(twin: Sync, servers: list[LineServer]) -> None:
    addresses = [server.address for server in servers]
    balancer = twin.make(addresses, policy="first_available")
    (first,) = {twin.call(balancer, ask) for _ in range(10)}
    servers[addresses.index(first)].close()
    (second,) = {twin.call(balancer, ask) for _ in range(10)}
    assert second != first
    same = [twin.make(addresses, policy="first_available_identical_all_proxies") for _ in range(20)]
    assert len({twin.call(one, ask) for one in same}) == 1


def test_arguments_and_values_pass_through(twin: Sync, balancer: Any) -> None:
    def give(target: Target, /, *args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    assert twin.call(balancer, give, 1, [2], fn=3, idempotent=4) == ((1, [2]), {"fn": 3, "idempotent": 4})
    assert twin.call(balancer, lambda target: None) is None


def test_everything_failed_is_tried_anyway(twin: Sync) -> None:
    balancer = twin.make([dead_address(), dead_address()])
    for _ in range(3):
        with pytest.raises(ConnectionRefusedError) as caught:
            twin.call(balancer, ask)
        attempts = caught.value.attempts  # type: ignore[attr-defined]
        assert len(attempts) == 4, "two rounds"
        assert {made.completion for made in attempts} == {CompletionStatus.NO}
        assert [made.why_next is None for made in attempts] == [False, False, False, True]
        assert twin.explain(balancer) == attempts
        assert {target.state for target in balancer.targets} == {"failed"}


def test_the_attempts_are_notes_too(twin: Sync) -> None:
    dead = dead_address()
    balancer = twin.make(dead)
    with pytest.raises(ConnectionRefusedError) as caught:
        twin.call(balancer, ask)
    if hasattr(caught.value, "__notes__"):
        assert [note.partition(": ")[0] for note in caught.value.__notes__] == ["attempt 1", "attempt 2"]
        assert f"{dead}: ConnectionRefusedError: " in caught.value.__notes__[0]


def test_one_exception_that_is_raised_often_does_not_grow(twin: Sync, balancer: Any) -> None:
    error = ServerError("always the same")

    def fail(target: Target) -> None:
        raise error

    for _ in range(5):
        with pytest.raises(ServerError):
            twin.call(balancer, fail)
    assert len(error.attempts) == 1  # type: ignore[attr-defined]
    assert len(getattr(error, "__notes__", [""])) == 1


def test_a_naming_error_keeps_its_own_attempts(balancer: Any) -> None:
    with HAContext(f"hn://{dead_address()}") as ctx:
        with pytest.raises(ServiceUnavailableError) as direct:
            ctx.lookup("a")
        with pytest.raises(ServiceUnavailableError) as caught:
            Sync().call(hanaming.Balancer(["10.0.0.1:80"]), lambda target: ctx.lookup("a"))
    assert [made.target for made in caught.value.attempts] == [made.target for made in direct.value.attempts]
    assert any("10.0.0.1:80" in note for note in getattr(caught.value, "__notes__", ["10.0.0.1:80"]))


def test_exceptions_without_room_for_attempts_come_out_all_the_same(twin: Sync, balancer: Any) -> None:
    class Closed(Exception):  # noqa: N818
        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(name)

    def fail(target: Target) -> None:
        raise Closed

    with pytest.raises(Closed):
        twin.call(balancer, fail)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_failure_of_the_target_comes_out_and_is_settled(
    twin: Sync, balancer: Any, kind: type[BaseException]
) -> None:
    error = kind()

    def fail(target: Target) -> None:
        raise error

    with pytest.raises(kind) as caught:
        twin.loop(balancer, fail, idempotent=True)
    assert caught.value is error
    assert {target.state for target in balancer.targets} == {"untried"}
    if kind is not KeyboardInterrupt or twin.name == "Balancer":
        (made,) = twin.explain(balancer)
        assert (made.outcome, made.completion) == ("given up by the caller", CompletionStatus.MAYBE)


def test_idempotent_is_a_view(twin: Sync, servers: list[LineServer]) -> None:
    for server in servers[:2]:
        server.behaviour = "reset"
    balancer = twin.make([server.address for server in servers])
    idempotent = balancer.idempotent
    assert type(idempotent) is type(balancer)
    assert twin.call(idempotent, ask) == servers[2].address
    assert twin.loop(idempotent, ask) == servers[2].address
    assert "idempotent" in repr(idempotent)
    assert "idempotent" not in repr(balancer)
    twin.close(idempotent)
    with pytest.raises(ContextClosedError, match="the balancer is closed"):
        twin.call(balancer, ask)


def verdict(**changes: Any) -> Any:
    words: dict[str, Any] = {
        "category": Category.QUIESCING,
        "completion": CompletionStatus.NO,
        "action": Action.FAILOVER,
        "action_if_idempotent": Action.FAILOVER,
    }
    return SimpleNamespace(**words | changes)


def test_a_classifier_of_one_s_own_is_asked_first(twin: Sync, servers: list[LineServer], balancer: Any) -> None:
    asked: list[tuple[str, BaseException]] = []
    servers[0].behaviour = servers[1].behaviour = "raise application draining"

    def later(error: BaseException) -> Any:
        asked.append(("later", error))

    def draining(error: BaseException) -> Any:
        asked.append(("draining", error))
        return verdict() if "draining" in str(error) else None

    balancer.add_classifier(draining)
    balancer.idempotent.add_classifier(later)
    assert twin.call(balancer, ask) == servers[2].address
    assert twin.call(balancer, ask) == servers[2].address
    assert [name for name, _ in asked] in (["later", "draining"] * 2, ["later", "draining"])
    assert "failed" not in {target.state for target in balancer.targets}
    with pytest.raises(TypeError, match="fn must be something that can be called"):
        balancer.add_classifier("draining")


@pytest.mark.parametrize(
    ("classifier", "says"),
    [
        (lambda error: 1 / 0, "failed on .*no such order.* with .*ZeroDivisionError: division by zero"),
        (lambda error: "failover", "a classifier gives a Verdict or None, not str"),
        (lambda error: verdict(action="again"), "a verdict's action is one of Action's values, not 'again'"),
        (lambda error: verdict(completion="PERHAPS"), "a verdict's completion is one of CompletionStatus's"),
    ],
)
def test_a_classifier_that_fails_hides_nothing(
    twin: Sync, servers: list[LineServer], balancer: Any, classifier: Callable[[BaseException], Any], says: str
) -> None:
    for server in servers:
        server.behaviour = "raise application no such order"
    balancer.add_classifier(classifier)
    with pytest.warns(RuntimeWarning, match=says), pytest.raises(ServerError, match="no such order"):
        twin.call(balancer.idempotent, ask)
    assert sum(server.ran for server in servers) == 1


def test_one_timeout_covers_all_attempts(twin: Sync, servers: list[LineServer]) -> None:
    for server in servers:
        server.behaviour = "silent"
    balancer = twin.make([server.address for server in servers], timeout=0.4)
    with pytest.raises(TimeoutError):
        twin.call(balancer.idempotent, ask, timeout=0.15)
    assert 2 <= sum(server.ran for server in servers) <= 3
    assert len(twin.explain(balancer)) == sum(server.ran for server in servers)


def test_nobody_to_call_is_an_error_of_its_own(twin: Sync) -> None:
    balancer = twin.make("no-such-host.invalid:80", timeout=1)
    with pytest.raises(ServiceUnavailableError, match=r"no server (is|was) known") as caught:
        twin.call(balancer, ask)
    assert caught.value.safe_to_retry
    assert caught.value.completion is CompletionStatus.NO


def test_a_failed_server_is_taken_back(twin: Sync, servers: list[LineServer], balancer: Any) -> None:
    servers[0].behaviour = "reset"
    assert all(twin.call(balancer.idempotent, ask) for _ in range(3))
    servers[0].behaviour = "answer"
    until(lambda: {target.state for target in balancer.targets} <= {"good", "untried"}, "a probe takes it back")
    assert {twin.call(balancer, ask) for _ in range(3)} == {server.address for server in servers}


def test_how_it_looks(twin: Sync) -> None:
    balancer = twin.make(["10.0.0.1:80", "b-x:80", "10.0.0.3:80"], policy="least_loaded")
    assert repr(balancer) == "<Balancer over 10.0.0.1:80 and 1 more, least_loaded>", "b-x is not resolved yet"
    html = balancer._repr_html_()
    assert "10.0.0.3:80" in html
    assert "least_loaded" in html
    twin.close(balancer)
    assert repr(balancer).endswith(", closed>")
    assert "closed" in balancer._repr_html_()
    assert repr(twin.make("b-x:80")) == "<Balancer over no address yet, round_robin>"


def test_nothing_is_left_of_a_call_that_was_dropped(balancer: Any) -> None:
    attempt = next(iter(balancer.attempts())) if hasattr(balancer, "__enter__") else None
    del attempt
    gc.collect()
    assert {target.state for target in balancer.targets} == {"untried"}
