"""How rows arrive over a network: the missing ones are fetched into mirrors in the store, and stay there.

The stage's folder only points at them; where whole files must be read (a sha256 to check, masks to group), their rows
are copied from the mirror as from a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import map_npy
from pipeline.errors import BadInputError, StoppedEarly
from pipeline.progress import progress_bar
from pipeline.remote.failures import RemoteError
from pipeline.remote.fetch import fetch_missing
from pipeline.sources.array_files import Files, copy_files
from pipeline.sources.base import Arrived
from pipeline.sources.cifar10_images import get_cifar10, say_without_images
from pipeline.sources.fetch_plan import Plan, PlannedRows, Remotes, make_plan, make_whole_plan
from pipeline.sources.mask_rows import CHUNK_ROWS
from pipeline.sources.row_split import refuse_empty
from pipeline.store.files import file_digest
from pipeline.summaries import DownloadSummary
from pipeline.text.numbers import human_bytes

if TYPE_CHECKING:
    from pipeline.stages.base import Run

CIFAR10 = 50_000, 10_000


def bring(run: Run, find_remotes: Callable[[], Remotes]) -> Arrived:
    """Fetch what is missing, with the images of CIFAR-10 unless others are given."""
    home = run.store / "objects"
    try:
        remotes = find_remotes()
        digests = dict(remotes.digests)
        whole = bool(digests.get("masks") or digests.get("margins") or run.config.source.group_by_mask)
        plan = make_whole_plan(remotes, home) if whole else make_plan(run.config, remotes, home)
        _fetch(plan, home, run)
    except RemoteError as error:
        raise BadInputError(str(error)) from error
    _check_digests(plan, digests)
    rows = _copied(run, plan) if plan.rows is None else _pointed_at(run, plan, plan.rows)
    if run.config.source.images is not None:
        return Arrived(rows, run.config.source.images)
    return _with_cifar10(run, rows)


def _fetch(plan: Plan, home: Path, run: Run) -> None:
    """The missing bytes, after a word on their size and cost."""
    for need in plan.needs:
        for complaint in need.mirror.complaints:
            run.say(complaint)
        for start, stop in need.mirror.drop_damaged(need.wanted):
            run.say(f"damaged  {need.mirror.file}, rows {start:,} to {stop - 1:,}: fetched again")
    if plan.missing_bytes == 0:
        return
    sentence = plan.sentence(home)
    plan.check_disk(home)
    run.say(sentence)
    if run.dry_run:
        raise StoppedEarly("dry run: nothing was fetched.")
    if not run.confirm("Fetch?"):
        raise StoppedEarly("nothing was fetched.")
    size, kept = plan.missing_bytes, sum(need.stored_bytes for need in plan.needs)
    with progress_bar(size, "B", "download", run.quiet) as advance:
        for need in plan.needs:
            fetch_missing(need, advance)
    run.say(f"fetched {human_bytes(size)}, kept as {human_bytes(kept)} in {home}")


def _check_digests(plan: Plan, digests: dict[str, str | None]) -> None:
    """Whole files against the sha256 that the user gave."""
    for need in plan.needs:
        wanted = digests.get(need.label)
        if wanted is not None and file_digest(need.mirror.file) != wanted:
            raise BadInputError(
                f"{need.remote.name} has not the sha256 that source.{need.label}_sha256 gives; check both."
            )


def _pointed_at(run: Run, plan: Plan, rows: PlannedRows) -> DownloadSummary:
    """Rows that stay in their mirrors."""
    for need in plan.needs:
        if need.label == "masks":
            refuse_empty(need.remote.name, list(_empty_rows(need.mirror.file, need.wanted)))
    files = {need.label: os.path.relpath(need.mirror.file, run.out) for need in plan.needs}
    outside = {files[need.label]: need.mirror.checksums(need.wanted) for need in plan.needs}
    weights = {"weights": files["weights"]} if "weights" in files else {}
    paths: dict[str, Any] = {"masks_file": files["masks"], "margins_file": files["margins"], **weights}
    return DownloadSummary(**asdict(rows), **paths, outside=outside)


def _copied(run: Run, plan: Plan) -> DownloadSummary:
    """Rows copied from whole files; of those, only the weights are needed after that."""
    needs = {need.label: need for need in plan.needs}
    rows = copy_files(run, Files(needs["masks"].mirror.file, needs["margins"].mirror.file, None, None))
    if "weights" not in needs:
        return rows
    need = needs["weights"]
    name = os.path.relpath(need.mirror.file, run.out)
    return rows.model_copy(update={"weights": name, "outside": {name: need.mirror.checksums(need.wanted)}})


def _empty_rows(file: Path, wanted: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The rows of packed masks that hold no image."""
    bits = map_npy(file)
    for start, stop in wanted:
        for first in range(start, stop, CHUNK_ROWS):
            chunk = bits[first : min(first + CHUNK_ROWS, stop)]
            yield from (first + np.flatnonzero(~chunk.any(axis=1))).tolist()


def _with_cifar10(run: Run, rows: DownloadSummary) -> Arrived:
    """With all of CIFAR-10, which the network sources are of. Where labels are given, a run can do without images."""
    optional = run.config.source.labels is not None
    if (rows.n_train, rows.n_targets) != CIFAR10:
        other = (
            f"the masks are of {rows.n_train:,} images and the margins of {rows.n_targets:,} targets, which is "
            "not CIFAR-10; give their images and labels in source.images."
        )
        if not optional:
            raise BadInputError(other)
        run.say(f"without images, with grey tiles: {other}")
        return Arrived(rows, None)
    try:
        return Arrived(rows, get_cifar10(run))
    except BadInputError as error:
        if not optional:
            raise
        say_without_images(run, error)
        return Arrived(rows.model_copy(update={"awaits_images": True}), None)
