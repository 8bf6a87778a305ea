"""`datamodels-inf simulate`: the paper's synthetic experiments."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.options import threads_option


@click.command()
@click.argument("experiment", type=click.Choice(["size", "power", "mixture", "all"]), default="all")
@click.option("--reps", type=click.IntRange(min=1), default=1000, show_default=True, help="Repetitions per setting.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random draws.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/simulation"),
    show_default=True,
    help="Folder for the figures and tables.",
)
@threads_option
@click.option("--quiet", is_flag=True, help="No progress bar, no tables.")
def simulate(experiment: str, reps: int, seed: int, out: Path, threads: int | None, quiet: bool) -> None:
    """Repeat the paper's synthetic EXPERIMENT: size, power, mixture, or all of them.

    Writes heatmaps of rejection rates, all rates with standard errors as CSV, and the paper's printed numbers beside
    ours and beside exact theory, for the paper's test and for the exact and paired ones.
    """
    from pipeline.commands.simulate import run_simulation

    for line in run_simulation(experiment, reps=reps, seed=seed, out=out, threads=threads, quiet=quiet):
        echo(line)
