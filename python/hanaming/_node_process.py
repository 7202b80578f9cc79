"""A node process: started, broken and ended by its process id. The demo and `hanaming.testing` have theirs so."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Generous: a loaded machine is no failure.
START_LIMIT = 60.0


class NodeProcess:
    """One `hanaming serve` of this interpreter. A node that is started again keeps its name, address and data."""

    def __init__(self, name: str, data_dir: Path | None, advertise: str | None = None) -> None:
        self.name = name
        self._data_dir = data_dir
        self._advertise = advertise
        self.address = "127.0.0.1:0"
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`

    @property
    def url(self) -> str:
        """What a context takes as its provider."""
        return f"hn://{self.address}"

    @property
    def pid(self) -> int:
        """The process."""
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process is not None and self._process.poll() is None

    def launch(self, seeds: Sequence[str] = (), listen: str | None = None) -> None:
        """Starts the process, which serves when it has met the others; where it was before, unless told otherwise."""
        command = [sys.executable, "-m", "hanaming._node_program", str(os.getpid())]
        command += ["serve", "--quiet", "--name", self.name, "--listen", listen or self.address]
        command += ["--data-dir", str(self._data_dir)] if self._data_dir else []
        command += ["--advertise", self._advertise] if self._advertise else []
        for seed in seeds:
            command += ["--seed", seed]
        # What an operator has set for nodes of their own does not concern these.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HANAMING_")}
        self._close_output()
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, env=environment
        )

    def wait_ready(self) -> None:
        """Returns when it serves."""
        self.address = self._ready_line().rsplit(" ", 1)[-1]

    def kill(self) -> None:
        """`kill -9`: no goodbye."""
        self._running().kill()
        self._running().wait(10)

    def freeze(self) -> None:
        """SIGSTOP: its connections stay open and nothing answers. Returns when it has stopped.

        One of its threads takes the signal, when it's its turn to run, and stops the others: on a busy machine the
        process answers for a while after the signal was sent.
        """
        self._running().send_signal(signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def wake(self) -> None:
        """SIGCONT."""
        self._running().send_signal(signal.SIGCONT)

    def quiesce(self) -> int:
        """SIGTERM: it finishes what runs, leaves and ends; its exit status."""
        self._running().terminate()
        return self._running().wait(40)

    def end(self) -> None:
        """Ends it in whatever state it is."""
        if self._process is not None and self.is_running:
            self._process.kill()  # a stopped process dies of it too
            self._process.wait(10)
        self._close_output()
        self._log.close()

    def _close_output(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            msg = f"{self.name} was not started"
            raise RuntimeError(msg)
        return self._process

    def _ready_line(self) -> str:
        output, text = self._running().stdout, b""
        stdout = output.fileno() if output else -1
        end = time.monotonic() + START_LIMIT
        while not text.endswith(b"\n"):
            readable, _, _ = select.select([stdout], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(stdout, 4096) if readable else b""
            if not piece:
                raise RuntimeError(self._why_not())
            text += piece
        return text.decode().strip()

    def _why_not(self) -> str:
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip()
        return f"node {self.name} did not start within {START_LIMIT:.0f} s. It said:\n{said or '(nothing)'}"
