"""Atlas: the influence of every training image on every chosen target, estimated on the held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.influence import MaskLaw
from datamodels_inf.internal.checks import Ints
from datamodels_inf.kernels import ahead
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.places.base import Advance
from pipeline.stages.atlas.tile_files import TileFiles
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.test import designs
from pipeline.stages.test.premise import check_premise
from pipeline.store.unfinished_steps import Arrays
from pipeline.summaries import AtlasSummary
from pipeline.text.numbers import counted

VERSION = 4
STRATIFIED = (
    "the masks are stratified by class, so that an image can only be compared with others of its class, not with an "
    "average image"
)


def left_out(config: Config) -> dict[str, str]:
    """Estimates do not depend on what is called a finding."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        "test": "only which targets the design can ask for and which masks are allowed, and that enters below",
        "atlas.family": "decides what is a finding, in the stage influence",
        **dict.fromkeys(("robustness", "report"), "the estimates do not depend on it"),
    }


def instead(config: Config) -> dict[str, object]:
    """The targets of the design, where these are wanted; and what may refuse the masks."""
    targets = designs.settings_of_targets(config.test) if config.atlas.targets == "needed" else {}
    return {**targets, "test.allow_unexchangeable": config.test.allow_unexchangeable}


def run(run: Run) -> AtlasSummary:
    """Write the tiles."""
    config, data, fitted = run.config, run.data, run.fitted
    masks = check_premise(config, data)
    stratified = masks.law == "stratified" and not config.test.allow_unexchangeable
    if stratified:
        run.say(f"{STRATIFIED}: an empty atlas")
    targets = np.zeros(0, np.int64) if stratified else _targets(run)
    tails = bool(len(targets)) and MaskLaw.of(data.held_out_masks).leans
    names = ("tile", "tails") if tails else ("tile",)
    tiles = TileFiles(run, "an atlas", len(targets), data.n_train, names, Estimates(data, fitted, targets))
    tiles.make()
    return AtlasSummary(
        targets=tuple(targets.tolist()),
        n_train=data.n_train,
        n_models=data.held_out_masks.n_models,
        tile_targets=tiles.size,
        masks=masks,
        tails=tails,
    )


@dataclass(frozen=True, eq=False)
class Estimates:
    """The arrays of tiles of `targets`, on the held-out rows, as units of work."""

    data: Data
    fitted: Fitted
    targets: Ints

    def size(self, unit: range) -> float:
        """As many steps of the bar as it has targets."""
        return len(unit)

    def open(self, threads: int) -> EstimateMaker:
        """The masks are transposed when the first tile needs it."""
        return EstimateMaker(self, threads)


@dataclass(frozen=True, eq=False)
class EstimateMaker:
    """Makes tiles: the estimate and its standard error of every image on each target (`datamodels_inf.atlas`)."""

    work: Estimates
    threads: int

    @cached_property
    def _maker(self) -> AtlasMaker:
        data = self.work.data
        bounds = [block.rows[0] - data.blocks[0].rows[0] for block in data.blocks] + [data.held_out_masks.n_models]
        return AtlasMaker(data.held_out_masks, self.threads, bounds=bounds)

    def __call__(self, unit: range, advance: Advance, /) -> Arrays:
        """Estimates and standard errors, and where masks do not hold half of the images, tails."""
        data, fitted = self.work.data, self.work.fitted
        targets = self.work.targets[unit.start : unit.stop]
        places = fitted.places(targets)
        datamodels = [fitted.datamodels[block.prefix].subset(places) for block in data.blocks]
        found = self._maker.tile(unit, data.held_out_margins(targets), datamodels, advance)
        arrays = {"tile": np.stack([found.estimate, found.standard_error]).astype(np.float32)}
        if found.tails:
            arrays["tails"] = np.stack([[tail.places, tail.deviates] for tail in found.tails])
        return arrays


def _targets(run: Run) -> Ints:
    """Those asked for that have a datamodel, as all must have that were named one by one."""
    asked = designs.atlas_targets(run.config, run.data)
    has_one = np.isin(asked, run.fitted.targets)
    missing = asked[~has_one]
    if missing.size and (isinstance(run.config.atlas.targets, list) or not has_one.any()):
        raise BadInputError(
            f"target {missing[0]} is to be in the atlas but has no datamodel; "
            'add it to fit.targets, or set fit.targets = "needed".'
        )
    if missing.size:
        which = f"{missing.size:,} of {counted(asked.size, 'target')}"
        run.say(f"the atlas leaves out {which}, which have no datamodel: fit.targets")
    return asked[has_one]


def wanted(config: Config) -> bool:
    """Whether a configuration has an atlas."""
    return config.atlas.wanted


def kernels(config: Config) -> Sequence[str]:
    """Sums over columns of bits."""
    return ahead.SUMS


STAGE = Stage(
    "atlas", VERSION, ("download", "fit"), AtlasSummary, run, left_out, instead, wanted, unread=PICTURES,
    kernels=kernels,
)  # fmt: skip
