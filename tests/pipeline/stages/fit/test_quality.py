"""What is kept of the quality of datamodels: all targets, and drawings of the worst, the median and the best."""

import numpy as np
from simulated_models import simulated

from datamodels_inf import Datamodel, PackedMasks
from pipeline.report.content import DatamodelQuality
from pipeline.stages.fit.quality import SCATTER_ROWS, quality_arrays


def test_the_worst_the_median_and_the_best_are_drawn():
    masks, outcomes = simulated(n=1000, targets=5)
    weight = np.zeros((30, 5))
    weight[3], weight[8] = np.array([0.1, 1.0, 0.5, 0.0, 0.8]), -np.array([0.1, 1.0, 0.5, 0.0, 0.8])
    model, packed = Datamodel(weight, np.zeros(5), np.full(5, 0.5)), PackedMasks.from_bool(masks)
    quality = model.quality(packed, outcomes)
    gap, targets = np.full(5, 1e-7), np.arange(10, 15)
    arrays = quality_arrays(model, quality, targets, gap, packed, outcomes)
    assert arrays["shown"].tolist() == np.argsort(quality.r2)[[0, 2, 4]].tolist()
    assert arrays["r2"].tolist() == quality.r2.tolist() and arrays["n_nonzero"].tolist() == [2, 2, 2, 0, 2]
    assert arrays["shown_true"].shape == arrays["shown_predicted"].shape == (3, SCATTER_ROWS)
    best = int(np.argmax(quality.r2))
    assert set(arrays["shown_true"][-1].tolist()) <= set(outcomes[:, best].tolist())
    assert DatamodelQuality(**arrays, classes=[""] * 5).targets.tolist() == targets.tolist()


def test_targets_that_never_vary_are_not_drawn():
    masks, _ = simulated(n=50)
    packed, outcomes = PackedMasks.from_bool(masks), np.ones((50, 2))
    model = Datamodel(np.zeros((30, 2)), np.ones(2), np.zeros(2))
    arrays = quality_arrays(model, model.quality(packed, outcomes), np.arange(2), np.zeros(2), packed, outcomes)
    assert arrays["shown"].size == 0 and arrays["shown_true"].shape[0] == 0
