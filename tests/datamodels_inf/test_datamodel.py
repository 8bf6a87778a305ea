"""Datamodels: the two codings, held-out quality against scikit-learn and scipy, and detection of the coding."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import r2_score

from datamodels_inf import datamodel as datamodel_module
from datamodels_inf.datamodel import Coding, Datamodel, detect_coding
from datamodels_inf.masks import PackedMasks

N_MODELS, N_TRAIN, N_TARGETS = 200, 37, 11
CODINGS: tuple[Coding, ...] = ("mask", "signed")

Floats = NDArray[np.float64]


def random_model(coding: Coding = "mask", n_targets: int = N_TARGETS, seed: int = 0) -> Datamodel:
    """Sparse weights on a dyadic grid, so that every sum is exact."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(-1000, 1000, (N_TRAIN, n_targets)) / 256 * (rng.random((N_TRAIN, n_targets)) < 0.5)
    return Datamodel(weight, rng.integers(-500, 500, n_targets) / 64, np.full(n_targets, np.nan), coding)


def random_masks(seed: int = 1) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((N_MODELS, N_TRAIN)) < 0.5


def noisy(predictions: Floats, scale: float = 1.0, seed: int = 2) -> Floats:
    return predictions + np.random.default_rng(seed).normal(scale=scale, size=predictions.shape)


@pytest.fixture(params=[1, 10**9], ids=["one target a block", "one block"])
def block_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datamodel_module, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predict_is_the_formula(coding: Coding, dtype: type) -> None:
    model, masks = random_model(coding), random_masks()
    model = Datamodel(model.weight.astype(dtype), model.bias.astype(dtype), model.lam, coding)
    code = masks.astype(float) if coding == "mask" else 2.0 * masks - 1
    expected = code @ model.weight.astype(float) + model.bias
    for given_masks in (masks, PackedMasks.from_bool(masks)):
        predictions = model.predict(given_masks)
        assert predictions.dtype == np.float64
        np.testing.assert_array_equal(predictions, expected)


def test_float32_weights_are_summed_in_float64() -> None:
    weight = np.ones((2, 1), dtype=np.float32)
    weight[0] = 2**24  # 2²⁴ + 1 is no float32
    model = Datamodel(weight, np.zeros(1, dtype=np.float32), np.zeros(1))
    np.testing.assert_array_equal(model.predict(np.ones((1, 2), dtype=bool)), [[2**24 + 1]])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), n_targets=st.integers(1, 6))
def test_the_mask_coding_predicts_the_same(seed: int, n_targets: int) -> None:
    model, masks = random_model("signed", n_targets, seed), random_masks(seed)
    converted = model.in_mask_coding()
    assert converted.coding == "mask"
    np.testing.assert_array_equal(converted.predict(masks), model.predict(masks))
    np.testing.assert_array_equal(converted.weight, 2 * model.weight)
    assert converted.in_mask_coding() is converted


def test_subset_and_n_nonzero() -> None:
    base, masks = random_model("signed"), random_masks()
    model = Datamodel(base.weight, base.bias, np.arange(N_TARGETS) / 10, "signed")
    targets = [9, 0, 4]
    few = model.subset(np.array(targets))
    assert few.coding == "signed"
    np.testing.assert_array_equal(few.lam, [0.9, 0.0, 0.4])
    np.testing.assert_array_equal(few.predict(masks), model.predict(masks)[:, targets])
    np.testing.assert_array_equal(model.n_nonzero, [sum(w != 0 for w in column) for column in model.weight.T])
    assert model.n_nonzero.dtype == np.int64
    assert np.all((model.n_nonzero > 0) & (model.n_nonzero < N_TRAIN))


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("decimals", [None, 0], ids=["no ties", "ties"])
@pytest.mark.parametrize("coding", CODINGS)
def test_quality_agrees_with_sklearn_and_scipy(coding: Coding, decimals: int | None) -> None:
    model, masks = random_model(coding), random_masks()
    masks[100:150] = masks[:50]  # tied predictions
    margins = noisy(model.predict(masks), scale=4)
    if decimals is not None:
        margins = margins.round(decimals)
    quality, predicted = model.quality(PackedMasks.from_bool(masks), margins), model.predict(masks)
    expected_rank = [spearmanr(margins[:, t], predicted[:, t]).statistic for t in range(N_TARGETS)]
    np.testing.assert_allclose(quality.r2, r2_score(margins, predicted, multioutput="raw_values"), rtol=1e-12)
    np.testing.assert_allclose(quality.spearman, expected_rank, rtol=1e-12)
    np.testing.assert_allclose(quality.mse, ((margins - predicted) ** 2).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(quality.constant_mse, margins.var(axis=0), rtol=1e-12)


def test_a_perfect_datamodel() -> None:
    model, masks = random_model(), random_masks()
    quality = model.quality(masks, model.predict(masks))
    np.testing.assert_array_equal(quality.mse, 0.0)
    np.testing.assert_array_equal(quality.r2, 1.0)
    np.testing.assert_allclose(quality.spearman, 1.0, rtol=1e-14)


def test_constant_margins_and_constant_predictions_give_nan() -> None:
    base, masks = random_model(n_targets=3), random_masks()
    weight = base.weight.copy()
    weight[:, 1] = 0
    model = Datamodel(weight, base.bias, base.lam)
    margins = noisy(model.predict(masks))
    margins[:, 0] = 0.1  # its mean over 200 rows is rounded
    quality = model.quality(masks, margins)
    np.testing.assert_array_equal(np.isnan(quality.r2), [True, False, False])
    np.testing.assert_array_equal(np.isnan(quality.spearman), [True, True, False])
    assert quality.constant_mse[0] == 0
    assert np.isfinite(quality.mse).all()


def test_float16_margins_are_computed_in_float64() -> None:
    model, masks = random_model(), random_masks()
    margins = (noisy(model.predict(masks)) * 2000).clip(-60_000, 60_000).astype(np.float16)
    quality, expected = model.quality(masks, margins), model.quality(masks, margins.astype(np.float64))
    for field in ("r2", "spearman", "mse", "constant_mse"):
        np.testing.assert_array_equal(getattr(quality, field), getattr(expected, field))
    assert quality.mse.max() > np.finfo(np.float16).max


def test_quality_works_in_blocks_of_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    n_models, n_targets = 2000, 1500
    monkeypatch.setattr(datamodel_module, "BLOCK_BYTES", 4 * 10**6)
    rng = np.random.default_rng(0)
    model = random_model(n_targets=n_targets)
    masks = PackedMasks.from_bool(rng.random((n_models, N_TRAIN)) < 0.5, tile_bytes=10**5)
    margins = rng.normal(size=(n_models, n_targets)).astype(np.float16)
    tracemalloc.start()
    model.quality(masks, margins)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6  # one full matrix of predictions would take 24e6


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_detect_coding_finds_the_planted_one(coding: Coding, dtype: type) -> None:
    model, masks = random_model(coding), random_masks()
    margins = noisy(model.predict(masks)).astype(dtype)
    report = detect_coding(model.weight, model.bias, masks, margins)
    assert report.coding == coding
    mse = {"mask": report.mse_mask, "signed": report.mse_signed}
    other: Coding = "signed" if coding == "mask" else "mask"
    assert mse[coding] == pytest.approx(1, abs=0.1)
    assert mse[coding] < report.constant_mse == pytest.approx(margins.astype(float).var(axis=0).mean())
    wrong = Datamodel(model.weight, model.bias, model.lam, other).predict(masks)
    assert mse[other] == pytest.approx(((wrong - margins) ** 2).mean())


def test_detect_coding_stops_when_neither_beats_the_constant() -> None:
    model, masks = random_model(), random_masks()
    margins = np.random.default_rng(5).normal(size=(N_MODELS, N_TARGETS))
    mse = [
        ((Datamodel(model.weight, model.bias, model.lam, coding).predict(masks) - margins) ** 2).mean()
        for coding in CODINGS
    ]
    constant = margins.var(axis=0).mean()
    sentence = f"{mse[0]:.6g} (mask) and {mse[1]:.6g} (signed) against {constant:.6g} (constant)"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        detect_coding(model.weight, model.bias, masks, margins)


def test_zero_weights_never_beat_the_constant() -> None:
    margins = np.random.default_rng(5).normal(size=(N_MODELS, 2))
    with pytest.raises(ValueError, match="better than a constant"):
        detect_coding(np.zeros((N_TRAIN, 2)), margins.mean(axis=0), random_masks(), margins)


W, B, LAM = np.ones((N_TRAIN, 2)), np.zeros(2), np.zeros(2)
MODEL = Datamodel(W, B, LAM)
MARGINS = np.zeros((N_MODELS, 2))


def with_value(array: NDArray[Any], value: float) -> NDArray[Any]:
    changed = array.copy()
    changed[..., -1] = value
    return changed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Datamodel(W[:, 0], B, LAM), r"`weight` must have shape \(n_train, n_targets\)"),
        (lambda: Datamodel(W[:, :0], B[:0], LAM[:0]), r"`weight` must have shape \(n_train, n_targets\)"),
        (lambda: Datamodel(W, B[:1], LAM), r"`bias` must have shape \(2,\), got \(1,\)"),
        (lambda: Datamodel(W, B, np.zeros(3)), r"`lam` must have shape \(2,\), got \(3,\)"),
        (lambda: Datamodel(W.astype(int), B, LAM), "`weight` must be an array of floats"),
        (lambda: Datamodel(with_value(W, np.nan), B, LAM), "`weight` must be finite"),
        (lambda: Datamodel(with_value(W, -np.inf), B, LAM), "`weight` must be finite"),
        (lambda: Datamodel(W, with_value(B, np.inf), LAM), "`bias` must be finite"),
        (lambda: Datamodel(W, B, LAM - 1), "`lam` must be finite and at least 0"),
        (lambda: Datamodel(W, B, with_value(LAM, np.inf)), "`lam` must be finite and at least 0"),
        (lambda: Datamodel(W, B, LAM, "other"), "`coding` must be one of 'mask', 'signed'"),
        (lambda: MODEL.predict(np.zeros((3, 5), bool)), f"`masks` must have {N_TRAIN} columns"),
        (lambda: MODEL.quality(random_masks(), MARGINS[:, :1]), r"`margins` must have shape \(200, 2\)"),
        (lambda: MODEL.quality(random_masks(), with_value(MARGINS, np.nan)), "`margins` must be finite"),
        (
            lambda: MODEL.quality(random_masks(), with_value(MARGINS.astype(np.float16), np.inf)),
            "`margins` must be finite",
        ),
        (lambda: MODEL.quality(random_masks()[:1], MARGINS[:1]), "`margins` must have at least 2 rows"),
        (lambda: MODEL.subset([2]), r"`targets` must lie in 0\.\.1"),
        (lambda: MODEL.subset([]), "`weight` must have shape"),
        (lambda: detect_coding(W, B[:1], random_masks(), MARGINS), "`bias` must have shape"),
    ],
)
def test_errors_are_one_sentence_that_names_the_argument(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_lambda_is_allowed() -> None:
    assert np.isnan(Datamodel(W, B, np.full(2, np.nan)).lam).all()
