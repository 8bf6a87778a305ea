"""Rows for the fit and rows for the test, and rows that are no models."""

import numpy as np
import pytest
from masks_of_people import TOP, make, pairs_of, run

from datamodels_inf.row_blocks import first_rows, held_out_split
from pipeline.config import Config, Source, Test
from pipeline.errors import BadInputError
from pipeline.sources.row_split import refuse_empty, rule_of, split_rows


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


def rows(**given):
    return Config(source=Source(**given))


def every_row(**given):
    return Config(source=Source(**given), test=Test(rows="progressive"))


def test_the_first_rows_are_for_the_fit_and_the_last_for_the_test():
    assert split_rows(rows(fit_rows=30, held_out_rows=20), 100, 9) == ((0, 30), (80, 100))
    assert split_rows(rows(fit_rows=80, held_out_rows=20), 100, 9) == ((0, 80), (80, 100))


def test_what_is_not_given_is_what_the_other_leaves_or_by_the_rule():
    assert split_rows(rows(fit_rows=30), 100, 9) == ((0, 30), (30, 100))
    assert split_rows(rows(held_out_rows=20), 100, 9) == ((0, 80), (80, 100))
    fit = held_out_split(1000, 90)
    assert split_rows(rows(), 1000, 90) == ((0, fit), (fit, 1000))


def test_where_every_model_tests_the_first_rows_alone_are_for_the_fit():
    first = first_rows(1000, 90)
    assert split_rows(every_row(fit_rows=700, held_out_rows=20), 1000, 90) == ((0, first), (first, 1000))
    assert split_rows(every_row(first_rows=40), 1000, 90) == ((0, 40), (40, 1000))
    with pytest.raises(
        BadInputError, match=r"first_rows = 999 leaves 1 of 1,000 models to test, and 3 are the least; lower"
    ):
        split_rows(every_row(first_rows=999), 1000, 90)


def test_pairs_that_the_fit_chooses_have_a_rule_of_their_own():
    top = Test(design="top")
    assert split_rows(Config(test=top), 1000, 90)[0] == (0, held_out_split(1000, 90, chosen_by_fit=True))
    every = Test(design="top", rows="progressive")
    assert split_rows(Config(test=every), 1000, 90)[0] == (0, first_rows(1000, 90, chosen_by_fit=True))
    assert [rule_of(config) for config in (Config(test=top), rows(), rows(fit_rows=30))] == [
        "pairs chosen by the fit",
        "any pairs",
        "",
    ]


def test_too_few_rows_for_any_rule_are_said():
    with pytest.raises(
        BadInputError, match=r"there are only 10 models, too few for a rule to divide them; give source\.fit_rows"
    ):
        split_rows(rows(), 10, 90)


def test_one_row_for_both_is_leakage():
    with pytest.raises(BadInputError) as caught:
        split_rows(rows(fit_rows=81, held_out_rows=20), 100, 9, "different masks")
    assert str(caught.value) == (
        "source.fit_rows = 81 and source.held_out_rows = 20 overlap: there are only 100 different masks, and testing "
        "on rows that the fit has seen is leakage; lower one of them, or leave both to the rule of docs/rows.md (on "
        "the command line: --set source.fit_rows= --set source.held_out_rows=)."
    )


def test_rows_without_an_image_are_named_but_not_all_of_many():
    refuse_empty("masks.npy", [])
    with pytest.raises(BadInputError, match=r"masks\.npy holds masks without any image, in row 7: were"):
        refuse_empty("masks.npy", [7])
    with pytest.raises(BadInputError) as caught:
        refuse_empty("masks.npy", range(100_000))
    assert "in rows 0, 1, 2" in str(caught.value)
    assert len(str(caught.value)) < 400
