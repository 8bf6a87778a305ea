"""Blocks of models: what is before and after each."""

import pytest
from report_content import make_blocks, make_content

from pipeline.report.content import Blocks


def test_each_block_is_tested_with_a_fit_of_all_models_before_it():
    blocks = make_blocks(100, (200, 400, 300))
    assert blocks.fitted == (100, 300, 700)
    assert blocks.tested == (200, 600, 900)
    assert blocks.n_tested == 900
    assert blocks.on_last == ("swap",)


def test_a_method_is_tested_on_all_blocks_or_the_last():
    content = make_content([], blocks=make_blocks(), n_models_test=900)
    assert [content.n_models_of(name) for name in ("paired", "swap")] == [900, 300]
    assert (content.n_models_judged, content.tested_model) == (300, "tested model")
    content = make_content([])
    assert [content.n_models_of(name) for name in ("paired", "swap")] == [1000, 1000]
    assert (content.n_models_judged, content.tested_model) == (1000, "held-out model")


@pytest.mark.parametrize(("sizes", "r2"), [((200, 400, 300), (0.1, 0.2)), ((), ())])
def test_blocks_and_their_figures_belong_together(sizes, r2):
    with pytest.raises(ValueError, match="`r2` must have one entry for each of the blocks"):
        Blocks(100, sizes, {}, r2)
