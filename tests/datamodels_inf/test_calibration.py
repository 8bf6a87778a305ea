"""Scale and bias of scores, against numpy's least squares."""

import numpy as np
import pytest

from datamodels_inf import calibration
from datamodels_inf.calibration import calibrate
from datamodels_inf.masks import PackedMasks

N, D, K = 700, 30, 5


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    masks = rng.random((N, D)) < 0.5
    theta = rng.standard_normal((D, K))
    margins = masks @ theta + rng.standard_normal((N, K)) + 3
    return masks, theta, margins


def expected(masks, scores, bias, margins):
    """(scale, bias, R² before, R² after) of each column, by the textbook."""
    rows = []
    for s, b, y in zip(scores.T, bias, margins.T, strict=True):
        p = masks @ s
        (a, c), *_ = np.linalg.lstsq(np.column_stack([p, np.ones(len(p))]), y, rcond=None)
        before, after = (1 - ((y - fit) ** 2).sum() / ((y - y.mean()) ** 2).sum() for fit in (p + b, a * p + c))
        rows.append((a, c, before, after))
    return np.array(rows).T


def values(found):
    return np.array([found.scale, found.bias, found.r2_before, found.r2_after])


def test_it_is_least_squares(data):
    masks, theta, margins = data
    rng = np.random.default_rng(1)
    scores = theta * np.array([1.0, -3.0, 1e-3, 40.0, 0.1]) + 0.1 * rng.standard_normal((D, K))
    bias = np.array([3.0, 0.0, 0.0, 1.0, 0.0])
    found = calibrate(scores, bias, PackedMasks.from_bool(masks), margins)
    np.testing.assert_allclose(values(found), expected(masks, scores, bias, margins), rtol=1e-8)
    assert found.scale[1] < 0  # Scores that count harm as positive are turned round.
    assert not found.constant.any()


def test_blocks_of_rows_and_of_targets_change_nothing(data, monkeypatch):
    masks, theta, margins = data
    packed = PackedMasks.from_bool(masks)
    whole = calibrate(theta, np.zeros(K), packed, margins)
    monkeypatch.setattr(calibration, "ROWS_AT_ONCE", 64)
    monkeypatch.setattr(calibration, "BLOCK_BYTES", 1)
    np.testing.assert_allclose(values(calibrate(theta, np.zeros(K), packed, margins)), values(whole), rtol=1e-12)


@pytest.mark.parametrize("unit", (1e-200, 1e-20, 1.0, 1e20, 1e200))
def test_any_unit_gives_the_same_predictions(data, unit):
    masks, theta, margins = data
    packed = PackedMasks.from_bool(masks)
    plain, other = (calibrate(theta * u, np.zeros(K), packed, margins) for u in (1.0, unit))
    np.testing.assert_allclose(other.scale * unit, plain.scale, rtol=1e-9)
    np.testing.assert_allclose(other.bias, plain.bias, rtol=1e-9)
    np.testing.assert_allclose(other.r2_after, plain.r2_after, rtol=1e-9)


def test_scores_that_say_nothing_get_the_scale_zero_and_the_mean_as_bias():
    """Zeros, and equal scores under masks of one size, whose sums rounding must not tell apart."""
    rng = np.random.default_rng(2)
    masks = np.argsort(rng.random((N, D)), axis=1) < D // 2
    margins = rng.standard_normal((N, 3))
    scores = np.column_stack([np.zeros(D), np.full(D, 0.1), rng.standard_normal(D)])
    found = calibrate(scores, np.zeros(3), PackedMasks.from_bool(masks), margins)
    assert found.constant.tolist() == [True, True, False]
    assert found.scale[:2].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(found.bias[:2], margins[:, :2].mean(axis=0), rtol=1e-12)
    assert found.r2_after[:2].tolist() == [0.0, 0.0]


def test_constant_margins_have_no_r2(data):
    masks, theta, margins = data
    margins[:, 2] = 0.1
    found = calibrate(theta, np.zeros(K), PackedMasks.from_bool(masks), margins)
    assert np.isnan(found.r2_after).tolist() == [False, False, True, False, False]
    assert (found.scale[2], found.bias[2]) == (0.0, 0.1)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"scores": np.ones((D, 3))}, r"`scores` must have shape \(30, 5\)"),
    ({"bias": np.ones(2)}, "`bias` one entry a column"),
    ({"scores": np.full((D, K), np.nan)}, "must be finite"),
    ({"scores": np.where(np.arange(D)[:, None] == 3, np.inf, np.ones(K))}, "must be finite"),
    ({"margins": np.ones((3, K))}, "one row for each"),
])  # fmt: skip
def test_bad_input(data, change, sentence):
    masks, theta, margins = data
    arguments = {"scores": theta, "bias": np.zeros(K), "masks": PackedMasks.from_bool(masks), "margins": margins}
    with pytest.raises(ValueError, match=sentence):
        calibrate(**{**arguments, **change})
