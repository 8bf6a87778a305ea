"""`datamodels-inf verify`: findings held against fresh models."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.errors import BadInputError
from pipeline.options import OneOf, methods, stage_options, with_options

verify_options = (
    *stage_options,
    click.option("--finding", "findings", type=click.IntRange(min=1), multiple=True, help="By number. Repeatable."),
    click.option("--pair", nargs=2, metavar="I J", help="Two training images, by number or as class:position."),
    click.option("--target", type=click.IntRange(min=0), help="The target of --pair."),
    click.option("--top", type=click.IntRange(min=1), help="The first findings.  [default: 1, or what [verify] names]"),
    click.option("--models", type=click.IntRange(min=4), help="Fresh models for each pair.  [default: 1000]"),
    click.option("--method", type=OneOf(methods), help="Whose findings.  [default: the first of test.method]"),
    click.option("--fresh", type=click.IntRange(min=16), help="All findings against so many models on fresh masks."),
    click.option("--seed", type=click.IntRange(min=0), help="Of the fresh models.  [default: 0]"),
    click.option("--csv", "as_csv", is_flag=True, help="As CSV; lines about stages go to standard error."),
)


@click.command()
@with_options(verify_options)
def verify(config_name: str, overrides: tuple[str, ...], as_csv: bool, **options: Any) -> None:
    """Hold findings, or any pair, against fresh models that are trained with its two images forced in and out.

    With --fresh N all findings, as many other pairs and the atlas are held against N models on fresh random masks.
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
