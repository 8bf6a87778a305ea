"""Evidence: the influence of every training image on the asked targets, estimated on the fit rows.

The datamodel is that of the fit rows alone, and its residuals are made as large as on new rows (`ImageEvidence`). No
held-out row is read: what comes out may weigh their tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.influence import MaskLaw
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.prediction import ImageEvidence
from datamodels_inf.prediction.learning import attainable_r2, r2_of_fit, rows_to_come
from pipeline.arrays import map_npy
from pipeline.config import Config
from pipeline.places.base import Advance
from pipeline.stages.atlas.tile_files import TileFiles
from pipeline.stages.atlas.tiles import Tiled, tile_name
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.test import designs
from pipeline.store.cache import Result
from pipeline.store.unfinished_steps import Arrays
from pipeline.summaries import EvidenceSummary, read_summary

VERSION = 3


def left_out(config: Config) -> dict[str, str]:
    """Nothing that is said of tested rows makes a difference."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it, but for the mode, which enters below",
        "test": "only which targets the design can ask for, and that enters below",
        "atlas.family": "decides what is a finding, in the stage influence",
        **dict.fromkeys(("robustness", "report"), "the estimates do not depend on it"),
    }


def instead(config: Config) -> dict[str, Any]:
    """The targets of the design, and whether the datamodels were fitted on these rows."""
    return {**designs.settings_of_targets(config.test), "fit.mode": config.fit.mode}


def run(run: Run) -> EvidenceSummary:
    """Write the tiles."""
    data, fitted = run.data, run.fitted
    reason = _problem(data)
    asked = np.union1d(designs.needed_targets(run.config, data), designs.atlas_targets(run.config, data))
    targets = np.intersect1d(asked, fitted.targets)[: 0 if reason else None]
    if reason:
        run.say(f"the fit rows say nothing about effects: {reason}")
    estimates = FitEstimates(data, fitted, targets, run.config.fit.mode == "lasso")
    tiles = TileFiles(run, "evidence", len(targets), data.n_train, ("tile",), estimates)
    tiles.make()
    first, attainable = (0.0, 0.0) if reason else estimates.quality(tiles.size, run.out)
    said = EvidenceSummary(
        r2_first=first,
        r2_attainable=attainable,
        targets=tuple(targets.tolist()),
        n_train=data.n_train,
        n_models=data.fit_masks.n_models,
        tile_targets=tiles.size,
        reason=reason,
    )
    return said.model_copy(update={"n_to_come": _rows_to_come(said, data, every_model=True)})


def _problem(data: Data) -> str:
    """Why nothing can be estimated on the fit rows; empty where it can."""
    try:
        MaskLaw.of(data.fit_masks)
    except ValueError as error:
        return f"of the fit rows, {error}"
    return ""


@dataclass(frozen=True, eq=False)
class FitEstimates:
    """The arrays of tiles of `targets`, on the fit rows, as units of work. lasso: whether the datamodels were fitted on
    these rows."""

    data: Data
    fitted: Fitted
    targets: Ints
    lasso: bool

    def size(self, unit: range) -> float:
        """As many steps of the bar as it has targets."""
        return len(unit)

    def open(self, threads: int) -> FitEstimateMaker:
        """The masks are transposed when the first tile needs it."""
        return FitEstimateMaker(self, threads)

    def quality(self, tile_targets: int, folder: Path) -> tuple[float, float]:
        """R² on new rows: of the fit, and as expected of one of very many rows; means over the first tile's targets."""
        estimate, error = map_npy(folder / tile_name(0)).astype(np.float64)
        law = MaskLaw.of(self.data.fit_masks)
        variance = np.var(self.data.fit_margins(self.targets[:tile_targets]).astype(np.float64), axis=0)
        first = r2_of_fit(error, len(law.share), law.kappa, variance)
        return first, attainable_r2(estimate, error, law.kappa, variance)


@dataclass(frozen=True, eq=False)
class FitEstimateMaker:
    """Makes tiles: what the fit rows say of every image on each target (`ImageEvidence`)."""

    work: FitEstimates
    threads: int

    @cached_property
    def _maker(self) -> AtlasMaker:
        return AtlasMaker(self.work.data.fit_masks, self.threads, tails=False)

    def __call__(self, unit: range, advance: Advance, /) -> Arrays:
        """Estimates and standard errors."""
        data, fitted = self.work.data, self.work.fitted
        targets = self.work.targets[unit.start : unit.stop]
        datamodel = fitted.first.subset(fitted.places(targets))
        found = self._maker.tile(unit, data.fit_margins(targets), [datamodel], advance)
        evidence = ImageEvidence.of(found, datamodel, self._maker.law, fitted=self.work.lasso)
        return {"tile": np.stack([evidence.estimate, evidence.standard_error]).astype(np.float32)}


@dataclass(frozen=True, eq=False)
class Evidence(Tiled):
    """What the stage left."""

    summary: EvidenceSummary

    @classmethod
    def of(cls, result: Result) -> Evidence:
        """From the result of the evidence stage."""
        return cls(result.folder, read_summary(result, EvidenceSummary))

    def rows_to_come(self, data: Data, *, every_model: bool) -> float:
        """Tested rows, counted as rows with residuals as large as those of the first fit (`rows_to_come`)."""
        return _rows_to_come(self.summary, data, every_model=every_model)

    def places(self, targets: Ints) -> Ints:
        """Where `targets` stand here; these are sorted, and must be among them."""
        return np.searchsorted(self.targets, targets)

    def on(self, target: int) -> tuple[Floats, Floats]:
        """(estimates, standard errors) of all images on a target, by its number."""
        estimate, error = self.of_target(int(self.places(np.array([target]))[0]))
        return estimate.astype(np.float64), error.astype(np.float64)


def _rows_to_come(said: EvidenceSummary, data: Data, *, every_model: bool) -> float:
    start = data.rows.fit[0]
    if len(data.blocks) == 1:
        return data.tested_rows(every_model)
    ends = [block.rows[0] - start for block in data.blocks]
    sizes = [block.rows[1] - block.rows[0] for block in data.blocks]
    if not every_model:
        sizes[:-1] = [0] * (len(sizes) - 1)
    return rows_to_come(ends, sizes, said.r2_first, said.r2_attainable, said.n_train)


def wanted(config: Config) -> bool:
    """Where there are rows that the datamodels were fitted on."""
    return config.fit.needs_rows


STAGE = Stage(
    "evidence", VERSION, ("download", "fit"), EvidenceSummary, run, left_out, instead, wanted, unread=PICTURES
)
