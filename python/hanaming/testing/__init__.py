"""Faults for tests, without root and without anything to install.

`FaultProxy` stands in front of any TCP service and breaks what passes on demand: a refused connection, a silence, a
slow answer, an answer that is lost after the request ran. `DnsZone` is a name server that answers from a zone which the
test writes, or fails.

    from hanaming.testing import FaultProxy

    with FaultProxy("127.0.0.1:8080") as proxy:
        proxy.drop_response(times=1)
        call_service(proxy.address)       # the request runs, its answer is lost
"""

from __future__ import annotations

from hanaming.testing.dns import DnsFailure, DnsQuery, DnsZone
from hanaming.testing.proxy import FaultProxy

__all__ = ["DnsFailure", "DnsQuery", "DnsZone", "FaultProxy"]
