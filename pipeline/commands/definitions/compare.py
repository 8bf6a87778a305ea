"""`datamodels-inf compare`: the methods of a finished test stage side by side."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import tested_of
from pipeline.options import result_options, with_options


@click.command()
@with_options(result_options)
def compare(config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool) -> None:
    """Print how many findings each method has at the same error rate, and how many they share. Runs nothing."""
    from pipeline.commands.findings import compare_lines

    for line in compare_lines(tested_of(config_name, overrides, store)):
        echo(line)
