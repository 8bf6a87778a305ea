"""Shapes: β against its sum, and what is no probability is refused."""

import numpy as np
import pytest

from datamodels_inf.shape import Shape, harmonic


def test_beta_is_the_sum_of_r_times_nu() -> None:
    m, share = 40, 0.3
    support, mass = np.array([3, 10, 40]), np.array([0.2, 0.4, 0.1])
    nu = share / (np.arange(1, m + 1) * harmonic(m))
    nu[support - 1] += mass
    expected = np.concatenate([[0.0], np.cumsum(np.arange(1, m + 1) * nu)])
    np.testing.assert_allclose(Shape(m, support, mass, share).beta(np.arange(m + 1)), expected, rtol=1e-12)
    assert nu.sum() == pytest.approx(1.0)


def test_benjamini_yekutieli_is_k_over_h_m() -> None:
    beta = Shape.benjamini_yekutieli(2000).beta([1, 500, 2000])
    np.testing.assert_allclose(beta, np.array([1, 500, 2000]) / np.sum(1.0 / np.arange(1, 2001)), rtol=1e-12)


@pytest.mark.parametrize(
    ("support", "mass", "share", "words"),
    [
        ([2, 2], [0.5, 0.5], 0.0, "increasing"),
        ([0], [1.0], 0.0, "from 1 to 9"),
        ([10], [1.0], 0.0, "from 1 to 9"),
        ([2], [0.5], 0.4, "add up to 0.9"),
        ([2], [-0.5], 1.5, "negative"),
    ],
)
def test_what_is_no_probability_is_refused(support: list[int], mass: list[float], share: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Shape(9, np.array(support), np.array(mass), share)
