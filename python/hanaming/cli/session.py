"""What every command that asks a cluster shares: its options, the context it asks, and how its errors end.

A command is a function of a `Session`; `command` makes the click command around it.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from hanaming import Attempt, Context, HAContext, NamingError

from . import errors, streams, values
from .shape import ExamplesFirst, Seconds

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPBACK = "hn://127.0.0.1:11100"
_VARIABLE = "HANAMING_PROVIDER"


@dataclass
class Session:
    """The options of one run, and the context that they mean."""

    provider: str | None
    local: bool
    timeout: float
    json: bool
    verbose: bool
    quiet: bool
    _context: Context | None = field(default=None, init=False, repr=False)

    @property
    def context(self) -> Context:
        """The HA context, or with `--local` the one node's local tree; opened at the first use."""
        if self._context is None:
            if self.local:
                self._context = Context(self.provider_given, timeout=self.timeout)
            else:
                self._context = HAContext(self.provider_given, timeout=self.timeout)
        return self._context

    @property
    def provider_given(self) -> str:
        """Whom the command asks: the option, else the environment, else this machine."""
        given = os.environ.get(_VARIABLE) or LOOPBACK if self.provider is None else self.provider
        return errors.text(given, self.provider_source)

    @property
    def provider_source(self) -> str:
        """Where the provider is from, in words."""
        if self.provider is not None:
            return "--provider"
        return _VARIABLE if os.environ.get(_VARIABLE) else "the default"

    def print_json(self, document: Any) -> None:
        """A document on standard output."""
        click.echo(values.dumps(document, indent=2))

    def note(self, text: str) -> None:
        """Something a person wants to know and a program doesn't; `-q` leaves it out."""
        if not self.quiet:
            streams.say(text)

    def complain(self, message: str, document: dict[str, Any]) -> None:
        """An error, on standard error: a message, or with `--json` the document that says the same and more."""
        streams.say(values.dumps({"error": document}) if self.json else f"hanaming: {message}")

    def explain(self) -> list[Attempt]:
        """The attempts of the last call."""
        return self._context.explain() if self._context is not None else []

    def close(self) -> None:
        """Closes the context, where one was opened."""
        if self._context is not None:
            self._context.close()


_LOCAL = click.Option(["--local"], is_flag=True, help="Ask the one node's local tree alone; never fails over.")
_SHARED = [
    click.Option(
        ["--provider"],
        metavar="HN://HOST:PORT,…",
        help="Whom to ask: one address or several. Else HANAMING_PROVIDER, else 127.0.0.1:11100.",
    ),
    _LOCAL,
    click.Option(
        ["--timeout"],
        type=Seconds(min=0, min_open=True),
        default=5.0,
        show_default=True,
        metavar="SECONDS",
        help="The limit for the whole call.",
    ),
    click.Option(["--json"], is_flag=True, help="Answer in JSON."),
    click.Option(["-v", "--verbose"], is_flag=True, help="Show every attempt: target, phase, outcome, time."),
    click.Option(["-q", "--quiet"], is_flag=True, help="Print nothing but the answer."),
]


def standalone(*, examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that asks no cluster of its own (`serve`, `demo`, `classify`)."""
    return click.command(cls=ExamplesFirst, examples=examples)


def command(
    *, examples: str, mutation: bool = False, trees: bool = True
) -> Callable[[Callable[..., int | None]], click.Command]:
    """A command that asks a cluster. Its function is given a `Session` and returns an exit status, `None` for done.

    `trees` is false where it is about nodes and not about what is bound: such a command has no `--local`.
    """

    def wrap(function: Callable[..., int | None]) -> click.Command:
        @functools.wraps(function)
        def run(**options: Any) -> int:
            shared = {f.name: options.pop(f.name, False) for f in fields(Session) if f.init}
            session = Session(**shared)
            try:
                return _run(session, function, options, mutation=mutation)
            finally:
                session.close()

        made = click.command(function.__name__.rstrip("_"), cls=ExamplesFirst, examples=examples)(run)
        # Behind the command's own.
        made.params.extend(option for option in _SHARED if trees or option is not _LOCAL)
        return made

    return wrap


def _run(session: Session, function: Callable[..., int | None], arguments: dict[str, Any], *, mutation: bool) -> int:
    try:
        for key, argument in arguments.items():
            for text in argument if isinstance(argument, tuple) else [argument]:
                if isinstance(text, str):
                    errors.text(text, key.upper())
        status = function(session, **arguments)
    except NamingError as error:
        status = errors.exit_status(error, mutation=mutation)
        message = str(error).replace("create_parents=True", "-p (--create-parents)")  # it is an option here
        session.complain(message, errors.document(error, message, status))
        if session.verbose and not session.json:
            _show_attempts(error.attempts)
        return status
    except (TypeError, ValueError) as error:  # a value that cannot be bound, or is none
        raise click.UsageError(str(error)) from None
    if session.verbose:
        _show_attempts(session.explain())
    return errors.DONE if status is None else status


def _show_attempts(attempts: list[Attempt]) -> None:
    for line in errors.attempt_lines(attempts):
        streams.say(line)
