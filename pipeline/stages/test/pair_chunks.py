"""The tests of a design, chunk by chunk: each finished chunk is a file, and a killed stage goes on from there.

A chunk is a run of tests, which are in the order of their targets. What it holds does not depend on where it begins
and ends, nor on the number of threads or on the process: the coins for ties are a hash of seed, pair and sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.pair_answers import EFFECTS, NOTES, UNSEEN, PairAnswers, Testable
from pipeline.config import Config
from pipeline.places.base import Advance, Place
from pipeline.progress import progress_bar
from pipeline.stages.inputs import Data, Fitted, tested_targets
from pipeline.store.unfinished_steps import Arrays, read_step, save_step

__all__ = ["EFFECTS", "NOTES", "UNSEEN", "PairChunks"]

PAIRS_AT_ONCE = 50_000
"""Of one target, between two steps of the bar."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Tests number start to stop − 1 of a design."""

    start: int
    stop: int
    pairs: Pairs


@dataclass(frozen=True, eq=False)
class PairWork:
    """How chunks are made; pairs that are not `testable` keep NaN for all that a test would give, and say why."""

    config: Config
    data: Data
    fitted: Fitted
    testable: Testable

    def size(self, unit: Chunk) -> float:
        """As many steps of the bar as it has pairs."""
        return len(unit.pairs)

    def answers(self, threads: int) -> PairAnswers:
        """What is asked of each pair."""
        test = self.config.test
        return PairAnswers(test.method, self.testable, len(self.data.blocks), test.tau, test.order, test.seed, threads)

    def open(self, threads: int) -> PairMaker:
        """Masks and weights are mapped or read when the first chunk needs them."""
        return PairMaker(self, self.answers(threads), threads)


@dataclass(frozen=True, eq=False)
class PairMaker:
    """Tests the pairs of chunks."""

    work: PairWork
    answers: PairAnswers
    threads: int

    def __call__(self, unit: Chunk, advance: Advance, /) -> Arrays:
        """The columns of a chunk."""
        data, fitted, pairs = self.work.data, self.work.fitted, unit.pairs
        columns = self.answers.empty(len(pairs))
        targets, first = np.unique(pairs.target, return_index=True)
        bounds = np.append(first, len(pairs))
        weights = fitted.columns(targets)
        for k, blocks in enumerate(tested_targets(data, fitted, targets, self.threads)):
            theta = weights[:, k].astype(np.float64)
            for first_test in range(bounds[k], bounds[k + 1], PAIRS_AT_ONCE):
                tests = np.arange(first_test, min(first_test + PAIRS_AT_ONCE, bounds[k + 1]))
                for name, values in self.answers.of_tests(pairs, tests, blocks, theta).items():
                    columns[name][tests] = values
                advance(len(tests))
        return columns


@dataclass(frozen=True)
class PairChunks:
    """The tests of `pairs`, which are sorted by target; `unfinished` is a folder that outlives a kill."""

    config: Config
    data: Data
    fitted: Fitted
    pairs: Pairs
    testable: Testable
    unfinished: Path
    place: Place
    quiet: bool
    say: Callable[[str], object]

    def run(self) -> list[Path]:
        """The files of all chunks, in order; those that are there already are not made again."""
        size = self.config.test.chunk_pairs
        bounds = [(start, min(start + size, len(self.pairs))) for start in range(0, len(self.pairs), size)]
        files = {start: self.unfinished / f"pairs-{start:010d}-{stop:010d}.npz" for start, stop in bounds}
        kept = sum(path.is_file() for path in files.values())
        if kept:
            self.say(f"going on with a test that was stopped: {kept:,} of {len(files):,} chunks are done")
        with progress_bar(len(self.pairs), "pair", "test", self.quiet) as advance:

            def missing() -> Iterator[Chunk]:
                for start, stop in bounds:
                    if read_step(files[start], self._complain) is None:
                        yield Chunk(start, stop, self.pairs.take(np.arange(start, stop)))
                    else:
                        advance(stop - start)

            for chunk, columns in self.place.done(self.work, missing(), advance):
                save_step(files[chunk.start], columns)
        return list(files.values())

    def _complain(self, damage: str) -> None:
        self.say(f"{damage}; its pairs are tested again")

    @cached_property
    def work(self) -> PairWork:
        """How a chunk is made."""
        return PairWork(self.config, self.data, self.fitted, self.testable)

    @property
    def growing(self) -> tuple[str, ...]:
        """Methods whose p-values after each block of rows are kept."""
        return self.work.answers(1).growing
