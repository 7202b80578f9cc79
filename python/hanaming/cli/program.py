"""The program's root: its commands in the order in which a newcomer meets them."""

from __future__ import annotations

import click

import hanaming

from .changes import bind, rebind, unbind
from .classify import classify
from .demo import demo
from .explain import explain
from .exporting import export
from .importing import import_
from .operations import check, quiesce, status
from .reading import lookup, ls, resolve, tree
from .serve import serve
from .shape import Commands
from .watching import watch

_EPILOG = """\
Exit status: 0 done; 1 a naming answer (not found, already bound, findings of check); 2 usage; 3 not reachable;
4 outcome unknown. Errors go to standard error, with --json as {"error": …}; -v shows every attempt.
"""


_EXAMPLES = """
hanaming demo                               three nodes, broken before your eyes
hanaming serve                              a node on 127.0.0.1:11100
hanaming bind orders '"http://10.0.0.5"'    bind a name ...
hanaming lookup orders                      ... and find it
"""


@click.group(
    cls=Commands,
    examples=_EXAMPLES,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(hanaming.__version__, "-V", "--version", message="%(prog)s %(version)s")
@click.option("-v", "--verbose", is_flag=True, help="As behind the command: show every attempt, log more.")
@click.option("-q", "--quiet", is_flag=True, help="As behind the command: print nothing but the answer.")
@click.pass_context
def program(context: click.Context, /, **given: bool) -> None:
    """Highly available naming: bind a name once, find it from anywhere, go on finding it while nodes die."""
    flags = {flag: True for flag, on in given.items() if on}
    context.default_map = dict.fromkeys(program.commands, flags)


for command in (
    demo,
    serve,
    lookup,
    bind,
    rebind,
    unbind,
    ls,
    tree,
    resolve,
    watch,
    check,
    status,
    quiesce,
    export,
    import_,
    classify,
    explain,
):
    program.add_command(command)
