"""`hanaming classify`: the failures in logs, and what to do about each kind."""

from __future__ import annotations

import re
import sys
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from hanaming import ConfigurationError
from hanaming._show import counted
from hanaming.classification import times
from hanaming.classification.report import Group, Report, read_sources
from hanaming.classification.sources import Source, sources

from . import errors, streams, tables, values
from .redact import Redactor
from .session import standalone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A file that is read at once needs no progress.
_LARGE = 32 << 20
_EXCERPT_LINES = 3
_FRAME = re.compile(r"\s*(?:at\s|\.\.\. \d+ |File \")")
_EXCERPT_CHARS = 400


@standalone(
    examples="""
    hanaming classify server.log
    hanaming classify /var/log/app --since 2h --summary
    zcat old.log.gz | hanaming classify -
    hanaming classify server.log --redact --json
    """
)
@click.argument("paths", metavar="PATH…", nargs=-1, required=True)
@click.option("--summary", is_flag=True, help="Only how many there were of each category.")
@click.option("--since", metavar="TIME", help="Leave out what is older: 2h, 3d, 2026-11-30T08:00.")
@click.option("--redact", is_flag=True, help="Leave out hosts, addresses, users and passwords.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Also why, by what line, and how sure.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the answer.")
def classify(
    paths: tuple[str, ...], summary: bool, since: str | None, redact: bool, as_json: bool, verbose: bool, quiet: bool
) -> int:
    """Finds the failures in logs, and says for each kind whether the calls ran and what to do.

    PATH is a file, a folder with all that is in it, or "-" for standard input; .gz is unpacked. Java's, Python's, .NET's
    and C++'s exceptions, CORBA's in every ORB's spelling, gRPC's statuses and products' codes are understood, whatever
    each line starts with. Nothing is sent anywhere.
    """
    try:
        moment = None if since is None else times.since(since, datetime.now().astimezone())
    except ValueError as error:
        raise click.UsageError(f"--since: {error}") from None
    redactor = Redactor()
    show = redactor.text if redact else str
    try:
        report = read_sources(_opened(paths), max_events=0, since=moment, progress=_progress(show, quiet=quiet))
    except ConfigurationError as error:
        streams.say(f"hanaming: {show(str(error))}")
        return errors.USAGE
    groups = sorted(report.groups, key=lambda group: -group.count)
    if redact:
        redactor.learn(text for group in groups for text in (group.first.text, group.verdict.evidence))
    if as_json:
        document = {"summary": _counted(groups)} if summary else {"groups": [_shown(group, show) for group in groups]}
        click.echo(values.dumps({**_document(report, show), **document}, indent=2))
    elif summary:
        _summary(groups)
    else:
        for group in groups:
            _show(group, show, verbose=verbose)
    for warning in report.warnings:
        streams.say(f"warning: {show(warning)}")
    if not quiet:
        read = counted(report.lines, "line") + (f" of {len(report.sources)} files" if len(report.sources) > 1 else "")
        kinds = f" of {counted(len(groups), 'kind')}" if groups else ""
        failures = counted(report.total, "failure") if report.total else "no failures"
        streams.say(f"{failures}{kinds} in {read}")
    return errors.DONE


def _opened(paths: tuple[str, ...]) -> Iterator[Source]:
    for path in paths:
        if path != "-":
            yield from sources(path)
        elif sys.stdin is None:
            raise ConfigurationError("standard input is closed")
        else:
            yield Source("-", None, sys.stdin.buffer)


def _progress(shown: Callable[[str], str], *, quiet: bool) -> Callable[[str, int, int | None], None] | None:
    """Says how far a large file has been read, where a person looks on."""
    if quiet or not sys.stderr.isatty():
        return None

    def show(name: str, done: int, size: int | None) -> None:
        if (size or done) < _LARGE:
            return
        ended = size is not None and done >= size
        part = f"{done / size:.0%}" if size else f"{done >> 20} MiB"
        line = "" if ended else f"{errors.printable(shown(name))}: {part}"
        click.echo(f"\r\x1b[K{line}", nl=False, err=True)

    return show


def _show(group: Group, show: Callable[[str], str], *, verbose: bool) -> None:
    verdict, first = group.verdict, group.first
    ran = verdict.completion.value if verdict.completion else "-"
    place = f"{show(first.source)}:{first.line}"
    if group.count > 1:
        last = "" if group.last_source == first.source else f"{show(group.last_source)}:"
        place += f" to {last}{group.last_line}"
    head = f"{group.count} x {verdict.category.value} ({verdict.detail}), ran: {ran}, do: {_do(group)}"
    click.echo(errors.printable(f"{head}, at {place}"))
    for line in _excerpt(show(first.text)):
        click.echo(f"    {errors.printable(line)}")
    click.echo(f"    → {verdict.advice}")
    if verbose:
        click.echo(f"    why: {errors.printable(show(verdict.reason))} ({verdict.confidence:.0%} sure)")
        click.echo(f"    by:  {errors.printable(show(verdict.evidence))}")
    click.echo()


def _do(group: Group) -> str:
    verdict = group.verdict
    if verdict.action is verdict.action_if_idempotent:
        return verdict.action.value
    return f"{verdict.action.value} ({verdict.action_if_idempotent.value} if it may run twice)"


def _excerpt(text: str) -> list[str]:
    """The first lines of an event that are no stack frames: what was thrown, and why."""
    lines = [line.expandtabs(4).rstrip() for line in text.strip().splitlines()]
    lines = [line for line in lines if line and not _FRAME.match(line)]
    return [tables.cut(line, _EXCERPT_CHARS) for line in lines[:_EXCERPT_LINES]]


def _counted(groups: list[Group]) -> list[dict[str, Any]]:
    """How many failures there were of each category, and of how many kinds."""
    counts: Counter[tuple[str, str | None, str]] = Counter()
    kinds: Counter[tuple[str, str | None, str]] = Counter()
    for group in groups:
        verdict = group.verdict
        key = (verdict.category.value, verdict.completion.value if verdict.completion else None, verdict.action.value)
        counts[key] += group.count
        kinds[key] += 1
    return [
        {"failures": count, "kinds": kinds[key], "category": key[0], "completion": key[1], "action": key[2]}
        for key, count in counts.most_common()
    ]


def _summary(groups: list[Group]) -> None:
    if rows := [["-" if cell is None else str(cell) for cell in row.values()] for row in _counted(groups)]:
        tables.show(["failures", "kinds", "category", "ran?", "do"], rows, right=(0, 1))


def _document(report: Report, show: Callable[[str], str]) -> dict[str, Any]:
    return {
        "failures": report.total,
        "lines": report.lines,
        "sources": [show(source) for source in report.sources],
        "warnings": [show(warning) for warning in report.warnings],
    }


def _shown(group: Group, show: Callable[[str], str]) -> dict[str, Any]:
    verdict, first = group.verdict, group.first
    return {
        "count": group.count,
        "first": {"source": show(first.source), "line": first.line, "time": first.time},
        "last": {"source": show(group.last_source), "line": group.last_line, "time": group.last_time},
        "classes": first.classes,
        "text": show(first.text),
        **verdict.as_dict(),
        "reason": show(verdict.reason),
        "evidence": show(verdict.evidence),
    }
