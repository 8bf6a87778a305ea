"""All that a page shows comes from the stages before it."""

import numpy as np

from pipeline.stages.report.content import content_of
from pipeline.stages.report.decided import read_decided
from pipeline.summaries import FitSummary, TestSummary, read_summary


def test_the_content_is_that_of_the_stages(finished):
    test = read_summary(finished.inputs["test"], TestSummary)
    decided = read_decided(finished, test)
    content = content_of(finished, decided, {"curves": {}})
    assert content.groups == decided.groups
    assert content.counts["contrast"]["by"] == decided.groups[0].n_found
    assert content.r2_median == read_summary(finished.inputs["fit"], FitSummary).r2_median
    assert content.n_models_test == finished.data.held_out_masks.n_models
    assert len(content.train_classes) == content.n_train == finished.data.n_train
    np.testing.assert_array_equal(content.quality.targets, finished.fitted.targets)
    assert (content.blocks, content.growth, content.galleries) == (None, {}, {})
    assert content.masks.report == test.masks
    assert content.title == finished.config.report.title_of("image")
