"""The table of layouts: which one a folder is in, and what its content is."""

import numpy as np
import pytest
from own_folders import law, write

from pipeline.config import Source
from pipeline.errors import BadInputError
from pipeline.sources.folder import layout_of
from pipeline.sources.layouts import LAYOUTS
from pipeline.sources.layouts.base import there

MASKS, OUTCOMES = law()


def source(folder):
    return Source(kind="files", folder=folder)


@pytest.mark.parametrize(("arrays", "said", "name"), [
    ({"outcomes": OUTCOMES, "masks": MASKS}, None, "own"),
    ({"outcomes": None, "margins": OUTCOMES, "masks": MASKS}, None, "trainer"),
    ({"outcomes": None, "margins": OUTCOMES, "masks": MASKS}, {}, "own"),
    ({"outcomes": None, "train_masks_50pct": MASKS, "test_margins_50pct": OUTCOMES}, None, "released"),
])  # fmt: skip
def test_a_folder_is_in_one_layout(tmp_path, arrays, said, name):
    folder = write(tmp_path / "x", said=said, **arrays)
    layout = layout_of(source(folder))
    assert layout is LAYOUTS[name]
    assert layout.open(source(folder)).n_train == 40 and not layout.labelled(source(folder))
    assert all(key.startswith("content of ") for key in layout.content(source(folder)))


def test_a_folder_in_none_is_told_all_of_them(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(BadInputError, match=r"holds no outcomes\.npy with masks\.npy or .*own-data") as error:
        layout_of(source(tmp_path / "x"))
    assert all(layout.files.format(percent=50) in str(error.value) for layout in LAYOUTS.values())


def test_a_file_is_there_or_none(tmp_path):
    np.save(tmp_path / "a.npy", MASKS)
    assert there(tmp_path / "a.npy") == tmp_path / "a.npy"
    assert there(tmp_path / "b.npy") is None
