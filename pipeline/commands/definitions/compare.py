"""`datamodels-inf compare`: the methods of a finished test stage side by side."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import tested_of
from pipeline.help_pages import HelpedCommand
from pipeline.options import result_options, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Count the findings of each test, and those that they share.",
    examples=(
        "datamodels-inf run --config digits-methods  # first, once",
        "datamodels-inf compare --config digits-methods",
    ),
)
@with_options(result_options)
def compare(config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool) -> None:
    """Print how many findings each test has at the same error rate, and how many they share.

    The tests are those of test.method. Reads what `run` or `test` has finished, and runs nothing.
    """
    from pipeline.commands.findings import compare_lines

    for line in compare_lines(tested_of(config_name, overrides, store)):
        echo(line)
