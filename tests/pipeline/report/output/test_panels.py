"""Panels as pictures."""

import numpy as np
from PIL import Image
from report_content import make_images, make_row


def test_the_panel_enlarges_without_blur(report):
    folder, _ = report([make_row(3)])
    target = make_images().targets[make_row(3).target]
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        tile = np.asarray(panel)[98 : 98 + 224, 36 : 36 + 224]
    np.testing.assert_array_equal(tile, np.repeat(np.kron(target, np.ones((28, 28), np.uint8))[..., None], 3, axis=2))


def test_the_panel_says_how_many_models_tested(report):
    """A line more among the numbers, and nothing else moves but the bar below them."""
    pictures = []
    for changes in ({}, {"n_rows": 1000}):
        folder, _ = report([make_row(3, **changes)])
        with Image.open(folder / "panels" / "paired-001.png") as panel:
            pictures.append(np.asarray(panel))
    assert pictures[0].shape == pictures[1].shape
    rows = np.flatnonzero((pictures[0] != pictures[1]).any(axis=(1, 2)))
    assert rows[0] > 96 + 28 * 6
    assert rows[-1] < 402  # where the sentence begins
