"""`hanaming.aio.Balancer`: balancing and failover for calls that are made with any asyncio library."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, TypeVar, overload

from hanaming._balancing.block import Block, Loop
from hanaming._balancing.face import Face
from hanaming._balancing.told import OfTasks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Concatenate

    from typing_extensions import ParamSpec, Self

    from hanaming.records import Target

    _P = ParamSpec("_P")

_T = TypeVar("_T")

__all__ = ["AttemptBlock", "AttemptLoop", "Balancer"]

# A wait for a server is rare and short (a name is being resolved, every server has just refused), so it looks again
# after a moment, which grows, instead of having a descriptor of every loop watched for it.
_FIRST_LOOK = 0.001
_LAST_LOOK = 0.02


class Balancer(Face):
    """Calls some server of many, and another one where a call did not run. The asyncio twin of `hanaming.Balancer`.

        async for attempt in balancer.attempts(idempotent=True):
            async with attempt as target:
                reply = await client.get(f"http://{target}/orders", timeout=1)

    `source` is a list of addresses, `"dns://orders.prod:8080"`, `"srv://_http._tcp.orders.prod"`, a `Reference`, or
    `ctx.service("orders")`; it, `policy`, `dns_refresh`, `dns_servers` and `timeout` are those of `hanaming.Balancer`. It may be used on any number of event loops. A
    cancelled call is no failure of its target: it comes out at once.
    """

    _last = OfTasks

    def attempts(self, *, idempotent: bool = False, value: bool = False) -> AttemptLoop:
        """One call: a loop over its attempts, each of them a block whose target is to be called.

        What a block raises is judged by `hanaming.classify`. The loop goes on with another target where the call did not
        run, and where it may have run and is `idempotent`; else what was raised comes out as it is, with its attempts. An
        exception of the application's own comes out at once. A call that ran and lost its reply ends the loop as if it
        had succeeded, unless its `value` is needed.
        """
        return AttemptLoop(self._series(idempotent=idempotent, value=value))

    @overload
    async def call(
        self, fn: Callable[Concatenate[Target, _P], Awaitable[_T]], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> _T: ...
    @overload
    async def call(self, fn: Callable[Concatenate[Target, _P], _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T: ...
    async def call(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """What `fn(target, *args, **kwargs)` gives, awaited where it can be; as a loop over `attempts(value=True)`."""
        async for attempt in self.attempts(value=True):
            async with attempt as target:
                given = fn(target, *args, **kwargs)
                return await given if inspect.isawaitable(given) else given
        raise AssertionError("a call ends with its value or its failure")

    async def aclose(self) -> None:
        """Ends it: later calls raise `ContextClosedError`."""
        self._core.close()

    def close(self) -> asyncio.Future[None]:
        """The same as `aclose`."""
        return asyncio.ensure_future(self.aclose())

    async def __aenter__(self) -> Self:
        return self._opened()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class AttemptLoop(Loop):
    """The attempts of one call."""

    __slots__ = ()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AttemptBlock:
        number = self._series.offer()
        if number is None:
            raise StopAsyncIteration
        return AttemptBlock(self._series, number)


class AttemptBlock(Block):
    """One attempt: `async with attempt as target:` gives the target to call."""

    __slots__ = ()

    async def __aenter__(self) -> Target:
        self._series.enter(self.number)
        calling, look = self._series.calling, _FIRST_LOOK
        try:
            while isinstance(given := calling.poll(), float):
                await asyncio.sleep(min(given, look))
                look = min(2 * look, _LAST_LOOK)
        except BaseException:
            self._series.end()
            raise
        return self._series.entered(given)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        return self._series.leave(error)
