"""The workers of a Dask cluster as a place: a few units each at a time, which are written here as they arrive.

Only the client writes. A unit whose worker dies is made by another; what cannot go on stops with a sentence, and the
next run, with or without a cluster, begins where it stopped.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain, count, islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from pipeline.errors import BadInputError, WorkStoppedError
from pipeline.places import worker
from pipeline.places.base import Advance, U, Work
from pipeline.places.fitness import Expected, UnfitWorkerError, named, noted
from pipeline.places.settings import ClusterSettings
from pipeline.places.started import connected
from pipeline.places.watch import KEPT, Watch, asked, silent
from pipeline.store.files import file_digest, whole_file
from pipeline.store.unfinished_steps import Arrays
from pipeline.text.numbers import counted

if TYPE_CHECKING:
    from distributed import Client, Future

FORGET = 10.0
"""Seconds for workers to close what they have open."""


@dataclass(eq=False)
class Cluster:
    """Connected when the first unit comes. folder: below it lies all that workers read."""

    settings: ClusterSettings
    folder: Path
    say: Callable[[str], object]
    quiet: bool = False
    remote: bool = True
    _open: ExitStack = field(default_factory=ExitStack)
    _numbers: Iterator[int] = field(default_factory=count)
    _reached: tuple[Client, Expected] | None = None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._reached = None
        self._open.close()

    def visible(self, path: Path, folder: Path) -> Path:
        """Itself if it lies below the folder that workers see, else a copy in `folder`, named by its content; one that
        is there from an earlier run, and no longer has that content, is made anew."""
        path = path.absolute()
        if path.is_relative_to(self.folder.absolute()):
            return path
        digest = file_digest(path)
        copy = folder.absolute() / f"{digest[:16]}-{path.name}"
        if not copy.is_file() or file_digest(copy) != digest:
            copy.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(copy) as temporary:
                shutil.copyfile(path, temporary)
        return copy

    def forget(self) -> None:
        """Let every worker give back the memory of what it has open."""
        if self._reached is not None:
            with suppress(Exception):  # A worker that cannot be asked has nothing that matters.
                asked(self._reached[0], worker.forget, seconds=FORGET)

    def done(self, work: Work[U], units: Iterable[U], advance: Advance) -> Iterator[tuple[U, Arrays]]:
        """Whoever stops early cancels what waits; what a worker is in the middle of, it finishes for nobody."""
        left = iter(units)
        first = list(islice(left, 1))
        if not first:  # Nobody is connected for nothing.
            return
        left = chain(first, left)
        import cloudpickle  # Comes with Dask; it also pickles what a script defines.

        client, expected = self._reach()
        watch = Watch(client, self.settings, self.say, self.quiet, expected.token)
        pickled = cloudpickle.dumps(work)
        under_way: dict[Future, U] = {}
        try:
            while True:
                room = self.settings.in_flight * max(1, watch.n_workers()) - len(under_way)
                for unit in islice(left, max(0, room)):
                    key = f"{type(work).__name__}-{next(self._numbers)}-{expected.token}"
                    future = client.submit(worker.make, pickled, pickle.dumps(unit), expected, key=key, pure=False)
                    under_way[future] = unit
                if not under_way:
                    return
                for future in watch.finished(under_way):
                    unit, arrays = under_way.pop(future), self._result(watch, future)
                    future.release()
                    advance(work.size(unit))
                    yield unit, arrays
        finally:
            with suppress(Exception):  # The scheduler may be gone.
                client.cancel(list(under_way), force=True)

    def _result(self, watch: Watch, future: Future) -> Arrays:
        """What a worker that came later could not make, since it is not fit, is said to be so."""
        try:
            return watch.result(future)
        except (BadInputError, WorkStoppedError):
            raise
        except Exception:
            _refuse_unfit(*self._reach(), self.settings.patience)
            raise

    def _reach(self) -> tuple[Client, Expected]:
        """Connect, wait for a worker, and let none begin that would not make the same bytes of the same files."""
        if self._reached is None:
            client = self._open.enter_context(connected(self.settings, self.say, self.quiet))
            expected = self._open.enter_context(noted(self.folder.absolute()))
            Watch(client, self.settings, self.say, self.quiet).wait_for_one()
            _refuse_unfit(client, expected, self.settings.patience)
            threads = client.nthreads()
            self.say(f"{counted(len(threads), 'worker')} with {counted(sum(threads.values()), 'thread')} of a cluster")
            self._reached = client, expected
        return self._reached


def _refuse_unfit(client: Client, expected: Expected, patience: float) -> None:
    """An error of a worker that is asked is that it cannot even import what it is asked with, or that it has just gone:
    then Dask knows, and others do its work."""
    try:
        said = asked(client, worker.problem, expected, seconds=patience)
    except TimeoutError as error:
        raise WorkStoppedError(
            f"{named(silent(client))} not answered for {patience:g} s (cluster.patience); end what does not go on, "
            f"and run the command again: {KEPT}."
        ) from error
    problems = {
        address: f"it cannot use our code ({problem})" if isinstance(problem, Exception) else problem
        for address, problem in said.items()
        if problem and not isinstance(problem, OSError)
    }
    if problems:
        raise UnfitWorkerError.of(problems)
