"""etcd, to measure against: three servers, and the one call of its that is a bind (create if absent).

The requests are written by hand: two messages of its protocol need no generated code, and no client library's cost
comes on top of gRPC's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from servers import free_port, wait_for_port

PUT = "/etcdserverpb.KV/Put"
TXN = "/etcdserverpb.KV/Txn"


def why_not() -> str | None:
    """What is missing to run it."""
    if program() is None:
        return "etcd is not there (`make bench` fetches Debian's; or apt-get install etcd-server)"
    try:
        import grpc  # noqa: F401
    except ImportError:
        return "grpcio is not installed"
    return None


def program() -> str | None:
    """The one that `make bench` fetched, or the system's."""
    return os.environ.get("HANAMING_ETCD") or shutil.which("etcd")


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[list[str]]:
    """Three servers of one cluster; their addresses, the leader's first."""
    names = ["e1", "e2", "e3"]
    peers, clients = ({name: f"http://127.0.0.1:{free_port()}" for name in names} for _ in range(2))
    processes = []
    try:
        for name in names:
            command = [str(program()), "--name", name, "--data-dir", str(folder / name), "--logger", "zap"]
            command += ["--log-level", "error", "--initial-cluster-state", "new"]
            command += ["--listen-peer-urls", peers[name], "--initial-advertise-peer-urls", peers[name]]
            command += ["--listen-client-urls", clients[name], "--advertise-client-urls", clients[name]]
            command += ["--initial-cluster", ",".join(f"{one}={peers[one]}" for one in names)]
            processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        addresses = [url.removeprefix("http://") for url in clients.values()]
        for address in addresses:
            wait_for_port(int(address.rpartition(":")[2]))
        yield _leader_first(addresses)
    finally:
        for process in processes:
            process.kill()
            process.wait(10)


def _leader_first(addresses: list[str]) -> list[str]:
    """The leader's member id is its own (`StatusResponse`: header.member_id = 1.2, leader = 4)."""
    import grpc

    def is_leader(address: str) -> bool:
        with grpc.insecure_channel(address) as channel:
            status = channel.unary_unary("/etcdserverpb.Maintenance/Status")(b"", timeout=10, wait_for_ready=True)
        fields = dict(_fields(status))
        return dict(_fields(fields[1])).get(2) == fields.get(4)

    return sorted(addresses, key=is_leader, reverse=True)


def binder(channel: object) -> Callable[[str, str], object]:
    """A call that creates a key, as `bind` does."""
    call = channel.unary_unary(TXN)  # type: ignore[attr-defined]
    return lambda key, value: call(create(key, value), timeout=10)


def create(key: str, value: str) -> bytes:
    """`TxnRequest`: where the key's version is 0, put it."""
    compare = _bytes(3, key.encode()) + _number(4, 0)
    return _bytes(1, compare) + _bytes(2, _bytes(2, put(key, value)))


def put(key: str, value: str) -> bytes:
    """`PutRequest`."""
    return _bytes(1, key.encode()) + _bytes(2, value.encode())


def _bytes(field: int, content: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3]) + _varint(value)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message; of a nested one its bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            length = varint()
            yield tag >> 3, message[at : at + length]
            at += length
