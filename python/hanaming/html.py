"""HTML forms for notebooks.

They take the page's own colours (nothing but opacity is set, so dark themes work), carry no script, escape all that
came from elsewhere, and show what is known at that moment: a display never uses the network.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from hanaming._counted import counted
from hanaming.records import _duration, _short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hanaming.classification import Report, Verdict
    from hanaming.jndi import Environment, ProviderUrl
    from hanaming.records import Attempt, CheckReport, Resolution, Target, View

_CELL = "padding:0.15em 0.8em 0.15em 0;text-align:left;vertical-align:top"
_FAINT = "opacity:0.65"


def _table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    head = "".join(f'<th style="{_CELL};{_FAINT}">{escape(word)}</th>' for word in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>" for row in rows
    )
    note = f'<div style="{_FAINT}">{escape(note)}</div>' if note else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
    return f"<div><div><b>{escape(caption)}</b></div>{table}{note}</div>"


def attempts(made: Sequence[Attempt]) -> str:
    """The attempts of a call."""
    rows = [(a.target, a.outcome, a.phase, a.completion.value, _duration(a.elapsed), a.why_next or "") for a in made]
    headings = ("target", "what came back", "phase", "ran?", "took", "why another followed")
    return _table(f"{len(made)} attempt{'' if len(made) == 1 else 's'}", headings, rows)


def resolution(found: Resolution) -> str:
    """What a name is bound to."""
    rows = [
        ("value", _short(found.value, 200)),
        ("from", f"{found.source} ({found.node})"),
        ("version", found.version or "none"),
        ("asked", ", ".join(found.asked)),
        ("took", _duration(found.elapsed)),
    ]
    if found.stale:
        rows.append(("stale", "no server is left to ask; this was known last"))
    return _table("Resolution", ("", ""), rows) + (attempts(found.attempts) if found.attempts else "")


def view(seen: View) -> str:
    """The live members."""
    return _table(
        f"View {seen.id:x}", ("member", "address", "state"), [(m.name, m.address, m.state) for m in seen.members]
    )


def check_report(report: CheckReport) -> str:
    """What `check()` found."""
    rows: list[tuple[str, str, str]] = []
    for conflict in report.conflicts:
        others = "; ".join(_short(other.value) for other in conflict.others)
        rows.append((conflict.name, "conflict", f"{_short(conflict.shown.value)} is shown, {others} hidden"))
    rows.extend(
        (found.name, "mismatch", "; ".join(_answer(answer) for answer in found.answers)) for found in report.mismatches
    )
    for hidden in report.hidden:
        locals_ = "; ".join(_answer(answer) for answer in hidden.local)
        rows.append((hidden.name, "hidden", f"{_answer(hidden.cluster)} hides {locals_}"))
    if not rows:
        return _table("Check: nothing found", (), ())
    return _table(f"Check: {len(rows)} found", ("name", "what", "answers"), rows)


def servers(known: Sequence[Target]) -> str:
    """The servers that are known."""
    rows = [(str(t), t.state, t.origin, _duration(t.age)) for t in known]
    return _table("Targets", ("target", "state", "known from", "known for"), rows)


def context(title: str, about: Sequence[tuple[str, str]], targets: Sequence[Target], seen: View | None) -> str:
    """A context: what it is, whom it knows, and since when."""
    parts = [_table(title, ("", ""), about)]
    if targets:
        parts.append(servers(targets))
    if seen is not None:
        parts.append(view(seen))
    return "".join(parts)


def verdict(given: Verdict) -> str:
    """What a failure means."""
    rows = [
        ("did it run?", given.completion.value if given.completion else "no failure"),
        ("do", given.action.value),
        ("if it may run twice", given.action_if_idempotent.value),
        ("why", given.reason),
        ("seen in", given.evidence),
        ("sure", f"{given.confidence:.0%}"),
    ]
    return _table(f"{given.category.value}: {given.detail}", ("", ""), rows, given.advice)


def report(read: Report) -> str:
    """The kinds of failures in a log, the most frequent first."""
    rows = [
        (
            group.count,
            f"{group.first.source}:{group.first.line}",
            group.verdict.category.value,
            group.verdict.completion.value if group.verdict.completion else "",
            group.verdict.action.value,
            group.first.text.strip().partition("\n")[0][:160],
            group.verdict.advice,
        )
        for group in sorted(read.groups, key=lambda group: -group.count)[:100]
    ]
    headings = ("count", "first at", "category", "ran?", "do", "what", "advice")
    note = f"{counted(len(read.groups), 'kind')} in {counted(read.lines, 'line')}" + (
        "; the most frequent 100" if len(rows) < len(read.groups) else ""
    )
    return _table(counted(read.total, "failure"), headings, rows, note)


def provider_url(url: ProviderUrl) -> str:
    """A provider URL: what is usable, and what is odd."""
    return _endpoints(url) + _said(url.warnings)


def _endpoints(url: ProviderUrl) -> str:
    rows = [
        (e.scheme, e.host, "" if e.port is None else e.port, "default" if e.defaulted else "", e.version or "")
        for e in url.endpoints
    ]
    return _table(f"Provider URL ({url.scheme})", ("scheme", "host", "port", "", "version"), rows)


def environment(read: Environment) -> str:
    """A client's settings: what they are, and what has no effect."""
    from hanaming.jndi.environment import shown  # noqa: PLC0415 - only where one is shown

    rows = [(key, shown(key, value)) for key, value in read.properties.items()]
    provider = "" if read.provider_url is None else _endpoints(read.provider_url)
    return _table("Environment", ("property", "value"), rows) + provider + _said(read.warnings)


def _said(warnings: Sequence[str]) -> str:
    return _table(f"{len(warnings)} to know", ("",), [(warning,) for warning in warnings]) if warnings else ""


def _answer(found: Resolution) -> str:
    return f"{found.node}: {_short(found.value)}"
