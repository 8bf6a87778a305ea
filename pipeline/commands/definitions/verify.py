"""`datamodels-inf verify`: findings held against fresh models."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.errors import BadInputError
from pipeline.help_pages import HelpedCommand
from pipeline.options import OneOf, methods, option, stage_options, with_options

verify_options = (
    *stage_options("agreement", "verify"),
    option(
        "--finding", "findings", type=click.IntRange(min=1), metavar="N", multiple=True,
        help="Its number among those of the test. Repeatable.",
    ),
    option("--pair", nargs=2, metavar="I J", help="Or two training images, by number or as class:position."),
    option("--target", type=click.IntRange(min=0), metavar="T", help="The target of --pair, by number."),
    option("--top", type=click.IntRange(min=1), metavar="N", help="Or the first N.  [default: 1, or as in [verify]]"),
    option("--models", type=click.IntRange(min=4), metavar="N", help="Fresh models for each pair.  [default: 1000]"),
    option("--method", type=OneOf(methods), help="Whose findings.  [default: the first of test.method]"),
    option("--fresh", type=click.IntRange(min=16), metavar="N", help="All findings, against N models on fresh masks."),
    option("--seed", type=click.IntRange(min=0), metavar="N", help="Of the fresh models.  [default: 0]"),
    option("--csv", "as_csv", is_flag=True, help="As CSV; lines about stages go to standard error."),
)  # fmt: skip


@click.command(
    cls=HelpedCommand,
    short_help="Train fresh models to see whether findings hold.",
    examples=(
        "datamodels-inf verify --finding 1",
        "datamodels-inf verify --pair 12 7 --target 84 --models 400",
        "datamodels-inf verify --fresh 2000 --dry-run",
    ),
)
@with_options(verify_options)
def verify(config_name: str, overrides: tuple[str, ...], as_csv: bool, **options: Any) -> None:
    """Train fresh models with the two images of a finding forced in and out, and compare.

    With --fresh N all findings, as many other pairs and the atlas are held against N models on fresh random masks.
    It needs data whose models can be trained here: those that ship, or of `train`.
    """
    from pipeline.commands.agreement import agreement_lines
    from pipeline.commands.verify import QUESTION, asked_settings, verify_lines

    asked = {name: options.pop(name) for name in QUESTION}
    pipeline = pipeline_of(config_name, asked_settings(config_name, overrides, asked), **options)
    if asked["fresh"] is not None:
        if as_csv:
            raise BadInputError("--csv is for single claims; with --fresh, the rows are in agreement.parquet.")
        for line in agreement_lines(pipeline.run("agreement")):
            echo(line)
    if asked["fresh"] is None or pipeline.config.verify.wanted:
        if as_csv and not pipeline.quiet:
            pipeline.say = partial(echo, err=True)
        for line in verify_lines(pipeline.run("verify"), as_csv):
            echo(line)
