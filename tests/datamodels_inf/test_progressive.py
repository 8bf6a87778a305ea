"""Blocks of rows combined: against exact laws, plain loops and theory."""

import numpy as np
import pytest
from blocks import block_target, exact_law, progressive_tests
from scipy import stats
from scipy.special import ndtr, ndtri

from datamodels_inf import PackedMasks, contrast_many
from datamodels_inf.contrast import ContrastResults
from datamodels_inf.methods import METHODS, PairTests
from datamodels_inf.progressive import Signs, combine_contrasts, rank_pvalue, sign_pvalue, sign_share

PAIR = np.array([[[0], [1]]])


def scales(counts):
    """c_k = √n_k/sd(V_k), of variance 1 together."""
    n = np.asarray(counts, float)
    variance = n * (n + 1) * (2 * n + 1) / 6
    c = np.sqrt(np.divide(n, variance, out=np.zeros_like(n), where=n > 0))
    return c / np.sqrt((c**2 * variance).sum())


@pytest.mark.parametrize(
    "counts", [(1, 1), (5, 5), (8, 12), (3, 3, 3), (7, 7, 7), (10, 15, 20), (30, 60), (1, 30), (0, 5), (0, 0, 8)]
)
def test_no_rank_pvalue_is_below_the_exact_one(counts):
    c = scales(counts)
    values, chances = exact_law(counts, c)
    exact = np.minimum(1.0, 2.0 * np.cumsum(chances))
    some = np.flatnonzero(values <= 1e-12)
    some = some[:: max(1, some.size // 2000)]
    sums = np.zeros((some.size, len(counts)))
    sums[:, -1] = values[some] / c[-1]  # Only Σ c_k·V_k counts.
    found = rank_pvalue(sums, np.tile(counts, (some.size, 1)))
    assert (found >= exact[some] * (1.0 - 1e-6)).all()
    middle = (exact[some] > 1e-4) & (exact[some] < 0.5)
    if min(counts) >= 10:
        assert (found[middle] <= 1.2 * exact[some][middle]).all()


def test_rank_pvalues_of_large_blocks_are_normal_ones():
    counts = np.array([[2000, 3000, 5000]])
    for z in (0.5, 2.0, 4.0, 6.0):
        sums = np.array([[z / scales(counts[0])[0], 0.0, 0.0]])
        assert rank_pvalue(sums, counts)[0] == pytest.approx(2 * ndtr(-z), rel=0.03)
    assert rank_pvalue(np.array([[c * (c + 1) / 2 for c in counts[0].tolist()]]), counts)[0] == 0.0


def test_a_pvalue_does_not_depend_on_its_company():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 300, (500, 4))
    sums = rng.normal(size=(500, 4)) * counts**1.5
    together = rank_pvalue(sums, counts)
    np.testing.assert_array_equal(together[100:103], rank_pvalue(sums[100:103], counts[100:103]))


@pytest.mark.parametrize("margins", ["predicted exactly", "on a grid", "constant"])
def test_jitter_gives_tied_blocks_the_law_without_ties(margins):
    """V of 12 pairs that share nothing, whose D are all 0, or mostly tied: its variance is n(n + 1)(2n + 1)/6."""
    pairs, ratios = np.arange(24).reshape(12, 2, 1), []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        masks = rng.random((200, 30)) < 0.5
        theta = np.where(np.arange(30) < 24, 0.0, 0.25)
        y = {"predicted exactly": masks @ theta, "on a grid": rng.integers(0, 3, 200), "constant": np.ones(200)}[
            margins
        ]
        tests = PairTests([block_target(masks, y, theta)] * 2, pairs, seed=seed)
        part = tests.contrasts[0]
        n = part.n_informative.astype(float)
        ratios.append(part.rank_sum**2 / (n * (n + 1) * (2 * n + 1) / 6))
    assert np.mean(ratios) == pytest.approx(1.0, abs=4 * np.sqrt(2 / np.size(ratios)))


def test_a_block_without_a_mask_changes_nothing():
    counts, sums = np.array([[40, 60]]), np.array([[300.0, 500.0]])
    with_empty = rank_pvalue(np.array([[300.0, 0.0, 500.0]]), np.array([[40, 0, 60]]))
    np.testing.assert_allclose(with_empty, rank_pvalue(sums, counts), rtol=1e-12)
    assert rank_pvalue(np.zeros((1, 2)), np.zeros((1, 2), np.int64))[0] == 1.0


def rows(seed, n=900, d=12, effect=0.4):
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    return masks, effect * masks[:, 0] + rng.normal(size=n)


def test_effects_are_the_mean_of_the_blocks():
    masks, y = rows(0)
    ends = [300, 500]
    parts = [contrast_many(masks[a:b], y[a:b], PAIR, theta=np.zeros(12)) for a, b in ((300, 500), (500, 900))]
    found = progressive_tests(masks, y, ends, lambda m, v: np.zeros(12), PAIR).contrast
    weight = np.array([p.n_informative[0] for p in parts]) / sum(p.n_informative[0] for p in parts)
    expected = sum(w * p.estimate[0] for w, p in zip(weight, parts, strict=True))
    error = np.sqrt(sum((w * p.standard_error[0]) ** 2 for w, p in zip(weight, parts, strict=True)))
    assert found.estimate[0] == pytest.approx(expected, rel=1e-5)  # Margins are jittered.
    assert found.standard_error[0] == pytest.approx(error, rel=1e-5)
    assert found.n_informative[0] == sum(p.n_informative[0] for p in parts)
    assert min(p.freedom[0] for p in parts) < found.freedom[0] < sum(p.freedom[0] for p in parts) + 1


def test_a_block_without_an_error_is_left_out_of_the_effect():
    masks, y = rows(1)
    none = np.zeros((20, 12), bool)
    parts = [contrast_many(masks, y, PAIR, theta=np.zeros(12)), contrast_many(none, y[:20], PAIR, theta=np.zeros(12))]
    found = combine_contrasts(parts)
    assert found.estimate[0] == pytest.approx(parts[0].estimate[0])
    assert found.standard_error[0] == pytest.approx(parts[0].standard_error[0])
    nothing = combine_contrasts([parts[1], parts[1]])
    assert np.isnan(nothing.estimate[0])
    assert nothing.standard_error[0] == np.inf
    assert (nothing.low[0], nothing.high[0], nothing.pvalue[0]) == (-np.inf, np.inf, 1.0)


def test_one_block_is_what_it_always_was():
    masks, y = rows(2)
    part = contrast_many(masks, y, PAIR, theta=np.zeros(12))
    assert combine_contrasts([part]) is part
    assert isinstance(part, ContrastResults)


def naive_sign_pvalue(masks, y, thetas, bounds, coin, pair):
    """Wins over rows that the swap changes; `coin` heads among the D = 0."""
    wins = changed = tied = 0
    for (a, b), theta in zip(bounds, thetas, strict=True):
        swapped = masks[a:b].copy()
        swapped[:, [pair[0], pair[1]]] = swapped[:, [pair[1], pair[0]]]
        moved = (swapped != masks[a:b]).any(axis=1)
        difference = (y[a:b] - masks[a:b] @ theta) ** 2 - (y[a:b] - swapped @ theta) ** 2
        changed += moved.sum()
        wins += (difference[moved] > 0).sum()
        tied += (difference[moved] == 0).sum()
    return stats.binomtest(int(wins + coin(tied)), int(changed)).pvalue, tied


def test_signs_against_a_plain_loop():
    masks, y = rows(3)
    thetas = [np.linspace(0, 0.6, 12), np.linspace(0.5, 0.0, 12)]
    bounds = [(0, 400), (400, 900)]
    blocks = [block_target(masks[a:b], y[a:b], t) for (a, b), t in zip(bounds, thetas, strict=True)]
    signs = [block.signs(PAIR) for block in blocks]
    expected, tied = naive_sign_pvalue(masks, y, thetas, bounds, lambda t: 0, (0, 1))
    assert tied == 0
    assert sign_pvalue(signs, PAIR)[0] == pytest.approx(expected, rel=1e-9)
    assert 0.0 < sign_share(signs)[0] < 1.0


def test_ties_get_coins_of_their_own_number():
    """θ̂_0 = θ̂_1 in the second block: every row that the swap changes is tied there."""
    masks, y = rows(4, effect=0.0)
    y = np.rint(64 * y) / 64  # Sums are exact, in the plain loop too.
    thetas = [np.arange(12) / 16, np.full(12, 0.125)]
    bounds = [(0, 400), (400, 900)]
    signs = [block_target(masks[a:b], y[a:b], t).signs(PAIR) for (a, b), t in zip(bounds, thetas, strict=True)]
    _, tied = naive_sign_pvalue(masks, y, thetas, bounds, lambda t: 0, (0, 1))
    assert tied == (masks[400:, 0] != masks[400:, 1]).sum()
    p = [sign_pvalue(signs, PAIR, seed=seed)[0] for seed in range(200)]
    allowed = {round(naive_sign_pvalue(masks, y, thetas, bounds, lambda t, h=h: h, (0, 1))[0], 12) for h in range(tied)}
    assert {round(value, 12) for value in p} <= allowed
    assert len(set(p)) > 10
    assert (sign_pvalue(signs[1:], PAIR) == 1.0).all()


def test_groups_count_every_row_that_changes():
    masks, y = rows(5)
    pair = np.array([[[0, 1], [2, 3]]])
    found = block_target(masks, y, np.linspace(0, 0.5, 12)).signs(pair)
    moved = (masks[:, 0] != masks[:, 2]) | (masks[:, 1] != masks[:, 3])
    assert found.changed[0] == moved.sum()
    assert found.n == 900


def test_signs_with_a_tolerance_are_those_of_all_rows():
    signs = [Signs(np.array([250]), np.array([100]), np.array([450]), 500)]
    p = sign_pvalue(signs, PAIR, tau=0.1, seed=1)[0]
    heads = [k for k in range(101) if np.isclose(p, twice_the_tail(250 + k, 500, 0.05), rtol=1e-9, atol=0)]
    assert 30 < heads[-1] < 70


def twice_the_tail(wins, n, shift):
    return min(1.0, 2 * stats.binom.sf(max(wins, n - wins) - 1, n, 0.5 + shift))


def test_power_of_the_contrast_is_that_of_theory():
    """Z is normal, of mean Σ_k √n_k·μ_k/√Σn_k with Noether's μ_k = √(3n_k)·(P(D + D′ > 0) − ½)."""
    d, ends, sigma, effect, level = 8, (400, 800, 1400), (1.0, 0.7, 0.5), 0.16, 0.01
    mean, total = 0.0, 0.0
    bounds = [(400, 800), (800, 1400), (1400, 2000)]
    for (a, b), noise in zip(bounds, sigma, strict=True):
        n = (b - a) / 2
        gap = ndtr(effect / 2 / noise * np.sqrt(2.0)) - 0.5  # D ~ N(effect/2, noise²)
        mean += np.sqrt(n) * np.sqrt(3.0 * n) * gap
        total += n
    expected = ndtr(mean / np.sqrt(total) + ndtri(level / 2))
    found, runs = 0, 400
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        masks = rng.random((2000, d)) < 0.5
        noise = np.repeat((1.0, *sigma), (400, 400, 600, 600)) * rng.normal(size=2000)
        tests = progressive_tests(masks, effect * (masks[:, 0] - 0.5) + noise, ends, lambda m, v: np.zeros(d), PAIR)
        found += METHODS["contrast"].test(tests).pvalue[0] <= level
    assert 0.5 < expected < 0.95
    assert found / runs == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / runs) + 0.01)


def test_the_first_blocks_are_not_made_again():
    masks, y = rows(6)
    tests = progressive_tests(masks, y, (200, 400, 700), lambda m, v: np.zeros(12), PAIR)
    METHODS["contrast"].test(tests)
    first = tests.first(2)
    assert first.contrasts[1] is tests.contrasts[1]
    assert "signs" not in first.__dict__
    alone = progressive_tests(masks[:700], y[:700], (200, 400), lambda m, v: np.zeros(12), PAIR)
    assert METHODS["contrast"].test(first).pvalue[0] == METHODS["contrast"].test(alone).pvalue[0]


def test_methods_that_need_one_block_take_the_last():
    masks, y = rows(7)
    tests = progressive_tests(masks, y, (200, 400), lambda m, v: np.linspace(0, 0.3, 12), PAIR)
    for name, method in METHODS.items():
        if not method.every_model:
            alone = tests.blocks[-1].swap_test(PAIR, pvalue="exact", rng=0)
            assert method.test(tests).statistic[0] == alone.statistic[0], name
    assert PackedMasks.from_bool(masks).n_models == 900
