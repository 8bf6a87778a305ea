"""Progress, for whatever takes longer than a moment: a bar on a terminal; elsewhere a line soon and every 30 seconds.

with progress_bar(len(targets), "target", "fit", quiet) as advance:
    for target in targets:
        ...
        advance(1)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.progress.screen import SCREEN, Work
from pipeline.progress.words import SHARE

__all__ = ["SCREEN", "progress_bar", "share_bar", "working"]


@contextmanager
def progress_bar(total: float, unit: str, what: str, quiet: bool) -> Iterator[Callable[[float], object]]:
    """Work that is counted: with rate and remaining time, once they can be told. Steps may be parts of a unit.

    None of it when quiet, or when there is nothing to do.
    """
    if quiet or total <= 0:
        yield lambda step: None
        return
    with _shown(Work(what, unit, total, sys.stderr)) as work:
        yield lambda step: SCREEN.advance(work, step)


@contextmanager
def share_bar(total: float, what: str, quiet: bool) -> Iterator[Callable[[float], object]]:
    """Work of several passes or kinds: its steps add up to `total`, of which only the share is told."""
    with progress_bar(100.0 if total > 0 else 0.0, SHARE, what, quiet) as advance:
        yield lambda step: advance(100.0 * step / total)


@contextmanager
def working(what: str, quiet: bool) -> Iterator[None]:
    """Work without anything to count: how long it has taken, where that is more than a moment."""
    if quiet:
        yield
        return
    with _shown(Work(what, "", None, sys.stderr)):
        yield


@contextmanager
def _shown(work: Work) -> Iterator[Work]:
    SCREEN.begin(work)
    try:
        yield work
    finally:
        SCREEN.end(work)
