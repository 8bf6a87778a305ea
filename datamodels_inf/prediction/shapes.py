"""A ν that gains most where the number of rejections is expected, and nowhere loses more than a fixed share to BY's.

Every ν here has β(r) ≥ floor·r/H_m for all r in 1..m, BY's threshold times `floor`, whatever number is found. The least
mass for that is BY's ν, times floor, below the expected numbers, and nothing above them until their own mass does no
longer do. All the rest is at the expected numbers.
"""

from __future__ import annotations

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints, check_fraction
from datamodels_inf.shape import Shape, harmonic

EXACT_UP_TO = 100
STEP = 0.01
"""Above EXACT_UP_TO the support of ν are numbers a hundredth apart."""
BISECTIONS = 30


def expected_shape(m: int, around: Floats, floor: float) -> Shape:
    """ν with β(r) ≥ floor·r/H_m for all r, and all mass that this leaves on the numbers `around`, equally."""
    check_fraction("floor", floor)
    expected = np.clip(np.rint(around), 1, m).astype(np.int64)
    support = np.union1d(_grid(m), expected)
    # β is flat up to the next number of the support, so that what is wanted just before it is wanted here.
    wanted = floor * (np.append(support[1:], m + 1) - 1.0) / harmonic(m)
    spike = np.bincount(np.searchsorted(support, expected), minlength=len(support)) / len(expected)
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        share = (low + high) / 2.0
        enough = share + _missing(support, wanted, share * spike).sum() <= 1.0
        low, high = (share, high) if enough else (low, share)
    mass = low * spike + _missing(support, wanted, low * spike)
    used = mass > 0.0
    return Shape(m, support[used], mass[used] / mass.sum(), 0.0)


def _grid(m: int) -> Ints:
    """1, 2, … and from EXACT_UP_TO on steps of a hundredth, up to m."""
    steps = int(np.ceil(np.log(max(m / EXACT_UP_TO, 1.0)) / STEP))
    coarse = np.rint(EXACT_UP_TO * np.exp(STEP * np.arange(steps + 1))).astype(np.int64)
    grid = np.union1d(np.arange(1, EXACT_UP_TO + 1), coarse)
    return np.asarray(grid[grid <= m])


def _missing(support: Ints, wanted: Floats, mass: Floats) -> Floats:
    """The least further mass on `support` that lifts β(r) = Σ_{k≤r} k·ν(k) to `wanted` everywhere.

    β grows, so it must be lifted by the largest lack so far; later is cheaper, since r·ν(r) counts.
    """
    lack = np.maximum.accumulate(np.maximum(wanted - np.cumsum(support * mass), 0.0))
    return np.asarray(np.diff(lack, prepend=0.0) / support)
