"""A client of an HTTP service that has two servers. It knows nothing of hanaming."""

from __future__ import annotations

from collections.abc import Sequence

import httpx


class UnknownOutcomeError(Exception):
    """The order may have been taken."""


class Catalogue:
    """Reads from whichever server answers; orders once."""

    def __init__(self, servers: Sequence[str], *, timeout: float = 5.0) -> None:
        self._servers = servers
        self._timeout = timeout

    def read(self, article: str) -> str:
        for server in self._servers[:-1]:
            try:
                return self._read(server, article)
            except httpx.TransportError:
                continue
        return self._read(self._servers[-1], article)

    def order(self, article: str) -> None:
        for server in self._servers:
            try:
                httpx.post(f"http://{server}/{article}", timeout=self._timeout).raise_for_status()
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except httpx.TransportError as error:
                raise UnknownOutcomeError(article) from error
            return
        raise ConnectionRefusedError(f"nobody takes orders: {', '.join(self._servers)}")

    def _read(self, server: str, article: str) -> str:
        return httpx.get(f"http://{server}/{article}", timeout=self._timeout).raise_for_status().text
