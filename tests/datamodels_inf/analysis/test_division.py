"""Rows are divided as a run divides them."""

import pytest

from datamodels_inf.analysis.division import divide
from datamodels_inf.analysis.settings import Settings
from datamodels_inf.row_blocks import block_ends, first_rows, held_out_split
from pipeline.config import Config
from pipeline.sources.row_split import split_rows


@pytest.mark.parametrize("design", ("top", "paper"))
@pytest.mark.parametrize(
    "rows", ({}, {"fit_rows": 300}, {"held_out_rows": 100}, {"fit_rows": 300, "held_out_rows": 50})
)
def test_the_same_rows_as_a_run(design, rows):
    config = Config.model_validate({"source": rows, "test": {"design": design}})
    fit, held_out = split_rows(config, 1000, 40)
    own = divide(Settings(**rows), 1000, 40, chosen_by_fit=design == "top")
    assert ((0, own.fit), own.tested) == (fit, held_out)
    assert own.ends == (own.fit,) and own.sizes == (own.n_tested,)


@pytest.mark.parametrize("chosen", (True, False))
def test_the_rule_decides_what_is_not_given(chosen):
    own = divide(Settings(), 1000, 40, chosen_by_fit=chosen)
    assert own.fit == held_out_split(1000, 40, chosen_by_fit=chosen)
    blocks = divide(Settings(rows="progressive"), 1000, 40, chosen_by_fit=chosen)
    assert blocks.ends == block_ends(1000, first_rows(1000, 40, chosen_by_fit=chosen))
    assert blocks.tested == (blocks.fit, 1000) and sum(blocks.sizes) == blocks.n_tested
    assert blocks.rows_of("contrast") == blocks.n_tested and blocks.rows_of("swap") == blocks.sizes[-1]


@pytest.mark.parametrize(
    ("given", "count", "words"),
    (
        ({"fit_rows": 900, "held_out_rows": 200}, 1000, "overlap: there are only 1,000 models"),
        ({"fit_rows": 998}, 1000, "overlap"),
        ({}, 30, "too few for a rule to divide them; give `fit_rows` and `held_out_rows`"),
        ({"rows": "progressive"}, 30, "give `first_rows`"),
        ({"rows": "progressive", "first_rows": 998}, 1000, "leaves 2 of 1,000 models to test"),
        ({"rows": "progressive", "first_rows": 900, "blocks": 50}, 1000, "`blocks` must be at most"),
    ),
)
def test_rows_that_cannot_be_divided(given, count, words):
    with pytest.raises(ValueError, match=words):
        divide(Settings(**given), count, 40, chosen_by_fit=True)
