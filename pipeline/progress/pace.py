"""How fast work goes and how long it still takes, from moments at which so much was done."""

from __future__ import annotations

ALREADY_THERE = 0.5
"""Seconds at the start: what is done by then was kept from an earlier run, or cost nothing."""
LEAST, SHARE = 5.0, 0.5
"""The rate is that of the last seconds: so many, or this share of the time since the first step, if that is more."""
AT_LEAST = 0.4
"""Of the rate since the first step."""
SURE_AFTER = 1.0
"""Seconds that a rate must be measured over."""
MOST_MARKS = 256


class Pace:
    """The rate of work that began at `start`.

    The time until the first step does not count, for it may hold the compilation of what is then fast. Nor does what
    was done in the first moment, and as time goes on neither does the first half of it: the rate is

        (done now − done then) / (now − then),

    from a moment `then` after the first step that lies LEAST seconds or SHARE of the time back. While nothing is done
    it falls, and what is left grows; but the rate is never taken for less than a part of that since the first step, or
    a pause would look like the end of all work.

    >>> pace = Pace(0.0)
    >>> for second in range(60, 70):  # A minute of compiling, then one step a second.
    ...     pace.note(second, second - 59.0)
    >>> pace.rate(69.0)
    1.0
    """

    def __init__(self, start: float) -> None:
        self._start = start
        self._marks: list[tuple[float, float]] = []

    def note(self, now: float, done: float) -> None:
        """So much is done in all."""
        if now - self._start < ALREADY_THERE:
            return
        self._marks.append((now, done))
        if len(self._marks) > MOST_MARKS:
            del self._marks[1::2]

    def rate(self, now: float) -> float | None:
        """Done in a second; None as long as it cannot be told."""
        if not self._marks:
            return None
        first = self._marks[0][0]
        back = now - max(LEAST, SHARE * (now - first))
        then, before = next((mark for mark in reversed(self._marks) if mark[0] <= back), self._marks[0])
        latest = self._marks[-1][1]
        in_all = latest - self._marks[0][1]
        if now - first < SURE_AFTER or in_all <= 0:
            return None
        return max((latest - before) / (now - then) if now > then else 0.0, AT_LEAST * in_all / (now - first))
