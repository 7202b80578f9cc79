"""`read_failures`: the failures in whole logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hanaming._arguments import count, function, wrong_type
from hanaming._native import FailureReader, FoundFailure
from hanaming._show import Wide, counted, cut, table
from hanaming.classification.sources import Source, sources
from hanaming.classification.times import read_time
from hanaming.classification.verdict import Verdict, from_native

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

__all__ = ["Event", "Group", "Report", "read_failures"]

_SHOWN = 20
_SHOWN_IN_HTML = 100
# The longest text of one failure in a table.
_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Event:
    """One failure in a log."""

    source: str
    """The file's name."""
    line: int
    """Its first line, from 1."""
    last_line: int
    """Its last line."""
    time: str | None
    """When, as the log writes it."""
    text: str
    """Its first lines, without what each line starts with."""
    classes: list[str]
    """The classes of what was thrown, the outermost first."""
    verdict: Verdict
    """What it means."""

    def __repr__(self) -> str:
        return f"<Event {self.source}:{self.line} {self.verdict!r}>"


@dataclass(slots=True)
class Group:
    """Events that are the same but for their time and their numbers."""

    first: Event
    """The first of them."""
    count: int
    """How many there were."""
    last_source: str
    """The file of the last one."""
    last_line: int
    """The first line of the last one."""
    last_time: str | None
    """When the last one was that had a time."""

    @property
    def verdict(self) -> Verdict:
        """What they mean."""
        return self.first.verdict

    def __repr__(self) -> str:
        return f"<Group {self.count} x {self.first!r}>"


@dataclass(slots=True)
class Report:
    """What was found in logs.

    `groups` counts every event. `events` are the first ones, as many as were asked for, so that a report of any log
    fits into memory; `total` says how many there were.
    """

    events: list[Event] = field(default_factory=list)
    """The events in order, up to the limit."""
    groups: list[Group] = field(default_factory=list)
    """The same ones together, in the order in which they first came."""
    total: int = 0
    """How many events there were."""
    lines: int = 0
    """How many lines were read."""
    sources: list[str] = field(default_factory=list)
    """The files that were read."""
    warnings: list[str] = field(default_factory=list)
    """Which files could not be read, or not to their end, and why."""

    @property
    def records(self) -> list[dict[str, Any]]:
        """The events as plain data, a row each: `pandas.DataFrame(report.records)`."""
        return [
            {
                "source": event.source,
                "line": event.line,
                "last_line": event.last_line,
                "time": event.time,
                "exception": event.classes[0] if event.classes else "",
                "cause": event.classes[-1] if event.classes else "",
                **event.verdict.as_dict(),
                "text": event.text,
            }
            for event in self.events
        ]

    def __bool__(self) -> bool:
        return self.total > 0

    def __repr__(self) -> str:
        failures, kinds = counted(self.total, "failure"), counted(len(self.groups), "kind")
        head = f"{failures} of {kinds} in {counted(self.lines, 'line')}"
        rows = [("count", "first", "category", "ran?", "do", "what"), *map(row, self.groups[:_SHOWN])]
        if len(rows) == 1:
            return head
        widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]) - 1)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)), cells[-1]])
            for cells in rows
        ]
        more = len(self.groups) - _SHOWN
        return "\n".join([head, *lines, *([f"and {counted(more, 'more kind')}"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        most = sorted(self.groups, key=lambda group: -group.count)[:_SHOWN_IN_HTML]
        note = f"{counted(len(self.groups), 'kind')} in {counted(self.lines, 'line')}"
        if len(most) < len(self.groups):
            note += f"; the most frequent {len(most)}"
        headings = ("count", "category", "ran?", "do", "what, first at, advice")
        return table(counted(self.total, "failure"), headings, map(_html_row, most), note)


def _html_row(group: Group) -> tuple[Any, ...]:
    verdict, first = group.verdict, group.first
    ran = verdict.completion.value if verdict.completion else ""
    what = cut(first.text.strip().partition("\n")[0], _WIDEST)
    told = Wide(what, f"{first.source}:{first.line}: {verdict.advice}")
    return (group.count, verdict.category.value, ran, verdict.action.value, told)


def row(group: Group) -> tuple[str, str, str, str, str, str]:
    """A group as a row of a table."""
    verdict = group.verdict
    ran = verdict.completion.value if verdict.completion else "-"
    what = group.first.text.strip().partition("\n")[0]
    return (
        str(group.count),
        str(group.first.line),
        verdict.category.value,
        ran,
        verdict.action.value,
        what if len(what) <= 100 else what[:99] + "…",  # noqa: PLR2004 - what a line of a terminal shows
    )


def read_failures(
    source: str | PathLike[str] | Any,
    *,
    max_events: int = 10_000,
    since: datetime | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Report:
    """The failures in a log, a folder of logs, or an open file; `.gz` is unpacked. Memory does not grow with the log.

    Args:
        source: A path (a `str` is a path here), or anything with a `read` that gives bytes or text.
        max_events: How many events `Report.events` keeps; all are counted.
        since: Leave out what has an earlier time. What has no time that can be read stays.
        progress: Called after each megabyte with the file's name, how much of it was read and its size, if known.

    A file of a folder that can't be read is a warning in the report; the others are read. Raises `ConfigurationError` where
    nothing can be.
    """
    count("max_events", max_events, least=0, most=2**63)
    if since is not None and not isinstance(since, datetime):
        raise wrong_type("since", "a datetime", since)
    if progress is not None:
        function("progress", progress)
    return read_sources(sources(source), max_events=max_events, since=since, progress=progress)


def read_sources(
    logs: Iterable[Source],
    *,
    max_events: int,
    since: datetime | None,
    progress: Callable[[str, int, int | None], None] | None,
) -> Report:
    """The failures in several logs, in one report."""
    report = Report()
    reader = FailureReader()
    by_group: dict[int | None, Group] = {}
    for log in logs:
        if log.stream is None:
            report.warnings.append(f"{log.name}: {log.trouble}")
            continue
        report.sources.append(log.name)
        for found in _events(reader, log, progress):
            if since is not None and (moment := read_time(found.time)) is not None and moment < since:
                continue
            _count(report, by_group, found, log.name, max_events)
        if log.trouble is not None:
            report.warnings.append(f"{log.name}: {log.trouble}")
        report.lines += reader.lines
        reader.restart()
    return report


def _events(
    reader: FailureReader, log: Source, progress: Callable[[str, int, int | None], None] | None
) -> Iterator[FoundFailure]:
    for piece, done in log.pieces():
        yield from reader.feed(piece)
        if progress is not None:
            progress(log.name, done, log.size)
    yield from reader.finish()


def _count(report: Report, by_group: dict[int | None, Group], found: FoundFailure, name: str, max_events: int) -> None:
    report.total += 1
    number = found.group
    group = by_group.get(number)
    if group is None or len(report.events) < max_events:
        event = Event(
            name,
            found.line,
            found.last_line,
            found.time,
            found.text,
            found.classes,
            from_native(found.verdict),
        )
        if len(report.events) < max_events:
            report.events.append(event)
    if group is None:
        # Beyond the core's limit all further kinds are one: what is counted there is still counted.
        group = by_group[number] = Group(event, 0, name, event.line, None)
        report.groups.append(group)
    group.count += 1
    group.last_source, group.last_line = name, found.line
    group.last_time = found.time or group.last_time
