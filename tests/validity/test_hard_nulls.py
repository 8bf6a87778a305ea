"""Size of every method at three levels under hard laws of the null: nothing but the symmetry of each pair may matter.

Each data set holds PAIRS disjoint pairs of images, in each of which both count alike, while θ̂ says otherwise. The count
of rejections must not be beyond its 1 − 1e-6 quantile; a contrast whose residuals do not leave i and j out is.
"""

import numpy as np
import pytest
from long_runs import times
from naive import broken_contrast_pvalue
from scipy.stats import binom

from datamodels_inf import SquaredResidual, contrast_many, paired_swap_test_many, swap_test_many

DATA_SETS, PAIRS, N = times(200, 700), 20, 240
D = 2 * PAIRS + 4
LEVELS = (0.05, 0.01, 0.001)
PAIR_COLUMNS = np.arange(2 * PAIRS).reshape(PAIRS, 2)
METHODS = {
    "swap": lambda x, y, theta: swap_test_many(x, y, PAIR_COLUMNS, score=SquaredResidual(theta)).pvalue,
    "swap-exact": lambda x, y, theta: (
        swap_test_many(x, y, PAIR_COLUMNS, score=SquaredResidual(theta), pvalue="exact").pvalue
    ),
    "paired": lambda x, y, theta: paired_swap_test_many(x, y, PAIR_COLUMNS, score=SquaredResidual(theta)).pvalue,
    "paired, signed-rank": lambda x, y, theta: (
        paired_swap_test_many(x, y, PAIR_COLUMNS, score=SquaredResidual(theta), pvalue="signed-rank").pvalue
    ),
    "contrast": lambda x, y, theta: contrast_many(x, y, PAIR_COLUMNS, theta=theta).pvalue,
}


def masks(rng, n=N):
    """Of a fixed size or by coins."""
    draws = rng.random((n, D))
    return draws < 0.5 if rng.random() < 0.5 else draws.argsort(axis=1) < D // 2


def both(x):
    """How many of each pair are in, centred."""
    return x[:, PAIR_COLUMNS].sum(axis=2) - 1.0


def interaction(rng):
    """Two images count only together."""
    x = masks(rng)
    together = x[:, PAIR_COLUMNS].all(axis=2)
    return x, together @ rng.normal(0, 2, PAIRS) + rng.standard_normal(N)


def cauchy(rng):
    x = masks(rng)
    return x, both(x) @ rng.normal(0, 1, PAIRS) + rng.standard_cauchy(N)


def t2(rng):
    x = masks(rng)
    return x, both(x) @ rng.normal(0, 1, PAIRS) + rng.standard_t(2, N)


def heteroscedastic(rng):
    """The noise grows with the number of images of each pair."""
    x = masks(rng)
    return x, np.exp(both(x) @ rng.normal(0, 0.4, PAIRS)) * rng.standard_normal(N)


def discrete(rng):
    """Margins in float16, in steps of a quarter."""
    x = masks(rng)
    margins = np.round(4 * (both(x) @ rng.normal(0, 0.3, PAIRS) + rng.standard_normal(N))) / 4
    return x, margins.astype(np.float16)


def clipped(rng):
    x = masks(rng)
    return x, np.clip(both(x) @ rng.normal(0, 0.3, PAIRS) + rng.standard_normal(N), -0.7, 0.7)


def zero_inflated(rng):
    x = masks(rng)
    return x, np.where(rng.random(N) < 0.7, 0.0, both(x) @ rng.normal(0, 1, PAIRS) + rng.exponential(1, N))


def strong_others(rng):
    """Four other images, of which θ̂ knows nothing, outweigh all noise."""
    x = masks(rng)
    return x, 20.0 * x[:, 2 * PAIRS :] @ np.array([1.0, -1.0, 2.0, 0.5]) + 0.1 * rng.standard_normal(N)


def few_rows(rng):
    n = int(rng.integers(10, 31))
    x = masks(rng, n)
    return x, both(x) @ rng.normal(0, 1, PAIRS) + rng.exponential(1, n)


def drifting(rng):
    """Noise, mean and the size of the masks change along the rows."""
    x = rng.random((N, D)) < np.linspace(0.2, 0.8, N)[:, None]
    return x, both(x) @ rng.normal(0, 1, PAIRS) + np.linspace(0, 3, N) + np.geomspace(1, 8, N) * rng.standard_normal(N)


LAWS = (
    interaction, cauchy, t2, heteroscedastic, discrete, clipped, zero_inflated, strong_others, few_rows, drifting
)  # fmt: skip


@pytest.fixture(scope="module", params=LAWS, ids=lambda law: law.__name__)
def pvalues(request):
    """{method: p-values of DATA_SETS × PAIRS nulls}, with those of the broken contrast."""
    rng = np.random.default_rng([11, LAWS.index(request.param)])
    found = {name: [] for name in (*METHODS, "broken")}
    for _ in range(DATA_SETS):
        x, y = request.param(rng)
        theta = rng.normal(0, 1, D) * (1 if request.param is not strong_others else 5)
        theta[2 * PAIRS :] = 0.0
        for name, method in METHODS.items():
            found[name].append(method(x, y, theta))
        i, j = PAIR_COLUMNS[rng.integers(PAIRS)]
        found["broken"].append([broken_contrast_pvalue(x, y, i, j, 3 * np.eye(D)[i] * np.std(y))])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def keeps_its_level(p, level):
    return (p <= level).sum() <= binom.ppf(1 - 1e-6, len(p), level)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_its_level(pvalues, method):
    p = pvalues[method]
    assert len(p) == DATA_SETS * PAIRS
    for level in LEVELS:
        assert keeps_its_level(p, level), (method, level, (p <= level).mean())


def test_the_exact_tests_use_their_level(pvalues):
    """So that it is not kept by never rejecting."""
    assert (pvalues["contrast"] <= 0.05).mean() > 0.02


def test_the_check_catches_residuals_in_which_i_and_j_were_not_left_out(pvalues):
    assert not all(keeps_its_level(pvalues["broken"], level) for level in LEVELS)
