"""`datamodels-inf import`: a folder of our layout from another tool's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.help_pages import HelpedCommand
from pipeline.options import OneOf, importers, option, verbose_option


@click.command(
    "import",
    cls=HelpedCommand,
    short_help="Convert the files of another tool into a folder of models.",
    examples=(
        "datamodels-inf import --from dattri lds_results my-models",
        "datamodels-inf import --from quanda cache my-models --outcomes losses.npy",
        "datamodels-inf init my-models  # next",
    ),
)
@option("--from", "name", type=OneOf(importers), required=True, help="The tool that wrote SRC.")
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@option(
    "--outcomes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Outcomes, one row a model and one column a target: .npy, or a .pt of one tensor.",
)
@option(
    "--flip-sign",
    "flip",
    is_flag=True,
    help="Outcomes have their sign turned, as what dattri's calculate_lds_ground_truth returns.",
)
@option("--n-train", type=click.IntRange(min=2), metavar="N", help="Training images.  [default: as in SRC]")
@option("--outcome", metavar="NAME", help="What outcomes are, a noun: margin, loss, accuracy, …")
@option(
    "--higher-is-better/--lower-is-better",
    "higher_is_better",
    default=None,
    help="Which outcomes are good ones.",
)
@verbose_option
def import_folder(name: str, source: Path, out: Path, verbose: bool, **given: Any) -> None:
    """Make of another tool's files, SRC, a folder OUT that `init` and `run` read.

    SRC is the file or folder that the tool wrote. Nothing is written over.
    """
    from pipeline.commands.import_folder import import_lines

    for line in import_lines(name, source, out, given):
        echo(line)
