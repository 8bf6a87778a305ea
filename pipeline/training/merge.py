"""Shards become a set: the same bytes as those of one run, from parts that lie in one folder or in several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.store.disk import telling_of_the_disk
from pipeline.store.files import file_digest, make_folder
from pipeline.training.any_job import AnyJob
from pipeline.training.job import differing
from pipeline.training.made_set import MANIFEST, assemble, is_whole, unless_made
from pipeline.training.parts import Parts, read_job
from pipeline.training.supplies import check_kept, kept_files, take_kept


def merge(out: Path, folders: Sequence[Path], quiet: bool, say: Callable[[str], object]) -> AnyJob:
    """Make the set `out` of all parts in it and in `folders`, which stay as they are; its job.

    Nothing is trained. Where parts are missing, their shards are named, and nothing is changed.
    """
    found = [parts for parts in (Parts.found(folder) for folder in _different(out, folders)) if parts is not None]
    _check_found(out, folders, found)
    if (out / MANIFEST).is_file():
        return _finished(out, found)
    if len(found) > 1 and found[0].out == out and _is_only_claimed(found[0]):
        found = found[1:]
    first, *others = found
    for other in others:
        _check_alike(first, other)
    outcomes = _outcomes(found, quiet, say)
    parts = Parts(out, first.job)
    make_folder(out, "OUT")
    with telling_of_the_disk(out, "OUT", there=parts.folder), unless_made(parts):
        with parts.claimed("OUT"):
            take_kept(first.job, first.folder, parts.folder)
        with parts.work():
            assemble(parts, outcomes)
    parts.remove()
    return first.job


def _different(out: Path, folders: Sequence[Path]) -> list[Path]:
    """Each folder once, OUT first."""
    return list({path.resolve(): path for path in reversed((out, *folders))}.values())[::-1]


def _is_only_claimed(parts: Parts) -> bool:
    """Whether it holds nothing yet, as after a merge that was killed when it had noted whose parts these are."""
    try:
        check_kept(parts.job, parts.folder)
    except BadInputError:
        return parts.is_idle()
    return False


def _check_found(out: Path, folders: Sequence[Path], found: Sequence[Parts]) -> None:
    """Every folder that is named must have parts; OUT alone may have none, or be made."""
    have = {parts.out.resolve() for parts in found}
    for folder in folders:
        if folder.resolve() not in have | {out.resolve()}:
            reason = "is a finished set: use it as it is" if (folder / MANIFEST).is_file() else "holds no shards"
            raise BadInputError(f"{folder} {reason}; name folders that datamodels-inf train --shard K/N --out made.")
    if not found and not (out / MANIFEST).is_file():
        raise BadInputError(
            f"{out} holds no shards; train them first (datamodels-inf train … --shard K/N --out {out}), or name the "
            "folders that hold them after it."
        )


def _finished(out: Path, found: Sequence[Parts]) -> AnyJob:
    """The job of a set that is made already; parts of another are refused."""
    job = read_job(out / MANIFEST)
    if job is None:
        raise BadInputError(f"{out / MANIFEST} is not one that datamodels-inf train wrote; name another folder as OUT.")
    whole = Parts(out, job)
    is_whole(whole)
    for parts in found:
        _check_job(whole, parts)
    whole.remove()
    return job


def _check_job(one: Parts, other: Parts) -> None:
    if one.job != other.job:
        how = differing(one.job.as_json(), other.job.as_json())
        raise BadInputError(f"{other.out} holds work with other settings than {one.out} ({how}); leave it out.")


def _check_alike(one: Parts, other: Parts) -> None:
    """The same job, and the same files: features that are learned on two machines may differ in their last bits."""
    _check_job(one, other)
    for parts in (one, other):
        check_kept(parts.job, parts.folder)
    for name in kept_files(one.job, one.folder):
        if file_digest(one.folder / name) != file_digest(other.folder / name):
            raise BadInputError(
                f"{other.folder / name} is not that of {one.out}, so that models of the two have not seen the same: "
                f"copy {one.folder / name} to where shards begin, and train those of {other.out} again."
            )


def _outcomes(found: Sequence[Parts], quiet: bool, say: Callable[[str], object]) -> list[NDArray[Any]]:
    """Of every batch, from the first folder that has it whole."""
    parts = found[0]
    check_kept(parts.job, parts.folder)
    outcomes: dict[int, NDArray[Any]] = {}
    with progress_bar(parts.job.n_models, "model", "merge", quiet) as advance:
        for start in parts.starts:
            one = next((some for each in found if (some := each.outcomes(start, say)) is not None), None)
            if one is not None:
                outcomes[start] = one
            advance(parts.n_models([start]))
    missing = [start for start in parts.starts if start not in outcomes]
    if missing:
        counts = {count for each in found for count in each.shard_counts()}
        raise BadInputError(
            f"{parts.missing_in_words(missing, counts)} missing; train what is missing with the same settings, and "
            "merge again."
        )
    return list(outcomes.values())
