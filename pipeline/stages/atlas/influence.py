"""Influence: the findings among single images, corrected over the images of each target, or over everything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.many_pvalues import find_among_many, largest_critical
from datamodels_inf.multiplicity import CORRECTIONS, selected_confidence
from datamodels_inf.prediction import Prediction
from datamodels_inf.shape import Shape
from pipeline.arrays import open_npz
from pipeline.config import Config, Test
from pipeline.places.base import Advance
from pipeline.progress import share_bar
from pipeline.stages.atlas.found import Found, evidence_in, scaled_pvalues
from pipeline.stages.atlas.tiles import Atlas
from pipeline.stages.atlas.weights import (
    ALL,
    AtlasCells,
    AtlasWeights,
    prediction_over_all,
    predictions_of_targets,
)
from pipeline.stages.base import Run, Stage
from pipeline.stages.inputs import Fitted
from pipeline.store.cache import Result
from pipeline.store.files import save_arrays
from pipeline.summaries import InfluenceSummary

VERSION = 4


ABOUT_PAIRS = (
    "design", "target_class", "repeats", "targets", "k", "versus", "random_partners", "file", "images", "seed",
    "method", "tau", "order", "chunk_pairs", "rows", "blocks",
)  # fmt: skip
NOT_KNOWN = "the fit rows say nothing about effects"


def left_out(config: Config) -> dict[str, str]:
    """Of `[test]` the level and the correction enter."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        **{f"test.{name}": "is about pairs, or the key of the atlas stage holds it" for name in ABOUT_PAIRS},
        "test.allow_unexchangeable": "may refuse, not change",
        "atlas.targets": "the key of the atlas stage holds them",
        **dict.fromkeys(("robustness", "report"), "a finding does not depend on it"),
    }


def run(run: Run) -> InfluenceSummary:
    """Write findings.npz: limit, level and counts of each target, and of each image, how many targets it moves.

    With a prior, also the weights of the cells of each family.
    """
    atlas = Atlas.of(run.inputs["atlas"])
    test, family = run.config.test, run.config.atlas.family
    needs_prior = CORRECTIONS[test.correction].needs_prior
    passes = 3 if needs_prior else 2
    with share_bar(passes * len(atlas.targets), "influence", run.quiet) as advance:
        weighted = _weighted(run, atlas, advance) if needs_prior else UNWEIGHTED
        found = (found_over_all if family == "all" else found_of_targets)(atlas, test, weighted, advance)
        counts = Counts.of(found, run.fitted, advance)
    arrays = {"limit": found.limit, "level": found.level, **vars(counts)}
    save_arrays(run.out / "findings.npz", arrays if found.weights is None else arrays | found.weights.arrays())
    return InfluenceSummary(
        family=family,
        alpha=test.alpha,
        correction=test.correction,
        n_targets=len(atlas.targets),
        n_tests=len(atlas.targets) * atlas.summary.n_train,
        n_found=int(counts.n_found.sum()),
        n_nonzero=int(counts.n_nonzero.sum()),
        n_stand=int(counts.n_stand.sum()),
        **(weighted.expectations if needs_prior else {}),
    )


@dataclass(frozen=True, eq=False)
class Weighted:
    """weights: of all influences, None for 1. predictions: what is expected of each family."""

    weights: AtlasWeights | None
    predictions: Sequence[Prediction]

    def shape(self, number: int) -> Shape | None:
        """β of a family."""
        return self.predictions[number].shape if self.predictions else None

    @property
    def expectations(self) -> dict[str, Any]:
        """For the summary."""
        known = [one for one in self.predictions if one.expected is not None]
        return {
            "expected": sum(one.expected or 0.0 for one in known),
            "expected_by": sum(one.expected_by or 0.0 for one in known),
            "n_unpredicted": len(self.predictions) - len(known),
        }


UNWEIGHTED = Weighted(None, ())


def _weighted(run: Run, atlas: Atlas, advance: Advance) -> Weighted:
    """By the evidence of the fit rows; without any all weights are 1."""
    evidence = evidence_in(run.inputs)
    if evidence is None:
        run.say(f"{NOT_KNOWN}: all weights are 1, and the correction is Benjamini–Yekutieli's")
    together = run.config.atlas.family == "all"
    cells = AtlasCells(atlas, evidence)
    predicted = prediction_over_all if together else predictions_of_targets
    predictions = predicted(cells, run.config.test.alpha, NOT_KNOWN if evidence is None else "", advance)
    return Weighted(AtlasWeights.of(cells, predictions, together=together), predictions)


def found_of_targets(atlas: Atlas, test: Test, weighted: Weighted, advance: Advance) -> Found:
    """Each target is a family."""
    limit, level = np.empty((2, len(atlas.targets)))
    for place in range(len(limit)):
        once = [place]
        limit[place], level[place] = _found(atlas, test, once, weighted.weights, weighted.shape(place))
        advance(1)
    return Found(atlas, limit, level, weighted.weights)


def found_over_all(atlas: Atlas, test: Test, weighted: Weighted, advance: Advance) -> Found:
    """Every influence of the atlas belongs to one family."""
    places = range(len(atlas.targets))
    limit, level = np.empty((2, len(places)))
    if places:
        limit[:], level[:] = _found(atlas, test, places, weighted.weights, weighted.shape(0))
    advance(len(places))
    return Found(atlas, limit, level, weighted.weights)


def _found(
    atlas: Atlas, test: Test, places: Sequence[int], weights: AtlasWeights | None, shape: Shape | None
) -> tuple[float, float]:
    """(limit, level) of the family of all images on the targets at `places`."""
    m = len(places) * atlas.summary.n_train
    largest = largest_critical(test.correction, test.alpha, m, shape=shape)

    def chunks() -> Iterator[Floats]:
        for place in places:
            scaled = scaled_pvalues(atlas, place, ALL, weights, largest)
            yield scaled[scaled <= largest]

    found = find_among_many(chunks, m, correction=test.correction, alpha=test.alpha, shape=shape)
    if not found.found:
        return found.limit, math.nan
    return found.limit, selected_confidence(test.correction, test.alpha, m, found.found, shape=shape)


@dataclass(frozen=True, eq=False)
class Counts:
    """Of each target: n_found findings; n_nonzero weights of its datamodel, n_stand of them findings of the same sign.
    Of each image: on how many targets it is a finding that raises the outcome, and that lowers it.
    """

    n_found: Ints
    n_nonzero: Ints
    n_stand: Ints
    raised: Ints
    lowered: Ints

    @classmethod
    def of(cls, findings: Found, fitted: Fitted, advance: Advance) -> Counts:
        """In one pass over the atlas."""
        atlas = findings.atlas
        columns = fitted.places(atlas.targets)
        raised, lowered = np.zeros((2, atlas.summary.n_train), np.int64)
        n_found, n_nonzero, n_stand = np.zeros((3, len(columns)), np.int64)
        for place in range(len(columns)):
            estimate, _ = atlas.of_target(place)
            found = findings.is_finding(place)
            raised += found & (estimate > 0)
            lowered += found & (estimate < 0)
            theta = fitted.datamodel.weight[:, columns[place]]
            nonzero, stand = theta != 0, found & (theta * estimate > 0)
            n_found[place] = np.count_nonzero(found)
            n_nonzero[place], n_stand[place] = np.count_nonzero(nonzero), np.count_nonzero(stand)
            advance(1)
        return cls(n_found, n_nonzero, n_stand, raised, lowered)


COUNTS = tuple(field.name for field in fields(Counts))


def read_counts(result: Result) -> dict[str, Ints]:
    """What `Counts` said, by name."""
    with open_npz(result.folder / "findings.npz") as arrays:
        return {name: arrays[name] for name in COUNTS}


def wanted(config: Config) -> bool:
    """Wherever there is an atlas."""
    return config.atlas.wanted


STAGE = Stage("influence", VERSION, ("fit", "evidence", "atlas"), InfluenceSummary, run, left_out, wanted=wanted)
