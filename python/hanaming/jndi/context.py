"""`InitialContext`: an HA context with an old client's settings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from hanaming import _arguments
from hanaming._native import HAContext
from hanaming.jndi.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from typing_extensions import Self

__all__ = ["InitialContext"]


class InitialContext(HAContext):
    """The HA context that an environment means.

    Args:
        environment: An `Environment`, or the properties themselves. Without a provider URL in it the provider is
            `HAContext`'s default.
        options: Keyword arguments of `HAContext`, which count more than the environment.

    Raises `ConfigurationError` where the provider URL names nothing that can be asked. Like every HA context it dials
    nothing before the first operation. What is dubious in the environment or has no effect is warned of.
    """

    environment: Environment
    """What it was made from; its `warnings` say what has no effect."""

    def __new__(cls, environment: Environment | Mapping[str, Any] | None = None, **options: Any) -> Self:
        """Reads the environment."""
        read, provider, chosen = settings(environment, options)
        made = super().__new__(cls, provider, **chosen)
        made.environment = read
        return made

    @classmethod
    def from_properties(cls, path: str | PathLike[str], **options: Any) -> Self:
        """The context that a `jndi.properties` file means. `options` as above."""
        return cls(Environment.from_properties(_arguments.path("path", path)), **options)


def settings(
    environment: Environment | Mapping[str, Any] | None, options: dict[str, Any]
) -> tuple[Environment, list[str] | None, dict[str, Any]]:
    """The environment, the provider and the options of its context."""
    if isinstance(environment, Environment):
        read = environment
    else:
        given = {} if environment is None else environment
        read = Environment(_arguments.mapping("environment", given, "an Environment or a mapping"))
    for warning in read.warnings:
        warnings.warn(warning, stacklevel=3)
    return read, read.provider, read.options() | options
