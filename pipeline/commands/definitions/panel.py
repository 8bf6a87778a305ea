"""`datamodels-inf panel`: the picture of any finding of a finished report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import making_command, pipeline_of
from pipeline.options import status_options, with_options


@click.command()
@with_options(status_options)
@click.option(
    "--finding",
    "names",
    metavar="METHOD-NUMBER",
    multiple=True,
    required=True,
    help="Such as contrast-12, as the page calls it; 12 alone where there is one method. Repeatable.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The folder for the pictures.  [default: panels/ of the report]"
)
def panel(
    config_name: str, overrides: tuple[str, ...], store: Path, names: tuple[str, ...], out: Path | None, **options: Any
) -> None:
    """Draw the picture of a finding that the report has no panel for. Runs no stage."""
    from pipeline.commands.panel import draw_panels

    pipeline = pipeline_of(config_name, overrides, store, **options)
    command = making_command("run", config_name, overrides, store, pipeline.reports)
    for path in draw_panels(pipeline, names, out, command):
        echo(str(path))
