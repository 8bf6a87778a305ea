"""METHODS: everything that is to be known of a test, in one entry of one table.

The pipeline asks this table and nothing else: which methods there are, how each tests the pairs of a target, what its
curve compares, how much power it has, what it needs. A new method is a function and an entry (docs/adding.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import ContrastResults, residuals_of
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.comparison import Comparison, Order, halves
from datamodels_inf.power import Planner, noether_planner, paired_planner, swap_planner
from datamodels_inf.prediction.sensitivity import CONTRAST, PAIRED, SWAP, SWAP_EXACT, Sensitivity
from datamodels_inf.progressive import Signs, combine_contrasts, sign_pvalue, sign_share
from datamodels_inf.pvalues import hoeffding_pvalue
from datamodels_inf.results import SwapTestResults
from datamodels_inf.targets import Target


@dataclass(frozen=True, eq=False)
class PairTests:
    """Some (P, 2, g) `pairs` of one target, ready to be tested by any method; what methods share is made once.

    blocks: the target on the tested rows; or where every model tests, on each block, with the θ̂ of the rows before.
    """

    blocks: Sequence[Target]
    pairs: Ints
    tau: float = 0.0
    order: Order = "permuted"
    seed: int = 0
    threads: int = 1

    @cached_property
    def contrasts(self) -> Sequence[ContrastResults]:
        """Those of each block; of several, with margins jittered."""
        blocks = self.blocks
        if len(blocks) > 1:
            blocks = [block.jittered(self.seed + k) for k, block in enumerate(blocks)]
        return [block.contrast(self.pairs, threads=self.threads) for block in blocks]

    @cached_property
    def contrast(self) -> ContrastResults:
        """The contrasts, which give every pair its effect, whatever tests it."""
        return combine_contrasts(self.contrasts)

    @cached_property
    def signs(self) -> Sequence[Signs]:
        """Those of D, of each block."""
        return [block.signs(self.pairs, threads=self.threads) for block in self.blocks]

    def first(self, count: int) -> PairTests:
        """The same on the first `count` blocks; what has been made of them is not made again."""
        some = replace(self, blocks=self.blocks[:count])
        for name in ("contrasts", "signs"):
            if name in self.__dict__:
                some.__dict__[name] = self.__dict__[name][:count]
        return some

    @cached_property
    def swap(self) -> SwapTestResults:
        """The paper's statistic, with its exact p-value; of several blocks, on the last."""
        return self.blocks[-1].swap_test(
            self.pairs, tau=self.tau, pvalue="exact", order=self.order, rng=self.seed, threads=self.threads
        )

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Whether any mask has all of i and none of j, or the reverse."""
        return np.asarray(self.contrast.n_informative > 0)

    @property
    def blind(self) -> NDArray[np.bool_]:
        """Whether θ̂_i = θ̂_j, so that no score that sees x through xᵀθ̂ can tell the two apart."""
        seen = [block.score.coefficients(self.pairs).any(axis=1) for block in self.blocks]
        return np.asarray(~np.any(seen, axis=0))


@dataclass(frozen=True, eq=False)
class Outcome:
    """One entry per pair. informative: whether any mask tells the two sides apart for this method."""

    statistic: Floats
    pvalue: Floats
    informative: NDArray[np.bool_]


@dataclass(frozen=True)
class CurveKind:
    """The two samples whose ordinal dominance curve shows what a method compares.

    first, second: names of the axes. compared: both in words. note: how to read it; {unit} is the outcome's name.
    samples: of `PairTests` of a single pair.
    """

    name: str
    first: str
    second: str
    compared: str
    note: str
    samples: Callable[[PairTests], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Method:
    """One test.

    title: in a few words. test: of many pairs. curve: what it compares. planner: its power.
    sensitivity: what it sees of an effect that the fit rows predict.
    needs_tau_zero: valid only for H0 with τ = 0. sees_equal_weights: has power where θ̂_i = θ̂_j.
    bound: why p-values pile up at 1 without a difference, empty if they do not.
    compares_halves: holds some rows against others, so that all must be of one law, or in random order.
    statistic_note: what U is, empty if it is that of the swap test; {unit} is the outcome's name.
    power_note: what its power is, empty if it is a sum over the binomial law.
    every_model: combines blocks of rows, each with a θ̂ of its own; the others are tested on the last block alone.
    """

    name: str
    title: str
    test: Callable[[PairTests], Outcome]
    curve: CurveKind
    planner: Planner
    sensitivity: Sensitivity
    needs_tau_zero: bool = False
    sees_equal_weights: bool = False
    bound: str = ""
    compares_halves: bool = False
    statistic_note: str = ""
    power_note: str = ""
    every_model: bool = False


def _swap(tests: PairTests) -> Outcome:
    """Hoeffding's p-value of the paper's U."""
    pvalue = hoeffding_pvalue(tests.swap.statistic, tests.swap.n // 2, tests.tau)
    return Outcome(tests.swap.statistic, pvalue, _apart_or_groups(tests))


def _swap_exact(tests: PairTests) -> Outcome:
    """The exact p-value of the same U."""
    return Outcome(tests.swap.statistic, tests.swap.pvalue, _apart_or_groups(tests))


def _apart_or_groups(tests: PairTests) -> NDArray[np.bool_]:
    """Of two images, a mask tells them apart if it has just one; of groups, the contrast counts fewer masks."""
    return np.asarray(tests.apart | (tests.pairs.shape[2] > 1))


def _paired(tests: PairTests) -> Outcome:
    """Each sample against its own swap."""
    if len(tests.blocks) > 1:
        return _paired_blocks(tests)
    found = tests.blocks[0].paired_swap_test(tests.pairs, tau=tests.tau, rng=tests.seed, threads=tests.threads)
    return Outcome(found.statistic, found.pvalue, found.n_ties < found.n)


def _paired_blocks(tests: PairTests) -> Outcome:
    """The same over several blocks."""
    pvalue = sign_pvalue(tests.signs, tests.pairs, tau=tests.tau, seed=tests.seed)
    informative = np.any([part.ties < part.n for part in tests.signs], axis=0)
    return Outcome(sign_share(tests.signs), pvalue, informative)


def _contrast(tests: PairTests) -> Outcome:
    """The signed-rank test of the contrast score."""
    return Outcome(tests.contrast.statistic, tests.contrast.pvalue, tests.apart)


def _scores(tests: PairTests) -> tuple[Floats, Floats]:
    """T of one half of the rows, untouched, and of the other half, swapped; of several blocks, of the last."""
    target = tests.blocks[-1]
    rows = halves(len(target.sample.y), tests.order, tests.seed)
    comparison = Comparison(target.sample, target.score, halves=rows, f=target.f)
    return target.score.value(comparison.untouched), target.score.value(comparison.swapped(tests.pairs[0]))


def _differences(tests: PairTests) -> tuple[Floats, Floats]:
    """D = T(x, y) − T(swap(x), y) of the rows that the swap changes, and −D."""
    pair = tests.pairs[0]
    parts = []
    for target in tests.blocks:
        difference = Comparison(target.sample, target.score, f=target.f).differences(pair)
        parts.append(difference[target.score.shift(target.sample.x, pair) != 0.0])
    difference = np.concatenate(parts)
    return difference, -difference


def _residuals(tests: PairTests) -> tuple[Floats, Floats]:
    """r of the rows with i and without j, and of the reverse."""
    sides = [residuals_of(target.sample, target.score, target.f, tests.pairs[0]) for target in tests.blocks]
    first, second = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    return first, second


SCORES = CurveKind(
    "scores",
    "untouched",
    "swapped",
    "the scores of untouched and of swapped models",
    "Swap test: across, the scores of one half of the models, untouched; up, those of the other half after the swap. "
    "The area estimates the same chance as U.",
    _scores,
)
DIFFERENCES = CurveKind(
    "differences",
    "D",
    "−D",
    "D and −D, D the score of a model minus that of its own swap",
    "Paired test: across, D, the score of a model minus its score after the swap; up, −D; over the models that the "
    "swap changes. Without a difference both have the same law.",
    _differences,
)
RESIDUALS = CurveKind(
    "residuals",
    "with i",
    "with j",
    "the residual {unit} of models with i and not j, and of models with j and not i",
    "Contrast: across, the residual {unit} of models with i and without j; up, that of models with j and without i. A "
    "curve above the diagonal: with i it tends to be the larger.",
    _residuals,
)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "swap",
            "the paper's swap test",
            _swap,
            SCORES,
            swap_planner("hoeffding"),
            SWAP,
            bound="The paper’s p-value is an upper bound (Hoeffding’s), so that without a difference it piles up at 1.",
            compares_halves=True,
        ),
        Method(
            "swap-exact",
            "the swap test with its exact p-value",
            _swap_exact,
            SCORES,
            swap_planner("exact"),
            SWAP_EXACT,
            compares_halves=True,
        ),
        Method("paired", "the paired swap test", _paired, DIFFERENCES, paired_planner(), PAIRED, every_model=True),
        Method(
            "contrast",
            "the contrast, by signed ranks",
            _contrast,
            RESIDUALS,
            noether_planner(),
            CONTRAST,
            needs_tau_zero=True,
            sees_equal_weights=True,
            statistic_note="For “contrast”, U is the share of models whose residual {unit} is larger than zero with i "
            "in, or smaller than zero with j in.",
            power_note="for the contrast, Noether’s approximation",
            every_model=True,
        ),
    )
}
