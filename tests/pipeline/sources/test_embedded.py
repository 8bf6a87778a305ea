"""The embedded sets: their key is that of their manifest; one has its own images, of the other they are looked for."""

import hashlib
import shutil

import numpy as np
import pytest
from command_here import ok
from numbered_set import made_once, nowhere, settings, small

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, load_cifar10
from pipeline.sources import embedded
from pipeline.sources.embedded import FOLDER, SOURCE
from pipeline.training.inputs import Features

__all__ = ["made_once", "nowhere", "small"]


def test_the_key_is_that_of_the_manifest():
    digest = hashlib.sha256((FOLDER / "manifest.json").read_bytes()).hexdigest()
    assert SOURCE.content(load_config("digits", ())) == {"embedded": digest}


@pytest.mark.parametrize("setting", ("source.folder=here", "source.images=mine.npz"))
def test_another_folder_or_other_images_are_not_for_it(setting):
    with pytest.raises(BadInputError, match=r"not for source\.(kind 'embedded'|set 'digits'), which has its own"):
        load_config("digits", [setting])


def test_the_first_rows_are_for_the_fit_and_the_last_for_the_test(tmp_path):
    ok(tmp_path, "download", "--set", "source.fit_rows=30", "--set", "source.held_out_rows=20")
    (stage,) = tmp_path.glob("data/download/[0-9a-f]*")
    for name in ("masks.npy", "margins.npy"):
        whole, kept = np.load(FOLDER / name, mmap_mode="r"), np.load(stage / name)
        np.testing.assert_array_equal(kept, np.concatenate([whole[:30], whole[-20:]]))
        assert kept.dtype == whole.dtype
    assert (stage / "images.npz").is_file()


@pytest.fixture
def study(made_once, tmp_path, monkeypatch):
    """A small set at the place of the study."""
    shutil.copytree(made_once, tmp_path / "home" / "cifar10-study")
    monkeypatch.setattr(embedded, "HOME", tmp_path / "home")
    return tmp_path


def of_study(study, small):
    features = Features.load(study / "home" / "cifar10-study" / "features.npz")
    return load_cifar10(small.folder).chosen(features.train_numbers, features.target_numbers)


def study_words(study, small):
    words = settings("nowhere", of_study(study, small))
    kept = [word for word in words[1::2] if not word.startswith(("source.kind", "source.folder"))]
    return ["--config", "cifar10-study", *(word for setting in kept for word in ("--set", setting))]


@pytest.mark.usefixtures("nowhere")
def test_a_set_without_images_of_its_own_takes_those_of_the_user(study, small):
    words = [*study_words(study, small), "--set", f"source.images={small.folder}"]
    ok(study, "download", *words)
    (stage,) = study.glob("data/download/[0-9a-f]*")
    wanted = of_study(study, small)
    np.testing.assert_array_equal(ImageSet.load(stage / "images.npz").train, wanted.train)
    with np.load(study / "home" / "cifar10-study" / "margins.npz") as packed:
        codes = packed["multiples"].T
    np.testing.assert_array_equal(np.load(stage / "margins.npy"), codes.astype(np.float32) * np.float32(0.1))


@pytest.mark.usefixtures("nowhere")
def test_the_key_of_the_study_knows_whose_images_and_not_where_from(study, small):
    def content(*more):
        return SOURCE.content(load_config("cifar10-study", more))

    manifest = hashlib.sha256((study / "home" / "cifar10-study" / "manifest.json").read_bytes()).hexdigest()
    assert content() == {"embedded": manifest, "content of images": "CIFAR-10"}
    assert content('source.mirrors=["http://localhost/"]') == content()
    assert content(f"source.images={small.folder}") != content()
    with pytest.raises(BadInputError, match=r"nowhere\.npz does not exist"):
        content("source.images=nowhere.npz")


def test_a_set_that_is_not_there(study):
    shutil.rmtree(study / "home" / "cifar10-study")
    with pytest.raises(BadInputError, match=r"source\.set 'cifar10-study' is not in this installation .*; install it"):
        SOURCE.content(load_config("cifar10-study", ()))
