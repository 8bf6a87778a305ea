"""Unfinished work of a set, in its folder `.parts`: outcomes of finished batches, and what all models need.

Many processes may fill one folder at a time, on one machine or on several that share it: each file appears whole or not
at all, with the same bytes whoever writes it; what must happen once happens under a lock.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.places.base import Place, Work
from pipeline.progress import progress_bar
from pipeline.store.files import durable_folder, remove_parts, whole_file
from pipeline.store.locks import held, refuse_what_is_no_lock
from pipeline.store.unfinished_steps import Arrays, read_step, save_step
from pipeline.text.json_file import read_json
from pipeline.text.sealed_json import sealed, unsealed
from pipeline.training.any_job import AnyJob, job_of_json, words_of
from pipeline.training.function_job import FunctionJob
from pipeline.training.job import differing
from pipeline.training.own_function import source_file
from pipeline.training.shards import Shard, in_words, missing_shards, runs, shards_in_words
from pipeline.training.work import Models

NAME = ".parts"
NOTE = "job.json"
CHUNK = 512
"""Models of a batch, of small networks."""
LOCK = "lock"
CLAIM = "claim"
"""The folder of a lock of its own: whose parts these are."""


OWN = re.compile(r"job\.json|(images|features|labels)\.(npz|sha256)|subsets\.(json|sha256)|\.part-.*|[0-9a-f]{16}-.*")
"""Files beside the batches."""
SHARD_FOLDER = re.compile(r"shard-\d+-of-(\d+)", re.ASCII)


@dataclass(frozen=True)
class Parts:
    """The unfinished work on a job in the folder `out`, there or yet to be made."""

    out: Path
    job: AnyJob

    @classmethod
    def found(cls, out: Path) -> Parts | None:
        """Those in a folder, whatever their job is; None if there are none."""
        note = out / NAME / NOTE
        if not note.is_file():
            return None
        job = read_job(note)
        if job is None:
            raise BadInputError(f"{note} is damaged; delete {note.parent} and train its models again.")
        return cls(out, job)

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.out / NAME

    @property
    def starts(self) -> range:
        """The first model of each batch."""
        return range(0, self.job.n_models, self.job.batch(self.job.n_models, CHUNK))

    def of_shard(self, shard: Shard) -> range:
        """The first model of each of its batches."""
        own = shard.batches(len(self.starts))
        return self.starts[own.start : own.stop]

    def models(self, start: int) -> Models:
        """The batch that begins there."""
        return Models(self.job.seed, start, min(start + self.starts.step, self.job.n_models))

    def n_models(self, starts: Iterable[int]) -> int:
        """Of so many batches."""
        return sum(unit.stop - unit.first for unit in map(self.models, starts))

    def path(self, start: int) -> Path:
        """The file of the batch that begins there."""
        return self.folder / f"{start:09d}.npz"

    def _lock(self, folder: Path) -> FileLock:
        durable_folder(folder)
        refuse_what_is_no_lock(folder / LOCK)
        return FileLock(folder / LOCK)

    @contextmanager
    def claimed(self, option: str = "--out") -> Iterator[None]:
        """Note whose parts these are, and let one process at a time bring what all models need; refuse those of another
        job, of which there is some, and a folder with other things."""
        if not (self.folder / NOTE).is_file() and any(path.name != NAME for path in self.out.iterdir()):
            raise BadInputError(
                f"{option} {self.out} is not empty and was not made by this command; name another folder."
            )
        with self._lock(self.folder / CLAIM):
            note = self.folder / NOTE
            if note.is_file() and read_job(note) is None and self._are_own():
                note.unlink()  # It is damaged, and the batches say themselves whose they are.
            if note.is_file() and read_job(note) != self.job:
                if not self.is_idle():
                    self._check_note()
                self._clear()
            if not note.is_file():
                with whole_file(note) as temporary:
                    temporary.write_text(json.dumps(sealed({"job": self.job.as_json()})), encoding="utf-8")
            yield

    @contextmanager
    def work(self, shard: Shard | None = None, say: Callable[[str], object] = lambda line: None) -> Iterator[None]:
        """On a shard, or on all batches, by one process at a time; others may work on other shards meanwhile. Whoever
        has to wait says so."""
        lock = self._lock(self.folder if shard is None else shard_folder(self.out, shard))
        with held(lock, lambda: say(f"waiting for another command, which trains into {self.out} …")):
            with self._lock(self.folder / CLAIM):  # Nobody is in the middle of taking the folder for another job,
                self._check_note()  # and from now on nobody can.
                if not any(_is_held(other) for other in self._locks() if other != Path(lock.lock_file)):
                    remove_parts(self.folder)  # Of a shard that was killed: nobody else saves, or begins to, meanwhile.
            yield

    def _check_note(self) -> None:
        check_same(self.folder / NOTE, self.job, "holds unfinished work with other settings")

    def is_idle(self) -> bool:
        """Whether nobody works here, and nothing is finished that could be lost or mixed: in this order, for whoever
        ends leaves something."""
        return not any(map(_is_held, self._locks())) and not any(self.folder.glob("[0-9]*.npz"))

    def _locks(self) -> list[Path]:
        """Of whoever works on all batches, or on a shard."""
        return [self.folder / LOCK, *self.folder.glob(f"shard-*/{LOCK}")]

    def _are_own(self) -> bool:
        """Whether there are batches, and all of them are of this job."""
        there = [start for start in self.starts if self.path(start).exists()]
        steps = [read_step(self.path(start), lambda damage: None) or {} for start in there]
        return bool(there) and all(self._has_tag(step, start) for step, start in zip(steps, there, strict=True))

    def _has_tag(self, found: Arrays, start: int) -> bool:
        return "of" in found and found["of"].tobytes() == self._tag(start)

    def _clear(self) -> None:
        """What all models of the other job needed; batches there are none, and what is not ours stays."""
        if self.folder.is_symlink():
            raise BadInputError(f"{self.folder} is a link to a folder of another job; delete it.")
        for path in self.folder.iterdir():
            if path.is_file() and OWN.fullmatch(path.name):
                path.unlink()

    def outcomes(self, start: int, complain: Callable[[str], object] = lambda damage: None) -> NDArray[Any] | None:
        """Of the models of a batch, as the set keeps them; None if it is not there, or is damaged."""
        found = read_step(self.path(start), complain, unbound=True)  # The tag binds it, wherever it was trained.
        if found is None:
            return None
        if "of" in found and not self._has_tag(found, start):  # Without it, of an earlier version.
            complain(f"{self.path(start)} is of another job, or of other models of it")
            return None
        models, outcomes = self.models(start), found.get("margins", np.zeros(0))
        if outcomes.shape != (models.stop - models.first, self.job.n_targets):
            complain(f"{self.path(start)} is damaged (it has another shape)")
            return None
        return outcomes

    def train_missing(
        self, starts: range, work: Work[Models], keep: Callable[[NDArray[np.float32]], NDArray[Any]], place: Place,
        quiet: bool, say: Callable[[str], object],
    ) -> int:  # fmt: skip
        """Train those of these batches that are not there; how many models that was."""

        def complain(damage: str) -> None:
            say(f"{damage}; its models are trained again")

        missing = [start for start in starts if self.outcomes(start, complain) is None]
        n_models, n_missing = self.n_models(starts), self.n_models(missing)
        with progress_bar(n_models, "model", f"train {self.job.dataset}", quiet) as advance:
            advance(n_models - n_missing)
            for unit, trained in place.done(work, map(self.models, missing), advance):
                of = np.frombuffer(self._tag(unit.first), np.uint8)
                save_step(self.path(unit.first), {"margins": keep(trained["margins"]), "of": of})
        return n_missing

    def _tag(self, start: int) -> bytes:
        """By which a batch is known to be that one of this job, wherever its file was copied or renamed."""
        return hashlib.sha256(f"{start} {self._as_noted}".encode()).digest()

    @cached_property
    def _as_noted(self) -> str:
        return words_of(self.job)

    def shard_counts(self) -> set[int]:
        """Into how many shards the batches have been divided: none, one number, or several."""
        found = (SHARD_FOLDER.fullmatch(path.name) for path in self.folder.glob("shard-*"))
        return {int(match[1]) for match in found if match is not None}

    def missing_in_words(self, missing: Iterable[int], counts: Iterable[int]) -> str:
        """ "shards 4 and 17 to 19 of 100 are", by the first model of each batch that is missing; where batches were not
        divided into one number of shards, "models 512 to 1,023 are"."""
        batches, different = sorted(start // self.starts.step for start in missing), set(counts)
        if len(different) == 1:
            (count,) = different
            return shards_in_words(missing_shards(batches, len(self.starts), count), count)
        spans = [(self.starts[a], self.models(self.starts[b]).stop - 1) for a, b in runs(batches)]
        one = len(spans) == 1 and spans[0][0] == spans[0][1]
        return f"model{'' if one else 's'} {in_words(spans)} {'is' if one else 'are'}"

    def remove(self) -> None:
        """When the set is whole; whoever still holds a lock there does no harm."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _is_held(lock: Path) -> bool:
    """To look leaves no file where there was none."""
    if not lock.is_file():
        return False
    try:
        with FileLock(lock).acquire(timeout=0):
            return False
    except Timeout:
        return True


def shard_folder(out: Path, shard: Shard) -> Path:
    """What one shard has of its own in the folder of a set: a lock, and where workers of a cluster find the folder. Its
    name tells later into how many shards the batches were divided."""
    return out / NAME / "-".join(map(str, ("shard", shard.number, "of", shard.count)))


def read_job(path: Path) -> AnyJob | None:
    """That of a manifest or of a note; None where it holds none."""
    try:
        return job_of_json(unsealed(read_json(path))["job"])
    except (BadInputError, ValueError, KeyError, TypeError):
        return None


def _before_a_change(job: FunctionJob, found: FunctionJob) -> FunctionJob:
    return replace(job, source_sha256=found.source_sha256)


def check_same(path: Path, job: AnyJob, problem: str) -> None:
    """Refuse the folder whose manifest or note is of another job."""
    found = read_job(path)
    if found == job:
        return
    if isinstance(found, FunctionJob) and isinstance(job, FunctionJob) and found == _before_a_change(job, found):
        raise BadInputError(
            f"{path.parent} holds models that {job.function} trained before its file was changed, and they are not "
            f"mixed with others: undo the change of {source_file(job.function)}, or give --out another folder."
        )
    how = "" if found is None else f" ({differing(found.as_json(), job.as_json())})"
    raise BadInputError(f"{path.parent} {problem}{how}; give --out another folder.")
