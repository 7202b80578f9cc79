"""The demo's tables: what the clients noticed of each fault, and who answered how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hanaming.cli import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .clients import Tally

STEPS = {"cluster": "the cluster tree", "local": "the asked node's local tree", "peer": "another node's local tree"}


@dataclass(frozen=True)
class Chapter:
    """A stretch of the story and the lookups in it."""

    title: str
    tally: Tally


@dataclass(frozen=True)
class SharedChapter:
    """A stretch of the second act: its writes, and how many names each node's copy had at its end."""

    title: str
    acknowledged: int
    failed: int
    longest: float
    names: dict[str, str]


def show(chapters: Sequence[Chapter], nodes: Sequence[str], total: Tally) -> None:
    """Prints both tables."""
    rows = [_row(chapter.title, chapter.tally, nodes) for chapter in chapters]
    rows.append(_row("all", total, nodes))
    columns = ["while clients look up", "lookups", "failed", "longest gap", *nodes]
    tables.show(columns, rows, title="What the clients noticed (a gap is how long one lookup took)", right=range(1, 9))
    click.echo()
    steps = total.share("step")
    answered = max(1, len(total.lookups) - len(total.failed))
    rows = [
        [words, str(steps.get(step, 0)), f"{100 * steps.get(step, 0) / answered:.0f} %"]
        for step, words in STEPS.items()
    ]
    tables.show(
        ["answered from", "lookups", "share"], rows, title="Which step of the lookup rule answered", right=(1, 2)
    )


def show_shared(chapters: Sequence[SharedChapter]) -> None:
    """Prints the second act's table."""
    nodes = list(chapters[0].names)
    rows = []
    for chapter in chapters:
        gap = f"{chapter.longest * 1000:.1f} ms" if chapter.acknowledged else "-"
        counts = [str(chapter.acknowledged), str(chapter.failed), gap] if chapter.acknowledged else ["-", "-", "-"]
        rows.append([chapter.title, *counts, *chapter.names.values()])
    columns = ["while clients write", "writes", "failed", "longest gap", *nodes]
    title = "The cluster tree: acknowledged writes, and the names and contexts that each node had then, in equal trees"
    tables.show(columns, rows, title=title, right=range(1, 4 + len(nodes)))


def shared_document(chapters: Sequence[SharedChapter]) -> dict[str, Any]:
    """Its figures for a program."""
    return {
        "cluster_tree": [
            {
                "title": chapter.title,
                "acknowledged": chapter.acknowledged,
                "failed": chapter.failed,
                "longest_gap_ms": round(chapter.longest * 1000, 2),
                "names": chapter.names,
            }
            for chapter in chapters
        ]
    }


def document(chapters: Sequence[Chapter], total: Tally) -> dict[str, Any]:
    """The figures for a program."""
    return {
        "chapters": [{"title": chapter.title, **_figures(chapter.tally)} for chapter in chapters],
        "total": _figures(total),
    }


def _figures(tally: Tally) -> dict[str, Any]:
    return {
        "lookups": len(tally.lookups),
        "failed": len(tally.failed),
        "longest_gap_ms": round(tally.longest * 1000, 2),
        "nodes": tally.share("node"),
        "steps": tally.share("step"),
    }


def _row(title: str, tally: Tally, nodes: Sequence[str]) -> list[str]:
    share = tally.share("node")
    count = max(1, len(tally.lookups))
    shares = [f"{100 * share.get(node, 0) / count:.0f} %" for node in nodes]
    return [title, str(len(tally.lookups)), str(len(tally.failed)), f"{tally.longest * 1000:.1f} ms", *shares]
