"""Claims tested and predictions compared, some targets at a time; finished parts outlive a kill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.calibration import calibrate
from datamodels_inf.internal.checks import Floats
from datamodels_inf.internal.whole_sums import products
from datamodels_inf.methods import PairTests
from datamodels_inf.pair_answers import Testable
from datamodels_inf.refereeing.claims import claims_on
from datamodels_inf.refereeing.prediction import Predictions, draw_resamples, predictions
from datamodels_inf.refereeing.verdicts import directions
from pipeline.places.base import Advance
from pipeline.progress import progress_bar
from pipeline.stages.base import Run
from pipeline.stages.inputs import tested_targets
from pipeline.stages.referee.methods import Scored
from pipeline.store.unfinished_steps import read_step, save_step
from pipeline.text.referee_words import OWN

Part: TypeAlias = Mapping[str, NDArray[Any]]

PART_BYTES = 256 * 2**20
"""Of the scores and predictions of a part."""
PER_TARGET = ("pairs", "effect", "low", "high", "pvalue", "direction", "n_informative", "claim", "kind", "rank", "gap")
TESTING = 0.2
"""The share of the time that tests take, for the progress bar; resampling takes the rest."""
MOST_RANKED = 4 * 10**10
"""Resamples × models × targets: with more, LDS and R² are of fewer targets, evenly chosen."""


@dataclass(frozen=True, eq=False)
class TargetParts:
    """The fitted targets in parts."""

    run: Run
    methods: Sequence[Scored]
    testable: Testable

    def make(self) -> list[Part]:
        """All parts, those of an interrupted run from its folder."""
        run, parts = self.run, []
        with progress_bar(self.n_targets, "target", "referee", run.quiet) as advance:
            for places in self._slices():
                path = run.unfinished / f"targets-{places.start:06d}.npz"
                part = read_step(path, run.say)
                if part is None:
                    part = self._part(places, advance)
                    save_step(path, part)
                else:
                    advance(places.stop - places.start)
                parts.append(part)
        return parts

    @property
    def n_targets(self) -> int:
        """Those that the configuration fits."""
        return len(self.run.fitted.targets)

    @cached_property
    def predicted(self) -> NDArray[np.bool_]:
        """Of which targets LDS and R² are asked: all, unless that would take very long."""
        n_models = self.run.data.held_out_masks.n_models
        most = max(1, MOST_RANKED // (self.run.config.referee.resamples * n_models))
        chosen = np.zeros(self.n_targets, np.bool_)
        chosen[np.unique(np.linspace(0, self.n_targets - 1, min(most, self.n_targets)).astype(np.int64))] = True
        return chosen

    def _slices(self) -> Iterator[slice]:
        data = self.run.data
        each = 8 * (len(self.methods) + 1) * (data.n_train + 2 * data.held_out_masks.n_models)
        step = max(1, min(128, PART_BYTES // each))
        for start in range(0, self.n_targets, step):
            yield slice(start, min(start + step, self.n_targets))

    def _part(self, places: slice, advance: Advance) -> Part:
        scores = [method.of(places) for method in self.methods]
        return {**self._tested(places, scores, advance), **self._compared(places, scores, advance)}

    def _tested(self, places: slice, scores: Sequence[Floats], advance: Advance) -> Part:
        """The claims on each target with their contrasts; a p-value is NaN where no test can be made."""
        run, settings = self.run, self.run.config.referee
        targets = run.fitted.targets[places]
        numbers, rows, silent = [], [], np.zeros(len(self.methods), np.int64)
        for k, blocks in enumerate(tested_targets(run.data, run.fitted, targets, run.n_threads)):
            number = int(targets[k])
            asked = claims_on([one[:, k] for one in scores], k=settings.k, seed=settings.seed, target=number)
            silent += asked.silent
            advance(TESTING)
            pairs = asked.pairs[:, :, None]
            if not len(pairs):
                continue
            tests = PairTests(blocks, pairs, seed=settings.seed, threads=run.n_threads)
            found = tests.contrast
            pvalue = np.where(self.testable(pairs) & tests.apart, found.pvalue, np.nan)
            direction = directions(found, run.data.rows.higher_is_better)
            numbers.append(np.full(len(pairs), number))
            rows.append((asked.pairs, found.estimate, found.low, found.high, pvalue, direction, found.n_informative,
                         asked.claim, asked.kind, asked.rank, asked.gap))  # fmt: skip
        if not rows:
            return {"silent": silent}
        columns = dict(zip(PER_TARGET, map(np.concatenate, zip(*rows, strict=True)), strict=True))
        return {"target": np.concatenate(numbers), **columns, "silent": silent}

    def _compared(self, places: slice, scores: Sequence[Floats], advance: Advance) -> Part:
        """LDS and R² of each method, calibrated on rows that are not tested.

        The configuration's own datamodel was fitted on these rows, so that their scale would be too large: it has its
        own.
        """
        run = self.run
        targets, some = run.fitted.targets[places], self.predicted[places]
        masks, margins = run.data.coding_rows(targets)
        tested, outcomes = run.data.held_out_masks, run.data.held_out_margins(targets[some]).astype(np.float64)
        better = run.data.rows.higher_is_better
        parts, correlation, constant = [], [], []
        for method, one in zip(self.methods, scores, strict=True):
            fit = calibrate(one, np.zeros(len(targets)), masks, margins, threads=run.n_threads)
            correlation.append((1.0 if better else -1.0) * np.sign(fit.scale) * np.sqrt(np.maximum(fit.r2_after, 0.0)))
            constant.append(fit.constant)
            scale, bias = fit.scale, fit.bias
            if method.source == OWN:
                scale, bias = np.full(len(targets), method.sign), run.fitted.first.bias[places].astype(np.float64)
            sums = products(tested, one[:, some].astype(np.float64), run.n_threads)
            sums[:, fit.constant[some]] = 0.0  # Of fixed-size masks, their differences are rounding alone.
            parts.append(
                predictions(sums, outcomes, scale[some], bias[some], self._counts, higher_is_better=better,
                            threads=run.n_threads)
            )  # fmt: skip
            advance((1.0 - TESTING) * len(targets) / len(scores))
        return {
            "correlation": np.stack(correlation),
            "constant": np.stack(constant),
            **{name: np.stack([getattr(part, name) for part in parts]) for name in Predictions.__annotations__},
        }

    @cached_property
    def _counts(self) -> NDArray[np.int16]:
        settings = self.run.config.referee
        return draw_resamples(self.run.data.held_out_masks.n_models, settings.resamples, seed=settings.seed)


def joined_predictions(parts: Sequence[Part], method: int) -> Predictions:
    """Those of one method over all parts."""
    of_parts = [Predictions(*(part[name][method] for name in Predictions.__annotations__)) for part in parts]
    whole = of_parts[0]
    for more in of_parts[1:]:
        whole = whole + more
    return whole


def joined_pairs(parts: Sequence[Part], n_methods: int) -> Part:
    """The columns of all pairs, those of methods as (P, M)."""
    found = [part for part in parts if "target" in part]
    names = ("target", *PER_TARGET)
    if found:
        return {name: np.concatenate([part[name] for part in found]) for name in names}
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("claim", "kind", "rank", "gap"), (0, n_methods))
    shapes["pairs"] = (0, 2)
    whole = ("target", "pairs", "direction", "claim", "kind", "rank", "n_informative")
    return {name: np.zeros(shapes.get(name, (0,)), np.int64 if name in whole else np.float64) for name in names}
