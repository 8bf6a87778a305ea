"""`datamodels-inf referee`: which attribution method's claims hold."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import config_words, pipeline_of
from pipeline.options import OneOf, common_options, corrections_without_prior, with_options

referee_options = (
    *common_options,
    click.option(
        "--scores",
        multiple=True,
        metavar="[NAME=]PATH",
        help="A file of scores (.npy, .npz, .pt, .safetensors), or lasso: the configuration's own. Repeatable.",
    ),
    click.option("--k", type=click.IntRange(min=1), help="Helpers and hurters of each target.  [default: 5]"),
    click.option("--alpha", type=float, help="False discovery rate of each method's claims.  [default: 0.1]"),
    click.option("--correction", type=OneOf(corrections_without_prior), help="[default: by]"),
    click.option("--negate", multiple=True, metavar="NAME", help="Its positive scores mean that an image hurts."),
    click.option("--unseen", is_flag=True, help="No tested model was used to make the scores: you answer for it."),
    click.option("--seed", type=click.IntRange(min=0), help="Of random images and resamples.  [default: 0]"),
    click.option("--resamples", type=click.IntRange(min=500), help="For intervals of LDS and R².  [default: 1000]"),
    click.option("--csv", "as_csv", is_flag=True, help="All claims as CSV; lines about stages go to standard error."),
)


@click.command()
@with_options(referee_options)
def referee(config_name: str, overrides: tuple[str, ...], as_csv: bool, **options: Any) -> None:
    """Hold the claims of attribution methods against the held-out models: confirmed, unproven or reversed.

    A positive score says that a training image helps the target. The page is REPORTS/NAME-referee/index.html.
    """
    from pipeline.commands.referee import QUESTION, asked_settings, csv_lines, referee_lines

    asked = {name: options.pop(name) for name in QUESTION}
    settings = asked_settings(config_name, overrides, asked)
    pipeline = pipeline_of(config_name, settings, **options)
    pipeline.command = shlex.join(["datamodels-inf", "referee", *config_words(config_name, settings)])
    if as_csv and not pipeline.quiet:
        pipeline.say = partial(echo, err=True)
    page = pipeline.run("referee-page")
    found = pipeline.finished(("download", "fit", "referee"), pipeline.command)["referee"]
    for line in csv_lines(page) if as_csv else referee_lines(found, pipeline.config.referee.unseen):
        echo(line)
