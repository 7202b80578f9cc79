"""Nodes on hosts of their own, as far as the network knows: a network namespace each, on one bridge.

What a firewall drops is lost, as on a real network: connections hang, and nobody is told. It takes root, `ip` and `nft`.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from fleet import Fleet, FleetNode


def why_not() -> str | None:
    """What is missing here."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [program for program in ("ip", "nft") if shutil.which(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (apt-get install iproute2 nftables)"
    tried = subprocess.run(["ip", "netns", "add", _name("try")], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"network namespaces cannot be made here: {tried.stderr.strip()}"
    _run("ip", "netns", "del", _name("try"))
    return None


class Namespaces:
    """So many namespaces, and a fleet with a node in each."""

    def __init__(self, folder: Path, count: int) -> None:
        self._network = f"10.{random.randint(160, 250)}.{random.randint(1, 250)}"
        self._hosts = range(1, count + 1)
        self._undo = ExitStack()
        self.fleet = Fleet(
            FleetNode(f"n{host}", f"{self._address(host)}:11100", folder, data=False, prefix=_within(host))
            for host in self._hosts
        )

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            bridge = _name("br")
            self._make(undo, ["ip", "link", "add", bridge, "type", "bridge"], ["ip", "link", "del", bridge])
            _run("ip", "address", "add", f"{self._network}.254/24", "dev", bridge)
            _run("ip", "link", "set", bridge, "up")
            for host in self._hosts:
                self._make(undo, ["ip", "netns", "add", _name(host)], ["ip", "netns", "del", _name(host)])
                inner, outer = "eth0", _name(f"v{host}")
                pair = ["ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", _name(host)]
                self._make(undo, pair, ["ip", "link", "del", outer])
                _run("ip", "link", "set", outer, "master", bridge, "up")
                _run(*_within(host), "ip", "address", "add", f"{self._address(host)}/24", "dev", inner)
                _run(*_within(host), "ip", "link", "set", inner, "up")
                _run(*_within(host), "ip", "link", "set", "lo", "up")
                _run(*_within(host), "nft", "add table inet split")
                _run(*_within(host), "nft", "add chain inet split input { type filter hook input priority 0; }")
            undo.enter_context(self.fleet)
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()

    def drop(self, senders: Iterable[FleetNode], receivers: Iterable[FleetNode]) -> None:
        """Nothing that these send reaches those."""
        sources = ", ".join(sender.address.partition(":")[0] for sender in senders)
        for receiver in receivers:
            _run(*_within(self._host(receiver)), "nft", f"add rule inet split input ip saddr {{ {sources} }} drop")

    def heal(self) -> None:
        """Everything gets through again."""
        for host in self._hosts:
            _run(*_within(host), "nft", "flush chain inet split input")

    def _host(self, node: FleetNode) -> int:
        return self.fleet.nodes.index(node) + 1

    def _address(self, host: int) -> str:
        return f"{self._network}.{host}"

    @staticmethod
    def _make(undo: ExitStack, command: list[str], opposite: list[str]) -> None:
        _run(*command)
        undo.callback(subprocess.run, opposite, check=False, capture_output=True)


def _name(what: object) -> str:
    # Names of interfaces have 15 characters.
    return f"hn{os.getpid() % 1_000_000}{what}"


def _within(host: int) -> list[str]:
    return ["ip", "netns", "exec", _name(host)]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
