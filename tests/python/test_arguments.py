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
    LimitExceededError,
    LinkRef,
    Name,
    NamingError,
    Node,
    OperationNotSupportedError,
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
    calls: list[Any] = [lambda: ctx.bind("n", 1, lease=3), lambda: ctx.lookup("n", timeout=-1)]
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
    with pytest.raises(TypeError, match=r'value\["a"\]: the state factory of .*Selfish gave .*Selfish again'):
        node.local.bind("n", {"a": Selfish()})


@pytest.mark.parametrize("names", ["abx", Name("a/b")])
def test_one_name_is_no_list_of_names(ctx: Any, names: Any) -> None:
    with pytest.raises(TypeError, match="give a list of names"):
        ctx.lookup_many(names)


@pytest.mark.parametrize("seeds", ["127.0.0.1:1", 5, [5]])
def test_seeds_are_a_list(seeds: Any) -> None:
    with pytest.raises(TypeError, match=r"^seeds: .*give a list of addresses"):
        Node("n1", seeds=seeds)


def test_what_comes_later_is_refused_with_what_to_do(node: Node) -> None:
    with pytest.raises(OperationNotSupportedError, match="not supported yet"):
        node.forget("n2")


@pytest.mark.asyncio
async def test_what_comes_later_is_refused_in_the_twin_too() -> None:
    async with aio.Node("n1") as node:
        context: Any = node.context()
        with pytest.raises(OperationNotSupportedError, match="not supported yet"):
            node.forget("n2")
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
