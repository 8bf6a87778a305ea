"""Power: the area under the ordinal dominance curve, exact binomial power, and how many models are needed.

The unpaired test rejects when π = P(T(X¹,Y¹) ≥ T(X²_swap,Y²)) is far from ½; the paired test when P(D > 0 | D ≠ 0) is.
Given that probability, the number of wins is binomial and the power a binomial sum.

The paper prints its sufficient gap with a wrong last term. At n = 1000, α = β = 0.1, a gap as printed gives about half
of the promised power 0.9, the corrected one keeps the promise:

>>> printed = printed_gap(1000, alpha=0.1, beta=0.1)
>>> corrected = sufficient_gap(1000, alpha=0.1, beta=0.1)
>>> round(printed, 4), round(corrected, 4)
(0.0548, 0.1095)
>>> swap_power([0.5 + printed, 0.5 + corrected], 1000, 0.1).round(2)
array([0.5 , 0.99])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from datamodels_inf.internal.checks import (
    Floats,
    Ints,
    check_alpha,
    check_choice,
    check_fraction,
    check_integer,
    check_nonnegative,
    check_pair,
    check_vector,
)
from datamodels_inf.internal.comparison import swap_columns
from datamodels_inf.pvalues import binomial_pvalue, binomial_upper_tail, hoeffding_pvalue


def dominance_area(untouched: ArrayLike, swapped: ArrayLike) -> float:
    """π̂ = P(T ≥ T_swapped), ties counted half: the area under the ordinal dominance curve F_T∘G_T⁻¹ of two samples.

    >>> dominance_area([1.0, 2.0, 3.0], [0.0, 2.0])  # 4 wins and a tie in 6 comparisons
    0.75
    """
    a, b = check_vector("untouched", untouched), np.sort(check_vector("swapped", swapped))
    if a.size == 0 or b.size == 0:
        raise ValueError("`untouched` and `swapped` must not be empty.")
    below, up_to = np.searchsorted(b, a, "left"), np.searchsorted(b, a, "right")
    return float((below + up_to).mean() / (2.0 * b.size))


def linear_gap(theta_star: ArrayLike, theta_hat: ArrayLike, i: int, j: int, *, noise: float = 1.0) -> Floats:
    """|π − ½| = (2/π)·arctan(|s₁ − s₂|/(s₁ + s₂)) for y ~ N(xᵀθ*, σ²), x ~ N(0, I), T = |y − xᵀθ̂|, unpaired.

    s₁² = σ² + ‖θ* − θ̂‖², s₂² = σ² + ‖θ* − θ̂_swap‖². `theta_hat` may hold many vectors, (…, d), for as many gaps.

    >>> float(round(linear_gap([1.0, 2.0], [1.0, 2.0], 0, 1), 4))  # s₁ = 1, s₂ = √3
    0.1667
    """
    error, swapped_error = _linear_errors(theta_star, theta_hat, i, j)
    s1, s2 = (np.hypot(noise, np.linalg.norm(e, axis=-1)) for e in (error, swapped_error))
    return _unwrap(2.0 / np.pi * np.arctan(np.abs(s1 - s2) / (s1 + s2)))


def linear_paired_gap(theta_star: ArrayLike, theta_hat: ArrayLike, i: int, j: int, *, noise: float = 1.0) -> Floats:
    """|P(D > 0) − ½| = arcsin(ρ)/π for the same law, paired.

    D > 0 ⇔ (r − r′)(r + r′) > 0 with r, r′ the residuals before and after the swap, and ρ is the correlation of the two
    Gaussian factors: |s₁² − s₂²|/√(‖θ̂_swap − θ̂‖²·(4σ² + ‖2θ* − θ̂ − θ̂_swap‖²)).

    >>> float(linear_paired_gap([1.0, 2.0], [1.0, 2.0], 0, 1).round(4))  # `linear_gap` is 0.1667.
    0.1959
    """
    error, swapped_error = _linear_errors(theta_star, theta_hat, i, j)
    sum_spread = np.hypot(2.0 * noise, np.linalg.norm(error + swapped_error, axis=-1))
    spread = np.linalg.norm(error - swapped_error, axis=-1) * sum_spread
    rise = np.abs((error**2).sum(axis=-1) - (swapped_error**2).sum(axis=-1))
    correlation = np.minimum(1.0, np.divide(rise, spread, out=np.zeros_like(spread), where=spread > 0.0))
    return _unwrap(np.arcsin(correlation) / np.pi)


def _linear_errors(theta_star: ArrayLike, theta_hat: ArrayLike, i: int, j: int) -> tuple[Floats, Floats]:
    """θ* − θ̂ and θ* − θ̂_swap(i,j)."""
    truth = check_vector("theta_star", theta_star)
    fitted = _check_thetas(theta_hat, truth.size)
    swapped = swap_columns(fitted.reshape(-1, truth.size), check_pair(i, j, truth.size)[0])
    return truth - fitted, truth - np.asarray(swapped, np.float64).reshape(fitted.shape)


def mixture_gap(theta_hat: ArrayLike, mu: ArrayLike, i: int, j: int) -> Floats:
    """|π − ½| = Φ(|(θ̂_i − θ̂_j)(μ_i − μ_j)|/(√2‖θ̂‖)) − ½ for y = ±1, x ~ N(yμ, I), T = y·xᵀθ̂, unpaired.

    >>> float(mixture_gap([1.0, 2.0], [1.0, 3.0], 0, 1).round(3))
    0.236
    """
    means = check_vector("mu", mu)
    fitted = _check_thetas(theta_hat, means.size)
    (left,), (right,) = check_pair(i, j, means.size)[0]
    product = np.abs((fitted[..., left] - fitted[..., right]) * (means[left] - means[right]))
    norm = np.linalg.norm(fitted, axis=-1)
    ratio = np.divide(product, np.sqrt(2.0) * norm, out=np.zeros_like(product), where=norm > 0.0)
    return _unwrap(ndtr(ratio) - 0.5)


def mixture_paired_gap(mu: ArrayLike, i: int, j: int) -> float:
    """|P(D > 0) − ½| = Φ(|μ_i − μ_j|/√2) − ½ for the same law, paired, whatever the θ̂ with θ̂_i ≠ θ̂_j.

    >>> round(mixture_paired_gap([1.0, 3.0], 0, 1), 3)
    0.421
    """
    means = check_vector("mu", mu)
    (left,), (right,) = check_pair(i, j, means.size)[0]
    return float(ndtr(abs(means[left] - means[right]) / np.sqrt(2.0))) - 0.5


def _check_thetas(theta_hat: ArrayLike, d: int) -> Floats:
    fitted = np.asarray(theta_hat, np.float64)
    if fitted.shape[-1:] != (d,) or not np.isfinite(fitted).all():
        raise ValueError(f"`theta_hat` must hold finite vectors of length {d}, but its shape is {fitted.shape}.")
    return fitted


def _unwrap(values: Floats) -> Floats:
    """A number where there is only one, else the array."""
    scalar_or_array: Floats = np.asarray(values)[()]
    return scalar_or_array


def sufficient_gap(n: int, *, alpha: float, beta: float, tau: float = 0.0, tau_x: float = 0.0) -> float:
    """τ + τ_X + √(log(2/α)/n) + √(log(2/β)/n): at such an |π − ½| the paper's test has power at least 1 − β.

    >>> round(sufficient_gap(1000, alpha=0.1, beta=0.1), 4)
    0.1095
    """
    return _hoeffding_threshold(n, alpha, tau, tau_x) + float(np.sqrt(np.log(2.0 / check_fraction("beta", beta)) / n))


def printed_gap(n: int, *, alpha: float, beta: float, tau: float = 0.0, tau_x: float = 0.0) -> float:
    """The gap ρ_n as the paper prints it, with 2·exp(−nβ²) as its last term. It is wrong; see `sufficient_gap`."""
    return _hoeffding_threshold(n, alpha, tau, tau_x) + 2.0 * float(np.exp(-n * check_fraction("beta", beta) ** 2))


def _hoeffding_threshold(n: int, alpha: float, tau: float, tau_x: float) -> float:
    check_integer("n", n, 2)
    shift = check_nonnegative("tau", tau) + check_nonnegative("tau_x", tau_x)
    return shift + float(np.sqrt(np.log(2.0 / check_alpha(alpha)) / n))


def swap_power(
    pi: ArrayLike,
    n: int,
    alpha: float,
    *,
    pvalue: Literal["hoeffding", "exact"] = "hoeffding",
    tau: float = 0.0,
    tau_x: float = 0.0,
) -> Floats:
    """P(reject at α) of `swap_test` on n samples when K ~ Bin(n/2, π): exact, for each π.

    >>> swap_power([0.5, 0.6], 1000, 0.1).round(3)  # Hoeffding's bound keeps far below its level 0.1.
    array([0.014, 0.98 ])
    """
    _hoeffding_threshold(n, alpha, tau, tau_x)
    return _count_power(pi, n // 2, alpha, pvalue, tau + tau_x)


def paired_power(
    pi: ArrayLike,
    n: int,
    alpha: float,
    *,
    informative: float = 1.0,
    pvalue: Literal["hoeffding", "exact"] = "exact",
) -> Floats:
    """P(reject at α) of `paired_swap_test` with τ′ = 0 on n samples: exact, for each π.

    A sample has D ≠ 0 with chance `informative`, for masks the chance that they hold just one of the two images, and
    then D > 0 with chance π. "hoeffding" needs informative = 1.

    >>> paired_power([0.5, 0.6], 200, 0.1).round(3)
    array([0.077, 0.86 ])
    """
    _hoeffding_threshold(n, alpha, 0.0, 0.0)
    if not 0.0 < informative <= 1.0:
        raise ValueError(f"`informative` must lie in (0, 1], but it is {informative}.")
    if informative == 1.0:
        return _count_power(pi, n, alpha, pvalue, 0.0)
    if pvalue != "exact":
        raise ValueError("`pvalue` must be 'exact' when `informative` is below 1.")
    # The number of informative samples is Bin(n, informative); beyond 9 standard deviations nothing is left.
    spread = 9.0 * np.sqrt(n * informative * (1.0 - informative)) + 9.0
    low, high = max(0, int(n * informative - spread)), min(n, int(n * informative + spread) + 1)
    sizes = np.arange(low, high + 1)
    tail = binomial_upper_tail(np.arange(low, high + 2), np.full(len(sizes) + 1, n), informative)
    critical = _largest_rejected(sizes, alpha, lambda k, size: binomial_pvalue(k, size, 0.0))
    probabilities = _check_probabilities(pi)
    powers = [(tail[:-1] - tail[1:]) @ _two_tails(sizes, critical, p) for p in probabilities.ravel()]
    return _unwrap(np.array(powers).reshape(probabilities.shape))


def _count_power(pi: ArrayLike, trials: int, alpha: float, pvalue: str, shift: float) -> Floats:
    """Power of the rule p(K) ≤ α for K ~ Bin(trials, π)."""
    check_choice("pvalue", pvalue, ("hoeffding", "exact"))

    def pvalue_of(k: Ints, size: Ints) -> Floats:
        return hoeffding_pvalue(k / size, trials, shift) if pvalue == "hoeffding" else binomial_pvalue(k, size, shift)

    sizes, probabilities = np.array([trials]), _check_probabilities(pi)
    powers = _two_tails(sizes, _largest_rejected(sizes, alpha, pvalue_of), probabilities.ravel())
    return _unwrap(powers.reshape(probabilities.shape))


def _check_probabilities(pi: ArrayLike) -> Floats:
    values = np.asarray(pi, np.float64)
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("`pi` must lie between 0 and 1.")
    return values


def _largest_rejected(sizes: Ints, alpha: float, pvalue_of: Callable[[Ints, Ints], Floats]) -> Ints:
    """For each size h, the largest k < h/2 whose p-value is ≤ α, or −1: bisection, since p grows with k up to h/2."""
    low, high = np.full(len(sizes), -1), (sizes + 1) // 2
    # Where the normal approximation brackets the answer, start there.
    guess = np.floor(sizes / 2 - -ndtri(alpha / 2.0) * np.sqrt(sizes) / 2).astype(np.int64)
    for candidate in (guess - 3, guess + 3):
        inside = (candidate > low) & (candidate < high)
        rejected = pvalue_of(np.where(inside, candidate, 0), np.maximum(sizes, 1)) <= alpha
        low, high = np.where(inside & rejected, candidate, low), np.where(inside & ~rejected, candidate, high)
    while (high - low > 1).any():
        middle = (low + high) // 2
        rejected = pvalue_of(np.maximum(middle, 0), np.maximum(sizes, 1)) <= alpha
        done = high - low <= 1
        low, high = np.where(rejected & ~done, middle, low), np.where(rejected | done, high, middle)
    return low


def _two_tails(sizes: Ints, critical: Ints, pi: Floats | float) -> Floats:
    """P(K ≤ k*) + P(K ≥ h − k*) for K ~ Bin(h, π); 0 where k* = −1."""
    upper, lower = (binomial_upper_tail(sizes - critical, sizes, p) for p in (pi, 1.0 - np.asarray(pi)))
    return np.asarray(np.where(critical < 0, 0.0, upper + lower))


# Planning: what each test needs under the model of `planning.plan`.


@dataclass(frozen=True)
class Planner:
    """The power of one test, turned around both ways; see `planning.plan` for c and q.

    models(c, q, α, power): the smallest number of models that find c, None beyond 10¹².
    effect(n, q, α, power): the smallest c that n models find, None where none is large enough.
    """

    models: Callable[[float, float, float, float], int | None]
    effect: Callable[[int, float, float, float], float | None]


def swap_planner(pvalue: Literal["hoeffding", "exact"]) -> Planner:
    """Unpaired: ½ − π = q·(½ − 2Φ(c/√2)Φ(−c/√2)), of order c²."""

    def power_of(n: int, c: float, q: float, alpha: float) -> Floats:
        return swap_power(unpaired_win_probability(c, q), n, alpha, pvalue=pvalue)

    return _planner(power_of)


def paired_planner() -> Planner:
    """Paired, squared residual: P(D > 0 | D ≠ 0) = Φ(−c/2), of order c."""

    def power_of(n: int, c: float, q: float, alpha: float) -> Floats:
        return paired_power(ndtr(-c / 2.0), n, alpha, informative=q)

    return _planner(power_of)


def noether_planner() -> Planner:
    """Signed ranks: Noether's (z_{α/2} + z_β)²/(3(p − ½)²) informative masks, p = Φ(c/√2)."""

    def models(c: float, q: float, alpha: float, power: float) -> int | None:
        gap = float(ndtr(c / np.sqrt(2.0))) - 0.5
        return int(np.ceil(_noether(alpha, power) ** 2 / (3.0 * gap**2) / q)) if gap > 0.0 else None

    def effect(n: int, q: float, alpha: float, power: float) -> float | None:
        p = 0.5 + _noether(alpha, power) / float(np.sqrt(3.0 * n * q))
        return float(np.sqrt(2.0) * ndtri(p)) if p < 1.0 else None

    return Planner(models, effect)


def _noether(alpha: float, power: float) -> float:
    return -float(ndtri(alpha / 2.0)) + float(ndtri(power))


def _planner(power_of: Callable[[int, float, float, float], Floats]) -> Planner:
    """By bisection on the exact power of n models for c, q and α."""
    return Planner(
        lambda c, q, alpha, power: _smallest(lambda n: power_of(n, c, q, alpha), power),
        lambda n, q, alpha, power: _least(lambda c: power_of(n, c, q, alpha), power),
    )


def _least(power_of: Callable[[float], Floats], wanted: float) -> float | None:
    """The smallest c with power_of(c) ≥ wanted, to a relative 1e-4; None if even c = 40 has less power."""
    low, high = 0.0, 40.0  # standard deviations: beyond, nothing changes any more
    if power_of(high) < wanted:
        return None
    while high - low > 1e-4 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if power_of(middle) >= wanted else (middle, high)
    return high


def unpaired_win_probability(c: float, q: float) -> float:
    """π for the squared residual when θ̂ = θ*: c = |θ_i − θ_j|/noise, q = P(x_i ≠ x_j)."""
    a = c / np.sqrt(2.0)
    return 0.5 - q * (0.5 - 2.0 * float(ndtr(a)) * float(ndtr(-a)))


def _smallest(power_of: Callable[[int], Floats], wanted: float) -> int | None:
    """The smallest even n with power_of(n) ≥ wanted, by doubling and bisection; None beyond 10¹²."""
    high = 2
    while power_of(high) < wanted:
        high *= 2
        if high > 10**12:
            return None
    low = high // 2
    while high - low > 2:
        middle = (low + high) // 4 * 2
        low, high = (low, middle) if power_of(middle) >= wanted else (middle, high)
    return high
