"""A set of models on this disk, opened whatever its layout was; and its rows copied into the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.row_blocks import RowRange
from pipeline.errors import BadInputError
from pipeline.images.item_names import ItemNames
from pipeline.progress import progress_bar
from pipeline.sources.equal_masks import Groups, group_by_mask
from pipeline.sources.mask_rows import CHUNK_ROWS, MaskRows
from pipeline.sources.outcome_rows import OutcomeRows
from pipeline.sources.row_split import refuse_empty, split_rows
from pipeline.summaries import DownloadSummary
from pipeline.text.numbers import counted

if TYPE_CHECKING:
    from pipeline.config import Config
    from pipeline.images.image_set import ImageSet, Labels
    from pipeline.sources.cifar10_images import NumberedImages
    from pipeline.stages.base import Run


@dataclass(frozen=True, eq=False)
class Opened:
    """Masks and outcomes, and all else that a folder tells.

    name: of the masks, in sentences. finished: the rows whose models were trained. left_out: a line for each reason why
    other rows are not read. labels, names: those that the folder itself has. outcome: what the numbers are, in a word.
    assumed: what the files do not say and was decided here, a line each. repeated: equal masks are meant, one model a
    seed. numbered: images that the set knows by number only. weights: a file of datamodels that lies there too.
    """

    name: str
    masks: MaskRows
    outcomes: OutcomeRows
    finished: NDArray[np.int64]
    left_out: tuple[str, ...] = ()
    images: Path | ImageSet | None = None
    labels: Labels | None = None
    names: ItemNames = field(default_factory=ItemNames)
    outcome: str = "margin"
    higher_is_better: bool = True
    assumed: tuple[str, ...] = ()
    repeated: bool = False
    numbered: NumberedImages | None = None
    weights: Path | None = None

    @property
    def n_train(self) -> int:
        """Training images."""
        return self.masks.n_train

    @property
    def n_targets(self) -> int:
        """Targets."""
        return self.outcomes.n_targets


@dataclass(frozen=True)
class DividedRows:
    """What rows become: groups of equal masks, of which some are for the fit and some for the test."""

    groups: Groups
    fit: RowRange
    held_out: RowRange
    grouped: bool


def divided_rows(config: Config, opened: Opened) -> DividedRows:
    """By `[source]`, or by the rule; equal masks are made one where that is set, or meant."""
    grouped = config.source.group_by_mask or opened.repeated
    finished = opened.finished
    groups = group_by_mask(opened.masks.bits, finished, opened.n_train) if grouped else Groups.single(finished)
    what = "different masks" if grouped else "models"
    what = f"{what} that are completed" if opened.left_out else what
    return DividedRows(groups, *split_rows(config, len(groups), opened.n_train, what), grouped)


def finished_rows(n_models: int, completed: NDArray[np.bool_] | None, missing: NDArray[np.bool_] | None, name: str,
                  outcomes: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:  # fmt: skip
    """(the rows that can be read, why others cannot). `name` says which rows are completed."""
    good = np.ones(n_models, np.bool_) if completed is None else completed.copy()
    lines = []
    if not good.all():
        count = n_models - int(good.sum())
        lines.append(f"{count:,} {'model is' if count == 1 else 'models are'} not completed ({name}): left out")
    if missing is not None and (count := int((good & missing).sum())):
        has = "model has" if count == 1 else "models have"
        lines.append(f"{count:,} {has} no outcome, NaN for every target ({outcomes}): left out")
        good &= ~missing
    if not good.any():
        raise BadInputError(f"{name or outcomes} says that no model is completed, so that there is nothing to read.")
    return np.flatnonzero(good), tuple(lines)


def copy_opened(run: Run, opened: Opened) -> DownloadSummary:
    """`copy_rows`, and words about what was assumed, and about rows that were left out or made one."""
    rows = copy_rows(run.config, opened, run.out, run.quiet)
    for line in (*opened.assumed, *opened.left_out):
        run.say(line)
    if rows.n_repeated:
        repeat = f"{counted(rows.n_repeated, 'model')} {'repeats' if rows.n_repeated == 1 else 'repeat'} a mask"
        run.say(f"{repeat}: the outcomes of equal masks are averaged")
    return rows


def copy_rows(config: Config, opened: Opened, out: Path, quiet: bool) -> DownloadSummary:
    """The rows for the fit and those for the test into masks.npy (bits) and margins.npy."""
    divided = divided_rows(config, opened)
    groups, fit = divided.groups, divided.fit
    kept = np.concatenate([np.arange(*fit), np.arange(*divided.held_out)])
    masks, outcomes = opened.masks, opened.outcomes
    dtype = np.result_type(outcomes.dtype, np.float32) if divided.grouped else outcomes.dtype
    empty: list[int] = []
    largest = np.zeros(opened.n_targets)
    with (
        _new(out / "masks.npy", np.dtype(np.uint8), (len(kept), (opened.n_train + 7) // 8)) as masks_out,
        _new(out / "margins.npy", dtype, (len(kept), opened.n_targets)) as margins_out,
        progress_bar(len(kept), "model", "download", quiet) as advance,
    ):
        for start in range(0, len(kept), CHUNK_ROWS):
            some = kept[start : start + CHUNK_ROWS]
            first = groups.first(some)
            bits = np.ascontiguousarray(masks.bits(first))
            empty += first[~bits.any(axis=1)].tolist()
            masks_out.write(bits.tobytes())
            means = groups.averaged(some, outcomes.values(groups.rows(some))).astype(dtype, copy=False)
            margins_out.write(np.ascontiguousarray(means).tobytes())
            largest = np.maximum(largest, np.abs(means).max(axis=0, initial=0.0))
            advance(len(some))
    refuse_empty(opened.name, empty)
    outcomes.refuse_tiny(largest)
    return DownloadSummary(
        n_models=len(kept),
        n_train=opened.n_train,
        n_targets=opened.n_targets,
        masks_file="masks.npy",
        margins_file="margins.npy",
        fit=fit,
        held_out=(fit[1], len(kept)),
        n_unfinished=masks.n_models - len(opened.finished),
        n_repeated=len(opened.finished) - len(groups),
        **_words(opened),
    )


def _words(opened: Opened) -> dict[str, Any]:
    """What is not as everywhere; a manifest does not say the rest."""
    outcome = {} if opened.outcome == "margin" else {"outcome": opened.outcome}
    return outcome if opened.higher_is_better else {**outcome, "higher_is_better": False}


@contextmanager
def _new(path: Path, dtype: np.dtype[Any], shape: tuple[int, int]) -> Iterator[BinaryIO]:
    """An .npy file whose rows are written one after the other: a full disk is an error then, not a dead process."""
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        yield file
