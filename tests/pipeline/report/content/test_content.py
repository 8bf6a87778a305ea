"""What no report is made of: parts that do not fit each other."""

import numpy as np
import pytest
from report_content import make_content, make_quality, make_row

from datamodels_inf.multiplicity import CORRECTIONS


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=f"`correction` must be one of {', '.join(CORRECTIONS)}"):
        make_content([], correction="none")
    with pytest.raises(ValueError, match="`target` of a row is 12, but there are 12 images"):
        make_content([make_row(target=12)])
    with pytest.raises(ValueError, match="`targets` holds 12, but there are 12 images"):
        make_content([], quality=make_quality([0.1], targets=np.array([12])))
