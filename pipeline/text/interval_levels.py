"""The levels of findings' intervals as text, and what is promised of these intervals."""

from __future__ import annotations

import math

from datamodels_inf.findings import Rule
from datamodels_inf.multiplicity import CORRECTIONS


def coverage(test: Rule, what: str) -> str:
    """What is promised of the findings' own intervals, of `what` they are for."""
    correction = CORRECTIONS[test.correction]
    rate = correction.controls == "FDR"
    share = "the expected share of findings whose interval misses" if rate else "the chance that any interval misses"
    return f"{share} the {what} is at most {test.alpha:g}, {correction.dependence}"


def level_text(level: float) -> str:
    """A level with as many nines as it has.

    >>> level_text(0.95), level_text(0.9933), level_text(0.9999137)
    ('95 %', '99.3 %', '99.991 %')
    """
    rest = 100.0 * (1.0 - level)
    return f"{100.0 * level:.{max(0, -math.floor(math.log10(rest) + 1e-9)) if rest > 0.0 else 0}f} %"


def level_range_text(low: float, high: float) -> str:
    """Two levels with as many digits as tell them apart; one where they are the same.

    >>> level_range_text(0.9794, 0.9845), level_range_text(0.95, 0.95)
    ('97.9 % to 98.5 %', '95 %')
    """
    if low == high:
        return level_text(low)
    for digits in range(9):
        ends = [f"{100.0 * level:.{digits}f}" for level in (low, high)]
        if ends[0] != ends[1] and digits >= len(level_text(high).partition(".")[2].rstrip(" %")):
            break
    return " % to ".join(ends) + " %"
