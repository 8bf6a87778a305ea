"""The command `datamodels-inf`: one short function per command.

Imports that take time stand inside the commands, so that `--help` and errors answer at once.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import click

from pipeline.errors import BadInputError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="datamodels-inf", prog_name="datamodels-inf")
def cli() -> None:
    """Did training image i influence the model's answer on a target more than training image j? With valid p-values."""


@cli.command()
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
@click.option("--threads", type=click.IntRange(min=1), default=None, help="Default: all cores. Changes no result.")
@click.option("--quiet", is_flag=True, help="No progress bar, no tables.")
def simulate(experiment: str, reps: int, seed: int, out: Path, threads: int | None, quiet: bool) -> None:
    """Repeat the paper's synthetic EXPERIMENT: size, power, mixture, or all of them.

    Writes heatmaps of rejection rates, all rates with standard errors as CSV, and the paper's printed numbers beside
    ours and beside exact theory, for the paper's test and for the exact and paired ones.
    """
    from pipeline.simulation import run_simulation

    for line in run_simulation(experiment, reps=reps, seed=seed, out=out, threads=threads, quiet=quiet):
        click.echo(line)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a failure while working, 2 bad input, 130 interrupted."""
    try:
        sys.exit(cli.main(prog_name="datamodels-inf", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as help_page:
        click.echo(help_page.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _stop(error.format_message(), 2)
    except BadInputError as error:
        _stop(str(error), 2)
    except (click.Abort, KeyboardInterrupt):
        _stop("interrupted; nothing was left half-written.", 130)
    except Exception as error:
        if "--verbose" in sys.argv:
            traceback.print_exc()
        _stop(f"failed: {type(error).__name__}: {' '.join(str(error).split())}", 1)


def _stop(sentence: str, code: int) -> None:
    click.echo(f"datamodels-inf: {sentence}", err=True)
    sys.exit(code)
