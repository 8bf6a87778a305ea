"""`datamodels-inf run`, `download`, `fit` and `test`: the stages up to one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from pipeline.commands.definitions.shared import pipeline_of
from pipeline.options import common_options, download_options, stage_options, with_options


def _up_to(last: str, name: str, help_text: str, options: Sequence[Callable[[Any], Any]]) -> click.Command:
    @click.command(name, help=help_text)
    @with_options(tuple(options))
    def command(**options: Any) -> None:
        pipeline_of(**options).run(last)

    return command


run = _up_to(
    "report", "run", "Run all stages, from download to report. What is cached is not run again.", common_options
)
download = _up_to("download", "download", "Stage 1: bring masks, outcomes and images into the store.", download_options)
fit = _up_to("fit", "fit", "Stages 1 and 2: fit or load a datamodel for each target.", stage_options)
test = _up_to("test", "test", "Stages 1 to 3: test the pairs of the design on the held-out models.", stage_options)
