"""`datamodels-inf plan`: how many models find how large an effect."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.help_pages import HelpedCommand
from pipeline.options import option


@click.command(
    cls=HelpedCommand,
    short_help="Say how many models to train, or what a number of them finds.",
    examples=(
        "datamodels-inf plan --effect 0.5",
        "datamodels-inf plan --effect 0.5 --images 1000 --noise 2",
        "datamodels-inf plan --models 5000 --images 1000",
    ),
)
@option("--effect", type=float, metavar="X", help="The effect Δ to find, in units of the outcome.")
@option(
    "--alpha", type=float, metavar="X", default=1e-4, show_default=True, help="Level of one test, after correction."
)
@option("--power", type=float, metavar="X", default=0.8, show_default=True, help="Chance to find the effect.")
@option(
    "--noise", type=float, metavar="X", default=1.0, show_default=True,
    help="Standard deviation of the outcome given the mask, in its units.",
)  # fmt: skip
@option(
    "--proportion", type=float, metavar="X", default=0.5, show_default=True,
    help="Share of the images that a model is trained on.",
)  # fmt: skip
@option(
    "--images", "n_train", type=int, metavar="N", help="Training images; says also how many models to train in all."
)
@option("--models", "n_models", type=int, metavar="N", help="Say which effects N models find, in all. Needs --images.")
@option("--fit-rows", type=int, metavar="N", help="Of --models, those that are fitted.  [default: by the rule]")
@option("--held-out-rows", type=int, metavar="N", help="Of --models, those that test.  [default: the others]")
def plan(**options: Any) -> None:
    """Say how many models find an effect, or which effects a number of models finds.

    Give --effect, or --models with --images, or both; the answer is for each test. Held-out, some models are fitted
    and the others test; progressive, all models but the first test (docs/planning.md).
    """
    from pipeline.commands.plan import Question, plan_lines

    for line in plan_lines(Question(**options)):
        echo(line)
