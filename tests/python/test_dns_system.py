"""The system's own configuration of name resolution, which is read again when it changes: in a place where it is ours."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from hanaming import HAContext, ServiceUnavailableError
from hanaming.testing import DnsZone
from moving_servers import Servers
from own_network import alone, needed
from waiting import until

pytestmark = needed()

NAME = "orders.test"


class NameServer:
    """A zone at the port at which a system asks: questions are handed on, and the answers back."""

    def __init__(self, host: str) -> None:
        self.zone = DnsZone()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            question, whose = self._socket.recvfrom(4096)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                asking.sendto(question, (self.zone.host, self.zone.port))
                self._socket.sendto(asking.recv(4096), whose)


class System:
    """This process's own /etc/resolv.conf and /etc/hosts."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self._resolver, self._hosts = folder / "resolv.conf", folder / "hosts"
        for own, shown in ((self._resolver, "/etc/resolv.conf"), (self._hosts, "/etc/hosts")):
            own.write_text("")
            subprocess.run(["/bin/mount", "--bind", own, shown], check=True)

    def ask(self, *servers: str) -> None:
        """These are asked from now on."""
        self._resolver.write_text("".join(f"nameserver {server}\n" for server in servers))

    def know(self, *addresses: str) -> None:
        """The name has these addresses, and nobody is asked for it."""
        self._hosts.write_text("".join(f"{address} {NAME}\n" for address in addresses))


@alone
def test_the_system_s_configuration_is_read_again_when_it_changes() -> None:
    system = System()
    with ExitStack() as stack:
        servers = Servers(stack)
        a, b, c = servers.start(2, 3, 4)
        first, second = NameServer("127.0.0.10"), NameServer("127.0.0.11")
        first.zone.set(NAME, [a])
        second.zone.set(NAME, [b])
        system.ask("127.0.0.10")
        with HAContext(f"hn://{NAME}:{servers.port}", follow_views=False) as ctx:
            assert ctx.lookup("where") == a
            system.ask("127.0.0.11")
            until(lambda: ctx.lookup("where") == b, "the other name server is asked")
            assert [target.host for target in ctx.targets] == [b]
            asked = len(first.zone.queries)
            system.ask()
            until(lambda: ctx.metrics.failed_refreshes > 0, "nobody is left to be asked")
            assert ctx.lookup("where") == b, "what was known stays"
            system.know(c)
            until(lambda: ctx.lookup("where") == c, "the hosts file is heeded")
            assert len(first.zone.queries) == asked


@alone
def test_without_name_servers_the_error_says_so() -> None:
    System()
    says = r"asked the hosts file alone \(/etc/resolv.conf names no name server\) for the addresses"
    with HAContext(f"hn://{NAME}:1") as ctx, pytest.raises(ServiceUnavailableError, match=says):
        ctx.lookup("x")
