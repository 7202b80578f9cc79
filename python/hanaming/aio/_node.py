"""`hanaming.aio.Node`: a server in this process, started and stopped without holding up the event loop."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, TypeVar

import hanaming
from hanaming import _native
from hanaming.exceptions import ContextClosedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
    from os import PathLike
    from types import TracebackType

    from typing_extensions import ParamSpec, Self

    from hanaming._native import AioContext, AioHAContext, Name
    from hanaming.records import CheckReport, View

    _P = ParamSpec("_P")

__all__ = ["Node", "Registration"]

_T = TypeVar("_T")


def _in_thread(fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> asyncio.Future[_T]:
    """Calls what waits in a thread of the loop's executor."""
    return asyncio.get_running_loop().run_in_executor(None, functools.partial(fn, *args, **kwargs))


class Registration:
    """An instance of a service, offered until it is closed: an asynchronous context manager, and awaitable.

    `registration = await node.register(...)` and `async with node.register(...)` both work, and so they do with a context.
    """

    def __init__(self, registering: Awaitable[hanaming.Registration]) -> None:
        self._registering = registering
        self._registration: hanaming.Registration | None = None

    @property
    def name(self) -> str:
        """The name that is bound, from the root."""
        if self._registration is None:
            message = "the registration is not made yet; await it"
            raise RuntimeError(message)
        return self._registration.name

    def aclose(self) -> asyncio.Future[None]:
        """Takes the instance back, if it is still what is bound there. Doing so again does nothing."""
        return asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        if self._registration is not None:
            await _in_thread(self._registration.close)

    def close(self) -> asyncio.Future[None]:
        """The same as `aclose`."""
        return self.aclose()

    async def _made(self) -> Self:
        if self._registration is None:
            self._registration = await self._registering
        return self

    def __await__(self) -> Generator[Any, None, Self]:
        return self._made().__await__()

    async def __aenter__(self) -> Self:
        return await self._made()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return "<Registration, not made yet>" if self._registration is None else repr(self._registration)


class Node:
    """One server of a cluster, in this process. It starts with `async with`, or with `await node.start()`.

    It listens on a free loopback port unless told otherwise; beyond loopback `insecure=True` is needed, as nothing is
    encrypted and nobody authenticated. `seeds` are addresses of nodes through which it meets the cluster. With
    `data_dir` (a folder of its own) it keeps the cluster tree on disk, and has it again when it is started again. With
    `mdns` it announces itself by multicast, by all interfaces or by `mdns_interface` alone, and clients find it as
    `hn+mdns://cluster`. Starting raises `ConfigurationError`, or `TimeLimitExceededError` where it can't join in time.
    """

    def __init__(
        self,
        name: str,
        *,
        listen: str = "127.0.0.1:0",
        advertise: str | None = None,
        seeds: Sequence[str] = (),
        cluster: str = "default",
        data_dir: str | PathLike[str] | None = None,
        mdns: bool = False,
        mdns_interface: str | None = None,
        insecure: bool = False,
    ) -> None:
        self._name = name
        self._make = functools.partial(
            hanaming.Node,
            name,
            listen=listen,
            advertise=advertise,
            seeds=seeds,
            cluster=cluster,
            data_dir=data_dir,
            mdns=mdns,
            mdns_interface=mdns_interface,
            insecure=insecure,
        )
        self._starting: asyncio.Future[hanaming.Node] | None = None
        self._node: hanaming.Node | None = None
        self._local: AioContext | None = None
        self._closed = False

    def start(self) -> asyncio.Future[Self]:
        """Starts the node; done when it serves. Doing so again does nothing."""
        return asyncio.ensure_future(self._start())

    async def _start(self) -> Self:
        if self._closed:
            message = f"node {self._name} is closed; make another one"
            raise ContextClosedError(message)
        if self._node is None:
            if self._starting is None:
                self._starting = _in_thread(self._make)
                self._starting.add_done_callback(self._started)
            # Who gives up waiting doesn't stop the thread: what it has started is closed with the node.
            await asyncio.shield(self._starting)
        return self

    def _started(self, starting: asyncio.Future[hanaming.Node]) -> None:
        self._starting = None
        if starting.cancelled() or starting.exception() is not None:
            return
        self._node = starting.result()

    def _running(self) -> hanaming.Node:
        if self._node is None:
            message = f"node {self._name} has not been started; use `async with`, or `await node.start()`"
            raise RuntimeError(message)
        return self._node

    @property
    def name(self) -> str:
        """Its name, unique in its cluster."""
        return self._name

    @property
    def address(self) -> str:
        """The address under which it is reached, as `host:port`, with the real port."""
        return self._running().address

    @property
    def url(self) -> str:
        """The same as a provider string."""
        return self._running().url

    @property
    def view(self) -> View:
        """The members as the node sees them: a `View`."""
        return self._running().view

    @property
    def local(self) -> AioContext:
        """Its local tree: a `Context`, in process."""
        if self._local is None:
            self._local = _native.aio_context_of(self._running(), local=True)
        return self._local

    def context(self) -> AioHAContext:
        """A new HA context that asks this node in process, without a network. Not awaited.

        It refuses (`ServiceUnavailableError`, completion `NO`) after `quiesce`, and raises `ContextClosedError` after
        `aclose`.
        """
        return _native.aio_context_of(self._running(), local=False)

    def register(
        self, name: str | Name, value: Any, *, weight: float = 1.0, metadata: Mapping[str, Any] | None = None
    ) -> Registration:
        """Offers a service until the registration is closed or the node ends.

        It binds `<name>/<node name>` in the local tree. `weight` is the instance's share relative to others', positive
        and finite; `metadata` a `dict` of values. Raises `NameAlreadyBoundError` where this node offers the service
        already, `ValueError` for a weight that is none, `TypeError` for what is no value.
        """
        return Registration(_in_thread(self._running().register, name, value, weight=weight, metadata=metadata))

    def forget(self, node: str) -> asyncio.Future[None]:
        """Says that a dead member never comes back: no node counts it any longer. One that is there is refused."""
        return _in_thread(self._running().forget, node)

    def check(self) -> asyncio.Future[CheckReport]:
        """What is dubious in the whole cluster: a `CheckReport`, falsy where nothing is."""
        return asyncio.ensure_future(self._check())

    async def _check(self) -> CheckReport:
        async with self.context() as context:
            return await context.check()

    def quiesce(self, *, timeout: float = 30.0) -> asyncio.Future[None]:
        """Leaves the cluster: refuses new requests, finishes those in flight, for at most `timeout` seconds.

        The node stays, and refuses, until it is closed. Raises `TimeLimitExceededError` where requests were cut.
        """
        return _in_thread(self._running().quiesce, timeout=timeout)

    def aclose(self) -> asyncio.Future[None]:
        """Ends the node at once. Doing so again does nothing."""
        return asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        self._closed = True
        if self._starting is not None:
            await asyncio.wait([self._starting])
        if self._node is not None:
            await _in_thread(self._node.close)

    def close(self) -> asyncio.Future[None]:
        """The same as `aclose`."""
        return self.aclose()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<aio.Node {self._name}, not started>" if self._node is None else f"<aio.{repr(self._node)[1:]}"

    def _repr_html_(self) -> str:
        return f"<p>Node {self._name}, not started</p>" if self._node is None else self._node._repr_html_()
