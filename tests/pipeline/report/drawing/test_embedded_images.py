"""Images inside the page: each once, as a part of a sheet, and never more characters than the page has room for."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from report_content import make_images, make_rows
from report_page import read_table

from pipeline.report.content import Images
from pipeline.report.drawing.embedded_images import SHEET, Pictures


def opened(sheet):
    head, _, data = sheet.uri.partition(",")
    return head.removeprefix("data:image/").removesuffix(";base64"), np.asarray(
        Image.open(BytesIO(base64.b64decode(data)))
    )


def cut(pictures, place):
    """The pixels that the page shows of an image."""
    part = pictures.parts[place]
    _, pixels = opened(next(sheet for sheet in pictures.sheets if sheet.name == part.sheet))
    x, y, width, height = map(int, part.view_box.split())
    return pixels[y : y + height, x : x + width]


def smooth(count, seed=0):
    rng = np.random.default_rng(seed)
    colours = rng.uniform(0, 255, (count, 1, 1, 3)) + np.linspace(0, 60, 32)[None, :, None, None]
    return np.clip(colours + rng.normal(0, 8, (count, 32, 32, 3)), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("shape", [(8, 8), (32, 32, 3), (28, 20), (300, 200, 3)])
def test_images_of_any_size(report, shape):
    folder, page = report(make_rows(9, 2), images=make_images(shape))
    first, *_ = page.all("svg", **{"class": "pic"})
    assert first["aria-label"].startswith("target: ")
    x, y, width, height = map(int, first["viewbox"].split())
    factor = -(-max(shape[:2]) // 96)
    assert (height, width) == (-(-shape[0] // factor), -(-shape[1] // factor))
    if factor == 1:
        [sheet] = page.all("image")
        pixels = np.asarray(Image.open(BytesIO(base64.b64decode(sheet["href"].split(",")[1]))))
        target = int(read_table(folder / "findings.csv")[0]["target"])
        np.testing.assert_array_equal(pixels[y : y + height, x : x + width], make_images(shape).targets[target])
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        assert panel.info == {}
        assert panel.width > 1000


def test_each_image_is_there_once_and_without_loss_while_it_fits():
    images = Images(smooth(300), smooth(5, seed=1))
    pictures = Pictures(images)
    for _ in range(4):  # As by four methods.
        for k in range(300):
            pictures.embed("train", k)
        pictures.embed("target", 2)
    assert len(pictures.parts) == 301
    assert len(pictures.sheets) == -(-301 // SHEET)
    for place in [("train", 0), ("train", 299), ("target", 2)]:
        part, index = place
        np.testing.assert_array_equal(
            cut(pictures, place), (images.train if part == "train" else images.targets)[index]
        )


def test_what_does_not_fit_loses_detail_first_and_images_last():
    images = Images(smooth(600), smooth(1))
    whole, tight, tighter = (Pictures(images, most) for most in (3_000_000, 500_000, 5_000))
    for pictures in (whole, tight, tighter):
        for k in range(600):
            pictures.embed("train", k)
    assert {opened(sheet)[0] for sheet in whole.sheets} == {"png"}
    assert {opened(sheet)[0] for sheet in tight.sheets} == {"jpeg"}
    assert len(tight.parts) == 600
    assert sum(len(sheet.uri) for sheet in tight.sheets) <= 500_000
    assert np.abs(cut(tight, ("train", 7)).astype(int) - images.train[7]).mean() < 12
    assert sum(len(sheet.uri) for sheet in tighter.sheets) <= 5_000
    assert 0 < len(tighter.parts) < 600
    shown = [tighter.embed("train", k).part is not None for k in range(600)]
    assert shown == sorted(shown, reverse=True)


def test_grey_and_colour_and_none():
    mixed = Pictures(Images(make_images((8, 8)).train, smooth(2)))
    mixed.embed("train", 1), mixed.embed("target", 0)
    assert (cut(mixed, ("train", 1)) == make_images((8, 8)).train[1][..., None]).all()
    none = Pictures(None)
    assert none.embed("train", 0) is None
    assert none.sheets == []
    assert Pictures(make_images()).sheets == []
