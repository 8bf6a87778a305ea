"""`datamodels-inf merge`: a set of the shards that `train --shard` left."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo


@click.command()
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.option("--verbose", is_flag=True, help="A traceback with a failure.")
def merge(out: Path, folders: tuple[Path, ...], quiet: bool, verbose: bool) -> None:
    """Make a set of shards, the same bytes as those of one run of `train`.

    OUT is the folder that `train --shard K/N --out OUT` was given; of shards that were trained into folders of their
    own, name these after it: they are read and stay as they are. Nothing is trained: shards that are missing are named.
    """
    from pipeline.commands.made_models import made_lines
    from pipeline.training.merge import merge as merge_shards

    job = merge_shards(out, folders, quiet, (lambda line: None) if quiet else echo)
    for line in made_lines(job, out):
        echo(line)
