"""Rows for the fit and rows for the test, and rows that are no models."""

import numpy as np
import pytest
from masks_of_people import TOP, make, pairs_of, run

from pipeline.config import Source
from pipeline.errors import BadInputError
from pipeline.sources.row_split import refuse_empty, split_rows


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


def source(fit, held_out):
    return Source(fit_rows=fit, held_out_rows=held_out)


def test_the_first_rows_are_for_the_fit_and_the_last_for_the_test():
    assert split_rows(source(30, 20), 100) == ((0, 30), (80, 100))
    assert split_rows(source(80, 20), 100) == ((0, 80), (80, 100))


def test_one_row_for_both_is_leakage():
    with pytest.raises(BadInputError) as caught:
        split_rows(source(81, 20), 100, "different masks")
    assert str(caught.value) == (
        "source.fit_rows = 81 and source.held_out_rows = 20 overlap: there are only 100 different masks, and testing "
        "on rows that the fit has seen is leakage; lower one of them."
    )


def test_rows_without_an_image_are_named_but_not_all_of_many():
    refuse_empty("masks.npy", [])
    with pytest.raises(BadInputError, match=r"masks\.npy holds masks without any image, in row 7: were"):
        refuse_empty("masks.npy", [7])
    with pytest.raises(BadInputError) as caught:
        refuse_empty("masks.npy", range(100_000))
    assert "in rows 0, 1, 2" in str(caught.value)
    assert len(str(caught.value)) < 400
