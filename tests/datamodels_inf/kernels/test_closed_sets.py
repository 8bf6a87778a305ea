"""The search of closed Benjamini–Yekutieli against all sets, one by one."""

import numpy as np

from datamodels_inf.kernels.closed_sets import largest_allowed, speaks_against


def problem(rng):
    """Bins, hypotheses in no bin, and a range of sizes."""
    bins = int(rng.integers(1, 5))
    upper, count = np.sort(rng.random(bins)), rng.integers(1, 4, bins)
    m = int(count.sum() + rng.integers(0, 4))
    low = int(rng.integers(1, m + 1))
    return upper, count, m, low, int(rng.integers(low, m + 1)), float(rng.uniform(0.5, 2 * m))


def inverse(upper, low, factor):
    c = np.maximum(1, np.ceil(factor * upper))
    return np.where(c <= low, 1 / c, 0)


def naive(upper, count, m, low, high, factor, last):
    """Over all 2^m sets of hypotheses."""
    h = np.zeros(m)
    h[: count.sum()] = np.repeat(inverse(upper, low, factor), count)
    sets = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    sets = sets[(sets.sum(axis=1) >= low) & (sets.sum(axis=1) <= high)]
    k = count[:last].sum()
    return bool((sets @ h < sets[:, :k].sum(axis=1) / k - 1e-9).any())


def below(count):
    return np.concatenate([[0], np.cumsum(count)])


def test_a_set_speaks_against_findings_where_any_of_all_sets_does():
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(800):
        upper, count, m, low, high, factor = problem(rng)
        nonzero = int(np.count_nonzero(inverse(upper, low, factor)))
        for last in range(1, len(upper) + 1):
            answers.append(speaks_against(upper, below(count), last, m, low, high, factor, nonzero))
            assert answers[-1] == naive(upper, count, m, low, high, factor, last)
    assert 0.2 < np.mean(answers) < 0.8


def test_the_largest_is_the_first_from_above_that_no_size_speaks_against():
    rng = np.random.default_rng(1)
    for _ in range(200):
        upper, count, m, *_ = problem(rng)
        low = np.arange(1, m + 1)
        factor = low * rng.uniform(0.3, 3)
        nonzero = np.array([np.count_nonzero(inverse(upper, *pair)) for pair in zip(low, factor, strict=True)])
        sizes = list(zip(low.tolist(), factor.tolist(), strict=True))
        allowed = [
            last
            for last in range(1, len(upper) + 1)
            if not any(naive(upper, count, m, a, a, f, last) for a, f in sizes)
        ]
        assert largest_allowed(upper, below(count), m, low, low, factor, nonzero) == max(allowed, default=0)
