"""`datamodels-inf panel`: the picture of any finding of a finished report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import making_command, pipeline_of
from pipeline.completion.words import FindingName, Folder
from pipeline.help_pages import HelpedCommand
from pipeline.options import option, status_options, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Draw the picture of any finding of a report.",
    examples=(
        "datamodels-inf panel --finding swap-1",
        "datamodels-inf panel --finding swap-1 --finding swap-2 --out pictures",
    ),
)
@with_options(status_options)
@option(
    "--finding",
    "names",
    metavar="METHOD-NUMBER",
    multiple=True,
    type=FindingName(),
    required=True,
    help="Such as contrast-12, as the page calls it; 12 alone where there is one method. Repeatable.",
)
@option("--out", type=Folder(), metavar="DIR", help="For the pictures.  [default: panels/ of the report]")
def panel(
    config_name: str, overrides: tuple[str, ...], store: Path, names: tuple[str, ...], out: Path | None, **options: Any
) -> None:
    """Draw the picture of a finding: its two images, the target, and the evidence.

    A report has panels of its first findings; this draws any other one of it. Runs no stage.
    """
    from pipeline.commands.panel import draw_panels

    pipeline = pipeline_of(config_name, overrides, store, **options)
    command = making_command("run", config_name, overrides, store, pipeline.reports)
    for path in draw_panels(pipeline, names, out, command):
        echo(str(path))
