"""`datamodels-inf check`: what a configuration would read, and whether its stages can work, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.exchangeability import ExchangeabilityReport
from datamodels_inf.internal.checks import Ints
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.commands.survey import Looked, doubts, survey_lines
from pipeline.config import Config
from pipeline.score_files.scores import read_scores
from pipeline.sources import SOURCES
from pipeline.stages.fit.stage import targets_to_fit
from pipeline.stages.inputs import Fitted
from pipeline.stages.test.designs import atlas_targets, draw_design
from pipeline.stages.test.premise import check_premise, testable_pairs, tests_made

MOST_WEIGHTS = 50_000_000
"""Beyond so many images × targets the pairs are not drawn for a look."""


def check_lines(config: Config, config_words: str) -> Iterator[str]:
    """The table of `survey_lines`, then what will be tested; a configuration that cannot work is a BadInputError.

    `config_words` are those of the command line that name the configuration.
    """
    kind = SOURCES[config.source.kind]
    opened = kind.open(config.source)
    if opened is None:
        yield f"{config.source.kind}: {kind.title}; its rows are not on this disk, and nothing is fetched here."
        rows = _rows(config)
        for what, address in zip((rows, rows, "the weights"), kind.fetched(config), strict=False):
            yield f"- a run fetches {what} {address}"
        yield f"How much that is, and what it costs: datamodels-inf run {config_words} --dry-run"
        return
    looked = Looked.at(config, opened)
    yield from survey_lines(looked)
    yield from working_lines(looked)


def _rows(config: Config) -> str:
    """Which rows of arrays elsewhere a run needs."""
    if config.test.progressive:
        return "all rows of"
    return "the rows for the fit and for the test of" if config.fit.needs_rows else "the rows for the test of"


def working_lines(looked: Looked) -> Iterator[str]:
    """What the stages would do, once nothing is found that would stop them."""
    config = looked.config
    looked.refuse_bad_rows()
    premise = check_premise(config, looked)
    targets = targets_to_fit(config, looked)
    _check_weights(looked)
    n_tests = _n_tests(looked, targets, premise)
    counted = "pairs chosen by the fit" if n_tests is None else f"{n_tests:,} pairs"
    yield (
        f'It can run: {_targets(len(targets))} fitted; test.design "{config.test.design}" tests {counted} by '
        f"{' and '.join(config.test.method)}; {CORRECTIONS[config.test.correction].title}, α = {config.test.alpha:g}."
    )
    for line in doubts(looked):
        yield f"Warning: {line}."
    atlas = atlas_targets(config, looked)
    if atlas.size and premise.law == "stratified" and not config.test.allow_unexchangeable:
        yield "Atlas: none, for masks that are stratified by class compare an image only with others of its class."
    elif atlas.size:
        yield f"Atlas: the influence of each of {looked.n_train:,} images, {_targets(atlas.size)} looked at."


def _targets(count: int) -> str:
    return "1 target is" if count == 1 else f"{count:,} targets are"


def _n_tests(looked: Looked, targets: Ints, premise: ExchangeabilityReport) -> int | None:
    """How many pairs would be tested, drawn by weights of 0: their number does not depend on them."""
    if looked.n_train * len(targets) > MOST_WEIGHTS:
        return None
    zeros = np.zeros((looked.n_train, len(targets)), np.float32)
    datamodel = Datamodel(zeros, np.zeros(len(targets)), np.full(len(targets), np.nan))
    pairs, _ = draw_design(looked.config, looked, Fitted((datamodel,), targets))
    if premise.law == "stratified" and looked.config.test.design == "top":
        return None  # Which of them are within a class, only the fit knows.
    return int(tests_made(pairs, testable_pairs(looked.config, premise, looked)).sum())


def _check_weights(looked: Looked) -> None:
    """That a file of weights or scores can be read and is of these images and targets, either way round."""
    fit = looked.config.fit
    if fit.mode != "load" or fit.file is None:
        return
    read_scores(fit.file, looked.n_train, looked.n_targets)
