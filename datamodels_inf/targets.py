"""Targets with their predictions at hand: what all the tests of a design share.

f = maskᵀθ̂ costs a pass over all the masks; a pair, once f is there, a pass over two columns. So the masks are
multiplied by the weights of many targets at a time, and each target is then asked by any of the tests:

    for target in prepare_targets(masks, margins, datamodel):
        target.swap_test(pairs)
        target.contrast(pairs)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.contrast import ContrastResults, check_residuals, contrast_results
from datamodels_inf.datamodel import Datamodel, Masks
from datamodels_inf.internal.checks import Floats, Rng, check_pairs, seed_of
from datamodels_inf.internal.column_words import count_changed
from datamodels_inf.internal.comparison import Comparison, Order, Sample, halves
from datamodels_inf.internal.whole_sums import products
from datamodels_inf.masks import PackedMasks
from datamodels_inf.paired_test import PairedPvalue, half_shift, paired_results
from datamodels_inf.progressive import Signs
from datamodels_inf.results import SwapTestResults
from datamodels_inf.scores import SquaredResidual
from datamodels_inf.swap_test import SwapPvalue, swap_results

BLOCK_BYTES = 128 * 2**20
"""Targets are multiplied in blocks whose weights and predictions need about this much memory."""
FIRST = 16
"""As many as `products` takes in one go."""
JITTER = 2.0**-20
"""Of the largest margin or residual: far below the rounding of a float16 margin, and far above that of a float64."""


@dataclass(frozen=True, eq=False)
class Target:
    """One target on held-out masks: its margins, the squared residual of its datamodel (θ̂ on its grid), and f = xᵀθ̂.

    The methods give what `swap_test_many`, `paired_swap_test_many` and `contrast_many` give for the same masks,
    margins, θ̂ and bias, bit for bit. Made by `prepare_targets`.
    """

    sample: Sample
    score: SquaredResidual
    f: Floats

    def swap_test(
        self,
        pairs: ArrayLike,
        *,
        tau: float = 0.0,
        tau_x: float = 0.0,
        pvalue: SwapPvalue = "hoeffding",
        order: Order = "permuted",
        rng: Rng = None,
        threads: int = 1,
    ) -> SwapTestResults:
        """`swap_test_many` on this target."""
        seed = seed_of(rng)
        rows = halves(len(self.sample.y), order, seed)
        comparison = Comparison(self.sample, self.score, halves=rows, f=self.f)
        counts = comparison.count_many(check_pairs(pairs, self.sample.d), seed, threads)
        return swap_results(counts, tau, tau_x, pvalue)

    def paired_swap_test(
        self,
        pairs: ArrayLike,
        *,
        tau: float = 0.0,
        tau_x: float = 0.0,
        pvalue: PairedPvalue = "exact",
        rng: Rng = None,
        threads: int = 1,
    ) -> SwapTestResults:
        """`paired_swap_test_many` on this target."""
        shift, checked, seed = half_shift(tau, tau_x, pvalue), check_pairs(pairs, self.sample.d), seed_of(rng)
        comparison = Comparison(self.sample, self.score, f=self.f)
        counts = comparison.count_many(checked, seed if shift > 0.0 else None, threads)
        return paired_results(comparison, checked, counts, shift, pvalue, threads)

    def signs(self, pairs: ArrayLike, *, threads: int = 1) -> Signs:
        """The signs of D = T(x, y) − T(swap(x), y), counted: what `sign_pvalue` combines over blocks."""
        checked = check_pairs(pairs, self.sample.d)
        comparison = Comparison(self.sample, self.score, f=self.f)
        counts = comparison.count_many(checked, None, threads)
        return Signs(counts.wins, counts.ties, count_changed(self.sample.x, checked, threads), counts.size)

    def jittered(self, seed: int) -> Target:
        """The same with margins moved by up to a millionth of their size at random, so that no two D are tied or 0."""
        y = self.sample.y
        largest = max(float(np.abs(values).max()) for values in (y, y - self.score.bias - self.f)) or 1.0
        moved = y + JITTER * largest * np.random.default_rng(seed).uniform(-1.0, 1.0, len(y))
        return replace(self, sample=replace(self.sample, y=moved))

    def contrast(self, pairs: ArrayLike, *, confidence: float = 0.95, threads: int = 1) -> ContrastResults:
        """`contrast_many` on this target."""
        check_residuals(self.sample.y, self.score)
        checked = check_pairs(pairs, self.sample.d)
        return contrast_results(self.sample, self.score, self.f, checked, confidence, threads)


def prepare_targets(
    masks: Masks, margins: NDArray[np.floating[Any]], datamodel: Datamodel, *, threads: int = 1
) -> Iterator[Target]:
    """The targets of `datamodel` one by one, with `margins` (n_models, n_targets) on masks that the fit has not seen.

    The masks are read once per block of targets, the first of a few, so that work on it begins at once. `margins` may
    be a memory map; of it, too, only a block is held.

    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((400, 20)) < 0.5
    >>> margins = masks[:, [3, 7]] + 0.3 * rng.standard_normal((400, 2))  # Target 0 learns from image 3, 1 from 7.
    >>> nothing = Datamodel(np.zeros((20, 2)), np.zeros(2), np.zeros(2))
    >>> [target.contrast([(3, 7)]).estimate.round(1).tolist() for target in prepare_targets(masks, margins, nothing)]
    [[1.0], [-1.0]]
    """
    packed = PackedMasks.of(masks)
    if packed.n_train != datamodel.n_train:
        raise ValueError(
            f"`masks` must have {datamodel.n_train} columns as the datamodel has weights, got {packed.n_train}."
        )
    if np.shape(margins) != (packed.n_models, datamodel.n_targets):
        raise ValueError(
            f"`margins` must have shape ({packed.n_models}, {datamodel.n_targets}), one row a mask and one column a "
            f"target, got {np.shape(margins)}."
        )
    step = max(1, BLOCK_BYTES // (8 * (packed.n_train + packed.n_models)))
    return (
        target
        for block in _blocks(datamodel.n_targets, step)
        for target in _prepare(
            packed, np.asarray(margins[:, block.start : block.stop]), datamodel.subset(block), threads
        )
    )


def _blocks(n_targets: int, most: int) -> Iterator[range]:
    """Runs of targets: FIRST of them, then twice as many each time, until they are `most`."""
    start, step = 0, min(FIRST, most)
    while start < n_targets:
        yield range(start, min(start + step, n_targets))
        start, step = start + step, min(2 * step, most)


def _prepare(
    masks: PackedMasks, margins: NDArray[np.floating[Any]], datamodel: Datamodel, threads: int
) -> list[Target]:
    """One block: a single pass over the masks."""
    samples = [Sample.of(masks, y) for y in margins.T]
    coded = datamodel.in_mask_coding()
    scores = [
        SquaredResidual(theta, float(bias)).prepared(masks)
        for theta, bias in zip(coded.weight.T, coded.bias, strict=True)
    ]
    f = products(masks, np.stack([score.theta for score in scores], axis=1), threads)
    return [
        Target(sample, score, np.ascontiguousarray(predictor))
        for sample, score, predictor in zip(samples, scores, f.T, strict=True)
    ]
