"""The connections that this process has, as the kernel lists them."""

from __future__ import annotations

import socket
from pathlib import Path

ESTABLISHED = "01"


def connections_to(host: str, port: int | str) -> set[int]:
    """The local ports of the connections from here to there."""
    packed = socket.inet_aton(host)[::-1].hex().upper()
    there = f"{packed}:{int(port):04X}"
    rows = [line.split() for line in Path("/proc/self/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[2] == there and row[3] == ESTABLISHED}
