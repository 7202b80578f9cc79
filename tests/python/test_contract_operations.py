"""The operation table, row by row, in every place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hanaming import (
    CompletionStatus,
    Context,
    ContextNotEmptyError,
    InvalidNameError,
    NameAlreadyBoundError,
    NameNotFoundError,
    NotContextError,
    OperationNotSupportedError,
    TimeLimitExceededError,
)
from places import Place


def test_a_bound_name_is_found(ctx: Any) -> None:
    ctx.bind("orders", {"url": "http://10.0.0.5:8080"})
    assert ctx.lookup("orders") == {"url": "http://10.0.0.5:8080"}


def test_bind_gives_a_receipt(place: Place) -> None:
    receipt = place.ctx.bind("orders", 1)
    assert receipt.version
    assert receipt.acked_by == ["n1"]
    assert (receipt.live, receipt.members) == (1, 1)
    assert place.ctx.rebind("orders", 1).version != receipt.version


@pytest.mark.parametrize("operation", ["lookup", "lookup_link", "resolve", "list_names", "list_bindings"])
def test_reading_a_missing_terminal(ctx: Any, operation: str) -> None:
    ctx.create_subcontext("a")
    with pytest.raises(NameNotFoundError) as caught:
        getattr(ctx, operation)("a/b")
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == ("a/b", "a", "b")
    assert error.completion is CompletionStatus.YES


@pytest.mark.parametrize(
    "operation", ["lookup", "lookup_link", "resolve", "list_names", "list_bindings", "unbind", "destroy_subcontext"]
)
def test_a_missing_intermediate(ctx: Any, operation: str) -> None:
    ctx.create_subcontext("a")
    with pytest.raises(NameNotFoundError) as caught:
        getattr(ctx, operation)("a/b/c/d")
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == ("a/b/c/d", "a", "b/c/d")


@pytest.mark.parametrize(("name", "resolved", "remaining"), [("a/b", "a", "b"), ("a/b/c", "a", "b/c"), ("x", "", "x")])
def test_asking_all_nodes_for_a_missing_name(ctx: Any, name: str, resolved: str, remaining: str) -> None:
    below = ctx.create_subcontext("c")
    below.create_subcontext("a")
    with pytest.raises(NameNotFoundError) as caught:
        below.resolve(name, all=True)
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == (name, resolved, remaining)
    ctx.bind("v", 1)
    with pytest.raises(NotContextError) as no_context:
        ctx.resolve("v/b", all=True)
    assert (no_context.value.resolved_name, no_context.value.remaining_name) == ("v", "b")


@pytest.mark.parametrize(
    "operation", ["lookup", "lookup_link", "resolve", "list_names", "list_bindings", "unbind", "destroy_subcontext"]
)
def test_an_intermediate_that_is_no_context(ctx: Any, operation: str) -> None:
    ctx.bind("a", 1)
    with pytest.raises(NotContextError) as caught:
        getattr(ctx, operation)("a/b")
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == ("a/b", "a", "b")


@pytest.mark.parametrize("operation", ["list_names", "list_bindings"])
def test_listing_a_value(ctx: Any, operation: str) -> None:
    ctx.bind("a", 1)
    with pytest.raises(NotContextError) as caught:
        getattr(ctx, operation)("a")
    assert caught.value.name == "a"


def test_writing_beneath_a_value(ctx: Any) -> None:
    ctx.bind("a", 1)
    ctx.bind("v", 2)
    writes: list[Callable[[], Any]] = [
        lambda: ctx.bind("a/b", 1),
        lambda: ctx.rebind("a/b", 1),
        lambda: ctx.create_subcontext("a/b"),
        lambda: ctx.bind("a/b/c", 1, create_parents=True),
        lambda: ctx.rename("v", "a/b"),
    ]
    for write in writes:
        with pytest.raises(NotContextError):
            write()


def test_the_entry_that_is_in_the_way_is_named_as_the_context_names_it(ctx: Any) -> None:
    ctx.bind("a/b", 1, create_parents=True)
    ctx.bind("a/v", 2)
    writes: list[Callable[[], Any]] = [
        lambda: ctx.bind("a/b", 2),
        lambda: ctx.create_subcontext("a/b"),
        lambda: ctx.rename("a/v", "a/b"),
        lambda: ctx.lookup("a").rename("v", "b"),
    ]
    for write, name in zip(writes, ["a/b", "a/b", "a/b", "b"], strict=True):
        with pytest.raises(NameAlreadyBoundError) as caught:
            write()
        assert caught.value.existing is not None
        assert caught.value.existing.name == name


def test_a_taken_name(ctx: Any) -> None:
    ctx.bind("a", 1)
    ctx.bind("v", 2)
    writes: list[Callable[[], Any]] = [
        lambda: ctx.bind("a", 2),
        lambda: ctx.create_subcontext("a"),
        lambda: ctx.rename("v", "a"),
    ]
    for write in writes:
        with pytest.raises(NameAlreadyBoundError) as caught:
            write()
        error = caught.value
        assert error.existing is not None
        assert (error.existing.kind, error.existing.class_name, error.existing.node) == ("value", "int", "n1")
        assert "n1" in str(error)
        assert error.completion is CompletionStatus.YES
    assert ctx.lookup("a") == 1
    assert ctx.lookup("v") == 2


def test_a_name_taken_by_a_context(ctx: Any) -> None:
    ctx.create_subcontext("a")
    writes: list[Callable[[], Any]] = [lambda: ctx.bind("a", 2), lambda: ctx.create_subcontext("a")]
    for write in writes:
        with pytest.raises(NameAlreadyBoundError) as caught:
            write()
        assert caught.value.existing is not None
        assert caught.value.existing.kind == "context"


def test_a_missing_parent(ctx: Any) -> None:
    ctx.bind("v", 1)
    writes: list[Callable[[], Any]] = [
        lambda: ctx.bind("a/b", 1),
        lambda: ctx.rebind("a/b", 1),
        lambda: ctx.create_subcontext("a/b"),
        lambda: ctx.rename("v", "a/b"),
    ]
    for write in writes:
        with pytest.raises(NameNotFoundError) as caught:
            write()
        assert caught.value.remaining_name == "a/b"


def test_create_parents(ctx: Any) -> None:
    ctx.bind("a/b/c", 1, create_parents=True)
    assert ctx.lookup("a/b/c") == 1
    ctx.rebind("d/e", 2, create_parents=True)
    assert ctx.lookup("d/e") == 2
    ctx.create_subcontext("f/g/h", create_parents=True)
    assert isinstance(ctx.lookup("f/g/h"), type(ctx))


MUTATIONS = {
    "bind": lambda ctx, name: ctx.bind(name, 1),
    "rebind": lambda ctx, name: ctx.rebind(name, 1),
    "unbind": lambda ctx, name: ctx.unbind(name),
    "rename from": lambda ctx, name: ctx.rename(name, "x"),
    "rename to": lambda ctx, name: ctx.rename("v", name),
    "create_subcontext": lambda ctx, name: ctx.create_subcontext(name),
    "destroy_subcontext": lambda ctx, name: ctx.destroy_subcontext(name),
}


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
@pytest.mark.parametrize(
    "name",
    ["", "a//b", "/a", "a/", "x" * 1025, "/".join("x" * 33)],
    ids=["empty", "middle", "first", "last", "long", "many"],
)
def test_a_mutation_of_no_name(ctx: Any, mutation: Any, name: str) -> None:
    ctx.bind("v", 1)
    with pytest.raises(InvalidNameError) as caught:
        mutation(ctx, name)
    error = caught.value
    assert error.name == name
    assert error.completion is CompletionStatus.NO
    assert [entry.name for entry in ctx.list_names()] == ["v"]


def test_unbind_says_whether_something_went(ctx: Any) -> None:
    ctx.bind("a", 1)
    assert ctx.unbind("a") is True
    assert ctx.unbind("a") is False
    with pytest.raises(NameNotFoundError):
        ctx.lookup("a")


def test_destroy_says_whether_something_went(ctx: Any) -> None:
    ctx.create_subcontext("a")
    assert ctx.destroy_subcontext("a") is True
    assert ctx.destroy_subcontext("a") is False


def test_a_context_with_children_stays(ctx: Any) -> None:
    ctx.bind("a/b", 1, create_parents=True)
    writes: list[Callable[[], Any]] = [
        lambda: ctx.unbind("a"),
        lambda: ctx.destroy_subcontext("a"),
        lambda: ctx.rebind("a", 1),
    ]
    for write in writes:
        with pytest.raises(ContextNotEmptyError) as caught:
            write()
        assert caught.value.name == "a"
    assert ctx.lookup("a/b") == 1


def test_an_empty_context_goes(ctx: Any) -> None:
    ctx.create_subcontext("a")
    ctx.rebind("a", 1)
    assert ctx.lookup("a") == 1
    ctx.create_subcontext("b")
    assert ctx.unbind("b") is True


def test_destroying_a_value(ctx: Any) -> None:
    ctx.bind("a", 1)
    with pytest.raises(NotContextError):
        ctx.destroy_subcontext("a")
    assert ctx.lookup("a") == 1


def test_rebind_replaces_and_binds(ctx: Any) -> None:
    ctx.rebind("a", 1)
    ctx.rebind("a", 2)
    assert ctx.lookup("a") == 2


def test_rename_moves_a_value(ctx: Any) -> None:
    ctx.bind("a", 1)
    ctx.create_subcontext("c")
    assert ctx.rename("a", "c/b") is None
    assert ctx.lookup("c/b") == 1
    with pytest.raises(NameNotFoundError):
        ctx.lookup("a")


def test_rename_onto_itself(ctx: Any) -> None:
    ctx.bind("a", 1)
    before = ctx.resolve("a").version
    ctx.rename("a", "a")
    assert ctx.resolve("a").version == before


def test_rename_of_what_is_not_there(ctx: Any) -> None:
    with pytest.raises(NameNotFoundError):
        ctx.rename("a", "b")


def test_rename_of_a_context(ctx: Any) -> None:
    ctx.create_subcontext("a")
    with pytest.raises(OperationNotSupportedError):
        ctx.rename("a", "b")


def test_get(ctx: Any) -> None:
    ctx.bind("a", None)
    assert ctx.get("a", 7) is None
    assert ctx.get("b") is None
    assert ctx.get("b", 7) == 7
    assert ctx.get("b/c", 7) == 7


def test_what_lies_under_a_value_counts_as_absent(ctx: Any) -> None:
    ctx.bind("a", 1)
    assert ctx.get("a/b", 7) == 7


def test_wait_for_what_is_there(ctx: Any) -> None:
    ctx.bind("a", 1)
    assert ctx.wait_for("a", timeout=5) == 1


def test_wait_for_runs_out(ctx: Any) -> None:
    with pytest.raises(TimeLimitExceededError) as caught:
        ctx.wait_for("a", timeout=0.1)
    assert caught.value.name == "a"
    assert isinstance(caught.value, TimeoutError)


def test_lookup_many(ctx: Any) -> None:
    ctx.bind("a", 1)
    ctx.bind("b/c", [2], create_parents=True)
    found = ctx.lookup_many(["a", "b/c", "missing", "a/under a value", "b"])
    assert list(found) == ["a", "b/c", "b"]
    assert found["a"] == 1
    assert found["b/c"] == [2]
    assert found["b"].lookup("c") == [2]
    assert ctx.lookup_many([]) == {}


def test_lookup_many_refuses_a_bad_name(ctx: Any) -> None:
    with pytest.raises(InvalidNameError) as caught:
        ctx.lookup_many(["a", "b//c"])
    assert caught.value.name == "b//c"


def test_the_empty_name_is_the_context_itself(ctx: Any) -> None:
    ctx.bind("a/b", 1, create_parents=True)
    assert ctx.lookup("").lookup("a/b") == 1
    assert ctx.lookup("a").lookup("").lookup("b") == 1


def test_a_subcontext_is_rooted_at_its_name(ctx: Any) -> None:
    ctx.bind("a/b/c", 1, create_parents=True)
    sub = ctx.lookup("a")
    assert isinstance(sub, type(ctx))
    assert sub.lookup("b/c") == 1
    sub.bind("d", 2)
    assert ctx.lookup("a/d") == 2
    assert [entry.name for entry in sub.list_names()] == ["b", "d"]
    assert [entry.name for entry in sub.list_names("b")] == ["b/c"]
    made = sub.create_subcontext("e")
    made.bind("f", 3)
    assert ctx.lookup("a/e/f") == 3


def test_errors_of_a_subcontext_speak_of_its_names(ctx: Any) -> None:
    sub = ctx.create_subcontext("a/b", create_parents=True)
    sub.create_subcontext("c")
    with pytest.raises(NameNotFoundError) as caught:
        sub.lookup("c/d/e")
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == ("c/d/e", "c", "d/e")
    assert "'c/d/e'" in str(error)


def test_limits_count_from_the_root(ctx: Any) -> None:
    sub = ctx.create_subcontext("/".join("x" * 30), create_parents=True)
    sub.bind("a/b", 1, create_parents=True)
    with pytest.raises(InvalidNameError) as caught:
        sub.bind("a/b/c", 1)
    assert caught.value.name == "a/b/c"


def test_resolve_says_where_from(place: Place) -> None:
    receipt = place.ctx.bind("a", {"b": 1})
    found = place.ctx.resolve("a")
    assert found.value == {"b": 1}
    assert found.source == ("cluster" if place.is_ha else "local")
    assert found.node == "n1"
    assert found.version == receipt.version
    assert found.asked == ["n1"]
    assert found.elapsed > 0
    assert [attempt.phase for attempt in found.attempts] == ["answer"]


def test_resolve_all(ctx: Any) -> None:
    ctx.bind("a", 1)
    answers = ctx.resolve("a", all=True)
    assert [answer.value for answer in answers] == [1]
    with pytest.raises(NameNotFoundError):
        ctx.resolve("b", all=True)


def test_check_finds_nothing(ctx: Any) -> None:
    ctx.bind("a", 1)
    report = ctx.check()
    assert not report
    assert (report.conflicts, report.mismatches, report.hidden) == ([], [], [])


def test_explain_shows_the_last_call(ctx: Any) -> None:
    ctx.bind("a", 1)
    for _ in range(2):
        ctx.lookup("a")
        attempts = ctx.explain()
        assert [(attempt.phase, attempt.completion) for attempt in attempts] == [("answer", CompletionStatus.YES)]
    with pytest.raises(NameNotFoundError):
        ctx.lookup("b")
    assert ctx.explain()[-1].outcome != attempts[-1].outcome


def test_a_context_is_a_context(ctx: Any) -> None:
    assert isinstance(ctx.lookup(""), Context) or "aio" in type(ctx).__module__
