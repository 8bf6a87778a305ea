"""LDS and R² against scipy and plain formulas, and intervals that cover."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from datamodels_inf.calibration import calibrate
from datamodels_inf.masks import PackedMasks
from datamodels_inf.refereeing.prediction import draw_resamples, predictions

N, D, T = 120, 20, 3


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    masks = rng.random((2 * N, D)) < 0.5
    truth = rng.standard_normal((D, T))
    outcomes = masks @ truth + rng.standard_normal((2 * N, T))
    scores = truth + rng.standard_normal((D, T))
    return masks, outcomes, scores


def made(case, *, counts=None, higher_is_better=True, threads=1):
    masks, outcomes, scores = case
    fit = calibrate(scores, np.zeros(T), PackedMasks.from_bool(masks[:N]), outcomes[:N])
    counts = draw_resamples(N, 50, seed=1) if counts is None else counts
    sums = masks[N:] @ scores
    return fit, sums, predictions(
        sums, outcomes[N:], fit.scale, fit.bias, counts, higher_is_better=higher_is_better, threads=threads
    )  # fmt: skip


def r2(y, predicted):
    return 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def test_both_are_the_plain_formulas_on_the_models_and_on_each_resample(case):
    fit, sums, found = made(case)
    y = case[1][N:]
    predicted = fit.scale * sums + fit.bias
    np.testing.assert_allclose(found.lds, [spearmanr(sums[:, t], y[:, t]).statistic for t in range(T)])
    np.testing.assert_allclose(found.r2, [r2(y[:, t], predicted[:, t]) for t in range(T)])
    for b, row in enumerate(draw_resamples(N, 50, seed=1)):
        rows = np.repeat(np.arange(N), row)
        assert len(rows) == N
        lds = [spearmanr(sums[rows, t], y[rows, t]).statistic for t in range(T)]
        assert found.lds_resampled[b] == pytest.approx(sum(lds))
        assert found.r2_resampled[b] == pytest.approx(sum(r2(y[rows, t], predicted[rows, t]) for t in range(T)))


def test_the_interval_is_made_of_quantiles_of_means_without_twice_their_bias(case):
    found = made(case)[2]
    lds, quality = found.intervals(0.9)
    assert lds.value == pytest.approx(found.lds.mean())
    means = found.lds_resampled / T
    moved = 2 * (means.mean() - lds.value)
    assert (lds.low, lds.high) == pytest.approx(tuple(np.quantile(means, [0.05, 0.95]) - moved))
    assert quality.low < quality.value < quality.high


def test_less_is_better_turns_the_lds_alone(case):
    straight, turned = made(case)[2], made(case, higher_is_better=False)[2]
    np.testing.assert_allclose(turned.lds, -straight.lds)
    np.testing.assert_allclose(turned.lds_resampled, -straight.lds_resampled)
    np.testing.assert_array_equal(turned.r2, straight.r2)


def test_parts_join_and_threads_change_nothing(case):
    outcomes = case[1]
    whole, again = made(case)[2], made(case, threads=2)[2]
    np.testing.assert_array_equal(whole.lds_resampled, again.lds_resampled)
    fit, sums, _ = made(case)
    counts = draw_resamples(N, 50, seed=1)
    parts = [
        predictions(sums[:, s], outcomes[N:, s], fit.scale[s], fit.bias[s], counts) for s in (slice(1), slice(1, T))
    ]
    joined = parts[0] + parts[1]
    np.testing.assert_allclose(joined.lds_resampled, whole.lds_resampled)
    np.testing.assert_allclose(joined.r2, whole.r2)


def test_constant_predictions_count_as_nothing_and_constant_outcomes_are_left_out():
    counts = draw_resamples(30, 10)
    y = np.random.default_rng(2).standard_normal((30, 2))
    y[:, 1] = 4.0
    found = predictions(np.ones((30, 2)), y, np.zeros(2), y.mean(axis=0), counts)
    assert found.lds.tolist() == [0.0]
    assert found.r2 == pytest.approx([0.0])
    assert not found.lds_resampled.any()


def test_without_targets_nothing_is_known():
    found = predictions(np.ones((5, 1)), np.ones((5, 1)), np.zeros(1), np.zeros(1), draw_resamples(5, 3))
    assert np.isnan(found.intervals()[0].value)


def test_draws_are_with_replacement_and_seeded():
    counts = draw_resamples(1000, 200, seed=3)
    assert (counts.sum(axis=1) == 1000).all()
    assert counts.var() == pytest.approx(1.0, abs=0.02)
    assert np.array_equal(counts, draw_resamples(1000, 200, seed=3))
    assert not np.array_equal(counts, draw_resamples(1000, 200, seed=4))


@pytest.mark.parametrize(("targets", "n", "repeats"), ((2, 150, 300), (40, 80, 150)))
def test_intervals_cover_what_many_more_models_say(targets, n, repeats):
    """95 % intervals of LDS and R², over many samples of models; the mean over many targets has little noise and as
    much bias as one, so that plain quantiles of the resamples would miss it too often."""
    rng = np.random.default_rng(7)
    truth = rng.standard_normal((15, targets))
    scores, scale = truth + 0.7 * rng.standard_normal((15, targets)), np.full(targets, 0.7)
    bias = np.zeros(targets)

    def sample(n):
        masks = rng.random((n, 15)) < 0.5
        return masks @ scores, masks @ truth + rng.standard_normal((n, targets))

    parts = [predictions(*sample(100_000), scale, bias, draw_resamples(100_000, 1)).intervals() for _ in range(2)]
    truths = np.mean([[one.value for one in part] for part in parts], axis=0)
    hits, plain = np.zeros(2), 0
    for repeat in range(repeats):
        found = predictions(*sample(n), scale, bias, draw_resamples(n, 500, seed=repeat))
        hits += [one.low <= true <= one.high for one, true in zip(found.intervals(), truths, strict=True)]
        low, high = np.quantile(found.lds_resampled / targets, [0.025, 0.975])
        plain += low <= truths[0] <= high
    assert (hits / repeats > 0.89).all(), hits / repeats
    assert (hits / repeats <= 1.0).all(), hits / repeats
    if targets > 2:
        assert plain / repeats < 0.87, plain / repeats
