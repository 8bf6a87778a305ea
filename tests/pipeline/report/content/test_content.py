"""What no report is made of: parts that do not fit each other. What is trained on: images, or items."""

import dataclasses
import re

import numpy as np
import pytest
from report_content import Page, make_content, make_quality, make_row
from whole_contents import CONTENTS

from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.report import write_report


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=f"`correction` must be one of {', '.join(CORRECTIONS)}"):
        make_content([], correction="none")
    with pytest.raises(ValueError, match="`target` of a row is 12, but there are 12 images"):
        make_content([make_row(target=12)])
    with pytest.raises(ValueError, match="`targets` holds 12, but there are 12 images"):
        make_content([], quality=make_quality([0.1], targets=np.array([12])))


def test_only_what_is_known_to_be_an_image_is_called_one():
    rows = [make_row(1)]  # It has classes: labels make no picture.
    assert make_content(rows).noun == "image"
    assert make_content(rows, images=None, class_names=("dog", "cat")).noun == "item"
    assert make_content(rows, images=None, awaits_images=True).noun == "image"


@pytest.mark.parametrize("name", ["named", "reruns without images", "hostile atlas"])
def test_a_page_of_items_says_image_nowhere(name, tmp_path):
    content = dataclasses.replace(CONTENTS[name](), provenance={"Warning": "some images go together"})
    write_report(tmp_path, content)
    page = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    said = [a[key] for _, a in page.tags for key in ("aria-label", "title", "alt", "placeholder") if key in a]
    assert not re.findall(r".{0,40}\bimages?\b.{0,20}", " ".join([page.text, *said]), re.IGNORECASE)
    assert "some items go together" in page.text
    assert "Items in a mask" in page.text
