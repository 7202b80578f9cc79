"""What is wrong with an argument is said with the operation's name and the parameter's, before anything is sent."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import hanaming
from hanaming import (
    ContextClosedError,
    HAContext,
    InvalidNameError,
    LimitExceededError,
    LinkLoopError,
    LinkRef,
    Name,
    NameNotFoundError,
    NamingError,
    Node,
    Reference,
    TimeLimitExceededError,
    aio,
    register_state_factory,
)


class Selfish:
    """Its state factory makes no progress."""


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"x" * 70_000, LimitExceededError),
        (1 << 64, LimitExceededError),
        (deep(33), LimitExceededError),
        ("\ud800", ValueError),
        (LinkRef("a//b"), NamingError),
    ],
    ids=["too long", "too big", "too deep", "no text", "no name"],
)
def test_a_value_that_is_refused_is_refused_under_its_name(ctx: Any, value: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        ctx.bind("big", value)
    assert isinstance(caught.value, NamingError)
    assert caught.value.name == "big"
    assert "'big'" in str(caught.value)


def test_what_is_refused_for_an_option_is_refused_under_its_name(ctx: Any) -> None:
    calls: list[Any] = [lambda: ctx.bind("n", 1, lease=0.5), lambda: ctx.lookup("n", timeout=-1)]
    for call in calls:
        with pytest.raises(NamingError) as caught:
            call()
        assert caught.value.name == "n"


def test_what_is_refused_after_close_is_refused_under_its_name(node: Node) -> None:
    context = node.context()
    context.close()
    with pytest.raises(ContextClosedError) as caught:
        context.lookup("n")
    assert caught.value.name == "n"
    with pytest.raises(ContextClosedError), context:
        pass


def test_a_closed_node_is_not_entered() -> None:
    node = Node("n1")
    node.close()
    with pytest.raises(ContextClosedError), node:
        pass


def test_a_state_factory_that_makes_no_progress_is_named(node: Node) -> None:
    register_state_factory(Selfish, lambda value: value)
    with pytest.raises(TypeError, match=r"value\['a'\]: the state factory of .*Selfish gave .*Selfish again"):
        node.local.bind("n", {"a": Selfish()})


@pytest.mark.parametrize("names", ["abx", Name("a/b")])
def test_one_name_is_no_list_of_names(ctx: Any, names: Any) -> None:
    with pytest.raises(TypeError, match="names must be a list of names, not a single one"):
        ctx.lookup_many(names)


WRONG_TYPES: dict[str, tuple[Any, str]] = {
    "lookup": (lambda ctx: ctx.lookup(5), "name must be a str or a Name, not int"),
    "get": (lambda ctx: ctx.get(None), "name must be a str or a Name, not NoneType"),
    "bind": (lambda ctx: ctx.bind(5, 1), "name must be a str or a Name, not int"),
    "rename, old": (lambda ctx: ctx.rename(5, "a"), "old must be a str or a Name, not int"),
    "rename, new": (lambda ctx: ctx.rename("a", 5), "new must be a str or a Name, not int"),
    "lookup_many": (lambda ctx: ctx.lookup_many(5), "names must be a list of names, not int"),
    "lookup_many, one": (lambda ctx: ctx.lookup_many(["a", 5]), "names[1] must be a str or a Name, not int"),
    "watch": (lambda ctx: ctx.watch(5), "name must be a str or a Name, not int"),
    "a key": (lambda ctx: ctx.bind("a", {"x": [{5: 1}]}), "value['x'][0][5]: the key is of type int"),
    "a set": (lambda ctx: ctx.bind("a", {"x": [{1}]}), "value['x'][0]: set is no type of value"),
}


@pytest.mark.parametrize("what", WRONG_TYPES)
def test_an_argument_of_a_wrong_type_is_named(ctx: Any, what: str) -> None:
    call, says = WRONG_TYPES[what]
    with pytest.raises(TypeError) as caught:
        call(ctx)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: HAContext(5), "provider must be a list of addresses, or one as a str, not int"),
        (lambda: HAContext(["127.0.0.1:1", 5]), "provider[1] must be a str, not int"),
        (lambda: aio.HAContext(5), "provider must be a list of addresses, or one as a str, not int"),
        (lambda: Name(5), "text must be a str or a Name, not int"),
        (lambda: Name("a") / 5, "what is behind the / must be a str or a Name, not int"),
        (lambda: Name.from_components(["a", 5]), "components[1] must be a str, not int"),
        (lambda: LinkRef(5), "target must be a str or a Name, not int"),
        (lambda: Reference("X", 5), "addresses must be a list of pairs of a type and a content, not int"),
    ],
)
def test_so_is_one_of_what_is_made(made: Any, says: str) -> None:
    with pytest.raises(TypeError) as caught:
        made()
    assert str(caught.value) == says


def test_a_key_that_is_no_text_is_shown_in_its_place(ctx: Any) -> None:
    with pytest.raises(ValueError, match="lone surrogate") as caught:
        ctx.bind("a", {"x": {"\ud800": 1}})
    assert str(caught.value).startswith("'a': value['x']['\\ud800']: the key has a lone surrogate")


def test_a_long_name_is_not_repeated_whole(ctx: Any) -> None:
    with pytest.raises(InvalidNameError) as caught:
        ctx.lookup("x" * 5000)
    assert caught.value.name == "x" * 5000
    assert len(str(caught.value)) < 200
    assert str(caught.value).startswith(f"'{'x' * 70}…{'x' * 25}': ")


def test_a_message_steers_no_terminal(ctx: Any) -> None:
    name = "a\x1b[31m\nb\u202e"
    with pytest.raises(NameNotFoundError) as caught:
        ctx.lookup(name)
    assert caught.value.name == name
    assert str(caught.value) == r"'a\x1b[31m\nb\u202e': no such name"
    ctx.bind(name, LinkRef(name))
    with pytest.raises(LinkLoopError) as looped:
        ctx.lookup(name)
    assert str(looped.value).isprintable()
    assert all(str(attempt).isprintable() for attempt in looped.value.attempts)


def test_no_time_is_told_as_no_time(ctx: Any) -> None:
    with pytest.raises(TimeLimitExceededError, match="not bound in 20 µs"):
        ctx.wait_for("a", timeout=0.00002)


def test_a_missing_parent_is_told_with_what_makes_it(ctx: Any) -> None:
    for call in (lambda: ctx.bind("a/b", 1), lambda: ctx.rebind("a/b", 1), lambda: ctx.create_subcontext("a/b")):
        with pytest.raises(NameNotFoundError) as caught:
            call()
        assert str(caught.value).endswith("; create_parents=True makes the contexts on the way")
    for call in (lambda: ctx.lookup("a/b"), lambda: ctx.unbind("a/b")):
        with pytest.raises(NameNotFoundError) as caught:
            call()
        assert "create_parents" not in str(caught.value)


@pytest.mark.parametrize("seeds", ["127.0.0.1:1", 5, [5]])
def test_seeds_are_a_list(seeds: Any) -> None:
    with pytest.raises(TypeError, match=r"^seeds(\[0\])? must be a (list of addresses|str)"):
        Node("n1", seeds=seeds)


@pytest.mark.asyncio
async def test_a_context_that_was_closed_is_not_entered_again() -> None:
    async with aio.Node("n1") as node:
        context: Any = node.context()
        await context.aclose()
        with pytest.raises(ContextClosedError):
            async with context:
                pass


def test_a_provider_that_is_no_text_is_not_taken_for_none() -> None:
    code = "import hanaming\ntry: hanaming.HAContext()\nexcept hanaming.ConfigurationError as e: print(e)"
    environment = {b"HANAMING_PROVIDER": b"hn://\xff", b"PATH": b""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert "HANAMING_PROVIDER" in done.stdout
    assert isinstance(HAContext(), hanaming.HAContext)
