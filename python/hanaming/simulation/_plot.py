"""The picture: the share of each server over time, one field for each simulation, with matplotlib."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Protocol

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from hanaming.simulation._record import Record
    from hanaming.types import DnsRefresh

# Told apart also by those who don't see all colours (Okabe and Ito), and light enough for black on them.
_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#0072B2", "#D55E00", "#999999")
_WORDS = {
    "on_empty": "resolved again when nobody is left",
    "ttl": "resolved when the time to live ends",
    "always": "resolved on each connection, too",
}
_NAMED = 8
"""So many servers are named beside the picture."""


def _png(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    return drawn.getvalue()


_Picture = type("_Picture", (Figure,), {"_repr_png_": _png})
"""A figure of its own, known to no window and no notebook's backend: so it shows itself."""


class Shares(Protocol):
    """What is drawn of a simulation."""

    dns_refresh: DnsRefresh
    servers: list[str]
    records: list[Record]


def draw(simulations: Sequence[Shares]) -> Figure:
    """One field for each, beside each other, with one scale."""
    figure: Figure = _Picture(figsize=(1.2 + 4.4 * len(simulations), 3.4), layout="constrained")
    fields = figure.subplots(1, len(simulations), sharey=True, squeeze=False)[0]
    for field, simulation in zip(fields, simulations, strict=True):
        _fill(field, simulation)
    fields[0].set_ylabel("share of the calls")
    fields[0].yaxis.set_major_formatter(PercentFormatter(1.0))
    handles, labels = fields[0].get_legend_handles_labels()
    figure.legend(handles[:_NAMED], labels[:_NAMED], loc="outside right center", frameon=False)
    return figure


def _fill(field: Axes, simulation: Shares) -> None:
    servers = simulation.servers
    days = [record["day"] for record in simulation.records[:: len(servers)]]
    shares = [[record["share"] for record in simulation.records if record["server"] == server] for server in servers]
    colours = [_COLOURS[number % len(_COLOURS)] for number in range(len(servers))]
    field.stackplot(days, shares, labels=servers, colors=colours, step="post", linewidth=0)
    field.set_xlim(days[0], days[-1] if len(days) > 1 else 1)
    field.set_ylim(0, 1)
    field.set_xlabel("days")
    mode = simulation.dns_refresh
    words = _WORDS.get(str(mode), f"resolved every {mode} s")
    field.set_title(f"dns_refresh={mode!r}\n{words}", fontsize="medium")
