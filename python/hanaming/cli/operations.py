"""Commands for whoever runs the cluster: `check`, `status`, `quiesce`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hanaming import CheckReport, ConfigurationError, Context, Member, NamingError, NodeStatus, Resolution
from hanaming._show import counted

from . import errors, streams, tables, values
from .session import Session, command

if TYPE_CHECKING:
    from collections.abc import Iterable

# A member that is well answers in milliseconds: this long is silence, whatever the whole call may take.
_MEMBER_TIMEOUT = 1.0


@command(
    examples="""
    hanaming check
    hanaming check services --json
    """
)
@click.argument("name", default="")
def check(session: Session, name: str) -> int | None:
    """Finds names with two meanings.

    Exit status 1 where there are any.

    \b
      mismatch   local trees of several nodes have different values: who asks which node gets which
      hidden     the cluster tree has the name, and hides what a node bound locally
      conflict   the cluster tree itself has several versions
    """  # noqa: D301 - click's mark for lines that stay as they are
    report = session.context.check(name)
    if session.json:
        session.print_json(_report_document(report))
    else:
        rows = list(_findings(report))
        if rows:
            tables.show(["finding", "name", "node", "source", "value"], rows)
        else:
            session.note("nothing to report: no name has two meanings")
    return errors.ANSWER if report else None


@command(
    trees=False,
    examples="""
    hanaming status
    hanaming status --provider hn://10.0.0.5:11100 --json
    """,
)
def status(session: Session) -> int | None:
    """Shows the members, how far each is with the cluster tree, their load, and what the node that was asked runs with.

    The lag is how many writes of the cluster tree a node has not seen that another one has. Exit status 3 where a member
    did not answer within a second.
    """
    first = session.context.status()
    answers = [_Asked(m, first) if m.address == first.address else _Asked(m) for m in first.members]
    within = min(session.timeout, _MEMBER_TIMEOUT)
    silent = _ask_all(answers, within)
    lags = _lags(answers)
    conflicts = max((asked.status.tree.conflicts for asked in answers if asked.status), default=0)
    if session.json:
        session.print_json(
            {
                "cluster": first.cluster,
                "provider": session.provider_given,
                "provider_source": session.provider_source,
                "members": [asked.document(lag) for asked, lag in zip(answers, lags, strict=True)],
                "conflicts": conflicts,
                "settings": {one.name: {"value": one.value, "source": one.source} for one in first.settings},
                "warnings": _warnings(answers),
            }
        )
    else:
        columns = ["node", "address", "state", "cluster names", "lag", "local names", "connections", "requests", "up"]
        session.note(f"cluster {first.cluster!r}, asked at {session.provider_given} (from {session.provider_source})")
        rows = [asked.row(lag) for asked, lag in zip(answers, lags, strict=True)]
        tables.show(columns, rows, right=range(3, len(columns)))
        if conflicts:
            session.note(f"{counted(conflicts, 'name')} of the cluster tree in conflict: `hanaming check` lists them")
        for asked in answers:
            if asked.status and asked.status.tree.lagging:
                waits = ", ".join(asked.status.tree.lagging)
                session.note(f"{asked.member.name} doesn't wait for {waits} until it has caught up")
        settings = [[one.name, one.value, one.source] for one in first.settings]
        tables.show(["setting", "value", "from"], settings, title=f"\n{first.node} runs with")
        for warning in _warnings(answers):
            streams.say(f"warning: {warning}")
    if silent:
        named = ", ".join(f"{asked.member.name} at {asked.member.address}" for asked in silent)
        told = f"no answer within {within:g} s from {named}"
        session.complain(
            told,
            {
                "type": "ServiceUnavailableError",
                "message": told,
                "silent": [asked.member.name for asked in silent],
                "status": errors.UNREACHABLE,
            },
        )
        return errors.UNREACHABLE
    return None


@command(
    mutation=True,
    trees=False,
    examples="""
    hanaming quiesce --provider hn://10.0.0.5:11100
    """,
)
def quiesce(session: Session) -> None:
    """Asks one node to leave.

    It refuses what is new, finishes what runs, and ends. Its local bindings end with it.

    The provider must be that one node's address. Clients go to other nodes by themselves, without a failed call.
    """
    addresses = [address for address in session.provider_given.split(",") if address.strip()]
    if len(addresses) > 1:
        raise ConfigurationError(
            f"quiesce takes exactly one node's address, and {len(addresses)} are given ({session.provider_source}); "
            "say with --provider which node is to leave"
        )
    with Context(session.provider_given, timeout=session.timeout) as node:
        name = node.status().node
        node.quiesce()
    if session.json:
        session.print_json({"quiescing": name})
    else:
        session.note(f"{name} is leaving")


@dataclass
class _Asked:
    """A member, and what it says of itself; `None` where it says nothing."""

    member: Member
    status: NodeStatus | None = None

    def ask(self, timeout: float) -> None:
        if self.status is None:
            try:
                with Context(f"hn://{self.member.address}", timeout=timeout) as node:
                    self.status = node.status()
            except NamingError:
                self.status = None

    def row(self, lag: int | None) -> list[str]:
        if self.status is None:
            return [self.member.name, self.member.address, f"{self.member.state}, silent", *["-"] * 6]
        s = self.status
        counts = [s.cluster_names, lag, s.local_names, s.connections, s.requests]
        return [self.member.name, self.member.address, s.state, *[str(count) for count in counts], _duration(s.uptime)]

    def document(self, lag: int | None) -> dict[str, Any]:
        document: dict[str, Any] = {
            "name": self.member.name,
            "address": self.member.address,
            "state": self.member.state,
            "answered": self.status is not None,
        }
        if self.status is not None:
            s = self.status
            document |= {
                "state": s.state,
                "local_names": s.local_names,
                "cluster_names": s.cluster_names,
                "writes": s.tree.writes,
                "lag": lag,
                "lagging": s.tree.lagging,
                "conflicts": s.tree.conflicts,
                "seen": s.tree.seen,
                "digest": s.tree.digest,
                "connections": s.connections,
                "requests": s.requests,
                "uptime": s.uptime,
                "warnings": s.warnings,
            }
        return document


def _ask_all(answers: list[_Asked], within: float) -> list[_Asked]:
    """Asks all members at once, however many there are, and returns those that are silent."""
    with ThreadPoolExecutor(max_workers=max(1, len(answers))) as threads:
        list(threads.map(lambda asked: asked.ask(within), answers))
    return [asked for asked in answers if asked.status is None]


def _lags(answers: list[_Asked]) -> list[int | None]:
    """How many writes each has not seen of those that the furthest has; `None` of those who are silent."""
    furthest = max((asked.status.tree.writes for asked in answers if asked.status), default=0)
    return [furthest - asked.status.tree.writes if asked.status else None for asked in answers]


def _warnings(answers: Iterable[_Asked]) -> list[str]:
    return [f"{asked.member.name}: {warning}" for asked in answers if asked.status for warning in asked.status.warnings]


def _duration(seconds: float) -> str:
    whole = int(seconds)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if whole >= 2 * length:
            return f"{whole // length} {unit}"
    return f"{whole} s"


def _findings(report: CheckReport) -> Iterable[list[str]]:
    for conflict in report.conflicts:
        for binding in (conflict.shown, *conflict.others):
            yield [
                "conflict",
                conflict.name,
                binding.node,
                binding.source,
                values.compact(conflict.name, binding.value),
            ]
    for mismatch in report.mismatches:
        for answer in mismatch.answers:
            yield ["mismatch", mismatch.name, *_answer_row(mismatch.name, answer)]
    for hidden in report.hidden:
        for answer in (hidden.cluster, *hidden.local):
            yield ["hidden", hidden.name, *_answer_row(hidden.name, answer)]


def _answer_row(name: str, answer: Resolution) -> list[str]:
    return [answer.node, answer.source, values.compact(name, answer.value)]


def _report_document(report: CheckReport) -> dict[str, Any]:
    def answer(name: str, found: Resolution) -> dict[str, Any]:
        return {
            "node": found.node,
            "source": found.source,
            "version": found.version,
            "value": values.document(name, found.value),
        }

    return {
        "conflicts": [
            {
                "name": conflict.name,
                "versions": [
                    {"node": b.node, "source": b.source, "value": values.document(conflict.name, b.value)}
                    for b in (conflict.shown, *conflict.others)
                ],
            }
            for conflict in report.conflicts
        ],
        "mismatches": [{"name": m.name, "answers": [answer(m.name, a) for a in m.answers]} for m in report.mismatches],
        "hidden": [
            {"name": h.name, "cluster": answer(h.name, h.cluster), "local": [answer(h.name, a) for a in h.local]}
            for h in report.hidden
        ],
    }
