"""Masks of all or nothing have no law to speak of."""

import numpy as np
import pytest

from datamodels_inf import check_exchangeable
from pipeline.report.content import MaskCheck


def checked(masks):
    return MaskCheck(check_exchangeable(masks), masks.sum(axis=0))


def test_random_masks_have_a_law():
    assert checked(np.random.default_rng(0).random((100, 6)) < 0.5).has_law
    assert checked(np.eye(6, dtype=bool)).has_law


@pytest.mark.parametrize("value", (False, True))
def test_masks_of_all_or_nothing_have_none(value):
    assert not checked(np.full((100, 6), value)).has_law
