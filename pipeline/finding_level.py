"""The level of the intervals of findings: what `findings` prints and what the report shows is the same."""

from __future__ import annotations

import math

from datamodels_inf.multiplicity import selected_confidence

MARGINAL = 0.95
"""The level of every test's own interval, which holds for a pair named in advance."""


def finding_level(correction: str, alpha: float, n_tests: int, n_found: int) -> float:
    """That of `selected_confidence`, but never below MARGINAL: being found makes no interval shorter.

    n_tests counts the tests that were made. NaN where nothing was found.

    >>> finding_level("bh", 0.2, 10, 9)
    0.95
    """
    return max(MARGINAL, selected_confidence(correction, alpha, n_tests, n_found)) if n_found else math.nan


def level_text(level: float) -> str:
    """A level with as many nines as it has.

    >>> level_text(0.95), level_text(0.9933), level_text(0.9999137)
    ('95 %', '99.3 %', '99.991 %')
    """
    rest = 100.0 * (1.0 - level)
    return f"{100.0 * level:.{max(0, -math.floor(math.log10(rest) + 1e-9)) if rest > 0.0 else 0}f} %"


def one_of(n_found: int) -> str:
    """What the longer interval belongs to: "one of 39 findings"."""
    return "the only finding" if n_found == 1 else f"one of {n_found} findings"
