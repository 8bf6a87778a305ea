"""Kernels compiled ahead of their first call, in several processes, while the caller reads data.

A kernel is compiled once per installation, in up to a few seconds, and then kept on disk (`compiled`). Numba compiles
under a lock, one kernel at a time; so other processes do it, and the caller finds them on disk. A kernel is named by
its door, "module.function".

    python -m datamodels_inf.kernels.ahead PROCESSES DOOR …    writes the name of each door when it is compiled
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
from threading import Event, Thread
from typing import Any

COLUMNS = ("coordinate_descent.transpose_bits",)
PREDICTIONS = ("margin_sums.add_by_tables",)
SUMS = (*COLUMNS, *PREDICTIONS)
ONE_TARGET = ("bit_sums.add_columns", "bit_sums.add_rows")
LASSO = (
    "coordinate_descent.descend_and_look", "pair_counts.count_by_tables", *SUMS, "pair_counts.count_one_by_one",
    "coordinate_descent.count_ones", "coordinate_descent.add_columns", "coordinate_descent.steep_columns",
    "gram_rows.set_rows", "gram_rows.add_to_rows", "gram_rows.mirror_rows",
)  # fmt: skip
"""The longest first, so that no process is left alone with it."""
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
"""Doors; to start takes about as long as a kernel or two."""
FORKS = hasattr(os, "fork")
"""Not on Windows: there one process compiles beside the caller."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Nobody computes there; and only a process of one thread may multiply."""


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
        self.missing = tuple(door for door in dict.fromkeys(doors) if not is_kept(door))
        processes = min(processes, MOST_PROCESSES, len(self.missing) // WORTH_A_PROCESS)
        self._compiled = {door: Event() for door in self.missing} if processes > 1 else {}
        self._process = _start(processes, self.missing) if self._compiled else None
        self._thread = Thread(target=self._listen, daemon=True)
        self._thread.start()

    def wait(self, doors: Iterable[str], seconds: float | None = None) -> bool:
        """Until these are compiled, or somebody tried; False if it takes longer."""
        return all(self._compiled[door].wait(seconds) for door in doors if door in self._compiled)

    def close(self) -> None:
        """What is not compiled yet is left."""
        if self._process is not None and self._process.poll() is None:
            with suppress(OSError):  # It has just ended.
                if FORKS:
                    os.killpg(self._process.pid, signal.SIGTERM)
                else:
                    self._process.terminate()
        self._thread.join()

    def _listen(self) -> None:
        """Until the last process has ended, or died: then what is left is the caller's, and nobody must wait."""
        if self._process is not None and self._process.stdout is not None:
            with self._process.stdout as answers:
                for door in answers:
                    self._compiled[door.strip()].set()
            self._process.wait()
        for event in self._compiled.values():
            event.set()


def _start(processes: int, doors: Sequence[str]) -> subprocess.Popen[str] | None:
    """One process, which multiplies when it has imported what all need; in a group of its own, to be ended as one."""
    here = str(Path(__file__).parents[2])
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "datamodels_inf.kernels.ahead", str(processes), *doors],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": paths, **ONE_THREAD}, process_group=0 if FORKS else None,
        )  # fmt: skip
    except OSError:
        return None


def main() -> None:
    """Compile the doors that are asked for, in so many processes: each takes the next one when it has time."""
    gc.disable()  # The process is short; a tenth of compiling would be looking for garbage.
    processes, doors = int(sys.argv[1]), sys.argv[2:]
    for door in doors:
        dispatcher_of(door)
    _compile_nothing()
    places, given = os.pipe()
    os.write(given, bytes(range(len(doors))))
    os.close(given)
    others: list[int] = []
    for _ in range(processes - 1 if FORKS else 0):
        other = os.fork()
        if other == 0:
            others.clear()
            break
        others.append(other)
    while place := os.read(places, 1):
        door = doors[place[0]]
        with suppress(Exception):  # The caller will meet it, and say so.
            load([door])
        os.write(sys.stdout.fileno(), f"{door}\n".encode())
    for other in others:
        os.waitpid(other, 0)
    os._exit(0)  # To take everything down in order would take half a second.


def _compile_nothing() -> None:
    """What Numba prepares for its first function is prepared once for all processes."""
    from numba import njit

    def nothing() -> None:
        pass

    compiled: Any = njit(nothing)
    compiled.compile(())


if __name__ == "__main__":
    main()
