"""The tests of a design, chunk by chunk: each finished chunk is a file, and a killed stage goes on from there.

A chunk is a run of tests, which are in the order of their targets. What it holds does not depend on where it begins
and ends, nor on the number of threads: the coins for ties are a hash of seed, pair and sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.checks import Floats, Ints
from datamodels_inf.contrast import contrast_many
from datamodels_inf.designs import Pairs
from datamodels_inf.masks import PackedMasks
from datamodels_inf.paired_test import paired_swap_test_many
from datamodels_inf.products import KnownProducts
from datamodels_inf.pvalues import hoeffding_pvalue
from datamodels_inf.scores import SquaredResidual
from datamodels_inf.swap_test import swap_test_many
from pipeline.config import Config
from pipeline.stages.bench import Arrays, read_step, save_step
from pipeline.stages.context import Data, Fitted, progress_bar

BLOCK_BYTES = 64 * 2**20
"""Targets whose products are made together: as many as need about this much memory."""
NOTES = (
    "",
    "θ̂_i = θ̂_j: the squared residual cannot see this pair",
    "no held-out model tells the two apart",
)
BLIND, NOTHING_TO_COMPARE = 1, 2


class Effects(NamedTuple):
    """What the contrast says about each pair."""

    estimate: Floats
    low: Floats
    high: Floats
    n_informative: Ints
    statistic: Floats
    pvalue: Floats


@dataclass(frozen=True)
class PairChunks:
    """The tests of `pairs`, which are sorted by target; `bench` is a folder that outlives a kill."""

    config: Config
    data: Data
    fitted: Fitted
    pairs: Pairs
    bench: Path
    threads: int
    quiet: bool
    say: Callable[[str], object]

    def run(self) -> list[Path]:
        """The files of all chunks, in order; those that are there already are not made again."""
        size = self.config.test.chunk_pairs
        starts = range(0, len(self.pairs), size)
        files = [self.bench / f"pairs-{start:010d}-{min(start + size, len(self.pairs)):010d}.npz" for start in starts]
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
        columns = _empty(stop - start, self.config.test.method)
        targets, first = np.unique(self.pairs.target[start:stop], return_index=True)
        bounds = np.append(first, stop - start) + start
        margins = self.data.held_out_margins(targets)  # Together: columns of a matrix that lies in rows.
        for k, (place, masks) in enumerate(self._with_products(self.fitted.places(targets))):
            score = SquaredResidual(self.fitted.datamodel.weight[:, place], float(self.fitted.datamodel.bias[place]))
            y = margins[:, k].astype(np.float64)
            tests = np.arange(bounds[k], bounds[k + 1])
            sizes = self.pairs.sizes[tests]
            for size in np.unique(sizes).tolist():
                some = tests[sizes == size]
                for name, values in self._test(masks, y, self.pairs.members(some), score).items():
                    columns[name][some - start] = values
            advance(len(tests))
        return columns

    def _with_products(self, places: Ints) -> Iterator[tuple[int, PackedMasks]]:
        """For each datamodel its place, and the masks with the products of its block of datamodels."""
        masks = self.data.held_out_masks
        step = max(1, BLOCK_BYTES // (8 * (masks.n_train + masks.n_models)))
        for start in range(0, len(places), step):
            block = places[start : start + step]
            known = KnownProducts(masks, self.fitted.datamodel.weight[:, block])
            for place in block.tolist():
                yield place, known

    def _test(self, masks: PackedMasks, y: Floats, members: Ints, score: SquaredResidual) -> dict[str, NDArray[Any]]:
        """All methods on the (P, 2, g) pairs of one target; the contrast gives every pair its effect."""
        effects = _effects(masks, y, members, score, self.threads)
        blind = ~score.prepared(masks).coefficients(members).any(axis=1)
        found: dict[str, NDArray[Any]] = {
            "theta_i": score.theta[members[:, 0]].sum(axis=1),
            "theta_j": score.theta[members[:, 1]].sum(axis=1),
            "effect": effects.estimate,
            "effect_low": effects.low,
            "effect_high": effects.high,
            "n_informative": effects.n_informative,
        }
        for method, (statistic, pvalue, informative) in self._methods(masks, y, members, score, effects).items():
            unseen = blind & (method != "contrast")
            note = np.where(unseen, BLIND, np.where(informative, 0, NOTHING_TO_COMPARE))
            found |= {f"statistic {method}": statistic, f"pvalue {method}": pvalue, f"note {method}": note}
        return found

    def _methods(
        self, masks: PackedMasks, y: Floats, members: Ints, score: SquaredResidual, effects: Effects
    ) -> dict[str, tuple[Floats, Floats, NDArray[np.bool_]]]:
        """By method: statistic, p-value, and whether any model tells the two sides apart.

        τ_X = 0: the masks have passed the check of exchangeability, or the user answers for it.
        """
        test = self.config.test
        options: dict[str, Any] = {"score": score, "tau": test.tau, "rng": test.seed, "threads": self.threads}
        found: dict[str, tuple[Floats, Floats, NDArray[np.bool_]]] = {}
        apart = effects.n_informative > 0
        if {"swap", "swap-exact"} & set(test.method):  # One statistic, two p-values.
            swap = swap_test_many(masks, y, members, pvalue="exact", **options)
            # Whether a model has just one of two images, the contrast has counted; of groups it counts fewer models.
            informative = apart | (members.shape[2] > 1)
            found["swap-exact"] = swap.statistic, swap.pvalue, informative
            found["swap"] = swap.statistic, hoeffding_pvalue(swap.statistic, swap.n // 2, test.tau), informative
        if "paired" in test.method:
            paired = paired_swap_test_many(masks, y, members, **options)
            found["paired"] = paired.statistic, paired.pvalue, paired.n_ties < paired.n
        if "contrast" in test.method:
            found["contrast"] = effects.statistic, effects.pvalue, apart
        return {method: found[method] for method in test.method}


def _effects(masks: PackedMasks, y: Floats, members: Ints, score: SquaredResidual, threads: int) -> Effects:
    found = contrast_many(masks, y, members, theta=score.theta, bias=score.bias)
    low, high = np.array([c.interval for c in found], np.float64).reshape(-1, 2).T
    return Effects(
        np.array([c.estimate for c in found], np.float64),
        low,
        high,
        np.array([c.n_informative for c in found], np.int64),
        np.array([c.statistic for c in found], np.float64),
        np.array([c.pvalue for c in found], np.float64),
    )


def _empty(n: int, methods: list[Any]) -> dict[str, NDArray[Any]]:
    names = ["theta_i", "theta_j", "effect", "effect_low", "effect_high"]
    names += [f"{name} {method}" for method in methods for name in ("statistic", "pvalue")]
    columns: dict[str, NDArray[Any]] = {name: np.empty(n) for name in names}
    columns["n_informative"] = np.empty(n, np.int64)
    return {**columns, **{f"note {method}": np.zeros(n, np.int8) for method in methods}}
