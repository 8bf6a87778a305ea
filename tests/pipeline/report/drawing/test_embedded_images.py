"""Images inside the page, of any size."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from report_content import make_images, make_rows
from report_page import read_table

from pipeline.report.content import Images
from pipeline.report.drawing.embedded_images import embedder


@pytest.mark.parametrize("shape", [(8, 8), (32, 32, 3), (28, 20), (300, 200, 3)])
def test_images_of_any_size(report, shape):
    folder, page = report(make_rows(9, 2), images=make_images(shape))
    assert page.all("img")[2]["alt"].startswith("image i: ")
    shown = Image.open(BytesIO(base64.b64decode(page.all("img")[0]["src"].split(",")[1])))
    factor = -(-max(shape[:2]) // 96)
    assert shown.size == (-(-shape[1] // factor), -(-shape[0] // factor))
    if factor == 1:
        target = int(read_table(folder / "findings.csv")[0]["target"])
        np.testing.assert_array_equal(np.asarray(shown), make_images(shape).targets[target])
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        assert panel.info == {}
        assert panel.width > 1000


def test_after_many_characters_images_have_few_colours_and_are_shorter():
    smooth = np.linspace(0, 255, 32)[:, None, None] * [1.0, 0.7, 0.2] + np.linspace(0, 60, 32)[None, :, None]
    colour = np.clip(smooth + np.random.default_rng(0).normal(0, 8, (3, 32, 32, 3)), 0, 255).astype(np.uint8)
    embed = embedder(Images(colour, colour), lossless=5000)
    uris = [embed("train", k % 3) for k in range(9)]
    opened = [Image.open(BytesIO(base64.b64decode(uri.split(",")[1]))) for uri in uris]
    few = [image.mode == "P" for image in opened]
    assert few == sorted(few)
    assert few[0] is False
    assert few[-1] is True
    assert len(uris[-3]) < 0.6 * len(uris[0])
    assert uris[-1] == uris[-4]
    assert np.abs(np.asarray(opened[-1].convert("RGB")).astype(int) - colour[2]).mean() < 12
    grey = embedder(make_images((8, 8)), lossless=0)
    assert grey("train", 0) == grey("train", 0)
