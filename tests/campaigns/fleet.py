"""Node processes at fixed addresses, to be killed, frozen, wiped and started again."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from hanaming import Context, HAContext, NamingError, NodeStatus

# Generous: a loaded machine is no failure.
LIMIT = 60.0


class FleetNode:
    """One `hanaming serve`, by way of `prefix` (`ip netns exec …`)."""

    def __init__(self, name: str, address: str, folder: Path, *, data: bool, prefix: Sequence[str] = ()) -> None:
        self.name = name
        self.address = address
        self.url = f"hn://{address}"
        self.is_up = False
        self._data = folder / name if data else None
        self._log = folder / f"{name}.log"
        self._prefix = prefix
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_running(self) -> bool:
        """Frozen or not."""
        return self._process is not None and self._process.poll() is None

    def launch(self, seeds: Iterable[str]) -> None:
        command = [*self._prefix, sys.executable, "-m", "hanaming", "serve", "--quiet", "--name", self.name]
        command += ["--listen", self.address, *(["--insecure"] if self._prefix else [])]
        if self._data is not None:
            command += ["--data-dir", str(self._data)]
        for seed in seeds:
            command += ["--seed", seed]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HANAMING_")}
        self._close_output()
        with self._log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)

    def wait_ready(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], LIMIT)
        line = self._process.stdout.readline() if readable else ""
        assert " ready on " in line, f"{self.name} did not start: {self._log.read_text(encoding='utf-8')[-4000:]}"
        self.is_up = True

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """`kill -9`."""
        self.is_up = False
        self.signal(signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        self.is_up = False
        assert self._process is not None
        return self._process.wait(LIMIT)

    def freeze(self) -> None:
        """SIGSTOP. Returns when it has stopped."""
        assert self._process is not None
        self.is_up = False
        self.signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)

    def wake(self) -> None:
        self.signal(signal.SIGCONT)
        self.is_up = True

    def wipe(self) -> None:
        """Loses its data, where it has any."""
        if self._data is not None:
            shutil.rmtree(self._data, ignore_errors=True)

    def end(self) -> None:
        if self.is_running:
            self.kill()
        self._close_output()

    def status(self, timeout: float = LIMIT) -> NodeStatus:
        with Context(self.url, timeout=timeout) as local:
            return local.status()

    def context(self, timeout: float = 10.0) -> HAContext:
        """Asks this node and no other."""
        return HAContext(self.url, timeout=timeout, follow_views=False)

    def dump(self) -> dict[str, Any]:
        """All names of its copy of the tree and their values; of a context an empty tuple."""
        found: dict[str, Any] = {}
        with self.context(LIMIT) as ctx:
            contexts = [""]
            while contexts:
                for binding in ctx.list_bindings(contexts.pop(), tree="cluster"):
                    is_context = binding.kind == "context"
                    found[binding.name] = () if is_context else binding.value
                    if is_context:
                        contexts.append(binding.name)
        return found

    def _close_output(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()


class Fleet:
    """The nodes of one cluster, each of which has all others for seeds."""

    def __init__(self, nodes: Iterable[FleetNode]) -> None:
        self.nodes = list(nodes)

    @classmethod
    def on_loopback(cls, folder: Path, count: int, *, data: bool) -> Self:
        """Nodes `n1`, `n2`, … at free ports, with data folders or without."""
        addresses = enumerate(_free_addresses(count), 1)
        return cls(FleetNode(f"n{number}", address, folder, data=data) for number, address in addresses)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node in self.nodes:
            node.end()

    @property
    def provider(self) -> list[str]:
        return [node.url for node in self.nodes]

    @property
    def up(self) -> list[FleetNode]:
        return [node for node in self.nodes if node.is_up]

    @property
    def down(self) -> list[FleetNode]:
        return [node for node in self.nodes if not node.is_running]

    def start(self, nodes: Iterable[FleetNode] | None = None) -> None:
        """Starts nodes at the same moment: all, or those that are given."""
        starting = list(self.nodes if nodes is None else nodes)
        for node in starting:
            node.launch(other.address for other in self.nodes if other is not node)
        for node in starting:
            node.wait_ready()

    def settled(self) -> str:
        """Waits until all that are up are in one view and have equal trees, whose digest it gives."""
        names = {node.name for node in self.up}
        digests: set[str] = set()

        def equal() -> bool:
            said = [node.status() for node in self.up]
            digests.clear()
            digests.update(one.tree.digest for one in said)
            views = [{member.name for member in one.members if member.state == "live"} for one in said]
            return all(view == names for view in views) and len(digests) == 1

        until(equal, "one view and equal trees")
        return digests.pop()


def until(condition: Callable[[], bool], what: str, within: float = LIMIT) -> None:
    """Returns when the condition holds. Nodes that do not answer yet do not fulfil it."""
    end = time.monotonic() + within
    while True:
        try:
            if condition():
                return
        except NamingError as error:
            what = f"{what} ({error})"[:500]
        assert time.monotonic() < end, f"not within {within:g} s: {what}"
        time.sleep(0.02)


def _free_addresses(count: int) -> list[str]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [f"127.0.0.1:{probe.getsockname()[1]}" for probe in probes]
    finally:
        for probe in probes:
            probe.close()
