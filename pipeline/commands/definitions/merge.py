"""`datamodels-inf merge`: a set of the shards that `train --shard` left."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.help_pages import HelpedCommand
from pipeline.options import quiet_option, verbose_option


@click.command(
    cls=HelpedCommand,
    short_help="Put the shards of `train --shard` together.",
    examples=(
        "datamodels-inf train --out set --models 2000 --shard 1/2",
        "datamodels-inf train --out set --models 2000 --shard 2/2",
        "datamodels-inf merge set",
    ),
)
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(path_type=Path))
@quiet_option(help="No progress bar, no lines.")
@verbose_option
def merge(out: Path, folders: tuple[Path, ...], quiet: bool, verbose: bool) -> None:
    """Put the shards of `train --shard` together: the same bytes as one run of `train`.

    OUT is the folder that `train --shard K/N --out OUT` was given. Where shards were trained into folders of their
    own, name these after it: they are read and stay as they are. Nothing is trained: shards that are missing are named.
    """
    from pipeline.commands.made_models import made_lines
    from pipeline.training.merge import merge as merge_shards

    job = merge_shards(out, folders, quiet, (lambda line: None) if quiet else echo)
    for line in made_lines(job, out):
        echo(line)
