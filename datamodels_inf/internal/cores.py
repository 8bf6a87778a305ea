"""How many cores this process may use, and a limit for those who would start threads of their own: BLAS and OpenMP.

Threads that all want the same core do not only gain nothing: those of BLAS wait for each other while they spin. So
there is one rule: work that is spread over our own threads (`internal/threads`) calls BLAS with one thread each, and
around everything else a caller sets a limit for BLAS once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import ceil
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any

GROUPS, OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def available_cores() -> int:
    """Those that the system lets this process run on, and no more than its control groups have time for.

    The first knows of taskset, SLURM and pinned containers. A quota of 1.5 cores counts as 2: the threads then wait a
    quarter of the time, for as much work.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = group_quota(GROUPS, OWN_GROUP)
    return max(1, cores if quota is None else min(cores, ceil(quota)))


def group_quota(groups: Path, own: Path) -> float | None:
    """Cores that the control groups of this process may use at a time, the least of all; None without a limit.

    groups: where they are mounted. own: the file that names that of the process; the groups above it count too.
    """
    try:
        named = [line.split(":", 2)[2].strip("/") for line in own.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError, IndexError):
        named = []
    inside = {PurePosixPath(name) for name in ("", *named)}
    parts = inside | {above for one in inside for above in one.parents}
    folders = [root / part for root in (groups, groups / "cpu") for part in parts]
    quotas = [quota for folder in folders if (quota := _quota(folder)) is not None]
    return min(quotas, default=None)


def _quota(folder: Path) -> float | None:
    """Of cpu.max, "150000 100000" or "max 100000" (version 2), or of cpu.cfs_quota_us and cpu.cfs_period_us (1)."""
    try:
        if (folder / "cpu.max").is_file():
            text = (folder / "cpu.max").read_text(encoding="ascii").split()
        else:
            text = [(folder / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period")]
        quota, period = (float(number) for number in text)
    except (OSError, ValueError):  # No such file, or no limit.
        return None
    return quota / period if quota > 0 and period > 0 else None


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """BLAS and OpenMP, of every library that is loaded, use at most `count` threads inside."""
    with _controller(len(sys.modules)).limit(limits=count):
        yield


class _One:
    """BLAS on one thread while anybody is inside: the limit is of the whole process, so the last one lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller(len(sys.modules)).limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


ONE_BLAS_THREAD = _One()
"""For work in several threads."""


@lru_cache(maxsize=1)
def _controller(loaded: int) -> Any:
    """Of the libraries that are there now. loaded: modules; another may have brought a library."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
