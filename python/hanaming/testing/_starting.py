"""How a cluster's nodes come up behind their relays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanaming import NamingError
from hanaming.testing._running import InProcess, free_port, is_taken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hanaming.testing._relays import Relays
    from hanaming.testing._running import Running

# Between the moment when a port is drawn and the one when the node opens it somebody else may take it.
TRIES = 5


class Starting:
    """One node that starts. Made, it has been launched."""

    def __init__(self, relays: Relays, name: str, running: Running, seeds: Sequence[str]) -> None:
        self._relays = relays
        self._name = name
        self._running = running
        self._seeds = seeds
        self._tries = 0
        self._port = 0
        self._launch()

    def wait_ready(self) -> None:
        """Returns when it serves. Where it doesn't, its relay refuses, and the error says why."""
        while not self._does(self._running.wait_ready):
            self._launch()

    def _launch(self) -> None:
        while not self._does(self._launch_once):
            pass

    def _does(self, step: Callable[[], None]) -> bool:
        """Whether it went well; `False` where another try helps."""
        try:
            step()
        except (NamingError, RuntimeError):
            self._tries += 1
            if self._tries < TRIES and self._port and is_taken(self._port):
                return False
            self._relays.break_off(self._name)
            raise
        return True

    def _launch_once(self) -> None:
        if isinstance(self._running, InProcess) and not self._seeds:
            # Nobody dials it before it serves, and a node that draws its own port founds a cluster without waiting.
            self._running.launch(0, ())
            self._port = self._running.port
            self._relays.open(self._name, self._port)
            return
        # The others dial it while it joins, so its relay must know its port beforehand.
        self._port = free_port()
        self._relays.open(self._name, self._port)
        self._running.launch(self._port, self._seeds)
