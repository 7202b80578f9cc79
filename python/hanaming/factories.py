"""Object factories and state factories: how a process turns references into objects, and objects into values.

A factory is found by the name under which *this process* registered it, never by a name that came over the wire:
what is looked up is data, and data imports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanaming import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanaming._native import Reference
    from hanaming.types import Value

__all__ = ["register_object_factory", "register_state_factory"]


def register_object_factory(name: str, fn: Callable[[Reference], Any]) -> None:
    """From now on, a looked-up `Reference` whose factory is `name` is given to `fn`, and its result returned.

    Args:
        name: The factory's name, as it stands in `Reference.factory`. Registering it again replaces the function.
        fn: Takes the reference. What it raises comes out of the lookup as it is.

    Raises:
        TypeError: `name` is no `str`, or `fn` can't be called.
    """
    _native.register_object_factory(name, fn)


def register_state_factory(cls: type, fn: Callable[[Any], Value]) -> None:
    """From now on, an instance of `cls` can be bound: the value that is bound is what `fn` makes of it.

    The factory of the nearest class in the instance's method resolution order is used. Its result may hold further
    instances with factories of their own.

    Args:
        cls: The class. Registering it again replaces the function.
        fn: Takes the instance and returns a value. What it raises comes out of the bind as it is.

    Raises:
        TypeError: `cls` is no class, `fn` can't be called, or instances of `cls` are values already.
    """
    _native.register_state_factory(cls, fn)
