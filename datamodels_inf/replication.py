"""Findings held against models that were trained anew, on masks that nothing was fitted, tested or selected on.

A test of the set has an effect Δ̂ with standard error s, and claims the sign of Δ̂. The fresh models give Δ_f with s_f of
the same images and target. Given the set, which is fixed here, Δ_f is an estimate of Δ that knows nothing of Δ̂.

**Same sign.** The share of tests with Δ̂·Δ_f > 0.

**False findings.** Call a finding false if Δ = 0 or its sign is wrong. Without influence (swapping i and j changes no
law) the law of Δ_f is that of −Δ_f, so a finding with Δ = 0 disagrees in sign with chance ½, whatever else is the case;
one of the wrong sign with more than ½, one of the right sign with some chance, too. So with F false ones among R
findings and D that disagree,

    E[2·D/R | set] ≥ F/R,

with all but equality where effects are large against s_f: 2·D/R estimates the realised false discovery proportion, and
not too low. It is about the sign of Δ, not about differences beyond a τ > 0.

**Tests share their masks**, so that signs depend on each other, and the binomial interval is too short. Given the set,
all that is random are the fresh models, and these are independent. Let T be a share among all fresh models, T₁ and T₂
the same share by two halves of them: two independent copies of one random number, so that

    E[½·(T₁ − T₂)²] = Var(T₁),

however the tests depend on each other; the mean of that over many random splits is V. A sign settled by half of the
models varies at least as much as one settled by all (for Δ = 0 just as much), so √V is the standard error of T, rather
too large. A jackknife that leaves out one block of G would not do: a share of signs is no smooth function of the rows,
and of signs with Δ = 0 it gives about 0.9·√G times the variance, four times at G = 20. Intervals are at least as long
as the exact ones for independent signs: few tests that all agree have V = 0.

**Coverage.** If Δ̂ ± h is an interval of level L, h = q·s, then Δ̂ − Δ_f has standard error √(s² + s_f²), and

    |Δ̂ − Δ_f| ≤ √(h² + (q_f·s_f)²)

holds with chance L (q_f is q for the fresh estimate's degrees of freedom): the truth is not known, but its own error is
accounted for.

**Slope.** Σ Δ̂·Δ_f / Σ Δ̂², the line through the origin, since swapping i and j negates both. Selection makes Δ̂ too large
(the winner's curse), so that it is below 1 for findings, and the more so the weaker they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtr, stdtr, stdtrit

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.multiplicity import adjust_pvalues

CONFIDENCE = 0.95
ALPHA = 0.05
"""Of the fresh models' own tests, by Benjamini–Hochberg's correction."""


@dataclass(frozen=True, eq=False)
class HeldAgainst:
    """Tests and what fresh models say of them, one entry each.

    effect, error: Δ̂ and s. half, half_selected: half of the length of the marginal interval, and of the longer one of a
    finding, NaN where there is none. fresh, fresh_error, freedom: Δ_f, s_f and its degrees of freedom.
    """

    effect: Floats
    error: Floats
    half: Floats
    half_selected: Floats
    fresh: Floats
    fresh_error: Floats
    freedom: Floats

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where both effects have a standard error."""
        figures = (self.effect, self.error, self.fresh, self.fresh_error)
        return np.asarray(np.isfinite(figures).all(axis=0) & (self.error > 0.0) & (self.fresh_error > 0.0))

    def take(self, places: Ints | NDArray[np.bool_]) -> HeldAgainst:
        """These tests alone."""
        return HeldAgainst(**{field.name: getattr(self, field.name)[places] for field in fields(self)})


@dataclass(frozen=True)
class Replication:
    """Of n tests; None where it is not defined.

    same_sign: the share, with a 95 % interval. coverage: of the marginal intervals; coverage_selected: of the longer
    ones of findings. confirmed, reversed: tests of which the fresh models alone say the claimed direction, or the
    opposite one (one-sided, Benjamini–Hochberg at 0.05). false_share: 2·D/R, at most 1, with false_bound, 95 % from
    above; of findings alone.
    """

    n: int
    same_sign: float
    same_sign_low: float
    same_sign_high: float
    coverage: float
    slope: float | None
    confirmed: int
    reversed: int
    coverage_selected: float | None = None
    false_share: float | None = None
    false_bound: float | None = None


def same_sign(effect: Floats, fresh: Floats) -> float:
    """The share of tests with Δ̂·Δ_f > 0; what is 0 or not known agrees with nothing."""
    return float(np.mean(effect * fresh > 0.0))


def replication(held: HeldAgainst, halves: Floats, *, count_false: bool) -> Replication | None:
    """How far fresh models agree with tests, all of which must be `known`; None without any.

    halves : (B, 2), `same_sign` of the same tests by the two halves of the fresh models in B random splits.
    count_false : whether the tests are findings of Δ ≠ 0, of which some may be false.

    >>> rng = np.random.default_rng(0)
    >>> truth, error = rng.normal(size=1000), np.full(1000, 0.1)
    >>> effect, fresh = truth + error * rng.normal(size=(2, 1000))
    >>> none = np.full(1000, np.nan)
    >>> held = HeldAgainst(effect, error, 1.96 * error, none, fresh, error, np.full(1000, 99.0))
    >>> found = replication(held, np.array([[0.95, 0.94]]), count_false=False)
    >>> found.same_sign, found.coverage
    (0.954, 0.954)
    """
    n = len(held.effect)
    if not n:
        return None
    agree = same_sign(held.effect, held.fresh)
    low, high = share_interval(round(n * agree), n, halves)
    selected = bool(np.isfinite(held.half_selected).all())
    square = float(held.effect @ held.effect)
    disagree = n - round(n * agree)
    return Replication(
        n=n,
        same_sign=agree,
        same_sign_low=low,
        same_sign_high=high,
        coverage=coverage(held, held.half),
        slope=float(held.effect @ held.fresh) / square if square > 0.0 else None,
        confirmed=settled(held, 1.0),
        reversed=settled(held, -1.0),
        coverage_selected=coverage(held, held.half_selected) if selected else None,
        false_share=false_share(disagree, n) if count_false else None,
        false_bound=false_bound(disagree, n, halves) if count_false else None,
    )


def split_error(halves: Floats) -> float:
    """√V, V the mean of ½·(T₁ − T₂)² over splits."""
    return float(np.sqrt(0.5 * np.mean((halves[:, 0] - halves[:, 1]) ** 2)))


def share_interval(count: int, n: int, halves: Floats) -> tuple[float, float]:
    """95 %: count/n ∓ t·√V, t Student's with a degree of freedom a split, and at least Clopper and Pearson's."""
    share, tail = count / n, (1.0 - CONFIDENCE) / 2.0
    half = float(stdtrit(len(halves), 1.0 - tail)) * split_error(halves)
    least = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    most = float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0
    return max(0.0, min(least, share - half)), min(1.0, max(most, share + half))


def coverage(held: HeldAgainst, half: Floats) -> float:
    """The share with |Δ̂ − Δ_f| ≤ √(h² + (q_f·s_f)²), q_f Student's quantile where h/s is the normal one."""
    with np.errstate(invalid="ignore"):
        quantile = -stdtrit(held.freedom, ndtr(-half / held.error))
        reach = np.hypot(half, quantile * held.fresh_error)
    return float(np.mean(np.abs(held.effect - held.fresh) <= reach))


def settled(held: HeldAgainst, direction: float) -> int:
    """How many tests the fresh models alone find to have the sign of Δ̂ (1) or the opposite one (−1).

    One-sided Student's tests of Δ_f, corrected over all of them (Benjamini–Hochberg, 0.05).
    """
    z = direction * np.sign(held.effect) * held.fresh / held.fresh_error
    return int(np.count_nonzero(adjust_pvalues(stdtr(held.freedom, -z), "bh") <= ALPHA))


def false_share(disagree: int, n: int) -> float:
    """2·D/R, at most 1: the realised false discovery proportion, in expectation not too low.

    >>> false_share(3, 40)  # Of 40 findings, 3 have the other sign in fresh models.
    0.15
    """
    return min(1.0, 2.0 * disagree / n)


def false_bound(disagree: int, n: int, halves: Floats) -> float:
    """From above, 95 %: the larger of two bounds of F/R.

    2·(D/R + t·√V), which knows how signs depend on each other; and F_u/R, F_u the largest F with
    P(Bin(F, ½) ≤ D) > 0.05, exact for independent signs however few: D is not smaller than the number of false findings
    that disagree. Measured (tests/datamodels_inf/test_replication.py, 200 findings, 60 to 200 false): it holds in 95 %
    where tests are independent, in 93 % where they have a tenth to a third of their noise in common, in 88 % where nine
    tenths; the second bound alone in 94 %, 59 to 78 % and 53 %.
    """
    wide = 2.0 * (disagree / n + float(stdtrit(len(halves), CONFIDENCE)) * split_error(halves))
    more = np.arange(1.0, n - disagree + 1.0)  # F − D; P(Bin(F, ½) ≤ D) = I_½(F − D, D + 1).
    exact = disagree + np.count_nonzero(betainc(more, disagree + 1.0, 0.5) > 1.0 - CONFIDENCE)
    return min(1.0, max(wide, exact / n))
