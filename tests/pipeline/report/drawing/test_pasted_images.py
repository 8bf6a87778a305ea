"""Tiles of a picture: enlarged, as a mosaic, or grey where there are no images."""

import numpy as np
from report_content import make_images, make_rows

from pipeline.report.drawing.canvas import blank
from pipeline.report.drawing.pasted_images import paste_tile, picture
from pipeline.report.drawing.slots import Slot


def test_without_images_grey_tiles_stand_in(report):
    folder, page = report(make_rows(9, 2), images=None, awaits_images=True)
    assert page.pictures == page.all("img") == []
    assert len(page.all("div", **{"class": "blank"})) == 6 + len(page.all("section", **{"class": "group"}))
    assert "give source.images in the configuration, or get those of CIFAR-10" in page.text
    assert len(list(folder.glob("panels/*"))) == 2


def test_a_mosaic_has_every_image_in_its_place():
    images = make_images((8, 8))
    canvas = blank(120, 120)
    paste_tile(canvas, Slot("group i", "train", (5, 2, 7), "dog"), images, (10, 10), 100)
    pixels = np.asarray(canvas.image)[..., 0]
    # Parts of 50 with 46 for the image: 8 pixels five times as large, in the middle of what is left.
    for index, (x, y) in zip((5, 2, 7), ((13, 13), (63, 13), (13, 63)), strict=True):
        np.testing.assert_array_equal(pixels[y : y + 40, x : x + 40], np.kron(images.train[index], np.ones((5, 5))))
    assert (pixels[63:103, 63:103] == 255).all()


def test_an_image_that_is_too_large_is_reduced_and_a_target_is_not_a_training_image():
    images = make_images((300, 200, 3))
    canvas = blank(120, 120)
    paste_tile(canvas, Slot("target", "target", (3,), "dog"), images, (0, 0), 100)
    means = images.targets[3][:, :198].reshape(100, 3, 66, 3, 3).mean(axis=(1, 3))
    found = np.asarray(canvas.image)[:100, 16:82].astype(float)
    # Around it a line is drawn.
    np.testing.assert_allclose(found[1:99, 1:], means[1:99, 1:], atol=0.56)
    assert picture(None, "train", 0) is None
