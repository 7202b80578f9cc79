"""The pytest plugin: the faults of this package as fixtures. pytest finds it by itself where hanaming is installed.

All fixtures are plain ones, also that of the asyncio client, which belongs to no event loop before its first call: so
they work beside pytest-asyncio, anyio and pytest-xdist, and under any loop. What they need is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from hanaming import HAContext, aio
    from hanaming.testing import Cluster, DnsZone, FaultProxy

MARKER = "hanaming(nodes=3, data=False, processes=False): what cluster the fixture hanaming_cluster makes for a test."
OPTIONS = {"nodes", "data", "processes"}
# What a failing test's report shows: titles, and who tells the text.
SHOWN = pytest.StashKey[list[tuple[str, "Callable[[], str]"]]]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows with a failing test how its cluster, servers and proxies stand, before they are closed."""
    report = yield
    if report.failed and report.when == "call":
        for title, tell in item.stash.get(SHOWN, []):
            report.sections.append((title, _told(tell)))
    return report


@pytest.fixture
def hanaming_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster of three nodes, or what the marker says: `@pytest.mark.hanaming(nodes=5, data=True, processes=True)`."""
    from hanaming.testing import Cluster

    with Cluster(**_wanted(request)) as cluster:
        _show(request, "hanaming: the cluster", cluster.report)
        yield cluster


@pytest.fixture
def hanaming_client(hanaming_cluster: Cluster) -> HAContext:
    """An HA context on all nodes of the cluster; it is closed with the test."""
    return hanaming_cluster.client()


@pytest.fixture
def hanaming_aclient(hanaming_cluster: Cluster) -> aio.HAContext:
    """The same for asyncio, to be awaited in the test, on whatever loop runs there."""
    return hanaming_cluster.aclient()


@pytest.fixture
def hanaming_dns(request: pytest.FixtureRequest) -> Iterator[DnsZone]:
    """A name server with an empty zone."""
    from hanaming.testing import DnsZone

    with DnsZone() as zone:

        def tell() -> str:
            asked = [f"{query.name} {query.kind} over {query.transport}" for query in zone.queries[-10:]]
            return "\n".join([repr(zone), *asked])

        _show(request, "hanaming: the name server, and what it was asked last", tell)
        yield zone


@pytest.fixture
def fault_proxy(request: pytest.FixtureRequest) -> Iterator[Callable[..., FaultProxy]]:
    """A maker of proxies, as `FaultProxy` itself, that are closed with the test: as many as it needs."""
    from contextlib import ExitStack

    from hanaming.testing import FaultProxy

    with ExitStack() as stack:

        def made(*args: Any, **options: Any) -> FaultProxy:
            proxy = stack.enter_context(FaultProxy(*args, **options))
            _show(request, "hanaming: a proxy", lambda: repr(proxy))
            return proxy

        yield made


def _wanted(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the markers say, the closest one first in each option."""
    found: dict[str, Any] = {}
    for marker in request.node.iter_markers("hanaming"):
        if marker.args or marker.kwargs.keys() - OPTIONS:
            given = ", ".join([*map(repr, marker.args), *marker.kwargs])
            raise pytest.UsageError(f"@pytest.mark.hanaming takes nodes=, data= and processes=, not: {given}")
        found = {**marker.kwargs, **found}
    return found


def _show(request: pytest.FixtureRequest, title: str, tell: Callable[[], str]) -> None:
    request.node.stash.setdefault(SHOWN, []).append((title, tell))


def _told(tell: Callable[[], str]) -> str:
    try:
        return tell()
    except Exception as error:  # noqa: BLE001 - whatever it is, the test's own failure is what matters
        return f"could not be told: {error!r}"
