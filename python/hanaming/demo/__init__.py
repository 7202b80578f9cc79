"""What `hanaming demo` runs: three node processes, a shop's catalogue, clients, and three faults.

It uses nothing but the installed package and its public face, so it is an example too: `processes` runs nodes,
`catalogue` knows what is bound where, `clients` look names up and time it, `story` is the order of events, `report`
the tables.
"""

from __future__ import annotations

from .story import run

__all__ = ["run"]
