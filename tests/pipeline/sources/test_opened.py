"""Rows of an open set: which are read, how they are divided, and what goes into the store."""

import numpy as np
import pytest
from own_folders import law

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.sources.mask_rows import NumberRows
from pipeline.sources.opened import Opened, copy_rows, divided_rows, finished_rows
from pipeline.sources.outcome_rows import OutcomeRows

MASKS, OUTCOMES = law()
TOP = load_config("digits", ["source.fit_rows=", "source.held_out_rows=", "test.repeats=", "test.design=top"])


def opened(masks=MASKS, outcomes=OUTCOMES, **more):
    return Opened("m.npy", NumberRows("m.npy", masks), OutcomeRows("y.npy", outcomes), np.arange(len(masks)), **more)


def test_rows_that_are_not_completed_and_those_without_an_outcome_are_two_reasons():
    completed, missing = np.ones(6, bool), np.zeros(6, bool)
    completed[[0, 1]], missing[[1, 4]] = False, True
    rows, lines = finished_rows(6, completed, missing, "c.npy", "y.npy")
    assert rows.tolist() == [2, 3, 5]
    assert lines == (
        "2 models are not completed (c.npy): left out",
        "1 model has no outcome, NaN for every target (y.npy): left out",
    )
    assert finished_rows(3, None, np.zeros(3, bool), "", "y.npy")[1] == ()
    with pytest.raises(BadInputError, match=r"y\.npy says that no model is completed"):
        finished_rows(3, None, np.ones(3, bool), "", "y.npy")


def test_equal_masks_that_are_meant_are_made_one(tmp_path):
    """Seeds say so, without any setting."""
    twice = opened(np.repeat(MASKS, 2, axis=0), np.repeat(OUTCOMES, 2, axis=0) + np.tile([[0.0], [1.0]], (600, 1)))
    assert len(divided_rows(TOP, twice).groups) == 1200
    rows = copy_rows(TOP, Opened(**{**vars(twice), "repeated": True}), tmp_path, True)
    assert (rows.n_models, rows.n_repeated, rows.fit) == (600, 600, (0, 300))
    np.testing.assert_allclose(np.load(tmp_path / "margins.npy"), OUTCOMES + 0.5, rtol=1e-6)


def test_a_manifest_says_what_outcomes_are_where_they_are_no_margins(tmp_path):
    assert not {"outcome", "higher_is_better"} & copy_rows(TOP, opened(), tmp_path, True).as_json().keys()
    said = copy_rows(TOP, opened(outcome="loss", higher_is_better=False), tmp_path, True).as_json()
    assert (said["outcome"], said["higher_is_better"]) == ("loss", False)


def test_a_mask_without_any_image_is_named(tmp_path):
    masks = MASKS.copy()
    masks[17] = False
    with pytest.raises(BadInputError, match=r"m\.npy holds masks without any image, in row 17"):
        copy_rows(TOP, opened(masks), tmp_path, True)
