"""`hanaming demo`: the newcomer's first command; the story itself is told by `hanaming.demo`."""

from __future__ import annotations

import click

from .session import standalone
from .shape import Count, Seconds


@standalone(
    examples="""
    hanaming demo
    hanaming demo --seconds 5 --threads 8
    """
)
@click.option(
    "--seconds", type=Seconds(1, 60), default=1.5, show_default=True, help="How long to look on at each fault."
)
@click.option(
    "--threads",
    type=Count(1, 64),
    default=4,
    show_default=True,
    help="How many clients look names up meanwhile.",
)
@click.option("--json", "as_json", is_flag=True, help="The figures in JSON, at the end, on standard output.")
def demo(seconds: float, threads: int, as_json: bool) -> int:
    """Runs three nodes, and breaks them under their clients.

    They run on this machine, on free ports, with a shop's catalogue of some 200 names bound in two of them. One
    node is killed, one is frozen and woken, one is quiesced and started again. Then clients write into the tree that
    all nodes share, while two of the three are killed and come back; then all three are, and start again from their
    disks. At the end tables say what the clients noticed. Exit status 1 if a single call failed, or a write is lost.
    """
    from hanaming.demo import run  # noqa: PLC0415 - it uses this package

    return run(seconds=seconds, threads=threads, as_json=as_json)
