"""`datamodels-inf referee`: which attribution method's claims hold."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of, reproducing_command
from pipeline.completion.words import ScoreFile
from pipeline.help_pages import HelpedCommand
from pipeline.options import OneOf, common_options, corrections_without_prior, option, with_options

referee_options = (
    *common_options("referee-page"),
    option(
        "--scores",
        multiple=True,
        metavar="[NAME=]FILE",
        type=ScoreFile(),
        help="Scores of a method: .npy, .npz, .pt or .safetensors; or lasso, the configuration's own. Repeatable.",
    ),
    option(
        "--k",
        type=click.IntRange(min=1),
        metavar="N",
        help="Claims: the N top helpers, and hurters, of a target.  [default: 5]",
    ),
    option("--alpha", type=float, metavar="X", help="False discovery rate of each method's claims.  [default: 0.1]"),
    option("--correction", type=OneOf(corrections_without_prior), help="For many claims.  [default: by]"),
    option(
        "--negate", multiple=True, metavar="NAME", help="Of the method NAME, a positive score means: hurts. Repeatable."
    ),
    option("--unseen", is_flag=True, help="No tested model was used to make the scores: you answer for it."),
    option("--seed", type=click.IntRange(min=0), metavar="N", help="Of random images and resamples.  [default: 0]"),
    option(
        "--resamples", type=click.IntRange(min=500), metavar="N", help="For intervals of LDS and R².  [default: 1000]"
    ),
    option("--csv", "as_csv", is_flag=True, help="All claims as CSV; lines about stages go to standard error."),
)


@click.command(
    cls=HelpedCommand,
    short_help="Test what attribution methods claim, from files of their scores.",
    examples=(
        "datamodels-inf referee --scores lasso",
        "datamodels-inf referee --config mine.toml --scores trak=trak.npy --unseen",
        "datamodels-inf referee --config mine.toml --scores lasso --scores tracin.npz",
    ),
)
@with_options(referee_options)
def referee(config_name: str, overrides: tuple[str, ...], as_csv: bool, **options: Any) -> None:
    """Test what attribution methods claim: each claim is confirmed, unproven or reversed.

    The claims are the top scores of each method, (n_train, n_targets); a positive one says that a training image helps
    the target. They are held against the held-out models. The page is REPORTS/NAME-referee/index.html.
    """
    from pipeline.commands.referee import QUESTION, asked_settings, csv_lines, referee_lines

    asked = {name: options.pop(name) for name in QUESTION}
    settings = asked_settings(config_name, overrides, asked)
    pipeline = pipeline_of(config_name, settings, **options)
    pipeline.command = reproducing_command(config_name, settings, "referee")
    if as_csv and not pipeline.quiet:
        pipeline.say = partial(echo, err=True)
    page = pipeline.run("referee-page")
    found = pipeline.finished(("download", "fit", "referee"), pipeline.command)["referee"]
    for line in csv_lines(page) if as_csv else referee_lines(found, pipeline.config.referee.unseen):
        echo(line)
