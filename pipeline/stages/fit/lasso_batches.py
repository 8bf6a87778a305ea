"""The LASSO of many targets, batch by batch: each finished batch is a file, and a killed fit goes on from there.

First λ is chosen for all batches (`chosen-….npz`), on all but the validation rows; then all are fitted once more, on
all rows (`fitted-….npz`). A file that is damaged is named, and its batch made again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.lasso.descent import Solution
from datamodels_inf.lasso.solver import BATCH, Fit, GapWarning, Lasso, count_validation_rows
from pipeline.config import Config
from pipeline.progress import progress_bar
from pipeline.stages.inputs import Data
from pipeline.store.unfinished_steps import Arrays, read_step, save_step


@dataclass(frozen=True)
class Chosen:
    """How the λ of one target was chosen, and the solution that its refit begins with."""

    best: Solution
    at_end: bool
    """Whether the best λ is the last of the path: a longer path might have been better."""
    worst_gap: float


@dataclass
class LassoBatches:
    """The fits of `targets`; `unfinished` is a folder that outlives a kill."""

    config: Config
    data: Data
    targets: NDArray[np.int64]
    unfinished: Path
    threads: int | None
    quiet: bool
    say: Callable[[str], object]

    def run(self) -> tuple[list[Fit], list[Chosen]]:
        """(fits, choices), in the order of the targets."""
        starts = range(0, len(self.targets), BATCH)
        kept = len(list(self.unfinished.glob("*.npz")))
        if kept:
            self.say(f"going on with a fit that was stopped: {kept} of {2 * len(starts)} steps are done")
        with progress_bar(len(self.targets), "target", "fit: choosing λ", self.quiet) as advance:
            choices = [self._choose(start, advance) for start in starts]
        with progress_bar(len(self.targets), "target", "fit: all rows", self.quiet) as advance:
            fits = [self._refit(k, batch, advance) for k, batch in zip(starts, choices, strict=True)]
        return list(chain(*fits)), list(chain(*choices))

    @cached_property
    def _lasso(self) -> Lasso:
        """Made when the first batch needs it: the masks are transposed then."""
        fit, masks = self.config.fit, self.data.fit_masks
        return Lasso(
            masks,
            validation_rows=count_validation_rows(masks.n_models, fit.validation_rows),
            n_lambdas=fit.n_lambdas,
            lambda_ratio=fit.lambda_ratio,
            patience=fit.patience,
            tolerance=fit.tolerance,
            memory_gb=fit.memory_gb,
            threads=self.threads,
        )

    def _margins(self, start: int) -> NDArray[np.float16]:
        return self.data.fit_margins(self.targets[start : start + BATCH])

    def _choose(self, start: int, advance: Callable[[float], object]) -> list[Chosen]:
        def make() -> Arrays:
            choices = self._lasso.choose(self._margins(start), advance)
            best = [choice.best for choice in choices]
            return {
                **_joined((b.features, b.w) for b in best),
                "lam": np.array([b.lam for b in best]),
                "gap": np.array([b.gap for b in best]),
                "at_end": np.array([choice.at_end for choice in choices]),
                "worst_gap": np.array([choice.gap.max() for choice in choices]),
            }

        found = self._kept(f"chosen-{start:06d}.npz", start, make, advance)
        return [
            Chosen(Solution(float(lam), *part, float(gap)), bool(at_end), float(worst))
            for part, lam, gap, at_end, worst in zip(
                _parts(found), found["lam"], found["gap"], found["at_end"], found["worst_gap"], strict=True
            )
        ]

    def _refit(self, start: int, choices: Sequence[Chosen], advance: Callable[[float], object]) -> list[Fit]:
        def make() -> Arrays:
            fits = self._lasso.refit(self._margins(start), [choice.best for choice in choices], advance)
            scalars = {name: np.array([getattr(fit, name) for fit in fits]) for name in ("bias", "lam", "gap")}
            return {**_joined((fit.features, fit.weights) for fit in fits), **scalars}

        found = self._kept(f"fitted-{start:06d}.npz", start, make, advance)
        scalars = zip(found["bias"].tolist(), found["lam"].tolist(), found["gap"].tolist(), strict=True)
        return [Fit(*part, *numbers) for part, numbers in zip(_parts(found), scalars, strict=True)]

    def _kept(self, name: str, start: int, make: Callable[[], Arrays], advance: Callable[[float], object]) -> Arrays:
        """The arrays of a finished batch, or those that `make` makes now."""
        found = read_step(self.unfinished / name, lambda damage: self.say(f"{damage}; its targets are fitted again"))
        if found is not None:
            advance(len(self.targets[start : start + BATCH]))
            return found
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
