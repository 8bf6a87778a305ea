"""`datamodels-inf simulate`: the paper's synthetic experiments."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.completion.words import Folder
from pipeline.help_pages import HelpedCommand
from pipeline.options import option, quiet_option, threads_option


@click.command(
    cls=HelpedCommand,
    short_help="Repeat the paper's simulations: does the test keep its level?",
    examples=("datamodels-inf simulate size --reps 100", "datamodels-inf simulate all"),
)
@click.argument(
    "experiment", metavar="[EXPERIMENT]", type=click.Choice(["size", "power", "mixture", "all"]), default="all"
)
@option(
    "--reps", type=click.IntRange(min=1), metavar="N", default=1000, show_default=True, help="Repetitions per setting."
)
@option("--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True, help="Of all random draws.")
@option(
    "--out",
    type=Folder(),
    metavar="DIR",
    default=Path("reports/simulation"),
    show_default=True,
    help="Folder for the figures and tables.",
)
@threads_option
@quiet_option(help="No progress bar, no tables.")
def simulate(experiment: str, reps: int, seed: int, out: Path, threads: int | None, quiet: bool) -> None:
    """Repeat the paper's simulations, in which the truth is known.

    EXPERIMENT is size, power, mixture, or all, which is the default.

    Writes heatmaps of rejection rates, all rates with standard errors as CSV, and the paper's printed numbers beside
    ours and beside exact theory, for the paper's test and for the exact and paired ones.
    """
    from pipeline.commands.simulate import run_simulation

    for line in run_simulation(experiment, reps=reps, seed=seed, out=out, threads=threads, quiet=quiet):
        echo(line)
