"""`datamodels-inf import`: a folder of our layout from another tool's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.options import OneOf, importers


@click.command("import")
@click.option("--from", "name", type=OneOf(importers), required=True, help="Whose files SRC are.")
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--outcomes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Outcomes, one row a model and one column a target: .npy, or a .pt of one tensor.",
)
@click.option(
    "--flip-sign",
    "flip",
    is_flag=True,
    help="Outcomes have their sign turned, as what dattri's calculate_lds_ground_truth returns.",
)
@click.option("--n-train", type=click.IntRange(min=2), metavar="N", help="Training images.  [default: as in SRC]")
@click.option("--outcome", metavar="NAME", help="What outcomes are, a noun: margin, loss, accuracy, …")
@click.option("--higher-is-better/--lower-is-better", "higher_is_better", default=None, help="Of outcomes.")
@click.option("--verbose", is_flag=True, help="A traceback with a failure.")
def import_folder(name: str, source: Path, out: Path, verbose: bool, **given: Any) -> None:
    """Make of another tool's files, SRC, a folder OUT that `init` and `run` read. Nothing is written over."""
    from pipeline.commands.import_folder import import_lines

    for line in import_lines(name, source, out, given):
        echo(line)
