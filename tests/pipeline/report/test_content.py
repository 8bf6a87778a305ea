"""What no report is made of."""

import math

import numpy as np
import pytest
from report_content import make_content, make_quality, make_row

from pipeline.report import Images, write_report


def test_bad_input_is_refused(tmp_path):
    (tmp_path / "old").write_text("x")
    with pytest.raises(ValueError, match="`folder` must be an existing empty folder"):
        write_report(tmp_path, make_content([]))
    with pytest.raises(ValueError, match="`correction` must be one of by, bh, holm, bonferroni"):
        make_content([], correction="none")
    with pytest.raises(ValueError, match="`target` of a row is 12, but there are 12 images"):
        make_content([make_row(target=12)])
    with pytest.raises(ValueError, match="`train` must be uint8 of shape"):
        Images(np.zeros((3, 8, 8)), np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="`mse` must have one entry for each of the 2 targets"):
        make_quality([0.1, 0.2], mse=np.ones(3))
    with pytest.raises(ValueError, match="`shown_true` and `shown_predicted` must have one row for each target"):
        make_quality([0.1], shown_true=np.ones((1, 3)))
    with pytest.raises(ValueError, match="`shown_true` and `shown_predicted` must be finite"):
        make_quality([0.1], shown_true=np.full((1, 400), math.inf))
    with pytest.raises(ValueError, match="`shown` must hold positions among the 2 targets"):
        make_quality([0.1, 0.2], shown=np.array([0, 2]))
    with pytest.raises(ValueError, match="`targets` holds 12, but there are 12 images"):
        make_content([], quality=make_quality([0.1], targets=np.array([12])))
