"""What a simulation shows: the share of each server over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hanaming._native import simulate as _simulate
from hanaming._show import counted, table
from hanaming.simulation._record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Self

    from hanaming.records import Metrics
    from hanaming.types import DnsRefresh

_DAY = 24 * 60 * 60.0
# What a program that remembers addresses for good does, and what one here does by itself.
_OLD: Final = "on_empty"
_OURS: Final = "ttl"


class Simulation:
    """What came of `simulate`: `records` for pandas, `plot()` for the eye."""

    records: list[Record]
    """A row for each server and slice of the time: `pandas.DataFrame(result.records)`."""
    metrics: Metrics
    """What all clients together have counted: refreshes, failed ones, moves."""
    most_moves: int
    """The most moves that one context made."""
    contexts: dict[str, int]
    """How many contexts had their last call answered by each server."""

    def __init__(
        self,
        given: dict[str, Any],
        slices: list[tuple[float, list[int], int, list[bool]]],
        metrics: Metrics,
        most_moves: int,
        contexts: list[int],
    ) -> None:
        self._given = given
        self.dns_refresh: DnsRefresh = given["dns_refresh"]
        self.servers = [f"s{number + 1}" for number in range(len(contexts))]
        self.metrics = metrics
        self.most_moves = most_moves
        self.contexts = dict(zip(self.servers, contexts, strict=True))
        self.records = [
            Record(
                time=at,
                day=at / _DAY,
                server=server,
                up=is_up,
                calls=calls,
                share=calls / (sum(answered) or 1),
                failed=failed,
                dns_refresh=str(self.dns_refresh),
            )
            for at, answered, failed, up in slices
            for server, calls, is_up in zip(self.servers, answered, up, strict=True)
        ]

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return sum(record["calls"] for record in self.records)

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return sum(record["failed"] for record in self.records[:: len(self.servers)])

    @property
    def final(self) -> dict[str, float]:
        """The share of each server in the last slice."""
        return {record["server"]: record["share"] for record in self.records[-len(self.servers) :]}

    @property
    def worst(self) -> float:
        """The largest share that a server had in any slice in which calls were answered."""
        return max(record["share"] for record in self.records)

    def again(self, *, dns_refresh: DnsRefresh) -> Simulation:
        """The same in another mode: same servers, same restarts, same seed."""
        given = {**self._given, "dns_refresh": dns_refresh}
        return Simulation(given, *_simulate(given))

    def plot(self, beside: Self | bool = True) -> Figure:  # noqa: FBT002 - `plot(False)` is not what anybody writes
        """Draws the share of each server over time, for matplotlib's `savefig` or a notebook.

        Args:
            beside: What to draw next to it: the same in the old mode, `"on_empty"` (or in the new one, `"ttl"`, if this
                is the old one), another simulation, or nothing.

        Raises:
            ImportError: matplotlib is not installed.
        """
        try:
            from hanaming.simulation._plot import draw  # noqa: PLC0415 - only where something is drawn
        except ImportError as error:
            if error.name is None or error.name.partition(".")[0] != "matplotlib":
                raise
            message = (
                "plot() draws with matplotlib, which is not installed: pip install 'hanaming[plot]'. "
                "The figures are in .records."
            )
            raise ImportError(message, name="matplotlib") from None
        if not isinstance(beside, bool):
            return draw([self, beside])
        if not beside:
            return draw([self])
        if self.dns_refresh == _OLD:
            return draw([self, self.again(dns_refresh=_OURS)])
        return draw([self.again(dns_refresh=_OLD), self])

    def __repr__(self) -> str:
        return f"<Simulation {self.title}: {self._summary}>"

    @property
    def title(self) -> str:
        """The servers, the clients and the mode, in words."""
        servers, clients = counted(len(self.servers), "server"), counted(self._given["clients"], "client")
        return f"{servers}, {clients}, dns_refresh={self.dns_refresh!r}"

    @property
    def _summary(self) -> str:
        final = ", ".join(f"{server} {share:.0%}" for server, share in list(self.final.items())[:8])
        more = ", …" if len(self.servers) > 8 else ""  # noqa: PLR2004 - as many as fit a line
        return f"at the end {final}{more}; at worst {self.worst:.0%} on one; {self.failed} of {self.calls + self.failed} calls failed"

    def _repr_html_(self) -> str:
        shares = {server: [r["share"] for r in self.records if r["server"] == server] for server in self.servers[:50]}
        rows = [
            (server, f"{seen[-1]:.0%}", f"{sum(seen) / len(seen):.0%}", f"{min(seen):.0%}", f"{max(seen):.0%}")
            for server, seen in shares.items()
        ]
        headings = ("server", "share at the end", "in the mean", "least", "most")
        return table(self.title, headings, rows, self._summary)
