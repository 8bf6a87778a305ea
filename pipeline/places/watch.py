"""Who is there while units are made, and what it means when somebody is not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipeline.errors import WorkStoppedError
from pipeline.places import worker
from pipeline.places.settings import SLURM, ClusterSettings
from pipeline.progress import working
from pipeline.store.unfinished_steps import Arrays

if TYPE_CHECKING:
    from distributed import Client, Future

LOOK, LOOK_CLOSER = 1.0, 5.0
"""Seconds between two looks at who is there, and, while nothing is finished, at what they do."""
ANSWER = 60.0
"""Seconds that a scheduler may take to say who is there; one that takes longer has stopped."""
KEPT = "what was finished is kept, and the same command goes on from there"


@dataclass
class Watch:
    """One piece of work on a cluster."""

    client: Client
    settings: ClusterSettings
    say: Callable[[str], object]
    quiet: bool
    token: str = ""
    """Of the command: workers tell for whom they work."""
    _workers: int = 0
    _looked: float = -LOOK
    _seen: float = field(default_factory=time.monotonic)
    _told: bool = False
    _looked_closer: float = field(default_factory=time.monotonic)
    _told_of_others: bool = False
    _paused: float | None = None
    """When all workers were first seen to have paused."""

    def n_workers(self) -> int:
        """How many there are, as of the last second; where there has been none for too long, the work stops."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return self._workers
        self._looked, self._workers = now, len(self._asked())
        if self._workers:
            self._seen, self._told = now, False
            return self._workers
        if not self._told:
            self._told = True
            self.say(f"no worker is connected to {self._scheduler}: waiting for one …")
        if self.settings.address != SLURM and now - self._seen > self.settings.patience:
            raise WorkStoppedError(
                f"no worker has been connected to {self._scheduler} for {self.settings.patience:g} s "
                f"(cluster.patience); start one with: dask worker {self._scheduler}; {KEPT}."
            )
        return 0

    def wait_for_one(self) -> None:
        """Return when there is a worker."""
        with working("waiting for workers", self.quiet):
            while not self.n_workers():
                time.sleep(LOOK / 10)

    def finished(self, under_way: Collection[Future]) -> list[Future]:
        """Units that are finished, after at most a second; perhaps none. What failed comes last: the rest is kept."""
        from distributed import wait

        try:
            done = wait(list(under_way), timeout=LOOK, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            self._check()
            self._look_closer()
            return []
        except CancelledError as error:
            raise self._lost() from error
        return sorted(done, key=lambda future: bool(future.status != "finished"))

    def result(self, future: Future) -> Arrays:
        """Its arrays, or what went wrong in a sentence."""
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            return self._gathered(future)
        except KilledWorker as error:
            raise WorkStoppedError(
                f"one unit of work has ended {error.allowed_failures + 1} workers, the last of them "
                f"{error.last_worker.address}, as happens where work needs more memory than a worker has, or ends its "
                f"process (its log may tell more): give workers more, or start fewer of them on a machine; {KEPT}."
            ) from error
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise self._lost() from error

    def _gathered(self, future: Future) -> Arrays:
        """Who waits looks who is there: where the worker that has it dies before it is here, Dask makes it once more,
        and where no worker is left, waits for ever."""
        coming = asyncio.run_coroutine_threadsafe(
            self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
        )
        try:
            while True:
                try:
                    return coming.result(LOOK)  # type: ignore[no-any-return]
                except TimeoutError:
                    if coming.done():  # It is the answer.
                        raise
                    self.n_workers()
        finally:
            coming.cancel()

    def _asked(self) -> dict[str, int]:
        self._check()
        try:
            found: dict[str, int] = self.client.sync(self.client.scheduler.ncores, callback_timeout=ANSWER)
        except (OSError, TimeoutError, ValueError) as error:
            raise self._lost() from error
        return found

    def _look_closer(self) -> None:
        """Dask lets a worker that is short of memory begin nothing, and where none goes on, waits for ever."""
        now = time.monotonic()
        if now - self._looked_closer < min(LOOK_CLOSER, self.settings.patience):
            return
        self._looked_closer = now
        if not self._all_paused():
            self._paused = None
            self._tell_of_others()
        elif self._paused is None:
            self._paused = now
            self.say("all workers have paused, for they are short of memory …")
        elif now - self._paused > self.settings.patience:
            raise WorkStoppedError(
                f"all workers of {self._scheduler} have paused for {self.settings.patience:g} s (cluster.patience): "
                f"they use more than Dask allows them, so start workers with more memory (--memory-limit); {KEPT}."
            )

    def _tell_of_others(self) -> None:
        """One unit of a command that was interrupted, and that never ends, keeps a worker from all others."""
        if self._told_of_others or not self.token:
            return
        try:
            at_work = asked(self.client, worker.at_work_for, seconds=ANSWER)
        except (OSError, TimeoutError, ValueError):
            return
        if at_work and all(isinstance(token, str) and token not in ("", self.token) for token in at_work.values()):
            self._told_of_others = True
            self.say(
                "all workers are at work for another command, perhaps one that was interrupted; if that does not end, "
                "start them anew …"
            )

    def _all_paused(self) -> bool:
        """And none is in the middle of a unit, which it would finish."""
        try:
            identity = self.client.sync(self.client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER)
            known: dict[str, dict[str, Any]] = identity["workers"]
        except (OSError, TimeoutError, ValueError) as error:
            raise self._lost() from error
        return bool(known) and all(
            one["status"] == "paused" and not one["metrics"].get("task_counts", {}).get("executing")
            for one in known.values()
        )

    def _check(self) -> None:
        """A client that has to connect anew has lost all that it had asked for."""
        if self.client.status != "running":
            raise self._lost()

    def _lost(self) -> WorkStoppedError:
        return WorkStoppedError(f"the scheduler of the cluster, {self._scheduler}, has gone; {KEPT}.")

    @property
    def _scheduler(self) -> str:
        scheduler = self.client.scheduler
        return self.settings.address or "" if scheduler is None else str(scheduler.address)


def asked(client: Client, question: Callable[..., Any], *words: Any, seconds: float, **options: Any) -> dict[str, Any]:
    """What all workers answer, or those of `workers`, by their address; an exception where one cannot. TimeoutError
    where one does not in time: `Client.run` would wait for it without an end."""
    found: dict[str, Any] = client.sync(
        client._run, question, *words, on_error="return", callback_timeout=seconds, **options
    )
    return found


def silent(client: Client) -> list[str]:
    """The workers that do not answer now."""
    found = []
    for address in client.sync(client.scheduler.ncores, callback_timeout=ANSWER):
        try:
            asked(client, worker.at_work_for, workers=[address], seconds=LOOK)
        except TimeoutError:
            found.append(str(address))
    return found
