"""Prior: weights for the tests of the design and a shape for each method, from what the fit rows expect.

Two passes over the tests, target by target: their cells are counted, then each test looks up its weight. Of held-out
rows only masks are read, and of these only whether their law allows a pair to be tested, as the test stage asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.influence import MaskLaw
from datamodels_inf.internal.checks import Ints
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.prediction import (
    CountedFamily,
    ImageEvidence,
    PairEvidence,
    Prediction,
    predict,
    without_prediction,
)
from datamodels_inf.prediction.family import UNKNOWN
from pipeline.config import Config
from pipeline.progress import progress_bar
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.prior import evidence as evidence_stage
from pipeline.stages.prior.evidence import Evidence
from pipeline.stages.prior.files import write_prior
from pipeline.stages.test import designs
from pipeline.stages.test.premise import check_premise, testable_pairs, tests_made
from pipeline.summaries import PredictionSummary, PriorSummary

VERSION = 1
NO_ROWS = "there are no rows that the datamodels were fitted on"


def methods_of(config: Config) -> list[str]:
    """The methods that find: those of `[test]`, and the one whose findings of a half are made again."""
    robustness = config.robustness
    again = [robustness.method] if robustness.split and robustness.method else []
    return list(dict.fromkeys([*config.test.method, *again]))


def left_out(config: Config) -> dict[str, str]:
    """What is expected depends on the level, and not on which correction is used in the end."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        "test.correction": "weights and shape are made whichever is used",
        "test.chunk_pairs": "how many pairs are tested between two savings",
        "robustness": "only a method of its own, and that enters below",
        "atlas": "is about single images",
        "report": "what is shown, not what is expected",
        **designs.left_out(config.test),
    }


def instead(config: Config) -> dict[str, Any]:
    """The content of a list of pairs, and all methods."""
    return {**designs.content(config.test), "methods": methods_of(config)}


def run(run: Run) -> PriorSummary:
    """Write the weights and the shape of each method."""
    config, data = run.config, run.data
    testable = testable_pairs(config, check_premise(config, data), data)
    pairs, _ = designs.draw_design(config, data, run.fitted)
    made = tests_made(pairs, testable)
    summaries = {}
    for method, (cells, found) in _predictions(run, pairs, made).items():
        write_prior(run.out, method, found, cells, made)
        summaries[method] = PredictionSummary.model_validate(found.figures())
    return PriorSummary(methods=summaries)


def _predictions(run: Run, pairs: Pairs, made: NDArray[np.bool_]) -> dict[str, tuple[Ints, Prediction]]:
    """By method: the cell of each test of the design, and what is expected of those that are made."""
    alpha, methods = run.config.test.alpha, methods_of(run.config)
    found = Evidence.of(run.inputs["evidence"]) if "evidence" in run.inputs else None
    reason = NO_ROWS if found is None else found.summary.reason
    if found is None or reason:
        run.say(f"{reason}: all weights are 1, and the correction is Benjamini–Yekutieli's")
        cells = np.full(len(pairs), UNKNOWN)
        return dict.fromkeys(methods, (cells, without_prediction(CountedFamily.of(cells[made]), alpha, reason)))
    seen = PairCells(run.data, run.fitted, found, pairs, made)
    cells_of = {method: np.full(len(pairs), UNKNOWN) for method in methods}
    with progress_bar(len(pairs), "pair", "prior", run.quiet) as advance:
        for tests, evidence in seen.chunks():
            for method in methods:
                cells_of[method][tests] = seen.cells(evidence, method)
            advance(len(tests))
    sharing = seen.sharing
    return {
        method: (
            cells,
            predict(CountedFamily.of(cells[made]), alpha=alpha, law=METHODS[method].sensitivity.law, sharing=sharing),
        )
        for method, cells in cells_of.items()
    }


@dataclass(frozen=True, eq=False)
class PairCells:
    """What the fit rows know about the `made` tests among `pairs`, which are sorted by target."""

    data: Data
    fitted: Fitted
    evidence: Evidence
    pairs: Pairs
    made: NDArray[np.bool_]

    def chunks(self) -> Iterator[tuple[Ints, PairEvidence]]:
        """Tests of one target and one size of groups, and what is known about them."""
        law, n = MaskLaw.of(self.data.fit_masks), self.evidence.summary.n_models
        theta, n_test = self.fitted.first.weight, self.data.tested_rows(True)
        for tests in self._of_targets():
            target = int(self.pairs.target[tests[0]])
            weight = theta[:, self.fitted.places(np.array([target]))].T.astype(np.float64)
            estimate, error = self.evidence.on(target)
            images = ImageEvidence(estimate[None], error[None], weight, n, law)
            sizes = self.pairs.sizes[tests]
            for size in np.unique(sizes).tolist():
                some = tests[sizes == size]
                yield some, PairEvidence.of(images, 0, self.pairs.members(some), n_test)

    def cells(self, evidence: PairEvidence, method: str) -> Ints:
        """The cells of a chunk, tested on as many rows as the method will be.

        Where every model tests, θ̂_i = θ̂_j of the few fit rows will not last: later fits tell the images apart, as far
        as these differ.
        """
        every_model = METHODS[method].every_model
        theta = evidence.theta
        if every_model and len(self.data.blocks) > 1:
            theta = np.where(theta.any(axis=1, keepdims=True), theta, evidence.difference)
        known = replace(
            evidence, theta=theta, n_test=round(self.evidence.rows_to_come(self.data, every_model=every_model))
        )
        return METHODS[method].sensitivity.cells(known)

    @property
    def sharing(self) -> float:
        """In how many tests of a target an image is, on average over those that are in one."""
        members = images = 0
        for tests in self._of_targets():
            own = self.pairs.take(tests)
            both = np.concatenate([own.left, own.right])
            members, images = members + len(both), images + len(np.unique(both))
        return members / images

    def _of_targets(self) -> Iterator[Ints]:
        """The made tests of each target."""
        tests = np.flatnonzero(self.made)
        starts = np.flatnonzero(np.diff(self.pairs.target[tests])) + 1
        yield from np.split(tests, starts)


def wanted(config: Config) -> bool:
    """Where there are fit rows to learn from, or where the correction asks for it all the same."""
    return evidence_stage.wanted(config) or CORRECTIONS[config.test.correction].needs_prior


STAGE = Stage(
    "prior", VERSION, ("download", "fit", "evidence"), PriorSummary, run, left_out, instead, wanted, unread=PICTURES
)
