"""The influences of an analysis are those of `influence` on the tested rows, corrected over the images of a target."""

import numpy as np
import pytest
from simulated_models import simulated

from datamodels_inf import adjust_pvalues, analyse, influence, selected_confidence
from datamodels_inf.contrast import effect_interval


@pytest.mark.parametrize("size", (15, 6))
def test_the_influences_are_those_of_the_tested_rows(size):
    masks, outcomes = simulated(n=1200, size=size)
    result = analyse(masks, outcomes, k=2, alpha=0.1, correction="bh", fit_rows=400)
    frame = result.influence(1).set_index("image").sort_index()
    model = result.fitted.datamodel
    true = influence(masks[400:], outcomes[400:, 1], theta=model.weight[:, 1], bias=float(model.bias[1]))
    for name, values in (("estimate", true.estimate), ("standard_error", true.standard_error), ("pvalue", true.pvalue)):
        assert frame[name].to_numpy() == pytest.approx(values, rel=1e-12)
    assert frame["low"].to_numpy() == pytest.approx(true.interval[0])
    adjusted = adjust_pvalues(true.pvalue, "bh")
    assert frame["pvalue_adjusted"].to_numpy() == pytest.approx(adjusted)
    assert (frame["finding"] == (adjusted <= 0.1)).all() and frame["finding"][[3, 8]].all()
    level = max(0.95, selected_confidence("bh", 0.1, 30, int(frame["finding"].sum())))
    low, high = effect_interval(true.estimate, true.standard_error, np.full(1, 799.0), level)
    assert frame["low_selected"][3] == pytest.approx(low[3]) and frame["high_selected"][3] == pytest.approx(high[3])
    assert frame["low_selected"][~frame["finding"]].isna().all()
    assert (frame["theta"] == model.weight[:, 1]).all()


@pytest.mark.parametrize("better", (True, False))
def test_the_most_helpful_comes_first(better):
    masks, outcomes = simulated(n=1200)
    frame = analyse(masks, outcomes, k=2, higher_is_better=better, labels=np.arange(30) % 3).influence(0)
    assert (frame["image"].iloc[0], frame["image"].iloc[-1]) == ((3, 8) if better else (8, 3))
    assert frame["estimate"].is_monotonic_decreasing if better else frame["estimate"].is_monotonic_increasing
    assert list(frame.columns[:3]) == ["image", "class_image", "estimate"]


def test_every_block_counts_where_every_model_tests():
    masks, outcomes = simulated(n=1200)
    result = analyse(masks, outcomes, k=2, rows="progressive", first_rows=200, blocks=3)
    wide = result.influence(0).set_index("image")["standard_error"].sort_index()
    narrow = analyse(masks, outcomes, k=2, fit_rows=900).influence(0).set_index("image")["standard_error"]
    assert (wide < narrow.sort_index()).all()
    (one,) = result.influences.on(np.array([0]))
    assert one.n_models == 1000


def test_an_image_that_every_tested_model_saw_comes_last_and_is_no_finding():
    masks, outcomes = simulated(n=400)
    masks[:, 5] = True
    frame = analyse(masks, outcomes, pairs=[(0, 1, 0)], allow_unexchangeable=True).influence(0)
    last = frame.iloc[-1]
    assert last["image"] == 5 and np.isinf(last["standard_error"]) and last["pvalue"] == 1.0 and not last["finding"]
