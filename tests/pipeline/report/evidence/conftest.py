"""Held-out models of two targets."""

import numpy as np
import pytest
from one_block import blocks_of

from datamodels_inf import PackedMasks
from datamodels_inf.datamodel import Datamodel
from pipeline.report.evidence.curves import HeldOut

TARGETS = np.array([3, 8])


@pytest.fixture(scope="session")
def held_out():
    """Masks, margins and weights of two targets, and the same as plain arrays."""
    rng = np.random.default_rng(0)
    masks = rng.random((301, 12)) < 0.5
    weight = rng.normal(0, 0.5, (12, 2)).astype(np.float32)
    weight[:, 1] = np.where(np.arange(12) < 4, weight[:, 1], 0.0)
    bias = np.array([0.3, -0.2])
    y = (masks @ weight + bias + rng.normal(0, 0.3, (301, 2))).astype(np.float16)
    datamodel = Datamodel(weight, bias, np.full(2, np.nan))
    place = {3: 0, 8: 1}
    packed = PackedMasks.from_bool(masks)

    def prepared(targets):
        places = [place[k] for k in targets.tolist()]
        return blocks_of(packed, y[:, places], datamodel.subset(places))

    asked = HeldOut(packed, prepared, datamodel, TARGETS, "permuted", 0)
    return asked, masks, y.astype(np.float64), weight.astype(np.float64), bias
