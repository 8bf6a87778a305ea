"""The embedded set: its key is its manifest's, and it has its own images."""

import hashlib

import numpy as np
import pytest
from command_here import ok

from pipeline.config import load_config
from pipeline.errors import BadInputError
from pipeline.sources.embedded import FOLDER, SOURCE


def test_the_key_is_that_of_the_manifest():
    digest = hashlib.sha256((FOLDER / "manifest.json").read_bytes()).hexdigest()
    assert SOURCE.content(load_config("digits", ())) == {"embedded": digest}


@pytest.mark.parametrize("setting", ("source.folder=here", "source.images=mine.npz"))
def test_another_folder_or_other_images_are_not_for_it(setting):
    with pytest.raises(BadInputError, match=r"not for source\.kind 'embedded', which has its own"):
        load_config("digits", [setting])


def test_the_first_rows_are_for_the_fit_and_the_last_for_the_test(tmp_path):
    ok(tmp_path, "download", "--set", "source.fit_rows=30", "--set", "source.held_out_rows=20")
    (stage,) = tmp_path.glob("data/download/[0-9a-f]*")
    for name in ("masks.npy", "margins.npy"):
        whole, kept = np.load(FOLDER / name, mmap_mode="r"), np.load(stage / name)
        np.testing.assert_array_equal(kept, np.concatenate([whole[:30], whole[-20:]]))
        assert kept.dtype == whole.dtype
    assert (stage / "images.npz").is_file()
