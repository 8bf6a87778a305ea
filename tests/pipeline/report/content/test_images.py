"""Images of a report that are none."""

import numpy as np
import pytest

from pipeline.report import Images


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`train` must be uint8 of shape"):
        Images(np.zeros((3, 8, 8)), np.zeros((3, 8, 8), np.uint8))
