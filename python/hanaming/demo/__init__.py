"""What `hanaming demo` runs: three node processes, a shop's catalogue, clients, and faults.

It uses nothing but the installed package and its public face, so it is an example too: `processes` runs nodes on a
`stage`; in the first act, `local_trees`, `clients` look up what the `catalogue` binds where; in the second,
`shared_tree`, `writers` write into the cluster tree; `report` has the tables, and `story` puts all in order.
"""

from __future__ import annotations

from .story import run

__all__ = ["run"]
