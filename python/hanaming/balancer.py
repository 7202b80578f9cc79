"""`Balancer`: balancing and failover for calls that are made with any library."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hanaming._balancing.block import Block, Loop
from hanaming._balancing.face import Face

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Concatenate

    from typing_extensions import ParamSpec, Self

    from hanaming.records import Target

    _P = ParamSpec("_P")

_T = TypeVar("_T")

__all__ = ["AttemptBlock", "AttemptLoop", "Balancer"]


class Balancer(Face):
    """Calls some server of many, and another one where a call did not run.

        for attempt in balancer.attempts(idempotent=True):
            with attempt as target:
                reply = httpx.get(f"http://{target}/orders", timeout=1)

    `source` is a list of addresses (`["a:8080", "b:8080"]`, or one text with commas; a host name stands for all its
    addresses), `"dns://orders.prod:8080"` for all that a name resolves to, `"srv://_http._tcp.orders.prod"` for whatever
    its SRV records list, a `Reference` that was looked up, or `ctx.service("orders")`. Names are resolved again in the
    background as `dns_refresh` says (`"ttl"`, `"always"`, `"on_empty"` or a number of seconds), by `dns_servers`, a list of
    name servers' addresses, instead of the system's. `timeout` covers all attempts of a call, in
    seconds: no attempt is begun after it, and each call's own time limit is the program's to set. `policy` is one of an
    `HAContext`'s. Nothing is dialled but to find out whether a failed server takes connections again.

    Raises `ConfigurationError` for a source that names no server.
    """

    def attempts(self, *, idempotent: bool = False, value: bool = False) -> AttemptLoop:
        """One call: a loop over its attempts, each of them a block whose target is to be called.

        What a block raises is judged by `hanaming.classify`. The loop goes on with another target where the call did not
        run, and where it may have run and is `idempotent`; else what was raised comes out as it is, with its attempts. An
        exception of the application's own comes out at once. A call that ran and lost its reply ends the loop as if it
        had succeeded, unless its `value` is needed.
        """
        return AttemptLoop(self._series(idempotent=idempotent, value=value))

    def call(self, fn: Callable[Concatenate[Target, _P], _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """What `fn(target, *args, **kwargs)` gives, called until it does; as a loop over `attempts(value=True)`."""
        series = self._series(idempotent=False, value=True)
        while (number := series.offer()) is not None:
            with AttemptBlock(series, number) as target:
                return fn(target, *args, **kwargs)
        raise AssertionError("a call ends with its value or its failure")

    def close(self) -> None:
        """Ends it: later calls raise `ContextClosedError`."""
        self._core.close()

    def __enter__(self) -> Self:
        return self._opened()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AttemptLoop(Loop):
    """The attempts of one call."""

    __slots__ = ()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AttemptBlock:
        number = self._series.offer()
        if number is None:
            raise StopIteration
        return AttemptBlock(self._series, number)


class AttemptBlock(Block):
    """One attempt: `with attempt as target:` gives the target to call."""

    __slots__ = ()

    def __enter__(self) -> Target:
        self._series.enter(self.number)
        try:
            target = self._series.calling.next()
        except BaseException:
            self._series.end()
            raise
        return self._series.entered(target)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        return self._series.leave(error)
