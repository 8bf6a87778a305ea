"""`datamodels-inf init`: from a folder of one's own to a configuration."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.toml", help="[default: the folder's name, here]")
@click.option("--verbose", is_flag=True, help="A traceback with a failure.")
def init(folder: Path, out: Path | None, verbose: bool) -> None:
    """Look at a FOLDER of your own models, say what it holds, and write a configuration that `run` takes.

    It holds masks or lists of images and an outcome of each model on each target (docs/own-data.md), or what the tools
    of others left. Nothing is written over.
    """
    from pipeline.commands.init import init_lines

    for line in init_lines(folder, out):
        echo(line)
