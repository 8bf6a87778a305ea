"""The contrast: its definition, its interval, its words; many at once."""

import sys
from dataclasses import astuple

import numpy as np
import pytest
from contrast_cases import all_pairs, arrays, case
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_ind

from datamodels_inf import Contrast, PackedMasks, SquaredResidual, contrast, contrast_many, paired_swap_test
from datamodels_inf.contrast import effect_interval

RUNS = settings(max_examples=60, deadline=None, derandomize=True)


def sample(seed, n=600, d=15):
    rng = np.random.default_rng(seed)
    x = rng.random((n, d)) < 0.5
    theta = rng.standard_normal(d)
    return x, x @ theta + 0.7 + rng.standard_normal(n), theta


def naive(x, y, i, j, theta, bias):
    """(r | i in and j out, r | i out and j in), by the definition."""
    others = [k for k in range(x.shape[1]) if k not in (i, j)]
    r = y - bias - x[:, others] @ theta[others]
    return r[x[:, i] & ~x[:, j]], r[~x[:, i] & x[:, j]]


@pytest.mark.parametrize("seed", range(5))
def test_estimate_and_standard_error_are_welchs(seed):
    """The degrees of freedom are those of the smaller side, never more than Welch's."""
    x, y, theta = sample(seed)
    a, b = naive(x, y, 2, 9, theta, 0.7)
    effect = contrast_many(x, y, [(2, 9)], theta=theta, bias=0.7, confidence=0.9)
    welch = ttest_ind(a, b, equal_var=False)
    assert effect.estimate == pytest.approx(a.mean() - b.mean())
    assert effect.estimate / effect.standard_error == pytest.approx(welch.statistic)
    assert effect.freedom == min(len(a), len(b)) - 1 <= welch.df
    half = student.ppf(0.95, effect.freedom) * effect.standard_error
    assert effect.low == pytest.approx(effect.estimate - half)
    assert effect.high == pytest.approx(effect.estimate + half)
    assert effect.n_informative == len(a) + len(b)


@pytest.mark.parametrize("seed", range(5))
def test_pvalue_is_the_paired_test_of_the_contrast_score(seed):
    """T_c = r·(x_i − x_j) as a plain callable, through the general path."""
    x, y, theta = sample(seed, n=90)
    x = x.astype(int)

    def score(x, y):
        rest = np.delete(x, (2, 9), axis=1) @ np.delete(theta, (2, 9))
        return (y - 0.7 - rest) * (x[:, 2] - x[:, 9])

    expected = paired_swap_test(x, y, 2, 9, score=score, pvalue="signed-rank").pvalue
    assert contrast(x, y, 2, 9, theta=theta, bias=0.7).pvalue == pytest.approx(expected)


def test_swapping_negates_the_effect():
    x, y, theta = sample(0)
    a, b = contrast(x, y, 0, 1, theta=theta), contrast(x, y, 1, 0, theta=theta)
    assert b.estimate == pytest.approx(-a.estimate)
    assert b.interval == pytest.approx((-a.interval[1], -a.interval[0]))
    assert b.pvalue == pytest.approx(a.pvalue)


def test_power_where_the_squared_residual_is_blind():
    """θ̂ = 0 everywhere: the squared residual sees only ties, the contrast sees the effect."""
    x, y, _ = sample(3, n=4000)
    y += 1.5 * x[:, 0]
    theta = np.zeros(15)
    assert paired_swap_test(x, y, 0, 1, score=SquaredResidual(theta)).pvalue == 1.0
    assert contrast(x, y, 0, 1, theta=theta).pvalue < 1e-6


def test_interval_covers():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        x = rng.random((60, 4)) < 0.5
        y = 0.8 * x[:, 0] - 0.3 * x[:, 1] + 2 * x[:, 2] + rng.standard_normal(60)
        low, high = contrast(x, y, 0, 1, theta=[0, 0, 1.7, 0.1], confidence=0.9).interval
        covered += low <= 1.1 <= high
    assert abs(covered / 2000 - 0.9) < 5 * np.sqrt(0.9 * 0.1 / 2000)


NOISE = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "heavy": lambda rng, size: rng.standard_t(2, size),
    "skewed": lambda rng, size: rng.exponential(size=size),
    "clipped": lambda rng, size: np.clip(rng.standard_normal(size), -1, 1),
    "grid": lambda rng, size: np.round(2 * rng.standard_normal(size)) / 2,
    "mostly zero": lambda rng, size: rng.standard_normal(size) * (rng.random(size) < 0.2),
}


def repeated(rng, noise, width, left, right, times=500):
    """Contrasts of Δ = 0.8, each of a pair with its own `left` + `right` masks, `width` times as noisy on the left."""
    rows = left + right
    x = np.zeros((times * rows, 2 * times), bool)
    inside = np.arange(rows) < left
    for k in range(times):
        x[k * rows : (k + 1) * rows, 2 * k], x[k * rows : (k + 1) * rows, 2 * k + 1] = inside, ~inside
    y = np.tile(0.8 * inside, times) + np.tile(np.where(inside, width, 1.0), times) * NOISE[noise](rng, times * rows)
    return contrast_many(x, y, np.arange(2 * times).reshape(-1, 2), theta=np.zeros(2 * times))


@pytest.mark.parametrize(("noise", "width"), [*((name, 1.0) for name in NOISE), ("normal", 3.0)])
@pytest.mark.parametrize("sides", [(2, 10), (3, 9), (6, 6)])
def test_interval_covers_with_a_dozen_masks(noise, width, sides):
    """Welch's degrees of freedom give 0.83 to 0.94 with 2 masks on a side, unless the noise is mostly zero."""
    rng = np.random.default_rng(sides[0])
    results = [repeated(rng, noise, width, *sides) for _ in range(4)]
    assert (results[0].n_informative == 12).all()
    for confidence, least in ((0.95, 0.94), (0.99, 0.985)):
        covered = []
        for r in results:
            low, high = effect_interval(r.estimate, r.standard_error, r.freedom, confidence)
            covered.append((low <= 0.8) & (high >= 0.8))
        assert np.mean(covered) >= least


def test_groups_use_masks_with_all_of_one_and_none_of_the_other():
    x, y, theta = sample(4, n=3000)
    keep_i = x[:, [0, 1]].all(axis=1) & ~x[:, [2, 3]].any(axis=1)
    keep_j = x[:, [2, 3]].all(axis=1) & ~x[:, [0, 1]].any(axis=1)
    r = y - x[:, 4:] @ theta[4:]
    effect = contrast(x, y, [0, 1], [2, 3], theta=theta)
    assert effect.n_informative == keep_i.sum() + keep_j.sum()
    assert effect.estimate == pytest.approx(r[keep_i].mean() - r[keep_j].mean())


def test_words():
    x, y, theta = sample(1)
    up, down = contrast(x, y, 0, 1, theta=theta), contrast(x, y, 1, 0, theta=theta)
    if up.estimate < 0:
        up, down = down, up
    words = f"training on this dog instead of that truck raises the margin on this target by {up.estimate:.3g}, 95 % "
    assert up.in_words("this dog", "that truck").startswith(words)
    assert "lowers the margin on this target by" in down.in_words()
    assert down.in_words().split("by")[1] == up.in_words().split("by")[1]


def test_too_few_informative_masks():
    x = np.array([[1, 0], [1, 1], [0, 0]], bool)
    effect = contrast(x, [1.0, 2.0, 3.0], 0, 1, theta=[0.0, 0.0])
    assert np.isnan(effect.estimate)
    assert effect.interval == (-np.inf, np.inf)
    assert effect.pvalue == 1.0
    assert "cannot be estimated" in effect.in_words()
    one_each = contrast(np.array([[1, 0], [0, 1]], bool), [1.0, 2.5], 0, 1, theta=[0.0, 0.0])
    assert (one_each.estimate, one_each.interval) == (-1.5, (-np.inf, np.inf))
    constant = contrast(np.array([[1, 0], [0, 1]] * 3, bool), [1.0, 2.0] * 3, 0, 1, theta=[0.0, 0.0])
    assert (constant.estimate, constant.interval) == (-1.0, (-np.inf, np.inf))  # Nothing tells how much it varies.


@pytest.mark.parametrize("scale", (1e-160, 1e-100, 1e80, 1e150, 1e300))
def test_any_scale(scale):
    x, y, theta = sample(2)
    a, b = contrast(x, y, 0, 1, theta=theta), contrast(x, scale * y, 0, 1, theta=scale * theta)
    np.testing.assert_allclose([b.estimate, *b.interval], scale * np.array([a.estimate, *a.interval]), rtol=1e-9)
    assert b.pvalue == pytest.approx(a.pvalue, rel=1e-6)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"x": np.full((600, 15), 0.5)}, "`x` must hold 0/1 masks"),
    ({"confidence": 1.0}, "`confidence` must lie strictly between 0 and 1"),
    ({"theta": [1.0]}, "`theta` must have one entry per column"),
    ({"j": 2}, "`i` and `j` must differ"),
    ({"bias": np.nan}, "`bias` must be a finite"),
])  # fmt: skip
def test_bad_input(change, sentence):
    x, y, theta = sample(0)
    with pytest.raises(ValueError, match=sentence):
        contrast(**{"x": x, "y": y, "i": 2, "j": 9, "theta": theta, **change})


@pytest.mark.parametrize("n", (2, 40, 130, 500))
def test_one_equals_many_on_every_kind_of_mask(n):
    x, y, theta = case(n, n, kind="real")
    pairs = all_pairs(9)
    many = contrast_many(x, y, pairs, theta=theta)
    for other in (x.astype(np.int8), x.astype(float), PackedMasks.from_bool(x)):
        np.testing.assert_array_equal(arrays(contrast_many(other, y, pairs, theta=theta)), arrays(many))
    for k in range(0, len(pairs), 5):
        np.testing.assert_equal(astuple(contrast(x, y, *pairs[k], theta=theta)), astuple(many[k]))


def test_results_are_structured():
    x, y, theta = sample(0)
    many = contrast_many(x, y, [(0, 1), (2, 3)], theta=theta, confidence=0.8)
    assert (len(many), many.confidence) == (2, 0.8)
    assert [isinstance(one, Contrast) for one in many] == [True, True]
    assert many[1].interval == (many.low[1], many.high[1])
    with pytest.raises(IndexError):
        many[2]
    assert len(contrast_many(x, y, np.empty((0, 2), int), theta=theta)) == 0


@RUNS
@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.sampled_from(["coarse", "real", "huge"]))
def test_exchanging_i_and_j_negates_exactly(seed, n, kind):
    x, y, theta = case(seed, n, kind=kind)
    pairs = all_pairs(9)
    a, b = (contrast_many(x, y, p, theta=theta) for p in (pairs, pairs[:, ::-1]))
    np.testing.assert_array_equal(b.estimate, -a.estimate)
    np.testing.assert_array_equal((b.low, b.high), (-a.high, -a.low))
    np.testing.assert_array_equal(b.pvalue, a.pvalue)
    np.testing.assert_array_equal(b.n_informative, a.n_informative)
    np.testing.assert_allclose(b.statistic, 1 - a.statistic, atol=1e-15)


@RUNS
@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.sampled_from(["coarse", "real", "huge"]))
def test_swapping_masks_changes_nothing_but_signs(seed, n, kind):
    """What H0 rests on: D(swap(x), y) = −D(x, y) to the last bit, θ̂_i and θ̂_j being what they are."""
    x, y, theta = case(seed, n, kind=kind)
    a = contrast_many(x, y, [(0, 1)], theta=theta)
    x[:, [0, 1]] = x[:, [1, 0]]
    b = contrast_many(x, y, [(0, 1)], theta=theta)
    np.testing.assert_array_equal((b.estimate, b.low, b.high), (-a.estimate, -a.high, -a.low))
    np.testing.assert_array_equal(b.pvalue, a.pvalue)


@RUNS
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 300),
    st.integers(1, 4),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_threads_chunks_and_order_of_the_pairs_change_nothing(seed, n, threads, chunk, random):
    x, y, theta = case(seed, n, kind="real")
    pairs = all_pairs(9)[:30]
    expected = arrays(contrast_many(x, y, pairs, theta=theta))
    order = np.array(random.sample(range(30), 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["datamodels_inf.contrast"], "PAIRS_AT_ONCE", chunk)
        shuffled = contrast_many(x, y, pairs[order], theta=theta, threads=threads)
    np.testing.assert_array_equal(arrays(shuffled), expected[:, order])


@pytest.mark.parametrize("huge", ("y", "theta", "both"))
def test_overflow_gets_one_sentence(huge):
    """Responses up to 1.7e308 need more than a float for a difference; fifteen such weights for their sum."""
    x, y, theta = sample(0)
    if huge != "theta":
        y = y / np.abs(y).max() * 1.7e308
    if huge != "y":
        theta = theta / np.abs(theta).max() * 1.7e308
    with pytest.raises(ValueError, match="`y` and `theta` must be smaller: the residuals overflow"):
        contrast_many(x, y, [(0, 1)], theta=theta)


@pytest.mark.parametrize("threads", (0, 1.5, "2", None))
def test_bad_threads(threads):
    x, y, theta = sample(0)
    with pytest.raises(ValueError, match="`threads` must be a whole number of at least 1"):
        contrast_many(x, y, [(0, 1)], theta=theta, threads=threads)


def test_an_interval_that_is_the_whole_line_stays_so():
    low, high = effect_interval(np.array([0.3, np.nan, 0.3]), np.array([np.inf, np.inf, 0.1]), np.full(3, 50.0), 0.999)
    assert (low[:2] == -np.inf).all()
    assert (high[:2] == np.inf).all()
    assert -np.inf < low[2] < 0.3 < high[2]
