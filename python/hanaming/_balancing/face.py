"""What both balancers look like, and what they know without asking anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanaming._arguments import flag
from hanaming._balancing.judge import Judge
from hanaming._balancing.series import Series
from hanaming._balancing.told import OfThreads
from hanaming._native import Balancing
from hanaming._show import context
from hanaming.exceptions import ContextClosedError
from hanaming.records import Attempts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from hanaming.classification import Verdict
    from hanaming.records import Attempt, Metrics, Target
    from hanaming.types import DnsRefresh, Policy


class Face:
    """A balancer without its calls."""

    _last: type[OfThreads] = OfThreads

    def __init__(
        self,
        source: Any,
        *,
        policy: Policy = "round_robin",
        dns_refresh: DnsRefresh = "ttl",
        dns_servers: Sequence[str] | None = None,
        timeout: float = 5.0,
    ) -> None:
        source = list(source) if isinstance(source, tuple) else source
        self._core = Balancing(source, policy, dns_refresh, dns_servers, timeout)
        self._judge = Judge()
        self._explained = self._last()
        self._idempotent = False

    @property
    def targets(self) -> list[Target]:
        """The servers that are known, as they are now. Nothing is asked; a name is resolved when it's first needed."""
        return self._core.targets

    @property
    def metrics(self) -> Metrics:
        """What was counted of the servers so far. Nothing is asked."""
        return self._core.metrics

    @property
    def idempotent(self) -> Self:
        """The same balancer for calls that may run twice: what may have run is sent to another target, too."""
        view = type(self).__new__(type(self))
        vars(view).update(vars(self))
        vars(view)["_idempotent"] = True
        return view

    def add_classifier(self, fn: Callable[[BaseException], Verdict | None]) -> None:
        """Has `fn(exception)` judge what a block raises, before all others: it gives a `Verdict`, or `None` for what it
        does not know. Where it raises itself, the failure that it was to judge comes out, with a warning.
        """  # noqa: D205 - one sentence
        self._judge.add(fn)

    def explain(self) -> list[Attempt]:
        """The attempts of the last finished call of this thread (in the asyncio twin: of this task)."""
        last = self._explained.last()
        return Attempts() if last is None else last.attempts

    def _series(self, *, idempotent: bool, value: bool) -> Series:
        idempotent = flag("idempotent", idempotent) or self._idempotent
        return Series(self._core, self._judge, self._explained, idempotent=idempotent, value=flag("value", value))

    def _opened(self) -> Self:
        if self._core.closed:
            raise ContextClosedError("the balancer is closed; make a new one")
        return self

    def __repr__(self) -> str:
        idempotent = ", idempotent" if self._idempotent else ""
        closed = ", closed" if self._core.closed else ""
        return f"<{type(self).__name__} over {self._reach()}, {self._core.policy}{idempotent}{closed}>"

    def _reach(self) -> str:
        source = self._core.source
        targets = [str(target) for target in self.targets]
        if not targets:
            return source if source.startswith("service") else "no address yet"
        others = len(targets) - 1
        told = targets[0] if others == 0 else f"{targets[0]} and {others} more"
        return f"{source} ({told})" if source.startswith("service") else told

    def _repr_html_(self) -> str:

        about = [
            ("targets are from", self._core.source),
            ("policy", self._core.policy),
            ("a call has", f"{self._core.timeout:g} s"),
            ("state", "closed" if self._core.closed else "open"),
        ]
        if self._core.trouble is not None:
            about.append(("the source's last answer", self._core.trouble))
        return context(type(self).__name__, about, [self.targets])
