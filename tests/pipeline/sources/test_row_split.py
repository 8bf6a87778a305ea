"""Rows for the fit and rows for the test, and rows that are no models."""

import numpy as np
import pytest
from masks_of_people import TOP, make, pairs_of, run

from pipeline.errors import BadInputError


def test_too_few_different_masks_are_said(tmp_path):
    make(tmp_path / "0", "reseeded")
    with pytest.raises(BadInputError, match="there are only 550 different masks"):
        run(tmp_path / "0", *TOP, "source.group_by_mask=true")


def test_rows_that_were_never_trained_are_named(tmp_path):
    masks = make(tmp_path / "0", "uniform")
    masks[[3, 90, 400]] = False
    np.save(tmp_path / "0" / "masks.npy", masks)
    with pytest.raises(BadInputError, match="masks without any image, in rows 3, 90, 400: were these models trained"):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "across"))
