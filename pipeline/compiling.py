"""A new installation compiles its kernels once: beside the first stages, and before the stage that calls them begins.

So no bar stands still on its first step, and nobody waits for more than two seconds without being told for what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Timer
from types import TracebackType

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.kernels.ahead import Ahead, load
from pipeline.progress import working

PATIENCE = 2.0
"""Seconds without a word."""
LINE = "compiling, once per installation"
IMPORTED_LATE = ("pyarrow.parquet", "statsmodels.stats.multitest", "pipeline.stages.report.content")
"""What takes long to import, and is imported by the stage that needs it."""


class Compiling:
    """The kernels of a run, in the order of its stages. threads: None is as many processes as cores may be used."""

    def __init__(self, kernels: Sequence[str], threads: int | None) -> None:
        self._ahead = Ahead(kernels, threads or available_cores())
        self._missing = set(self._ahead.missing)
        self._said = False

    def __enter__(self) -> Compiling:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ahead.close()

    def ready(self, kernels: Sequence[str], say: Callable[[str], object], quiet: bool = False) -> None:
        """Return when these are compiled. What another process could not do is done here.

        Whoever must wait imports meanwhile what later stages will: the others start with one core.
        """
        missing = [door for door in dict.fromkeys(kernels) if door in self._missing]
        self._missing.difference_update(missing)
        if not missing:
            return
        timer = Timer(PATIENCE, self._say_once, [say])
        timer.start()
        try:
            with working("compiling", quiet):
                if not self._ahead.wait(missing, 0.0):
                    for module in IMPORTED_LATE:
                        import_module(module)
                for door in missing:
                    self._ahead.wait([door])
                    load([door])
        finally:
            timer.cancel()

    def _say_once(self, say: Callable[[str], object]) -> None:
        if not self._said:
            self._said = True
            say(LINE)
