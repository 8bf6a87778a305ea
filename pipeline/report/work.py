"""How much work the parts of a report are, so that one bar moves with all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float], object]
"""(a part of WORK, how many of its units are done)."""

WORK = {"tests": 3.0, "lines": 5.0, "curves": 0.02, "influences": 0.3, "panels": 0.06, "page": 1.5}
"""Part → what a unit of it costs, in seconds or so: a million tests, a million lines of a table, a curve, the
influences of single images on a target, a panel, the page."""


def silent(part: str, done: float) -> None:
    """For a report whose progress nobody watches, as one that is made in memory."""


class Work:
    """All of the work as steps that add up to 100, told to `advance`.

    It may be planned again when more is known: what is left of the 100 is then for what is planned.
    """

    def __init__(self, advance: Callable[[float], object], **counts: int) -> None:
        self._advance = advance
        self._left = 100.0
        self.plan(**counts)

    def plan(self, *, lines: int, panels: int, tests: int = 0, curves: int = 0, influences: int = 0) -> None:
        """What is still to be done: tests to correct, lines of tables, curves and panels to draw, and the page."""
        units = {
            "tests": tests / 1e6,
            "lines": lines / 1e6,
            "curves": curves,
            "influences": influences,
            "panels": panels,
            "page": 1,
        }
        self._share = self._left / sum(WORK[part] * count for part, count in units.items())

    def __call__(self, part: str, done: float) -> None:
        step = min(self._left, self._share * WORK[part] * done)
        self._left -= step
        self._advance(step)
