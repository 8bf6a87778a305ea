"""Batches of models, trained by processes of one thread each, so that margins do not depend on cores or order."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import active_children, get_context, parent_process

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from datamodels_inf.training.recipe import Recipe
from pipeline.errors import BadInputError
from pipeline.training.inputs import Inputs

IN_FLIGHT = 3
"""Batches per worker that are under way or wait: enough to keep it busy, few enough to hold in memory."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Models first, first + 1, … of `seed`, one for each row of `masks` (bits, as numpy.packbits gives them).

    Two batches of the same seed and first model start from the same weights. key: what the asker knows it by.
    """

    key: int
    seed: int
    first: int
    masks: NDArray[np.uint8]

    @classmethod
    def of(cls, key: int, seed: int, first: int, masks: NDArray[np.bool_]) -> Batch:
        """With masks as they are drawn."""
        return cls(key, seed, first, pack_rows(masks))


def train_batches(
    inputs: Inputs, recipe: Recipe, batches: Iterable[Batch], workers: int
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """(key, margins) of each batch, in the order in which they are finished.

    `batches` is asked for more only as some are finished. Whoever stops early ends the workers at once.
    """
    left = iter(batches)
    first = list(islice(left, IN_FLIGHT * workers))
    if not first:
        return
    # Spawned, since torch's threads do not survive a fork; each process gets the inputs once.
    others = set(active_children())
    pool = ProcessPoolExecutor(
        min(workers, len(first)), get_context("spawn"), initializer=_start_worker, initargs=(inputs, recipe)
    )
    try:
        with _interrupts_ignored():  # Workers inherit it: a Ctrl-C is the parent's to answer.
            under_way = {pool.submit(_train_in_worker, batch): batch.key for batch in first}
        while under_way:
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            finished = [(under_way.pop(future), future) for future in done]
            under_way |= {pool.submit(_train_in_worker, batch): batch.key for batch in islice(left, len(done))}
            yield from ((key, future.result()) for key, future in finished)
    except BaseException:  # Also GeneratorExit: what is under way is wanted by nobody.
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def train_batch(inputs: Inputs, recipe: Recipe, batch: Batch) -> NDArray[np.float32]:
    """Margins of the models of a batch; in a process with one torch thread, the same bits every time."""
    from datamodels_inf.training.train import train_margins  # Brings torch.

    margins = train_margins(
        inputs.train,
        inputs.labels.train_labels,
        inputs.targets,
        inputs.labels.target_labels,
        np.unpackbits(batch.masks, axis=1, count=len(inputs.train)).astype(np.bool_),
        first=batch.first,
        recipe=recipe,
        seed=batch.seed,
        n_classes=len(inputs.labels.class_names),
    )
    if not np.isfinite(margins).all():
        raise BadInputError("the training diverged: margins are infinite or NaN; lower --learning-rate.")
    return margins


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_of_this_worker: list[tuple[Inputs, Recipe]] = []


def _start_worker(inputs: Inputs, recipe: Recipe) -> None:
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1)  # For good: as many processes as cores are at work.
    _of_this_worker.append((inputs, recipe))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker must not outlive a parent that was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _train_in_worker(batch: Batch) -> NDArray[np.float32]:
    return train_batch(*_of_this_worker[0], batch)
