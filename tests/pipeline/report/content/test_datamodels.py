"""Figures of datamodels that do not fit each other."""

import math

import numpy as np
import pytest
from report_content import make_quality


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`mse` must have one entry for each of the 2 targets"):
        make_quality([0.1, 0.2], mse=np.ones(3))
    with pytest.raises(ValueError, match="`shown_true` and `shown_predicted` must have one row for each target"):
        make_quality([0.1], shown_true=np.ones((1, 3)))
    with pytest.raises(ValueError, match="`shown_true` and `shown_predicted` must be finite"):
        make_quality([0.1], shown_true=np.full((1, 400), math.inf))
    with pytest.raises(ValueError, match="`shown` must hold positions among the 2 targets"):
        make_quality([0.1, 0.2], shown=np.array([0, 2]))
