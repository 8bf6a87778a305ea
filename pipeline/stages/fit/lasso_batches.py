"""The LASSO of many targets, batch by batch: each finished batch is a file, and a killed fit goes on from there.

First λ is chosen for all batches (`chosen-….npz`), on all but the validation rows; then all are fitted once more, on
all rows (`fitted-….npz`). Where every model tests, so for one prefix of rows after the other, each of which begins with
the fits of the one before (`chosen-PREFIX-TARGET.npz`): the Gram matrix takes rows and never gives them back, so each
is counted once. A file that is damaged is named, and its batch made again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.lasso.descent import Solution
from datamodels_inf.lasso.meter import MOMENTS, PATH, REFIT, TRANSPOSING, Meter
from datamodels_inf.lasso.solver import BATCH, Fit, GapWarning, Lasso, count_validation_rows
from pipeline.config import Config
from pipeline.progress import progress_bar
from pipeline.stages.fit.sums_file import SumsFile
from pipeline.stages.inputs import Block, Data
from pipeline.store.unfinished_steps import Arrays, read_step, save_step

OF_CHOICE, OF_REFIT = MOMENTS + PATH, MOMENTS + REFIT


@dataclass(frozen=True)
class Chosen:
    """How the λ of one target was chosen, and the solution that its refit begins with."""

    best: Solution
    at_end: bool
    """Whether the best λ is the last of the path: a longer path might have been better."""
    worst_gap: float


@dataclass
class LassoBatches:
    """The fits of `targets` on the rows before each block of `data`; `unfinished` is a folder that outlives a kill."""

    config: Config
    data: Data
    targets: NDArray[np.int64]
    unfinished: Path
    threads: int | None
    quiet: bool
    say: Callable[[str], object]
    _meter: Meter = field(init=False)
    _sums: SumsFile = field(init=False)

    def run(self) -> Iterator[tuple[list[Fit], list[Chosen]]]:
        """Of each prefix (fits, choices), in the order of the targets."""
        starts, blocks = range(0, len(self.targets), BATCH), self.data.blocks
        kept = len(list(self.unfinished.glob("*.npz")))
        if kept:
            steps = 2 * len(starts) * len(blocks)
            self.say(f"going on with a fit that was stopped: {kept:,} of {steps:,} steps are done")
        fits_in_all = len(self.targets) * len(blocks)
        with (
            progress_bar(fits_in_all, "fit", "fit", self.quiet) as advance,
            SumsFile(self.unfinished) as self._sums,
        ):
            self._meter = Meter(
                advance,
                fits_in_all,
                targets=len(self.targets),
                columns=self.data.n_train,
                paths=fits_in_all * (OF_CHOICE + OF_REFIT),
                masks=TRANSPOSING,
            )
            for block in blocks:
                for k in starts:
                    self._choose(block, k)
                for k in starts:
                    self._refit(block, k)
                if block is blocks[-1]:
                    self._meter.finish()
                    self.__dict__.pop("_lasso", None)  # Gigabytes: what comes next needs memory too.
                yield (
                    list(chain(*(self._refit(block, k, again=True) for k in starts))),
                    list(chain(*(self._choose(block, k, again=True) for k in starts))),
                )

    @cached_property
    def _lasso(self) -> Lasso:
        """Made when the first batch needs it: the masks are transposed then."""
        fit, prefixes = self.config.fit, [self.data.prefix(block)[0] for block in self.data.blocks]
        return Lasso(
            prefixes[-1],
            ends=[masks.n_models for masks in prefixes],
            validation_rows=count_validation_rows(prefixes[0].n_models, fit.validation_rows),
            n_lambdas=fit.n_lambdas,
            lambda_ratio=fit.lambda_ratio,
            patience=fit.patience,
            tolerance=fit.tolerance,
            memory_gb=fit.memory_gb,
            threads=self.threads,
            meter=self._meter,
            kept=self._sums,
        )

    def _margins(self, block: Block, start: int) -> NDArray[np.float16]:
        return self.data.prefix(block)[1](self.targets[start : start + BATCH])

    def _choose(self, block: Block, start: int, again: bool = False) -> list[Chosen]:
        """Of a batch; after the first block it begins with the fits of the one before. again: it was made before."""

        def make() -> Arrays:
            number = self.data.blocks.index(block)
            before = self._refit(self.data.blocks[number - 1], start, again=True) if number else None
            margins = self._margins(block, start)
            choices = self._lasso.choose(margins, self._meter, prefix=block.prefix, before=before)
            best = [choice.best for choice in choices]
            return {
                **_joined((b.features, b.w) for b in best),
                "lam": np.array([b.lam for b in best]),
                "gap": np.array([b.gap for b in best]),
                "at_end": np.array([choice.at_end for choice in choices]),
                "worst_gap": np.array([choice.gap.max() for choice in choices]),
            }

        found = self._kept(f"chosen-{block.prefix}-{start:06d}.npz", start, make, OF_CHOICE, again)
        return [
            Chosen(Solution(float(lam), *part, float(gap)), bool(at_end), float(worst))
            for part, lam, gap, at_end, worst in zip(
                _parts(found), found["lam"], found["gap"], found["at_end"], found["worst_gap"], strict=True
            )
        ]

    def _refit(self, block: Block, start: int, again: bool = False) -> list[Fit]:
        """Of a batch, at the λ that was chosen for it."""

        def make() -> Arrays:
            choices = self._choose(block, start, again=True)
            margins, starts = self._margins(block, start), [choice.best for choice in choices]
            fits = self._lasso.refit(margins, starts, self._meter, prefix=block.prefix)
            scalars = {name: np.array([getattr(fit, name) for fit in fits]) for name in ("bias", "lam", "gap")}
            return {**_joined((fit.features, fit.weights) for fit in fits), **scalars}

        found = self._kept(f"fitted-{block.prefix}-{start:06d}.npz", start, make, OF_REFIT, again)
        scalars = zip(found["bias"].tolist(), found["lam"].tolist(), found["gap"].tolist(), strict=True)
        return [Fit(*part, *numbers) for part, numbers in zip(_parts(found), scalars, strict=True)]

    def _kept(self, name: str, start: int, make: Callable[[], Arrays], work: float, again: bool) -> Arrays:
        """The arrays of a finished batch, or those that `make` makes now; `work` is a target's, for the meter.

        Files are read again when needed: all fits of 10,000 targets would be a gigabyte beside the Gram matrix.
        """
        found = read_step(self.unfinished / name, lambda damage: self.say(f"{damage}; its targets are fitted again"))
        if found is not None:
            if not again:
                self._meter.spared(work * len(self.targets[start : start + BATCH]))
            return found
        if again:  # Damaged since: the Gram matrix may have taken rows that this step must not see.
            self.__dict__.pop("_lasso", None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GapWarning)  # The stage says so itself, for all targets together.
            made = make()
        save_step(self.unfinished / name, made)
        return made


def _joined(pairs: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> dict[str, NDArray[Any]]:
    """Lists of different lengths as three arrays."""
    features, values = zip(*pairs, strict=True)
    lengths = np.array([len(part) for part in features])
    return {"lengths": lengths, "features": np.concatenate(features), "values": np.concatenate(values)}


def _parts(arrays: Arrays) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    ends = np.cumsum(arrays["lengths"])[:-1]
    return list(zip(np.split(arrays["features"], ends), np.split(arrays["values"], ends), strict=True))
