"""The tests of a design, chunk by chunk: each finished chunk is a file, and a killed stage goes on from there.

A chunk is a run of tests, which are in the order of their targets. What it holds does not depend on where it begins
and ends, nor on the number of threads: the coins for ties are a hash of seed, pair and sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.pair_answers import EFFECTS, NOTES, UNSEEN, PairAnswers, Testable
from pipeline.config import Config
from pipeline.progress import progress_bar
from pipeline.stages.inputs import Data, Fitted, tested_targets
from pipeline.store.unfinished_steps import Arrays, read_step, save_step

__all__ = ["EFFECTS", "NOTES", "UNSEEN", "PairChunks"]

PAIRS_AT_ONCE = 50_000
"""Of one target, between two steps of the bar."""


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
            self.say(f"going on with a test that was stopped: {kept:,} of {len(files):,} chunks are done")
        with progress_bar(len(self.pairs), "pair", "test", self.quiet) as advance:
            for start, path in zip(starts, files, strict=True):
                stop = min(start + size, len(self.pairs))
                if read_step(path, lambda damage: self.say(f"{damage}; its pairs are tested again")) is None:
                    save_step(path, self._chunk(start, stop, advance))
                else:
                    advance(stop - start)
        return files

    def _chunk(self, start: int, stop: int, advance: Callable[[float], object]) -> Arrays:
        columns = self.answers.empty(stop - start)
        targets, first = np.unique(self.pairs.target[start:stop], return_index=True)
        bounds = np.append(first, stop - start) + start
        weights = self.fitted.columns(targets)
        for k, blocks in enumerate(tested_targets(self.data, self.fitted, targets, self.threads)):
            theta = weights[:, k].astype(np.float64)
            for first_test in range(bounds[k], bounds[k + 1], PAIRS_AT_ONCE):
                tests = np.arange(first_test, min(first_test + PAIRS_AT_ONCE, bounds[k + 1]))
                for name, values in self.answers.of_tests(self.pairs, tests, blocks, theta).items():
                    columns[name][tests - start] = values
                advance(len(tests))
        return columns

    @cached_property
    def answers(self) -> PairAnswers:
        """What is asked of each pair."""
        test = self.config.test
        return PairAnswers(
            test.method, self.testable, len(self.data.blocks), test.tau, test.order, test.seed, self.threads
        )

    @property
    def growing(self) -> tuple[str, ...]:
        """Methods whose p-values after each block of rows are kept."""
        return self.answers.growing
