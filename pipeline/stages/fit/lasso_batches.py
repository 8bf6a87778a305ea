"""The LASSO of many targets, batch by batch: each finished batch is a file, and a killed fit goes on from there.

First λ is chosen for all batches (`chosen-….npz`), on all but the validation rows; then all are fitted once more, on
all rows (`fitted-….npz`). Where every model tests, so for one prefix of rows after the other, each of which begins with
the fits of the one before (`chosen-PREFIX-TARGET.npz`): the Gram matrix takes rows and never gives them back, so each
is counted once. A file that is damaged is named, and its batch made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.lasso.meter import TRANSPOSING, Meter
from datamodels_inf.lasso.solver import BATCH, Fit
from pipeline.config import Config
from pipeline.places.base import Advance, Place
from pipeline.progress import progress_bar
from pipeline.stages.fit.lasso_work import WORK, Batch, Chosen, Kind, LassoWork, choices_of, fits_of
from pipeline.stages.fit.sums_file import SumsFile
from pipeline.stages.inputs import Data
from pipeline.store.unfinished_steps import Arrays, read_step, save_step


@dataclass(frozen=True)
class LassoBatches:
    """The fits of `targets` on the rows before each block of `data`; `unfinished` is a folder that outlives a kill."""

    config: Config
    data: Data
    targets: NDArray[np.int64]
    unfinished: Path
    place: Place
    quiet: bool
    say: Callable[[str], object]

    def run(self) -> Iterator[tuple[list[Fit], list[Chosen]]]:
        """Of each prefix (fits, choices), in the order of the targets."""
        blocks = range(len(self.data.blocks))
        kept = len(list(self.unfinished.glob("[!.]*.npz")))  # A process killed while it wrote has left another.
        if kept:
            steps = 2 * len(self._starts) * len(blocks)
            self.say(f"going on with a fit that was stopped: {kept:,} of {steps:,} steps are done")
        fits_in_all = len(self.targets) * len(blocks)
        with ExitStack() as using:
            advance = using.enter_context(progress_bar(fits_in_all, "fit", "fit", self.quiet))
            work = self._work(advance, fits_in_all, using)
            for block in blocks:
                for kind in WORK:
                    self._make(work, kind, block, advance)
                if block == blocks[-1]:
                    if work.meter is not None:
                        work.meter.finish()
                    self.place.forget()  # Gigabytes: what comes next needs memory too.
                yield (
                    list(chain(*(fits_of(self._again(work, Batch("fitted", block, k))) for k in self._starts))),
                    list(chain(*(choices_of(self._again(work, Batch("chosen", block, k))) for k in self._starts))),
                )

    @property
    def _starts(self) -> range:
        return range(0, len(self.targets), BATCH)

    def _work(self, advance: Advance, fits_in_all: int, using: ExitStack) -> LassoWork:
        """In this process with a meter and with sums that are kept; elsewhere a bar moves by whole batches."""
        folder = self.unfinished.absolute()
        if self.place.remote:
            folder.mkdir(parents=True, exist_ok=True)
            return LassoWork(self.config, self.data, self.targets, folder)
        meter = Meter(
            advance,
            fits_in_all,
            targets=len(self.targets),
            columns=self.data.n_train,
            paths=fits_in_all * sum(WORK.values()),
            masks=TRANSPOSING,
        )
        return LassoWork(
            self.config, self.data, self.targets, folder, meter, using.enter_context(SumsFile(self.unfinished))
        )

    def _make(self, work: LassoWork, kind: Kind, block: int, advance: Advance) -> None:
        """All batches of a kind; those that are there already are not made again."""

        def missing() -> Iterator[Batch]:
            for start in self._starts:
                unit = Batch(kind, block, start)
                if self._read(work, unit) is None:
                    if before := work.before(unit):
                        self._again(work, before)  # Whole, for whoever makes this one will read it.
                    yield unit
                elif work.meter is not None:
                    work.meter.spared(WORK[kind] * work.n_targets(unit))
                else:
                    advance(work.size(unit))

        for unit, arrays in self.place.done(work, missing(), advance):
            save_step(work.file(unit), arrays)

    def _read(self, work: LassoWork, unit: Batch) -> Arrays | None:
        """Files are read again when needed: all fits of 10,000 targets would be a gigabyte beside the Gram matrix."""
        return read_step(work.file(unit), lambda damage: self.say(f"{damage}; its targets are fitted again"))

    def _again(self, work: LassoWork, unit: Batch) -> Arrays:
        """A batch that was made before; one that was damaged since is made once more."""
        found = self._read(work, unit)
        if found is not None:
            return found
        ((_, made),) = self.place.done(work, [unit], lambda step: None)
        save_step(work.file(unit), made)
        return made
