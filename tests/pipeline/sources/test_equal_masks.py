"""Rows of equal masks are made one."""

import numpy as np
from masks_of_people import IMAGES, TOP, make, run


def test_averaged_margins_are_the_means_of_equal_masks(tmp_path):
    masks = make(tmp_path / "0", "reseeded")
    margins = np.load(tmp_path / "0" / "margins.npy").astype(np.float64)
    said = []
    run(tmp_path / "0", *TOP, "source.group_by_mask=true", "source.fit_rows=150", "source.held_out_rows=400",
        "test.method=contrast", say=said.append)  # fmt: skip
    [folder] = (tmp_path / "0" / "store" / "download").glob("[0-9a-f]*")
    kept = np.unpackbits(np.load(folder / "masks.npy"), axis=1, count=IMAGES).astype(bool)
    means = np.load(folder / "margins.npy")
    assert len(kept) == len(np.unique(kept, axis=0)) == 550
    for row in (0, 7, 149, 150, 549):
        same = (masks == kept[row]).all(axis=1)
        assert same.sum() == 4
        np.testing.assert_allclose(means[row], margins[same].mean(axis=0), rtol=1e-5, atol=1e-6)
    first = [np.flatnonzero((masks == mask).all(axis=1))[0] for mask in kept]
    assert first == sorted(first)
    assert any("1,650 models repeat a mask" in line for line in said)
