"""`datamodels-inf plan`: how many models find how large an effect."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo


@click.command()
@click.option("--effect", type=float, help="Effect Δ on the outcome that should be found.")
@click.option("--alpha", type=float, default=1e-4, show_default=True, help="Level of one test, after correction.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Chance to find it.")
@click.option("--noise", type=float, default=1.0, show_default=True, help="Residual sd of the outcome given the mask.")
@click.option("--proportion", type=float, default=0.5, show_default=True, help="Share of the images in a mask.")
@click.option("--images", "n_train", type=int, help="Training images: with it also how many models to train in all.")
@click.option("--models", "n_models", type=int, help="What do so many models find, in all? Needs --images.")
@click.option("--fit-rows", type=int, help="How many of --models are fitted, held-out.  [default: by the rule]")
@click.option("--held-out-rows", type=int, help="How many of --models are held out.  [default: the others]")
def plan(**options: Any) -> None:
    """How many models are needed to find an effect, or which effects a number of models finds, for each test.

    Held-out, some models are fitted and the others tested; progressive, every model but the first tests.
    """
    from pipeline.commands.plan import Question, plan_lines

    for line in plan_lines(Question(**options)):
        echo(line)
