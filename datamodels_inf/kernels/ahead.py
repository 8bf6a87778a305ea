"""Kernels compiled ahead of their first call, in several processes, while the caller reads data.

A kernel is compiled once per installation, in up to a few seconds, and then kept on disk (`compiled`). Numba compiles
under a lock, one kernel at a time; so other processes do it, each asked for one kernel after the other, and the caller
finds them on disk. A kernel is named by its door, "module.function".

    python -m datamodels_inf.kernels.ahead    reads doors, one a line, and answers each with a line when it is compiled
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

COLUMNS = ("coordinate_descent.transpose_bits",)
PREDICTIONS = ("margin_sums.add_steps",)
SUMS = (*COLUMNS, *PREDICTIONS)
ONE_TARGET = ("bit_sums.add_columns", "bit_sums.add_rows")
LASSO = (
    "coordinate_descent.descend_and_look", "pair_counts.count_common", *SUMS, "coordinate_descent.count_ones",
    "coordinate_descent.add_columns", "coordinate_descent.steep_columns", "gram_rows.set_rows",
    "gram_rows.add_to_rows", "gram_rows.mirror_rows", "gram_rows.correlate",
)  # fmt: skip
"""The longest first, so that no process is left alone with it; behind its door `correlate` is compiled as well."""
CONTRAST = (*COLUMNS, "contrast_ranks.contrast")
SWAP = (*COLUMNS, "sweep_swap.sweep")
SWAP_OF_GROUPS = (*COLUMNS, "dense_swap.count_wins_of_masks")
SWAP_OF_NUMBERS = ("dense_swap.count_wins",)
CLOSED_SETS = ("closed_sets.largest_allowed",)
RESAMPLED = ("resampled_ranks.resampled_spearman",)
EVERYTHING = tuple(
    dict.fromkeys((*LASSO, *CONTRAST, *SWAP, *SWAP_OF_GROUPS, *SWAP_OF_NUMBERS, *CLOSED_SETS, *ONE_TARGET, *RESAMPLED))
)

MOST_PROCESSES = 4
WORTH_A_PROCESS = 2
"""A process takes about as long to start as one or two kernels to compile."""


def dispatcher_of(door: str) -> Any:
    """The kernel behind "module.function"."""
    module, _, function = door.partition(".")
    return getattr(import_module(f"datamodels_inf.kernels.{module}"), function)


def is_kept(door: str) -> bool:
    """Whether it need not be compiled: it is loaded, or on disk, compiled from the sources that are there."""
    dispatcher = dispatcher_of(door)
    if dispatcher.overloads:
        return True
    try:
        key = dispatcher._cache._index_key(dispatcher.door, dispatcher.targetctx.codegen())
        return key in dispatcher._cache._cache_file._load_index()
    except (AttributeError, OSError, EOFError):  # It cannot be kept, not in this numba, or is damaged.
        return False


def load(doors: Iterable[str]) -> None:
    """From the disk if they are there; otherwise they are compiled now."""
    for door in doors:
        dispatcher = dispatcher_of(door)
        dispatcher.compile(dispatcher.door)


class Ahead:
    """`doors` in the order in which they will be wanted; those that are on disk already take no process.

    processes: at most. With fewer than two, and for a few doors, the caller compiles them himself, by `load`.
    """

    def __init__(self, doors: Sequence[str], processes: int) -> None:
        missing = [door for door in dict.fromkeys(doors) if not is_kept(door)]
        processes = min(processes, MOST_PROCESSES, len(missing) // WORTH_A_PROCESS)
        self.missing = tuple(missing)
        self._waiting = list(missing) if processes > 1 else []
        self._compiled = {door: Event() for door in self._waiting}
        self._lock = Lock()
        self._closed = False
        self._processes: list[subprocess.Popen[str]] = []
        self._serving = processes if self._waiting else 0
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(self._serving)]
        for thread in self._threads:
            thread.start()

    def wait(self, doors: Iterable[str], seconds: float | None = None) -> bool:
        """Until these are compiled, or somebody tried; False if it takes longer."""
        return all(self._compiled[door].wait(seconds) for door in doors if door in self._compiled)

    def close(self) -> None:
        """What has not begun is left."""
        with self._lock:
            self._closed = True
            self._leave()
            for process in self._processes:
                process.terminate()
        for thread in self._threads:
            thread.join()

    def _next(self) -> str | None:
        with self._lock:
            return self._waiting.pop(0) if self._waiting else None

    def _serve(self) -> None:
        """One process: a door after the other, until none is left. If it dies, the doors are the caller's."""
        process = self._start()
        if process is None or process.stdin is None or process.stdout is None:
            self._give_up()
            return
        with process.stdout, suppress(OSError), process.stdin as asked:
            while (door := self._next()) is not None:
                try:
                    asked.write(f"{door}\n")
                    asked.flush()
                    process.stdout.readline()
                finally:
                    self._compiled[door].set()
        process.wait()
        self._give_up()

    def _give_up(self) -> None:
        """Nobody serves any more, if this was the last one: nobody must wait."""
        with self._lock:
            self._serving -= 1
            if self._serving == 0:
                self._leave()

    def _leave(self) -> None:
        for door in self._waiting:
            self._compiled[door].set()
        self._waiting.clear()

    def _start(self) -> subprocess.Popen[str] | None:
        here = str(Path(__file__).parents[2])
        paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
        with self._lock:
            if self._closed:
                return None
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "datamodels_inf.kernels.ahead"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    env={**os.environ, "PYTHONPATH": paths},
                )  # fmt: skip
            except OSError:
                return None
            self._processes.append(process)
            return process


def main() -> None:
    """Compile what is asked for, until nobody asks any more. Ctrl-C is the caller's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # The process is short; a tenth of compiling would be looking for garbage.
    for line in sys.stdin:
        load([line.strip()])
        sys.stdout.write("compiled\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
