"""Client threads that write into the cluster tree, and remember what was acknowledged."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from hanaming import NamingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

    from hanaming import HAContext

_PAUSE = 0.002


class Writers:
    """Threads that share one HA context: each binds names of its own, and binds every other one anew."""

    def __init__(self, context: HAContext, threads: int) -> None:
        self.acknowledged: dict[str, int] = {}
        self.failures: list[str] = []
        self._context = context
        self._gaps: list[float] = []
        self._stop = threading.Event()
        self._turns = [threading.Lock() for _ in range(threads)]
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(threads)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        for thread in self._threads:
            thread.join(30)

    def stop(self) -> None:
        """Nothing is begun any more."""
        self._stop.set()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is written meanwhile, and nothing is under way."""
        with contextlib.ExitStack() as held:
            for turn in self._turns:
                held.enter_context(turn)
            yield

    def take_gaps(self) -> list[float]:
        """How long each write took that was acknowledged since the last call."""
        taken, self._gaps = self._gaps, []
        return taken

    def _run(self, writer: int) -> None:
        number = 0
        while not self._stop.wait(_PAUSE):
            with self._turns[writer]:
                if self._stop.is_set():
                    return
                name = f"orders/{writer}/{number}"
                self._write(name, number, again=False)
                if number % 2:
                    self._write(name, -number, again=True)
            number += 1

    def _write(self, name: str, value: int, *, again: bool) -> None:
        write = self._context.rebind if again else self._context.bind
        began = time.monotonic()
        try:
            write(name, value, create_parents=True)
        except NamingError as error:
            self.failures.append(f"{name}: {type(error).__name__}: {error}")
        else:
            self._gaps.append(time.monotonic() - began)
            self.acknowledged[name] = value
