import numpy as np
import pytest
from long_runs import times
from scipy.special import ndtr

from datamodels_inf.prediction import CountedFamily, evidence_cells, predict
from datamodels_inf.prediction.outlook import HOEFFDING
from datamodels_inf.shape import Shape, harmonic

ALPHA = 0.2
TRUTHS = {
    "dense": lambda rng, m: 2.0 * rng.standard_normal(m),
    "heavy": lambda rng, m: rng.standard_t(3, m),
    "sparse": lambda rng, m: np.where(rng.random(m) < 0.05, 5.0, 0.2) * rng.standard_normal(m),
}


def simulated(name, rng, m=2000, gain=0.8):
    """(cells, p) of tests whose z-scores are N(μ, 1) on the fit rows and N(gain·μ, 1) on the tested ones."""
    effect = TRUTHS[name](rng, m)
    cells = evidence_cells(effect + rng.standard_normal(m), np.ones(m), np.full(m, 1.0 / gain))
    return cells, 2.0 * ndtr(-np.abs(gain * effect + rng.standard_normal(m)))


def step_up(p, weight, shape):
    k = np.arange(1, len(p) + 1)
    enough = np.flatnonzero(np.sort(p / weight) <= ALPHA * shape.beta(k) / len(p))
    return enough[-1] + 1 if enough.size else 0


def is_plain(found, cells):
    by = Shape.benjamini_yekutieli(found.family.size)
    k = np.arange(1, found.family.size + 1)
    return bool(found.reason) and (found.weights(cells) == 1).all() and (found.shape.beta(k) == by.beta(k)).all()


@pytest.mark.parametrize("name", TRUTHS)
def test_what_is_expected_is_what_is_found_and_more_than_by_finds(name):
    rng = np.random.default_rng(3)
    inside, ratio, gained = [], [], []
    for _ in range(times(5, 60)):
        cells, p = simulated(name, rng)
        found = predict(CountedFamily.of(cells), alpha=ALPHA)
        realised, by = step_up(p, found.weights(cells), found.shape), step_up(p, 1.0, Shape.benjamini_yekutieli(2000))
        inside.append(found.interval[0] <= realised <= found.interval[1])
        ratio.append(np.log(realised / found.expected))
        gained.append(realised / by)
    assert np.mean(inside) >= 0.8
    assert abs(np.mean(ratio)) < 0.1
    assert np.mean(gained) > 1.15


@pytest.mark.parametrize("name", TRUTHS)
def test_a_wrong_prediction_costs_little(name):
    """Weights dealt out at random, and ν for a family that has far more findings."""
    rng = np.random.default_rng(4)
    cells, p = simulated(name, rng, gain=1.2)
    found = predict(CountedFamily.of(cells), alpha=ALPHA)
    by = Shape.benjamini_yekutieli(2000)
    plain = step_up(p, 1.0, by)
    dealt = np.mean([step_up(p, rng.permutation(found.weights(cells)), by) for _ in range(20)])
    assert dealt >= 0.97 * plain
    rich, _ = simulated("dense", rng, gain=8.0)
    assert step_up(p, 1.0, predict(CountedFamily.of(rich), alpha=ALPHA).shape) >= 0.93 * plain


def test_whatever_is_predicted_no_threshold_falls_below_a_fixed_share_of_by():
    rng = np.random.default_rng(5)
    cells, _ = simulated("sparse", rng)
    found = predict(CountedFamily.of(cells), alpha=ALPHA, floor=0.9, least_weight=0.6)
    r = np.arange(1, 2001)
    assert found.weights(cells).min() >= 0.6 - 1e-12
    assert (found.shape.beta(r) >= 0.9 * r / harmonic(2000) * (1 - 1e-12)).all()


def test_chunks_repetitions_and_order_change_no_bit():
    cells, _ = simulated("heavy", np.random.default_rng(6))
    whole = predict(CountedFamily.of(cells), alpha=ALPHA)
    parts = predict(CountedFamily.of(cells[1500:]) + CountedFamily.of(cells[:1500]), alpha=ALPHA)
    assert (np.concatenate([parts.weights(cells[:7]), parts.weights(cells[7:])]) == whole.weights(cells)).all()
    assert (whole.shape.mass == parts.shape.mass).all() and (whole.shape.support == parts.shape.support).all()
    assert whole.figures() == parts.figures()
    assert whole.weights(cells).mean() == pytest.approx(1.0, abs=1e-12)


def test_the_sign_and_the_unit_of_effects_do_not_matter():
    rng = np.random.default_rng(7)
    z, sign = 3.0 * rng.standard_normal(500), rng.choice([-1.0, 1.0], 500)
    error = np.ones(500)
    assert (evidence_cells(z, error, error) == evidence_cells(1024 * sign * z, 1024 * error, 1024 * error)).all()


def test_tests_without_evidence_have_weight_one():
    cells, _ = simulated("sparse", np.random.default_rng(8))
    both = np.concatenate([cells, evidence_cells(np.zeros(300), np.full(300, np.inf), np.ones(300))])
    found = predict(CountedFamily.of(both), alpha=ALPHA)
    assert not found.reason and (found.weights(both)[2000:] == 1).all()
    assert found.weights(both).mean() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("estimate", "error", "gain"),
    (
        (np.zeros(500), 1.0, 1.0),
        (np.zeros(500), 0.0, 1.0),
        (np.linspace(-9, 9, 500), np.inf, 1.0),
        (np.linspace(-9, 9, 500), 1.0, 0.0),
        (np.full(1, 9.0), 1.0, 1.0),
        (np.full(2, 9.0), 1.0, 1.0),
    ),
    ids=("no effect", "no noise", "nothing known", "blind tests", "one test", "two tests"),
)
def test_where_nothing_can_be_learned_it_is_bys(estimate, error, gain):
    cells = evidence_cells(estimate, error, 1.0, gain)
    found = predict(CountedFamily.of(cells), alpha=ALPHA)
    assert is_plain(found, cells)
    assert found.figures()["reason"] and found.figures()["n_tests"] == len(estimate)


def test_only_strong_effects_are_no_trouble():
    cells = evidence_cells(np.full(300, 1e6), np.ones(300), np.ones(300))
    found = predict(CountedFamily.of(cells), alpha=ALPHA)
    assert found.weights(cells) == pytest.approx(1.0)
    assert found.reason or found.expected >= 299


def test_a_bound_expects_less_than_an_exact_pvalue():
    family = CountedFamily.of(simulated("heavy", np.random.default_rng(9))[0])
    assert predict(family, alpha=ALPHA, law=HOEFFDING).expected < predict(family, alpha=ALPHA).expected


@pytest.mark.parametrize(
    "wrong", ({"estimate": np.nan}, {"standard_error": -1.0}, {"test_error": np.nan}, {"efficiency": -0.1})
)
def test_nan_and_negative_errors_are_refused(wrong):
    good = {"estimate": 1.0, "standard_error": 1.0, "test_error": 1.0, "efficiency": 1.0} | wrong
    with pytest.raises(ValueError, match="must be vectors without NaN"):
        evidence_cells(**{name: np.full(3, value) for name, value in good.items()})


def test_an_empty_family_is_refused():
    with pytest.raises(ValueError, match="`family` must hold at least one test"):
        predict(CountedFamily.of(np.empty(0, np.int64)), alpha=ALPHA)


def test_tests_that_share_images_are_predicted_with_more_doubt():
    family = CountedFamily.of(simulated("sparse", np.random.default_rng(10))[0])
    alone, shared = (predict(family, alpha=ALPHA, sharing=sharing) for sharing in (1.0, 10.0))
    assert shared.interval[1] - shared.interval[0] > 1.5 * (alone.interval[1] - alone.interval[0])
    with pytest.raises(ValueError, match="`sharing` must be at least 1"):
        predict(family, alpha=ALPHA, sharing=0.5)
