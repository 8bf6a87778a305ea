"""Progress in words: numbers, rates and times as they stand on a bar or in a line of a log."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.text.numbers import human_bytes

SHARE = "%"
"""The unit of work that is of several kinds: of it only a share is told."""


@dataclass(frozen=True)
class State:
    """How far a piece of work is. total: None where it is not known. rate: units a second, None where it is not known.

    elapsed: seconds. what: a word or two, such as "fit". unit: what is counted, "B" for bytes.
    """

    what: str
    unit: str
    done: float
    total: float | None
    elapsed: float
    rate: float | None

    @property
    def left(self) -> float | None:
        """Seconds, where they can be told."""
        return None if self.total is None or self.rate is None else max(0.0, self.total - self.done) / self.rate

    def amount(self, value: float) -> str:
        """So many units, without their name but for bytes."""
        return human_bytes(int(value)) if self.unit == "B" else f"{int(value + 1e-6):,}"  # What is done is done.


def clock(seconds: float) -> str:
    """Seconds as a watch shows them.

    >>> clock(75), clock(3725)
    ('01:15', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def spoken(seconds: float) -> str:
    """Seconds in words.

    >>> spoken(8), spoken(75), spoken(3725), spoken(200_000)
    ('8 s', '1 min 15 s', '1 h 02 min', '55 h 33 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def pace(state: State) -> str:
    """The rate, or the time of one where that reads better; nothing where it is not known.

    >>> pace(State("fit", "target", 1, 9, 8.0, 0.25)), pace(State("test", "pair", 1, 9, 8.0, 12_345.6))
    ('4.0 s/target', '12,346 pair/s')
    """
    rate = state.rate
    if rate is None:
        return ""
    if state.unit == "B":
        return f"{human_bytes(int(rate))}/s"
    if rate < 1:
        return f"{1 / rate:,.1f} s/{state.unit}" if rate > 1e-3 else f"{spoken(1 / rate)}/{state.unit}"
    return f"{rate:,.1f} {state.unit}/s" if rate < 100 else f"{rate:,.0f} {state.unit}/s"


def right_side(state: State) -> str:
    """What stands right of a bar.

    >>> right_side(State("fit", "target", 2, 3, 8.0, 0.25)), right_side(State("fit", "target", 0, 3, 8.0, None))
    ('2/3 targets [00:08<00:04, 4.0 s/target]', '0/3 targets [00:08]')
    """
    if state.unit == SHARE:  # Left of the bar it stands already.
        left = "" if state.left is None else f"<{clock(state.left)}"
        return f"[{clock(state.elapsed)}{left}]"
    left = "" if state.left is None else f"<{clock(state.left)}, {pace(state)}"
    of = "" if state.unit == "B" else f" {state.unit}s"
    return f"{state.amount(state.done)}/{state.amount(state.total or 0)}{of} [{clock(state.elapsed)}{left}]"


def line(state: State) -> str:
    """For a log.

    >>> line(State("fit", "target", 1200, 3000, 30.0, 40.0))
    'fit: 1,200 of 3,000 targets (40 %) after 30 s, about 45 s left'
    >>> line(State("fit", "target", 0, 3000, 2.0, None)), line(State("report", "", 0, None, 62.0, None))
    ('fit: 0 of 3,000 targets (0 %) after 2 s', 'report: working, 1 min 02 s so far')
    """
    if state.total is None:
        return f"{state.what}: working, {spoken(state.elapsed)} so far"
    of = "" if state.unit == "B" else f" {state.unit}s"
    left = "" if state.left is None else f", about {spoken(state.left)} left"
    share = int(100 * state.done / state.total)
    if state.unit == SHARE:
        return f"{state.what}: {share} % after {spoken(state.elapsed)}{left}"
    return (
        f"{state.what}: {state.amount(state.done)} of {state.amount(state.total)}{of} ({share} %) "
        f"after {spoken(state.elapsed)}{left}"
    )
