"""τ_X: the Gaussian formula against the true distance, and the check of masks against laws that break it."""

import numpy as np
import pytest

from datamodels_inf import check_exchangeable, tau_x_gaussian


def test_zero_for_exchangeable_gaussians():
    assert tau_x_gaussian(np.zeros(4), np.eye(4) * 3, 0, 3) == 0.0
    equicorrelated = np.full((4, 4), 0.3) + 0.7 * np.eye(4)
    assert tau_x_gaussian(np.full(4, 2.0), equicorrelated, [0, 1], [2, 3]) == pytest.approx(0.0, abs=1e-7)


def test_the_formula_term_by_term():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((5, 5))
    cov, mean = a @ a.T + np.eye(5), rng.standard_normal(5)
    p = np.eye(5)[[3, 1, 2, 0, 4]]
    inverse = np.linalg.inv(cov)
    trace = np.trace(-np.eye(5) + p @ inverse @ p @ cov)
    gap = mean - p @ mean
    assert tau_x_gaussian(mean, cov, 0, 3) == pytest.approx(0.5 * np.sqrt(trace + gap @ inverse @ gap))


@pytest.mark.parametrize("seed", range(3))
def test_bounds_the_total_variation(seed):
    """Pinsker: τ_X ≥ d_TV, here by Monte Carlo, E_p[(1 − q/p)⁺]."""
    rng = np.random.default_rng(seed)
    scale = np.array([1.0, 1.3, 0.8])
    mean = np.array([0.2, 0.0, 0.1])
    x = mean + scale * rng.standard_normal((200_000, 3))

    def log_density(z):
        return -0.5 * (((z - mean) / scale) ** 2).sum(axis=1)

    distance = np.maximum(0.0, 1 - np.exp(log_density(x[:, [1, 0, 2]]) - log_density(x))).mean()
    bound = tau_x_gaussian(mean, np.diag(scale**2), 0, 1)
    assert 0.05 < distance <= bound < 2 * distance


@pytest.mark.parametrize(("mean", "cov", "sentence"), [
    ([0.0, np.nan], np.eye(2), "`mean` must be finite"),
    ([0.0, 0.0], np.eye(3), "`cov` must be a finite"),
    ([0.0, 0.0], [[1, 2], [2, 1]], "`cov` must be symmetric and positive definite"),
    ([0.0, 0.0], [[1, 0.5], [0, 1]], "`cov` must be symmetric"),
    ([0.0, 0.0], [[1e-9, 5e-10], [-5e-10, 1e-9]], "`cov` must be symmetric"),
    ([], np.empty((0, 0)), "`cov` must be"),
])  # fmt: skip
def test_bad_gaussians(mean, cov, sentence):
    with pytest.raises(ValueError, match=sentence):
        tau_x_gaussian(mean, cov, 0, 1)


def fixed_size(rng, n, d, m):
    return rng.random((n, d)).argsort(axis=1) < m


def test_detects_the_law():
    rng = np.random.default_rng(0)
    fixed = check_exchangeable(fixed_size(rng, 500, 40, 20))
    assert (fixed.law, fixed.smallest, fixed.largest, fixed.proportion) == ("fixed-size", 20, 20, 0.5)
    bernoulli = check_exchangeable(rng.random((500, 40)) < 0.3)
    assert bernoulli.law == "bernoulli"
    assert bernoulli.proportion == pytest.approx(0.3, abs=0.02)
    for report in (fixed, bernoulli):
        assert report.ok
        assert report.tau_x == 0.0
        assert report.reasons == ()


@pytest.mark.parametrize("law", ("fixed", "bernoulli"))
def test_false_alarms_are_rare(law):
    rng = np.random.default_rng(1)
    draw = (lambda: fixed_size(rng, 100, 30, 15)) if law == "fixed" else (lambda: rng.random((100, 30)) < 0.5)
    alarms = sum(not check_exchangeable(draw(), alpha=0.05).ok for _ in range(600))
    assert alarms <= 600 * 0.05 + 5 * np.sqrt(600 * 0.05 * 0.95)


def test_a_favoured_column_is_found():
    rng = np.random.default_rng(2)
    masks = rng.random((1000, 50)) < 0.5
    masks[:, 17] = rng.random(1000) < 0.65
    report = check_exchangeable(masks)
    assert not report.ok
    assert report.column == 17
    assert np.isnan(report.tau_x)
    assert "column 17" in report.reasons[0]


def test_a_neglected_column_is_found():
    rng = np.random.default_rng(2)
    masks = rng.random((1000, 50)) < 0.5
    masks[:, 3] = rng.random(1000) < 0.35
    report = check_exchangeable(masks)
    assert (report.ok, report.column) == (False, 3)


def test_the_law_of_duplicates():
    """Masks of 2 of 40 images: 780 of them, so 100 rows repeat some; the check knows that, also for few repeats."""
    rng = np.random.default_rng(4)
    report = check_exchangeable(fixed_size(rng, 100, 40, 2))
    assert report.n_duplicates > 0
    assert report.ok
    large = fixed_size(rng, 100, 40, 20)
    large[1] = large[0]
    assert not check_exchangeable(large).ok


def test_duplicated_rows_are_found_but_not_where_chance_makes_them():
    rng = np.random.default_rng(3)
    masks = rng.random((1000, 60)) < 0.5
    masks[500] = masks[3]
    report = check_exchangeable(masks)
    assert (report.ok, report.n_duplicates) == (False, 1)
    assert "1 of 1000 masks repeat" in report.reasons[0]
    few_columns = check_exchangeable(rng.random((1000, 6)) < 0.5)
    assert few_columns.ok
    assert few_columns.n_duplicates > 900


@pytest.mark.parametrize("masks", (np.zeros(3), np.zeros((0, 3)), [[0, 2]], [[0.5, 1]]))
def test_bad_masks(masks):
    with pytest.raises(ValueError, match="`masks` must"):
        check_exchangeable(masks)


def test_integer_masks_are_fine():
    assert check_exchangeable((np.random.default_rng(0).random((50, 20)) < 0.5).astype(int)).ok
