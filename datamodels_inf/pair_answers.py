"""All that the tests of a target's pairs say, by column: statistics, p-values, effects, and notes about what cannot be
tested or seen. The pipeline keeps these columns in files, a notebook in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import FEW_INFORMATIVE
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.comparison import Order
from datamodels_inf.methods import METHODS, PairTests
from datamodels_inf.targets import Target

Columns: TypeAlias = dict[str, NDArray[Any]]
Testable: TypeAlias = Callable[[Ints], NDArray[np.bool_]]
"""Which (P, 2, g) pairs the law of the masks allows to be tested."""

EFFECTS = ("effect", "effect_low", "effect_high", "effect_se", "effect_df")
NOTES = (
    "",
    "θ̂_i = θ̂_j: the squared residual cannot see this pair",
    "no held-out model tells the two apart",
    "not tested: the masks are stratified by class, and the images are of two classes",
    f"fewer than {FEW_INFORMATIVE} models tell the two apart: the interval is rough",
)
BLIND, NOTHING_TO_COMPARE, NOT_EXCHANGEABLE, FEW = 1, 2, 3, 4
UNSEEN = NOTES[BLIND], NOTES[NOTHING_TO_COMPARE]
"""Tests that were made, and could not have found anything."""


@dataclass(frozen=True)
class PairAnswers:
    """How pairs are tested: by which methods, and what these are told.

    testable: which pairs may be; the others keep NaN for all that a test would give, and say why. n_blocks: of rows,
    each with a datamodel of its own.
    """

    methods: Sequence[str]
    testable: Testable
    n_blocks: int = 1
    tau: float = 0.0
    order: Order = "permuted"
    seed: int = 0
    threads: int = 1

    @property
    def growing(self) -> tuple[str, ...]:
        """Methods that combine blocks of rows, where there are several: their p-values after each block are kept."""
        return tuple(name for name in self.methods if self.n_blocks > 1 and METHODS[name].every_model)

    def empty(self, n: int) -> Columns:
        """The columns of n pairs that are not tested.

        theta_i, theta_j, those of EFFECTS and n_informative; of each method "statistic NAME", "pvalue NAME",
        "note NAME", and "growth NAME" for those of `growing`.
        """
        names = ["theta_i", "theta_j", *EFFECTS]
        names += [f"{name} {method}" for method in self.methods for name in ("statistic", "pvalue")]
        columns: Columns = {name: np.full(n, np.nan) for name in names}
        columns["n_informative"] = np.zeros(n, np.int64)
        columns |= {f"growth {method}": np.full((n, self.n_blocks), np.nan) for method in self.growing}
        return {**columns, **{f"note {method}": np.full(n, NOT_EXCHANGEABLE, np.int8) for method in self.methods}}

    def of_tests(self, pairs: Pairs, tests: Ints, blocks: Sequence[Target], theta: Floats) -> Columns:
        """Of the `tests` of a design that are about one target, in their order; theta: its weights, to be shown."""
        columns, sizes = self.empty(len(tests)), pairs.sizes[tests]
        for size in np.unique(sizes).tolist():
            some = np.flatnonzero(sizes == size)
            for name, values in self.of_members(blocks, theta, pairs.members(tests[some])).items():
                columns[name][some] = values
        return columns

    def of_members(self, blocks: Sequence[Target], theta: Floats, members: Ints) -> Columns:
        """Of the (P, 2, g) pairs of one target, whether they can be tested or not."""
        testable = self.testable(members)
        answers = self.empty(len(members))
        answers |= {f"theta_{side}": theta[members[:, k]].sum(axis=1) for k, side in enumerate("ij")}
        if testable.any():
            for name, values in self._test(blocks, members[testable]).items():
                answers[name][testable] = values
        return answers

    def _test(self, blocks: Sequence[Target], members: Ints) -> Columns:
        """All methods on the (P, 2, g) pairs of one target; the contrast gives every pair its effect.

        τ_X = 0: the masks have passed the check of exchangeability, or the user answers for it.
        """
        tests = PairTests(blocks, members, tau=self.tau, order=self.order, seed=self.seed, threads=self.threads)
        effects = tests.contrast
        found: Columns = {
            "effect": effects.estimate,
            "effect_low": effects.low,
            "effect_high": effects.high,
            "effect_se": effects.standard_error,
            "effect_df": effects.freedom,
            "n_informative": effects.n_informative,
        }
        for name in self.methods:
            outcome = METHODS[name].test(tests)
            unseen = tests.blind & (not METHODS[name].sees_equal_weights)
            rough = np.where(effects.n_informative < FEW_INFORMATIVE, FEW, 0)
            note = np.where(unseen, BLIND, np.where(outcome.informative, rough, NOTHING_TO_COMPARE))
            found |= {f"statistic {name}": outcome.statistic, f"pvalue {name}": outcome.pvalue, f"note {name}": note}
            if name in self.growing:
                found[f"growth {name}"] = _growth(tests, name, outcome.pvalue)
        return found


def _growth(tests: PairTests, method: str, last: Floats) -> Floats:
    """(P, blocks): the p-values that the first blocks alone would have given; `last` those of all."""
    counts = range(1, len(tests.blocks))
    return np.stack([*(METHODS[method].test(tests.first(count)).pvalue for count in counts), last], axis=1)
