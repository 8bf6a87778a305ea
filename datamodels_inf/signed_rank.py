"""Wilcoxon's signed-rank test, valid for every sample size and with ties.

Given |D_1|, …, |D_n| (zeros dropped), the signs of a D that is symmetric around 0 are fair coins, so the law of
V = Σ sign(D_m)·rank(|D_m|) is known exactly. Up to `EXACT_UP_TO` informative samples it is computed; above, the normal
tail is used with a continuity correction and with Edgeworth's kurtosis term where that makes the tail heavier.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from datamodels_inf.checks import Floats, Ints

EXACT_UP_TO = 100
DOMINANT = 0.2


def signed_rank_pvalue(differences: Floats) -> tuple[float, int]:
    """(two-sided p-value, number of informative differences) of H0: D is symmetric around 0."""
    informative = differences[differences != 0.0]
    n = informative.size
    if n == 0:
        return 1.0, 0
    # A positive float orders as its bits do. With its last bit given to the sign, one plain sort replaces an argsort;
    # differences that agree but for that bit count as ties, which is a function of |D| alone and so leaves H0 intact.
    bits = np.abs(informative).view(np.int64)
    ordered = np.sort((bits & ~1) | (informative > 0.0))
    positive = (ordered & 1).astype(np.bool_)
    ranks = _doubled_midranks(ordered >> 1)
    total = n * (n + 1)  # Σ of the doubled ranks, ties or not.
    positive_sum = int(ranks[positive].sum()) if ranks is not None else 2 * int((np.flatnonzero(positive) + 1).sum())
    v = abs(2 * positive_sum - total)
    if n <= EXACT_UP_TO:
        return exact_tail(tuple(range(2, 2 * n + 2, 2)) if ranks is None else tuple(ranks.tolist()), v), n
    return float(normal_tail(v, *_moments(n, ranks))), n


def _doubled_midranks(ordered: NDArray[np.int64]) -> Ints | None:
    """Twice the ranks of sorted values, ties sharing their mean rank: always whole numbers. None if nothing is tied."""
    new = ordered[1:] != ordered[:-1]
    if new.all():
        return None
    starts = np.concatenate([[0], np.flatnonzero(new) + 1])
    ends = np.append(starts[1:], ordered.size)
    return np.repeat(starts + ends + 1, ends - starts)


def exact_tail(doubled_ranks: tuple[int, ...], v: int) -> float:
    """P(|V| ≥ v) under fair signs; ranks and v doubled."""
    law = _law_of_positive_sum(doubled_ranks)
    lower = (len(law) - 1 - v) // 2  # V = 2·(sum of the positive ranks) − total, and the law is symmetric.
    return min(1.0, 2.0 * float(law[: lower + 1].sum()))


@lru_cache(maxsize=256)
def _law_of_positive_sum(doubled_ranks: tuple[int, ...]) -> Floats:
    """P(sum of the ranks with a positive sign = s) for s = 0..Σ ranks, each sign a fair coin."""
    law = np.zeros(sum(doubled_ranks) + 1)
    law[0] = 1.0
    for rank in doubled_ranks:
        moved = np.zeros_like(law)
        moved[rank:] = law[: law.size - rank]
        law = 0.5 * (law + moved)
    return law


def normal_tail(v: Ints | int, squares: Floats | float, fourths: Floats | float, half_step: Floats | float) -> Floats:
    """2·[Q(z) + max(0, κ₄/24·(z³ − 3z)·φ(z))], z = (|V| − c)/√Σr², κ₄ = −2Σr⁴/(Σr²)²; v doubled.

    c is half a step of V: 1 without ties. A group of ties of rank r moves V in steps of 2r, so where one group makes up
    a large part of V, c is its r. κ₄ < 0, so the true tail is lighter than the normal one beyond √3.
    """
    z = np.maximum(0.0, (np.asarray(v) / 2.0 - half_step) / np.sqrt(squares))
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    edgeworth = -2.0 * fourths / np.square(squares) / 24.0 * (z**3 - 3.0 * z) * density
    return np.asarray(np.minimum(1.0, 2.0 * (ndtr(-z) + np.maximum(0.0, edgeworth))))


def _moments(n: int, doubled_ranks: Ints | None) -> tuple[float, float, float]:
    """(Σr², Σr⁴, c) of the ranks."""
    if doubled_ranks is None:
        squares = n * (n + 1) * (2 * n + 1) / 6
        return squares, squares * (3 * n * n + 3 * n - 1) / 5, 1.0
    squared = np.square(doubled_ranks / 2.0)
    total = float(squared.sum())
    return total, float(squared @ squared), _half_step(doubled_ranks, total)


def _half_step(doubled_ranks: Ints, squares: float) -> float:
    """The rank of the group of ties with the largest part of Σr², if that part is above `DOMINANT`; else 1."""
    values, counts = np.unique(doubled_ranks, return_counts=True)
    parts = counts * np.square(values / 2.0) / squares
    largest = int(np.argmax(parts))
    return float(values[largest] / 2.0) if parts[largest] > DOMINANT else 1.0
