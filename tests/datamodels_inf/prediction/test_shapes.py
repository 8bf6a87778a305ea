import numpy as np
import pytest

from datamodels_inf.prediction.shapes import expected_shape
from datamodels_inf.shape import harmonic


@pytest.mark.parametrize("m", (1, 2, 30, 2000, 60_000))
@pytest.mark.parametrize("around", ([1.0], [25.0, 30.0], [1e9], [700.0]), ids=str)
def test_no_number_of_rejections_loses_more_than_the_floor_says(m, around):
    shape = expected_shape(m, np.array(around), 0.8)
    r = np.arange(1, m + 1)
    assert (shape.beta(r) >= 0.8 * r / harmonic(m) * (1 - 1e-12)).all()
    assert shape.mass.sum() == pytest.approx(1.0, abs=1e-12) and shape.by_share == 0.0


def test_the_rest_is_where_rejections_are_expected():
    """A fifth and what BY spends just above the expected number: more than a plain mixture of BY's leaves."""
    m, centre = 2000, 300.0
    share = {floor: expected_shape(m, np.array([centre]), floor).beta(centre) / centre for floor in (0.5, 0.8, 0.9)}
    for floor, reached in share.items():
        assert reached > 1.1 * (1.0 - floor + floor / harmonic(m))
    assert share[0.8] == pytest.approx(0.45, abs=0.02)


def test_less_mass_below_would_break_the_floor():
    shape = expected_shape(2000, np.array([300.0]), 0.8)
    r = np.arange(1, 101)
    assert shape.beta(r) == pytest.approx(0.8 * r / harmonic(2000), rel=1e-6)


def test_the_support_stays_small():
    assert len(expected_shape(500_000_000, np.array([1e6]), 0.8).support) < 2000


def test_a_floor_is_a_share():
    with pytest.raises(ValueError, match="`floor` must lie strictly between 0 and 1"):
        expected_shape(10, np.array([3.0]), 1.0)
