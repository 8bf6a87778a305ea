"""The tests of a design, chunk by chunk: each finished chunk is a file, and a killed stage goes on from there.

A chunk is a run of tests, which are in the order of their targets. What it holds does not depend on where it begins
and ends, nor on the number of threads: the coins for ties are a hash of seed, pair and sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import FEW_INFORMATIVE
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.methods import METHODS, PairTests
from datamodels_inf.targets import Target
from pipeline.config import Config
from pipeline.progress import progress_bar
from pipeline.stages.inputs import Data, Fitted, tested_targets
from pipeline.stages.test.premise import Testable
from pipeline.store.unfinished_steps import Arrays, read_step, save_step

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
class PairChunks:
    """The tests of `pairs`, which are sorted by target; `unfinished` is a folder that outlives a kill.

    Pairs that are not `testable` keep NaN for all that a test would give, and say why.
    """

    config: Config
    data: Data
    fitted: Fitted
    pairs: Pairs
    testable: Testable
    unfinished: Path
    threads: int
    quiet: bool
    say: Callable[[str], object]

    def run(self) -> list[Path]:
        """The files of all chunks, in order; those that are there already are not made again."""
        size = self.config.test.chunk_pairs
        starts = range(0, len(self.pairs), size)
        files = [
            self.unfinished / f"pairs-{start:010d}-{min(start + size, len(self.pairs)):010d}.npz" for start in starts
        ]
        kept = sum(path.is_file() for path in files)
        if kept:
            self.say(f"going on with a test that was stopped: {kept} of {len(files)} chunks are done")
        with progress_bar(len(self.pairs), "pair", "test", self.quiet) as advance:
            for start, path in zip(starts, files, strict=True):
                stop = min(start + size, len(self.pairs))
                if read_step(path, lambda damage: self.say(f"{damage}; its pairs are tested again")) is None:
                    save_step(path, self._chunk(start, stop, advance))
                else:
                    advance(stop - start)
        return files

    def _chunk(self, start: int, stop: int, advance: Callable[[float], object]) -> Arrays:
        columns = self._empty(stop - start)
        targets, first = np.unique(self.pairs.target[start:stop], return_index=True)
        bounds = np.append(first, stop - start) + start
        weights = self.fitted.columns(targets)
        for k, blocks in enumerate(tested_targets(self.data, self.fitted, targets)):
            tests = np.arange(bounds[k], bounds[k + 1])
            sizes = self.pairs.sizes[tests]
            theta = weights[:, k].astype(np.float64)
            for size in np.unique(sizes).tolist():
                some = tests[sizes == size]
                for name, values in self._answers(blocks, theta, self.pairs.members(some)).items():
                    columns[name][some - start] = values
            advance(len(tests))
        return columns

    def _answers(self, blocks: Sequence[Target], theta: Floats, members: Ints) -> dict[str, NDArray[Any]]:
        """The columns of the (P, 2, g) pairs of one target, whether they can be tested or not."""
        testable = self.testable(members)
        answers = self._empty(len(members))
        answers |= {f"theta_{side}": theta[members[:, k]].sum(axis=1) for k, side in enumerate("ij")}
        if testable.any():
            for name, values in self._test(blocks, members[testable]).items():
                answers[name][testable] = values
        return answers

    def _test(self, blocks: Sequence[Target], members: Ints) -> dict[str, NDArray[Any]]:
        """All methods on the (P, 2, g) pairs of one target; the contrast gives every pair its effect.

        τ_X = 0: the masks have passed the check of exchangeability, or the user answers for it.
        """
        test = self.config.test
        tests = PairTests(blocks, members, tau=test.tau, order=test.order, seed=test.seed, threads=self.threads)
        effects = tests.contrast
        found: dict[str, NDArray[Any]] = {
            "effect": effects.estimate,
            "effect_low": effects.low,
            "effect_high": effects.high,
            "effect_se": effects.standard_error,
            "effect_df": effects.freedom,
            "n_informative": effects.n_informative,
        }
        for name in test.method:
            outcome = METHODS[name].test(tests)
            unseen = tests.blind & (not METHODS[name].sees_equal_weights)
            rough = np.where(effects.n_informative < FEW_INFORMATIVE, FEW, 0)
            note = np.where(unseen, BLIND, np.where(outcome.informative, rough, NOTHING_TO_COMPARE))
            found |= {f"statistic {name}": outcome.statistic, f"pvalue {name}": outcome.pvalue, f"note {name}": note}
            if name in self.growing:
                found[f"growth {name}"] = _growth(tests, name, outcome.pvalue)
        return found

    def _empty(self, n: int) -> dict[str, NDArray[Any]]:
        """The columns of n pairs that are not tested."""
        methods = self.config.test.method
        names = ["theta_i", "theta_j", *EFFECTS]
        names += [f"{name} {method}" for method in methods for name in ("statistic", "pvalue")]
        columns: dict[str, NDArray[Any]] = {name: np.full(n, np.nan) for name in names}
        columns["n_informative"] = np.zeros(n, np.int64)
        columns |= {f"growth {method}": np.full((n, len(self.data.blocks)), np.nan) for method in self.growing}
        return {**columns, **{f"note {method}": np.full(n, NOT_EXCHANGEABLE, np.int8) for method in methods}}

    @property
    def growing(self) -> tuple[str, ...]:
        """Methods that combine blocks of rows, where there are several: their p-values after each block are kept."""
        several = len(self.data.blocks) > 1
        return tuple(name for name in self.config.test.method if several and METHODS[name].every_model)


def _growth(tests: PairTests, method: str, last: Floats) -> Floats:
    """(P, blocks): the p-values that the first blocks alone would have given; `last` those of all."""
    counts = range(1, len(tests.blocks))
    return np.stack([*(METHODS[method].test(tests.first(count)).pvalue for count in counts), last], axis=1)
