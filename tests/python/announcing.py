"""DNS-SD as an independent implementation has it: python-zeroconf, which finds nodes and announces what we want."""

from __future__ import annotations

import ipaddress
from types import TracebackType

from typing_extensions import Self
from zeroconf import ServiceBrowser, ServiceInfo, ServiceListener, Zeroconf

SERVICE = "_hanaming._tcp.local."


class Neighbour(ServiceListener):
    """Somebody on the network who knows what is announced, and announces."""

    def __init__(self, *interfaces: str) -> None:
        self._zeroconf = Zeroconf(interfaces=list(interfaces or ["127.0.0.1"]))
        self.found: dict[str, ServiceInfo] = {}
        """Who is announced now, by the node's name."""
        self._names: dict[str, str] = {}
        self._browser = ServiceBrowser(self._zeroconf, SERVICE, self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zeroconf.close()

    def announce(
        self, instance: str, address: str, port: int, *, cluster: str | None = "default", host: str | None = None
    ) -> ServiceInfo:
        """Announces a server, whatever is there."""
        info = ServiceInfo(
            SERVICE,
            f"{instance}.{SERVICE}",
            port,
            properties={} if cluster is None else {"cluster": cluster},
            server=f"{host or instance}.local.",
            addresses=[ipaddress.ip_address(address).packed],
        )
        # Names are not asked for first, as that takes a second.
        self._zeroconf.register_service(info, cooperating_responders=True)
        return info

    def withdraw(self, info: ServiceInfo) -> None:
        """Says goodbye."""
        self._zeroconf.unregister_service(info)

    def add_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        info = zc.get_service_info(type_, name)
        if info is not None:
            node = (info.properties.get(b"node") or b"").decode()
            self._names[name] = node
            self.found[node] = info

    def update_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.add_service(zc, type_, name)

    def remove_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.found.pop(self._names.pop(name, ""), None)
