"""`datamodels-inf init`: from a folder of one's own to a configuration."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.help_pages import HelpedCommand
from pipeline.options import option, verbose_option


@click.command(
    cls=HelpedCommand,
    short_help="Look at a folder of your own models; write a configuration.",
    examples=("datamodels-inf init my-models", "datamodels-inf run --config my-models.toml  # next"),
)
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="The configuration to write.  [default: the folder's name, here]",
)
@verbose_option
def init(folder: Path, out: Path | None, verbose: bool) -> None:
    """Look at a FOLDER of your own models, say what it holds, and write a configuration that `run` takes.

    FOLDER holds masks, or lists of images, and an outcome of each model on each target (docs/own-data.md), or what
    the tools of others left. Nothing is written over.
    """
    from pipeline.commands.init import init_lines

    for line in init_lines(folder, out):
        echo(line)
