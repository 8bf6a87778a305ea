"""Fresh models as they are read, and their halves."""

import numpy as np

from datamodels_inf import PackedMasks
from pipeline.stages.fresh.models import FreshModels


def models(n, d=9):
    rng = np.random.default_rng(0)
    return FreshModels(PackedMasks.from_bool(rng.random((n, d)) < 0.5), np.arange(n, dtype=np.float32)[:, None])


def test_two_halves_share_no_model_and_keep_masks_with_margins():
    whole = models(31)
    splits = list(whole.splits(6, seed=3))
    assert len(splits) == 6
    for first, second in splits:
        rows = [half.margins[:, 0].astype(int) for half in (first, second)]
        assert len(set(rows[0]) | set(rows[1])) == 30
        for half, own in zip((first, second), rows, strict=True):
            assert len(half) == 15
            np.testing.assert_array_equal(half.masks.to_bool(), whole.masks.to_bool()[own])
    assert len({tuple(first.margins[:, 0]) for first, _ in splits}) == 6
    again = [first.margins.tolist() for first, _ in whole.splits(6, seed=3)]
    assert again == [first.margins.tolist() for first, _ in splits]


def test_they_are_what_the_stage_left(inputs):
    found = FreshModels.of(inputs["fresh"])
    assert found.masks.shape == (400, 40)
    assert found.margins.shape == (400, 20)
    assert len(found) == 400
