"""Where the contract holds: each way to reach a tree is a place, and every contract test runs in all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from hanaming import Context, HAContext, Node


@dataclass
class Place:
    """A fresh tree, and a context rooted at it."""

    kind: str
    node: Node
    ctx: Any
    """A `Context`, or what stands for one."""
    is_ha: bool


@contextmanager
def local_in_process() -> Iterator[Place]:
    with Node("n1") as node:
        yield Place("local", node, node.local, is_ha=False)


@contextmanager
def local_by_url() -> Iterator[Place]:
    with Node("n1") as node, Context(node.url) as ctx:
        yield Place("local-url", node, ctx, is_ha=False)


@contextmanager
def ha_in_process() -> Iterator[Place]:
    with Node("n1") as node, node.context() as ctx:
        yield Place("ha", node, ctx, is_ha=True)


@contextmanager
def ha_by_url() -> Iterator[Place]:
    with Node("n1") as node, HAContext(node.url) as ctx:
        yield Place("ha-url", node, ctx, is_ha=True)


PLACES: dict[str, Callable[[], AbstractContextManager[Place]]] = {
    "local": local_in_process,
    "local-url": local_by_url,
    "ha": ha_in_process,
    "ha-url": ha_by_url,
}
