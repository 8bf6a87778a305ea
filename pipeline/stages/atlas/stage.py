"""Atlas: the influence of every training image on every chosen target, estimated on the held-out rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.influence import MaskLaw
from datamodels_inf.internal.checks import Ints
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.stages.atlas.tiles import tile_name, tile_size
from pipeline.stages.base import Run, Stage
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.test import designs
from pipeline.stages.test.premise import check_premise
from pipeline.store.files import file_digest, whole_file
from pipeline.summaries import AtlasSummary

VERSION = 3
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
    tiles = Tiles(data, fitted, targets, run)
    with progress_bar(len(targets), "target", "atlas", run.quiet) as advance:
        tiles.make(advance)
    return AtlasSummary(
        targets=tuple(targets.tolist()),
        n_train=data.n_train,
        n_models=data.held_out_masks.n_models,
        tile_targets=tiles.size,
        masks=masks,
        tails=bool(len(targets)) and tiles.leans,
    )


@dataclass(frozen=True, eq=False)
class Tiles:
    """The tiles of `targets`: made in a folder that outlives a kill, each with its checksum, then linked."""

    data: Data
    fitted: Fitted
    targets: Ints
    run: Run

    @property
    def size(self) -> int:
        """Targets of a tile."""
        return tile_size(self.data.n_train)

    def make(self, advance: Callable[[float], object]) -> None:
        """All tiles into the stage's folder."""
        self.run.unfinished.mkdir(parents=True, exist_ok=True)
        starts = range(0, len(self.targets), self.size)
        kept = sum((self.run.unfinished / tile_name(first)).is_file() for first in starts)
        if kept:
            self.run.say(f"going on with an atlas that was stopped: {kept} of {len(starts)} tiles are done")
        for first in starts:
            tile = range(first, min(first + self.size, len(self.targets)))
            if all(self._is_whole(self.run.unfinished / name) for name in self._names(first)):
                advance(len(tile))
            else:
                for name, array in zip(self._names(first)[::-1], self._estimate(tile, advance)[::-1], strict=True):
                    _save(self.run.unfinished / name, array)
        for name in (name for first in starts for name in self._names(first)):
            _link(self.run.unfinished / name, self.run.out / name)

    def _names(self, first: int) -> list[str]:
        return [tile_name(first), *([tile_name(first, "tails")] if self.leans else [])]

    @cached_property
    def leans(self) -> bool:
        """Whether the tails of the targets' laws are kept: where masks do not hold half of the images."""
        return MaskLaw.of(self.data.held_out_masks).leans

    @cached_property
    def _maker(self) -> AtlasMaker:
        """Made when the first tile needs it: the masks are transposed then."""
        return AtlasMaker(self.data.held_out_masks, self.run.n_threads)

    def _estimate(self, tile: range, advance: Callable[[float], object]) -> list[NDArray[Any]]:
        targets = self.targets[tile.start : tile.stop]
        margins = self.data.held_out_margins(targets)
        datamodel = self.fitted.datamodel.subset(self.fitted.places(targets))
        found = self._maker.tile(tile, margins, datamodel, advance)
        both = np.stack([found.estimate, found.standard_error]).astype(np.float32)
        return [both, *([np.stack([[tail.places, tail.deviates] for tail in found.tails])] if found.tails else [])]

    def _is_whole(self, path: Path) -> bool:
        if not path.is_file():
            return False
        digest = path.with_suffix(".sha256")
        if digest.is_file() and digest.read_text(encoding="ascii") == file_digest(path):
            return True
        self.run.say(f"{path} is damaged (its checksum is another one); its targets are estimated again")
        return False


def _save(path: Path, tile: NDArray[Any]) -> None:
    with whole_file(path) as temporary:
        np.save(temporary, tile)
        digest = file_digest(temporary)
        path.with_suffix(".sha256").write_text(digest, encoding="ascii")


def _link(path: Path, place: Path) -> None:
    """The same file once more, so that nothing is lost before the stage is complete; where that cannot be, a copy."""
    try:
        os.link(path, place)
    except OSError:
        shutil.copyfile(path, place)


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
        run.say(
            f"the atlas leaves out {missing.size:,} of {asked.size:,} targets, which have no datamodel: fit.targets"
        )
    return asked[has_one]


def wanted(config: Config) -> bool:
    """Whether a configuration has an atlas."""
    return config.atlas.wanted


STAGE = Stage("atlas", VERSION, ("download", "fit"), AtlasSummary, run, left_out, instead, wanted)
