"""The paper's synthetic experiments, with every test of this package beside the paper's own.

All have d = 10 features and look at all 45 pairs:

- size: x ~ N(0, I), y ~ N(xᵀSx, 1) with S = 11ᵀ + I, T = |y − xᵀθ̂|, θ̂ ~ N(0, I). Every pair is null.
- power: x ~ N(0, I), y ~ N(xᵀθ*, 1), θ* = (1,1,2,2,3,3,4,4,5,5), T = |y − xᵀθ̂|, θ̂ ~ N(θ*, σ²I).
- mixture: y = ±1 with probability ½, x ~ N(yμ, I), μ = (1..10)/‖·‖, T = y·xᵀθ̂, θ̂ ~ N(0, I).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from datamodels_inf.internal.checks import Floats, check_choice, check_integer
from datamodels_inf.internal.comparison import Comparison, Sample, halves
from datamodels_inf.internal.cores import ONE_BLAS_THREAD
from datamodels_inf.paired_test import paired_results
from datamodels_inf.power import (
    linear_gap,
    linear_paired_gap,
    mixture_gap,
    mixture_paired_gap,
    paired_power,
    swap_power,
)
from datamodels_inf.scores import AbsoluteResidual, LinearScore, SignedMargin
from datamodels_inf.swap_test import swap_results

Experiment: TypeAlias = Literal["size", "power", "mixture"]
EXPERIMENTS: tuple[Experiment, ...] = ("size", "power", "mixture")

D = 10
PAIRS = np.array(list(combinations(range(D), 2)))
THETA_STAR = np.repeat(np.arange(1.0, 6.0), 2)
MU = np.arange(1.0, 11.0) / np.linalg.norm(np.arange(1.0, 11.0))

VARIANTS = {
    "swap": "the paper's test, Hoeffding p-value",
    "swap-exact": "the same statistic, exact p-value",
    "paired-hoeffding": "paired test, Hoeffding p-value",
    "paired": "paired test, exact p-value",
    "paired-signed-rank": "paired test, signed-rank p-value",
}

PRINTED = {
    (1.0, (0, 9)): 0.987,
    (2.0, (0, 9)): 0.768,
    (3.0, (0, 9)): 0.543,
    (1.0, (5, 7)): 0.294,
    (2.0, (5, 7)): 0.097,
    (3.0, (5, 7)): 0.055,
}
"""The power that the paper prints, by (σ, 0-based pair)."""


@dataclass(frozen=True)
class Setting:
    """One panel of the paper's figures: an experiment at one sample size, σ (power only) and some levels."""

    experiment: Experiment
    n: int
    alphas: tuple[float, ...]
    sigma: float = float("nan")

    @property
    def label(self) -> str:
        """What sets the panel apart from the others of its experiment: "σ = 2", or "n = 5,000"."""
        return f"σ = {self.sigma:g}" if self.experiment == "power" else f"n = {self.n:,}"


SETTINGS: dict[Experiment, tuple[Setting, ...]] = {
    "size": (Setting("size", 1000, (0.1, 0.15, 0.2)),),
    "power": tuple(Setting("power", 1000, (0.1,), sigma) for sigma in (1.0, 2.0, 3.0)),
    "mixture": tuple(Setting("mixture", n, (0.1,)) for n in (5_000, 20_000, 50_000)),
}


@dataclass(frozen=True)
class Rates:
    """Rejection rates of one setting, level and method, one for each of the 45 `PAIRS`.

    theory: the exact rejection probability averaged over the very θ̂ that were drawn; NaN where no closed form is known.
    """

    setting: Setting
    alpha: float
    method: str
    reps: int
    rate: Floats
    theory: Floats

    @property
    def standard_error(self) -> Floats:
        """(45,): √(rate·(1 − rate) / reps)."""
        return np.asarray(np.sqrt(self.rate * (1.0 - self.rate) / self.reps))

    def of(self, i: int, j: int) -> int:
        """The position of the pair (i, j)."""
        return int(np.flatnonzero((np.array([min(i, j), max(i, j)]) == PAIRS).all(axis=1))[0])


def draw(setting: Setting, rng: np.random.Generator) -> tuple[Floats, Floats, LinearScore]:
    """One data set (x, y) and a score whose θ̂ does not look at it."""
    if setting.experiment == "mixture":
        y = rng.choice((-1.0, 1.0), setting.n)
        x = rng.standard_normal((setting.n, D))
        x += y[:, None] * MU
        return x, y, SignedMargin(rng.standard_normal(D))
    x = rng.standard_normal((setting.n, D))
    if setting.experiment == "size":
        mean = x.sum(axis=1) ** 2 + (x**2).sum(axis=1)  # xᵀSx with S = 11ᵀ + I.
        theta = rng.standard_normal(D)
    else:
        mean = x @ THETA_STAR
        theta = THETA_STAR + setting.sigma * rng.standard_normal(D)
    return x, mean + rng.standard_normal(setting.n), AbsoluteResidual(theta)


def pvalues_of(setting: Setting, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(p-values of every method and pair, θ̂) of one repetition; scores are compared once for all methods of a kind."""
    x, y, score = draw(setting, rng)
    sample, pairs = Sample.of(x, y), PAIRS[:, :, None]
    unpaired = Comparison(sample, score, halves=halves(setting.n, "given", 0)).count_many(pairs, 0, 1)
    comparison = Comparison(sample, score)
    paired = comparison.count_many(pairs, None, 1)
    results = [swap_results(unpaired, 0.0, 0.0, pvalue) for pvalue in ("hoeffding", "exact")]
    for pvalue in ("hoeffding", "exact", "signed-rank"):
        results.append(paired_results(comparison, pairs, paired, 0.0, pvalue))
    return np.stack([result.pvalue for result in results]), score.theta


def run(
    experiment: Experiment,
    *,
    reps: int = 1000,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> list[Rates]:
    """Rejection rates of every setting, level and method of one experiment.

    Repetition r of setting s draws from the seed (seed, experiment, s, r), so the rates do not depend on `threads`.
    `progress` is called with 1 after each repetition.
    """
    check_choice("experiment", experiment, EXPERIMENTS)
    check_integer("reps", reps, 1)
    rates: list[Rates] = []
    for number, setting in enumerate(SETTINGS[experiment]):
        entropy = (seed, EXPERIMENTS.index(experiment), number)
        pvalues, thetas = (
            np.stack(part) for part in zip(*_repeat(setting, reps, entropy, threads, progress), strict=True)
        )
        for alpha in setting.alphas:
            share = (pvalues <= alpha).mean(axis=0)
            for row, method in enumerate(VARIANTS):
                rates.append(Rates(setting, alpha, method, reps, share[row], theory(setting, alpha, method, thetas)))
    return rates


def _repeat(
    setting: Setting,
    reps: int,
    entropy: tuple[int, int, int],
    threads: int,
    progress: Callable[[int], object] | None,
) -> Iterator[tuple[Floats, Floats]]:
    with ONE_BLAS_THREAD, ThreadPoolExecutor(threads) as pool:
        for result in pool.map(lambda r: pvalues_of(setting, np.random.default_rng((*entropy, r))), range(reps)):
            if progress is not None:
                progress(1)
            yield result


def theory(setting: Setting, alpha: float, method: str, thetas: Floats) -> Floats:
    """Exact rejection probability of each pair, averaged over the rows of `thetas`; NaN where none is known."""
    if method == "paired-signed-rank":
        return np.full(len(PAIRS), np.nan)
    return np.array([_power(setting, alpha, method, _gap(setting, method, thetas, i, j)) for i, j in PAIRS])


def _gap(setting: Setting, method: str, thetas: Floats, i: int, j: int) -> Floats:
    """|π − ½| for each θ̂."""
    paired = method.startswith("paired")
    if setting.experiment == "size":
        return np.zeros(len(thetas))
    if setting.experiment == "power":
        return (linear_paired_gap if paired else linear_gap)(THETA_STAR, thetas, i, j)
    return np.full(len(thetas), mixture_paired_gap(MU, i, j)) if paired else mixture_gap(thetas, MU, i, j)


def _power(setting: Setting, alpha: float, method: str, gap: Floats) -> float:
    if method.startswith("paired"):
        pvalue: Literal["hoeffding", "exact"] = "hoeffding" if method == "paired-hoeffding" else "exact"
        return float(paired_power(0.5 + gap, setting.n, alpha, pvalue=pvalue).mean())
    pvalue = "exact" if method == "swap-exact" else "hoeffding"
    return float(swap_power(0.5 + gap, setting.n, alpha, pvalue=pvalue).mean())
