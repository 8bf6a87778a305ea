"""The contrast: its definition, its interval, its words."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from datamodels_inf import SquaredResidual, contrast, paired_swap_test


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
def test_estimate_and_interval_are_welchs(seed):
    x, y, theta = sample(seed)
    a, b = naive(x, y, 2, 9, theta, 0.7)
    effect = contrast(x, y, 2, 9, theta=theta, bias=0.7, confidence=0.9)
    expected = ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
    assert effect.estimate == pytest.approx(a.mean() - b.mean())
    assert effect.interval == pytest.approx((expected.low, expected.high))
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
    """θ̂ = 0 everywhere: the squared residual sees only ties, the contrast sees the effect (METHOD 8)."""
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
    words = f"training on this dog instead of that truck raises the margin on this target by {up.estimate:.3g}, 95% "
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


@pytest.mark.parametrize("scale", (1e-160, 1e-100, 1e80, 1e150))
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
