"""Batches of LASSO fits as units of work: first λ is chosen for one, later it is fitted on all rows.

A unit reads what earlier ones left in the folder of unfinished steps. Each process that makes units transposes the
masks and counts the rows of the Gram matrix that its units need, once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.lasso.descent import Solution
from datamodels_inf.lasso.kept_sums import KeptSums
from datamodels_inf.lasso.meter import MOMENTS, PATH, REFIT, Meter
from datamodels_inf.lasso.solver import BATCH, Fit, GapWarning, Lasso, count_validation_rows
from pipeline.config import Config
from pipeline.places.base import Advance
from pipeline.stages.inputs import Block, Data
from pipeline.store.unfinished_steps import Arrays, read_step

Kind: TypeAlias = Literal["chosen", "fitted"]
WORK: dict[Kind, float] = {"chosen": MOMENTS + PATH, "fitted": MOMENTS + REFIT}
"""Of one target, as the meter counts it."""


@dataclass(frozen=True)
class Batch:
    """λ chosen, or all rows fitted, for BATCH targets from number `start`, before block number `block`."""

    kind: Kind
    block: int
    start: int


@dataclass(frozen=True)
class Chosen:
    """How the λ of one target was chosen, and the solution that its refit begins with."""

    best: Solution
    at_end: bool
    """Whether the best λ is the last of the path: a longer path might have been better."""
    worst_gap: float


@dataclass(frozen=True, eq=False)
class LassoWork:
    """The fits of `targets` on the rows before each block of `data`. meter, sums: of a fit in this process."""

    config: Config
    data: Data
    targets: NDArray[np.int64]
    unfinished: Path
    meter: Meter | None = None
    sums: KeptSums | None = None

    def size(self, unit: Batch) -> float:
        """Its share of the fits of its targets; a choice and a refit are one."""
        return self.n_targets(unit) * WORK[unit.kind] / sum(WORK.values())

    def open(self, threads: int) -> LassoMaker:
        """The masks are transposed when the first batch needs it."""
        return LassoMaker(self, threads)

    def n_targets(self, unit: Batch) -> int:
        """How many are fitted together."""
        return len(self.targets[unit.start : unit.start + BATCH])

    def before(self, unit: Batch) -> Batch | None:
        """The batch that it begins with: the choice for a refit, for a choice the fit before the block before."""
        if unit.kind == "fitted":
            return Batch("chosen", unit.block, unit.start)
        return Batch("fitted", unit.block - 1, unit.start) if unit.block else None

    def file(self, unit: Batch) -> Path:
        """Where a finished batch lies."""
        return self.unfinished / f"{unit.kind}-{self.data.blocks[unit.block].prefix}-{unit.start:06d}.npz"


class LassoMaker:
    """Makes batches, in any order: a Gram matrix that has taken more rows than one may see is made anew."""

    def __init__(self, work: LassoWork, threads: int) -> None:
        self._work, self._threads = work, threads
        self._lasso: Lasso | None = None

    def __call__(self, unit: Batch, advance: Advance, /) -> Arrays:
        """The arrays of its file. Progress is the meter's."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GapWarning)  # The stage says so itself, for all targets together.
            return self._choose(unit) if unit.kind == "chosen" else self._refit(unit)

    def _choose(self, unit: Batch) -> Arrays:
        """After the first block it begins with the fits of the one before."""
        work, block = self._work, self._work.data.blocks[unit.block]
        earlier = work.before(unit)
        before = None if earlier is None else fits_of(self._found(earlier))
        lasso = self._lasso_at(block.prefix + 1)
        choices = lasso.choose(self._margins(block, unit), work.meter, prefix=block.prefix, before=before)
        best = [choice.best for choice in choices]
        return {
            **_joined((b.features, b.w) for b in best),
            "lam": np.array([b.lam for b in best]),
            "gap": np.array([b.gap for b in best]),
            "at_end": np.array([choice.at_end for choice in choices]),
            "worst_gap": np.array([choice.gap.max() for choice in choices]),
        }

    def _refit(self, unit: Batch) -> Arrays:
        """At the λ that was chosen."""
        block = self._work.data.blocks[unit.block]
        choices = choices_of(self._found(Batch("chosen", unit.block, unit.start)))
        lasso, starts = self._lasso_at(block.prefix + 2), [choice.best for choice in choices]
        fits = lasso.refit(self._margins(block, unit), starts, self._work.meter, prefix=block.prefix)
        scalars = {name: np.array([getattr(fit, name) for fit in fits]) for name in ("bias", "lam", "gap")}
        return {**_joined((fit.features, fit.weights) for fit in fits), **scalars}

    def _found(self, unit: Batch) -> Arrays:
        """An earlier batch; if its file was lost or damaged meanwhile, it is made here once more."""
        found = read_step(self._work.file(unit), lambda damage: None)
        return self(unit, lambda step: None) if found is None else found

    def _margins(self, block: Block, unit: Batch) -> NDArray[np.float16]:
        return self._work.data.prefix(block)[1](self._work.targets[unit.start : unit.start + BATCH])

    def _lasso_at(self, level: int) -> Lasso:
        """Whose Gram matrix has taken at most `level` parts of the rows: it never gives any back."""
        if self._lasso is None or self._lasso.gram.level > level:
            self._lasso = None  # Its memory goes before the next one is made.
            self._lasso = self._opened()
        return self._lasso

    def _opened(self) -> Lasso:
        work, fit = self._work, self._work.config.fit
        prefixes = [work.data.prefix(block)[0] for block in work.data.blocks]
        return Lasso(
            prefixes[-1],
            ends=[masks.n_models for masks in prefixes],
            validation_rows=count_validation_rows(prefixes[0].n_models, fit.validation_rows),
            n_lambdas=fit.n_lambdas,
            lambda_ratio=fit.lambda_ratio,
            patience=fit.patience,
            tolerance=fit.tolerance,
            memory_gb=fit.memory_gb,
            threads=self._threads,
            meter=work.meter,
            kept=work.sums,
        )


def choices_of(found: Arrays) -> list[Chosen]:
    """Of the targets of a batch."""
    return [
        Chosen(Solution(float(lam), *part, float(gap)), bool(at_end), float(worst))
        for part, lam, gap, at_end, worst in zip(
            _parts(found), found["lam"], found["gap"], found["at_end"], found["worst_gap"], strict=True
        )
    ]


def fits_of(found: Arrays) -> list[Fit]:
    """Of the targets of a batch."""
    scalars = zip(found["bias"].tolist(), found["lam"].tolist(), found["gap"].tolist(), strict=True)
    return [Fit(*part, *numbers) for part, numbers in zip(_parts(found), scalars, strict=True)]


def _joined(pairs: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> dict[str, NDArray[Any]]:
    """Lists of different lengths as three arrays."""
    features, values = zip(*pairs, strict=True)
    lengths = np.array([len(part) for part in features])
    return {"lengths": lengths, "features": np.concatenate(features), "values": np.concatenate(values)}


def _parts(arrays: Arrays) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    ends = np.cumsum(arrays["lengths"])[:-1]
    return list(zip(np.split(arrays["features"], ends), np.split(arrays["values"], ends), strict=True))
