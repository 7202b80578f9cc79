"""Object and state factories: what this process registered, and nothing else, turns data into objects and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hanaming import (
    CompletionStatus,
    FactoryError,
    LimitExceededError,
    LinkRef,
    Node,
    Reference,
    register_object_factory,
    register_state_factory,
)


@dataclass
class Server:
    url: str


@dataclass
class Wrapper:
    inner: Any


class Base:
    pass


class Derived(Base):
    pass


def server_of(reference: Reference) -> Server:
    return Server(str(reference.addresses[0][1]))


def test_a_reference_becomes_an_object(node: Node) -> None:
    register_object_factory("test.server", server_of)
    reference = Reference("Server", [("url", "http://10.0.0.5")], "test.server")
    node.local.bind("a", reference)
    assert node.local.lookup("a") == Server("http://10.0.0.5")
    assert node.local.get("a") == Server("http://10.0.0.5")
    assert node.local["a"] == Server("http://10.0.0.5")
    assert node.local.wait_for("a", timeout=1) == Server("http://10.0.0.5")
    assert node.local.lookup_many(["a"]) == {"a": Server("http://10.0.0.5")}
    assert node.local.lookup("a") is not node.local.lookup("a")
    assert node.local.resolve("a").value == reference
    assert node.local.list_bindings()[0].value == reference


def test_without_its_factory_a_reference_is_what_it_is(node: Node) -> None:
    reference = Reference("Server", [("url", "x")], "test.registered-later")
    node.local.bind("a", reference)
    assert node.local.lookup("a") == reference
    assert node.local.lookup("a") == reference
    register_object_factory("test.registered-later", server_of)
    assert node.local.lookup("a") == Server("x")


# Invariant 2.
def test_a_factory_is_never_imported(node: Node) -> None:
    node.local.bind("a", Reference("Popen", [("args", "true")], "subprocess.Popen"))
    assert node.local.lookup("a") == Reference("Popen", [("args", "true")], "subprocess.Popen")


def test_what_an_object_factory_raises_is_told_with_the_name(ctx: Any) -> None:
    def broken(_reference: Reference) -> None:
        message = "out of order"
        raise LookupError(message)

    register_object_factory("test.broken", broken)
    ctx.bind("a", Reference("X", factory="test.broken"))
    for call in (lambda: ctx.lookup("a"), lambda: ctx.get("a"), lambda: ctx.lookup_many(["a"])):
        with pytest.raises(FactoryError) as caught:
            call()
        error = caught.value
        assert str(error) == "'a': the object factory 'test.broken' raised LookupError: out of order"
        assert isinstance(error.__cause__, LookupError)
        assert (error.name, error.resolved_name, error.remaining_name) == ("a", "a", "")
        assert (error.completion, error.safe_to_retry) == (CompletionStatus.YES, False)
        assert len(error.attempts) == 1
    assert "a" in ctx, "it is there"
    assert ctx.lookup_link("a").factory == "test.broken"


def test_what_is_no_failure_of_an_object_factory_comes_out_as_it_is(node: Node) -> None:
    def stops(_reference: Reference) -> None:
        raise KeyboardInterrupt

    register_object_factory("test.stops", stops)
    node.local.bind("a", Reference("X", factory="test.stops"))
    with pytest.raises(KeyboardInterrupt):
        node.local.lookup("a")


def test_an_object_is_bound_as_its_state(node: Node) -> None:
    register_state_factory(Server, lambda server: Reference("Server", [("url", server.url)], "test.state"))
    register_object_factory("test.state", server_of)
    node.local.bind("a", Server("x"))
    assert node.local.lookup("a") == Server("x")
    assert node.local.list_names()[0].class_name == "Server"


def test_states_may_hold_states(node: Node) -> None:
    register_state_factory(Wrapper, lambda wrapper: {"inner": wrapper.inner})
    register_state_factory(tuple, list)
    node.local.bind("a", [Wrapper((1, Wrapper(None)))])
    assert node.local.lookup("a") == [{"inner": [1, {"inner": None}]}]


def test_a_subclass_takes_the_nearest_factory(node: Node) -> None:
    register_state_factory(Base, lambda _: "base")
    node.local.bind("a", Derived())
    assert node.local.lookup("a") == "base"
    register_state_factory(Derived, lambda _: "derived")
    node.local.rebind("a", Derived())
    assert node.local.lookup("a") == "derived"


def test_what_a_state_factory_raises_is_told_with_name_and_place(ctx: Any) -> None:
    class Broken:
        pass

    def broken(_: Broken) -> None:
        message = "no state"
        raise LookupError(message)

    register_state_factory(Broken, broken)
    with pytest.raises(FactoryError) as caught:
        ctx.bind("a", {"b": [Broken()]})
    error = caught.value
    assert str(error).startswith("'a': value['b'][0]: the state factory of ")
    assert str(error).endswith("Broken raised LookupError: no state")
    assert isinstance(error.__cause__, LookupError)
    assert (error.name, error.remaining_name, error.completion) == ("a", "a", CompletionStatus.NO)
    assert error.safe_to_retry
    assert "a" not in ctx


def test_a_state_factory_that_gives_no_value(node: Node) -> None:
    class Odd:
        pass

    register_state_factory(Odd, lambda _: {1})  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"value\[0\]: set"):
        node.local.bind("a", [Odd()])


def test_factories_that_play_ball_for_ever(node: Node) -> None:
    class Ping:
        pass

    class Pong:
        pass

    register_state_factory(Ping, lambda _: Pong())
    register_state_factory(Pong, lambda _: Ping())
    with pytest.raises(LimitExceededError, match="deep"):
        node.local.bind("a", Ping())


def test_a_state_factory_that_changes_the_value_under_way(node: Node) -> None:
    class Meddler:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

    def meddle(meddler: Meddler) -> int:
        meddler.owner.clear()
        return 1

    register_state_factory(Meddler, meddle)
    table: dict[str, Any] = {}
    table.update({str(number): Meddler(table) for number in range(100)})
    node.local.bind("a", table)
    items: list[Any] = []
    items.extend(Meddler(items) for _ in range(100))
    node.local.bind("b", items)
    assert node.local.lookup("b") == [1]


@pytest.mark.parametrize("cls", [type(None), bool, int, float, str, bytes, list, dict, Reference, LinkRef])
def test_a_value_needs_no_state_factory(cls: type) -> None:
    with pytest.raises(TypeError, match="value already"):
        register_state_factory(cls, lambda value: value)


def test_what_is_no_factory() -> None:
    with pytest.raises(TypeError):
        register_object_factory("test.x", 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        register_object_factory(1, server_of)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        register_state_factory("x", len)  # type: ignore[arg-type]
