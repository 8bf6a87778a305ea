"""Images inside the page, of any size."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from report_content import make_images, make_rows
from report_page import read_table


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
