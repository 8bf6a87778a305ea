"""Pages of `--help`: what a command does for the user, examples, then its options under headings, on 80 columns."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

WHICH = "Which analysis, and where"
HOW = "How it is done"
OPTIONS = "Options"
OTHER = "Other options"
LAST = 2
"""So few of HOW are rather OTHER: --verbose and --help."""
SHARED = (WHICH, HOW, OTHER)
"""Headings of options that many commands have, after those of the command's own."""
FEW = 6
"""So many options need no headings."""
WIDEST = 26
"""An option that is longer has its text on the next line."""


class HelpedOption(click.Option):
    """An option that the help page lists under a heading, by default that of the command's own options."""

    def __init__(self, *arguments: Any, heading: str = OPTIONS, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.heading = heading

    def get_help_extra(self, ctx: click.Context) -> Any:
        """The same without "[x>=1]": a count says that by itself, and other limits are put in words."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The same, with the smallest number, and the names that the type lists where the metavar does not."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        spec, text = record
        least, names = getattr(self.type, "min", None), getattr(self.type, "names", None)
        if least is not None and least > 1:
            text = (
                f"{text.removesuffix(']')}; at least {least}]" if text.endswith("]") else f"{text}  [at least {least}]"
            )
        if names is not None and self.metavar is not None:
            text = f"{text} {self.metavar}: {', '.join(names())}."
        return spec, text


class HelpedCommand(click.Command):
    """A command whose help page has examples, each a line that runs as it stands, and options under headings."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.examples = tuple(examples)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What it does, then examples: more is understood from these than from any option."""
        super().format_help_text(ctx, formatter)
        write_examples(self.examples, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each heading with its options; those that many commands share come last."""
        headings = defaultdict[str, list[tuple[str, str]]](list)
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        few = len(options) <= FEW
        for option in options:
            record = option.get_help_record(ctx)
            heading = OPTIONS if few else getattr(option, "heading", HOW)  # --help is click's own, without a heading.
            if record is not None:
                headings[heading].append(record)
        if len(headings[HOW]) <= LAST:
            headings[OPTIONS if len(headings) <= LAST else OTHER] += headings.pop(HOW)
        order = sorted(headings, key=lambda heading: SHARED.index(heading) if heading in SHARED else -1)
        _write_lists({heading: headings[heading] for heading in order if headings[heading]}, formatter)


class HelpedGroup(click.Group):
    """A group that lists its commands in their order, under headings if it has `sections`, and no line is cut off."""

    command_class = HelpedCommand

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Mapping[str, click.Command]] | None = None,
        examples: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.sections = dict(sections or {})
        self.examples = tuple(examples)
        for commands in self.sections.values():
            self.commands.update(commands)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a user meets them."""
        return list(self.commands)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What it is for, then examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self.examples, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands first: a group has hardly any options."""
        self.format_commands(ctx, formatter)
        records = [option.get_help_record(ctx) for option in self.get_params(ctx)]
        with formatter.section(OPTIONS):
            formatter.write_dl([record for record in records if record is not None])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its line."""
        sections = self.sections or {"Commands": self.commands}
        lists = {
            heading: [(name, _line(command)) for name, command in commands.items()]
            for heading, commands in sections.items()
        }
        _write_lists(lists, formatter)


def example_words(example: str) -> list[str]:
    """The words of an example's line, as a shell has them; what follows # is for people."""
    return shlex.split(example, comments=True)


def write_examples(examples: Iterable[str], formatter: click.HelpFormatter) -> None:
    """As they are: a command that is wrapped can no longer be copied."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def _line(command: click.Command) -> str:
    return command.short_help or command.get_short_help_str(1000)


def _write_lists(lists: Mapping[str, Sequence[tuple[str, str]]], formatter: click.HelpFormatter) -> None:
    """Under headings, all with the same columns."""
    lengths = [len(first) for rows in lists.values() for first, _ in rows]
    width = max((length for length in lengths if length <= WIDEST), default=0)
    for heading, rows in lists.items():
        with formatter.section(heading):
            formatter.write_dl([(f"{first:<{width}}", second) for first, second in rows], col_max=width)
