import numpy as np
import pytest

from datamodels_inf.prediction.family import GAIN_STEP, UNKNOWN, Z_STEP, CountedFamily, cells_of


def test_cells_hold_what_they_say():
    rng = np.random.default_rng(0)
    z, gain = 3.0 * rng.standard_normal(1000), np.exp(rng.standard_normal(1000))
    cells = cells_of(z, gain)
    family = CountedFamily.of(cells)
    assert np.abs(family.look_up(family.z, cells) - np.abs(z)).max() <= Z_STEP / 2 + 1e-12
    assert np.abs(np.log(family.look_up(family.gain, cells) / gain)).max() <= GAIN_STEP / 2 + 1e-12


def test_parts_in_any_order_make_the_same_family():
    rng = np.random.default_rng(1)
    cells = cells_of(3.0 * rng.standard_normal(500), rng.uniform(0.5, 2.0, 500))
    whole = CountedFamily.of(cells)
    parts = CountedFamily.of(cells[300:]) + (CountedFamily.of(cells[:17]) + CountedFamily.of(cells[17:300]))
    assert (whole.cells == parts.cells).all() and (whole.count == parts.count).all() and parts.size == 500


def test_no_evidence_is_a_cell_of_its_own_and_extremes_have_one():
    cells = cells_of([0.0, 1e300, 2.0], [np.inf, 1e9, 0.0])
    assert cells[0] == UNKNOWN and (cells[1:] >= 0).all()
    family = CountedFamily.of(cells)
    assert family.known.sum() == 2 and family.z.max() == 40.0 and family.gain.min() < 0.0011


@pytest.mark.parametrize(("z", "gain"), (([np.nan], [1.0]), ([1.0], [np.nan]), ([1.0], [-1.0]), ([[1.0]], [[1.0]])))
def test_bad_numbers_are_refused(z, gain):
    with pytest.raises(ValueError, match="`z` and `gain` must be vectors"):
        cells_of(z, gain)


def test_tests_that_were_not_counted_have_no_weight():
    family = CountedFamily.of(cells_of([1.0, 2.0], [1.0, 1.0]))
    with pytest.raises(ValueError, match="counted"):
        family.look_up(np.ones(2), cells_of([5.0], [1.0]))
