"""The shape that all commands share: help that starts with examples, and usage errors that say what to type instead."""

from __future__ import annotations

from typing import Any

import click


class Seconds(click.FloatRange):
    """A time."""

    name = "number of seconds"


class Count(click.IntRange):
    """How many."""

    name = "whole number"


class ExamplesFirst(click.Command):
    """A command whose help starts with what to type."""

    def __init__(self, *args: Any, examples: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads what was typed; where an option isn't known, says where it belongs."""
        typed = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if hint := self.hint(ctx, error.option_name, typed):
                raise click.NoSuchOption(error.option_name, f"{error.message} {hint}", ctx=ctx) from None
            raise

    def hint(self, ctx: click.Context, option: str, typed: list[str]) -> str | None:  # noqa: ARG002
        """What to type instead of an option that this command doesn't have."""
        if option[1:2].isdigit() and any(isinstance(each, click.Argument) for each in self.params):
            return f"A value that starts with a minus stands behind --, as in '{ctx.command_path} … -- {option}'."
        return None

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, each on its own line as it is to be typed, then the text."""
        with formatter.section("Examples"):
            for line in self.examples.strip().splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")
        super().format_help_text(ctx, formatter)


class Commands(ExamplesFirst, click.Group):
    """A group that lists its commands as they were added, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands' names."""
        return list(self.commands)

    def hint(self, ctx: click.Context, option: str, typed: list[str]) -> str | None:
        """That the option is one of the command's that was typed, and stands behind it."""
        for word in typed:
            if (command := self.commands.get(word)) and any(option in each.opts for each in command.params):
                return f"It belongs behind the command: '{ctx.command_path} {word} {option} …'."
        return None
