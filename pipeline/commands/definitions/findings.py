"""`datamodels-inf findings`: the findings of a finished test stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import making_command, tested_of
from pipeline.help_pages import HelpedCommand
from pipeline.options import OneOf, methods, option, result_options, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Print the findings of a run, with their effects in words.",
    examples=(
        "datamodels-inf findings --limit 5",
        "datamodels-inf findings --sort effect --class 3",
        "datamodels-inf findings --csv > findings.csv",
    ),
)
@with_options(result_options)
@option("--method", type=OneOf(methods), help="Of one test only.  [default: all that were run]")
@option(
    "--sort",
    type=click.Choice(["p", "effect", "target"]),
    default="p",
    show_default=True,
    help="By p-value, by the size of the effect, or by target.",
)
@option(
    "--target",
    "targets",
    metavar="T",
    multiple=True,
    help="On this target: number, class:position or name. Repeatable.",
)
@option("--class", "wanted_class", metavar="NAME", help="Only pairs where i, j or the target is of this class.")
@option("--limit", type=click.IntRange(min=1), metavar="N", help="The first N of each test.  [default: all]")
@option("--csv", "as_csv", is_flag=True, help="As CSV; it can serve as test.file.")
def findings(
    config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool, as_csv: bool, **asked: Any
) -> None:
    """Print the findings: pairs of training images that differ in influence.

    Each comes with its effect in words, an interval and a p-value. Reads what `run` or `test` has finished, and runs
    nothing.
    """
    from pipeline.commands.findings import Asked, finding_lines

    tested = tested_of(config_name, overrides, store)
    command = making_command("run", config_name, overrides, store)
    for line in finding_lines(tested, Asked(**asked), as_csv=as_csv, command=command):
        echo(line)
