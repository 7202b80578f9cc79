"""The asyncio twin of `hanaming.jndi`: the same names; the context's operations are awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanaming import _arguments
from hanaming._native import AioHAContext
from hanaming.jndi import Endpoint, Environment, ProviderUrl
from hanaming.jndi.context import settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from typing_extensions import Self

__all__ = ["Endpoint", "Environment", "InitialContext", "ProviderUrl"]


class InitialContext(AioHAContext):
    """The HA context that an environment means, on asyncio.

    Args:
        environment: An `Environment`, or the properties themselves. Without a provider URL in it the provider is
            `HAContext`'s default.
        options: Keyword arguments of `HAContext`, which count more than the environment.

    Raises `ConfigurationError` where the provider URL names nothing that can be asked. What is dubious in the environment
    or has no effect is warned of.
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
