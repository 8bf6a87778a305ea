"""Which influences of single images are findings: corrected over the images of each target, or over everything.

No table of p-values is kept, and few are computed: those of influences large enough that they may be findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.influence import influence_quantile
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.many_pvalues import Chunks, find_among_many, largest_critical
from pipeline.config import Config, Test
from pipeline.progress import progress_bar
from pipeline.stages.atlas.tiles import Atlas, Singles
from pipeline.stages.base import Run, Stage
from pipeline.stages.inputs import Fitted
from pipeline.store.files import save_arrays
from pipeline.summaries import InfluenceSummary

VERSION = 2
Advance = Callable[[float], object]


ABOUT_PAIRS = (
    "design", "target_class", "repeats", "targets", "k", "versus", "random_partners", "file", "images", "seed",
    "method", "tau", "order", "chunk_pairs",
)  # fmt: skip
SMALLEST = 1e-290
"""Of smaller p-values no quantile is asked for: they may be so small that they are 0."""


def left_out(config: Config) -> dict[str, str]:
    """Of `[test]` the level and the correction enter."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        **{f"test.{name}": "is about pairs, and the key of the atlas stage holds the targets" for name in ABOUT_PAIRS},
        "test.allow_unexchangeable": "may refuse, not change",
        "atlas.targets": "the key of the atlas stage holds them",
        **dict.fromkeys(("robustness", "report"), "a finding does not depend on it"),
    }


def run(run: Run) -> InfluenceSummary:
    """Write findings.npz: limit and counts of each target, and of each image, how many targets it moves."""
    atlas = Atlas.of(run.inputs["atlas"])
    test, family = run.config.test, run.config.atlas.family
    with progress_bar(2 * len(atlas.targets), "target", "atlas: findings", run.quiet) as advance:
        limits = (limits_over_all if family == "all" else limits_of_targets)(atlas, test, advance)
        counts = Counts.of(atlas, limits, run.fitted, advance)
    save_arrays(run.out / "findings.npz", {"limit": limits, **vars(counts)})
    return InfluenceSummary(
        family=family,
        alpha=test.alpha,
        correction=test.correction,
        n_targets=len(atlas.targets),
        n_tests=len(atlas.targets) * atlas.summary.n_train,
        n_found=int(counts.n_found.sum()),
        n_nonzero=int(counts.n_nonzero.sum()),
        n_stand=int(counts.n_stand.sum()),
    )


def pvalues_up_to(atlas: Atlas, place: int, estimate: Singles, error: Singles, limit: float) -> Floats:
    """p-values of influences on a target, but 1 where they are larger than `limit`: most are not computed then."""
    p = np.ones(estimate.shape)
    if limit < 0.0:
        return p
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = np.float32(0.999 * influence_quantile(max(limit, SMALLEST), atlas.summary.n_models))
        small = np.abs(estimate) / error >= least
    p[small] = atlas.pvalue(place, estimate[small], error[small])
    return np.where(p <= limit, p, 1.0)


def is_finding(atlas: Atlas, place: int, estimate: Singles, error: Singles, limit: float) -> NDArray[np.bool_]:
    """Whether an influence is one, by the limit of its target."""
    return np.asarray(pvalues_up_to(atlas, place, estimate, error, limit) <= limit)


def limits_of_targets(atlas: Atlas, test: Test, advance: Advance) -> Floats:
    """The largest p-value of a finding of each target, −1 where there is none; each target is a family."""
    n_train = atlas.summary.n_train
    largest = largest_critical(test.correction, test.alpha, n_train)
    limits = np.empty(len(atlas.targets))
    for place in range(len(limits)):
        p = pvalues_up_to(atlas, place, *atlas.of_target(place), largest)
        once: Chunks = partial(list, [p[p < 1.0]])
        limits[place] = find_among_many(once, n_train, correction=test.correction, alpha=test.alpha).limit
        advance(1)
    return limits


def limits_over_all(atlas: Atlas, test: Test, advance: Advance) -> Floats:
    """One limit for all: every influence of the atlas belongs to one family."""
    m = len(atlas.targets) * atlas.summary.n_train
    largest = largest_critical(test.correction, test.alpha, m)

    def chunks() -> Iterator[Floats]:
        for place in range(len(atlas.targets)):
            p = pvalues_up_to(atlas, place, *atlas.of_target(place), largest)
            yield p[p < 1.0]

    found = find_among_many(chunks, m, correction=test.correction, alpha=test.alpha)
    advance(len(atlas.targets))
    return np.full(len(atlas.targets), found.limit)


@dataclass(frozen=True, eq=False)
class Counts:
    """Of each target: n_found findings; n_nonzero weights of its datamodel, n_stand of them findings of the same sign.
    Of each image: on how many targets it is a finding that raises the margin, and that lowers it.
    """

    n_found: Ints
    n_nonzero: Ints
    n_stand: Ints
    raised: Ints
    lowered: Ints

    @classmethod
    def of(cls, atlas: Atlas, limits: Floats, fitted: Fitted, advance: Advance) -> Counts:
        """By the limit of each target, in one pass over the atlas."""
        columns = fitted.places(atlas.targets)
        raised, lowered = np.zeros((2, atlas.summary.n_train), np.int64)
        n_found, n_nonzero, n_stand = np.zeros((3, len(limits)), np.int64)
        for place, limit in enumerate(limits.tolist()):
            estimate, error = atlas.of_target(place)
            found = is_finding(atlas, place, estimate, error, limit)
            raised += found & (estimate > 0)
            lowered += found & (estimate < 0)
            theta = fitted.datamodel.weight[:, columns[place]]
            nonzero, stand = theta != 0, found & (theta * estimate > 0)
            n_found[place] = np.count_nonzero(found)
            n_nonzero[place], n_stand[place] = np.count_nonzero(nonzero), np.count_nonzero(stand)
            advance(1)
        return cls(n_found, n_nonzero, n_stand, raised, lowered)


def wanted(config: Config) -> bool:
    """Wherever there is an atlas."""
    return config.atlas.wanted


STAGE = Stage("influence", VERSION, ("fit", "atlas"), InfluenceSummary, run, left_out, wanted=wanted)
