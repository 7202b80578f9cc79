"""Faults for tests, without root and without anything to install.

`Cluster` is a whole cluster whose nodes can be killed, paused, restarted and parted; `FaultProxy` stands in front of any
TCP service and breaks what passes; `DnsZone` is a name server that answers from a zone which the test writes, or fails.
All are plain context managers, for any test framework and for none. For pytest there are fixtures, which come with the
package: `hanaming_cluster`, `hanaming_client`, `hanaming_aclient`, `hanaming_dns`, `fault_proxy`.

    from hanaming.testing import Cluster

    with Cluster(3) as cluster:
        client = cluster.client()
        client.bind("orders", "http://10.0.0.5:8080")
        cluster[0].kill()
        assert client.lookup("orders") == "http://10.0.0.5:8080"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from hanaming.testing.checks import assert_applied_once, assert_balanced, wait_converged
    from hanaming.testing.cluster import Cluster
    from hanaming.testing.dns import DnsFailure, DnsQuery, DnsZone
    from hanaming.testing.node import ClusterNode, NodeState
    from hanaming.testing.proxy import FaultProxy

__all__ = [
    "Cluster",
    "ClusterNode",
    "DnsFailure",
    "DnsQuery",
    "DnsZone",
    "FaultProxy",
    "NodeState",
    "assert_applied_once",
    "assert_balanced",
    "wait_converged",
]


def __getattr__(name: str) -> object:
    """Imports what is asked for, once.

    pytest imports this package at each of its starts, for the plugin's sake: whoever uses no fixture of it waits for
    nothing.
    """
    home: ModuleType
    if name == "Cluster":
        from hanaming.testing import cluster as home
    elif name in {"ClusterNode", "NodeState"}:
        from hanaming.testing import node as home
    elif name in {"DnsFailure", "DnsQuery", "DnsZone"}:
        from hanaming.testing import dns as home
    elif name == "FaultProxy":
        from hanaming.testing import proxy as home
    elif name in __all__:
        from hanaming.testing import checks as home
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(home, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
