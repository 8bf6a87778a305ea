"""quanda's subset_ids, drawn by quanda's own function."""

import pytest
import yaml
from other_tools import FILES, outcomes

from pipeline.errors import BadInputError
from pipeline.sources.imports.base import Given, with_given, write_folder
from pipeline.sources.imports.quanda import IMPORTER

FOLDER = FILES / "quanda"


@pytest.mark.parametrize("path", (FOLDER, FOLDER / "subset_ids.yaml"))
def test_the_lists_are_of_images_that_were_included(path, tmp_path):
    assert IMPORTER.found(path)
    found = IMPORTER.read(path)
    assert [images.tolist() for images in found.lists] == yaml.safe_load((FOLDER / "subset_ids.yaml").read_text())
    opened = write_folder(tmp_path / "out", with_given(found, Given(outcomes(tmp_path, 6), n_train=16), path))
    assert (opened.masks.n_models, opened.n_train, not found.excluded) == (6, 16, True)


def test_both_styles_of_yaml_are_seen(tmp_path):
    (tmp_path / "ids.yml").write_text("[[1, 2], [0, 2]]\n")
    assert [images.tolist() for images in IMPORTER.read(tmp_path).lists] == [[1, 2], [0, 2]]


@pytest.mark.parametrize(
    "text",
    (
        "subset_ids:\n- - 1\n  - 2\n- [0, 2]\n",
        "subset_ids: [[1, 2], [0, 2]]\nseed: 3\n",
        "{subset_ids: [[1, 2], [0, 2]]}",
    ),
)
def test_the_lists_may_stand_under_their_name(tmp_path, text):
    (tmp_path / "ids.yaml").write_text(text)
    assert IMPORTER.found(tmp_path)
    assert [images.tolist() for images in IMPORTER.read(tmp_path).lists] == [[1, 2], [0, 2]]


def test_one_file_must_be_meant(tmp_path):
    with pytest.raises(BadInputError, match="holds 0 YAML files of lists; name the one of quanda's subset_ids"):
        IMPORTER.read(tmp_path)
    (tmp_path / "a.yaml").write_text("- - 1\n")
    (tmp_path / "b.yaml").write_text("- [2]\n")
    (tmp_path / "config.yaml").write_text("model: {}\n")
    with pytest.raises(BadInputError, match="holds 2 YAML files of lists"):
        IMPORTER.read(tmp_path)
    with pytest.raises(BadInputError, match="must hold a list of lists"):
        IMPORTER.read(tmp_path / "config.yaml")


def test_a_folder_with_the_name_of_a_file_and_numbers_that_no_image_has(tmp_path):
    (tmp_path / "x.yaml").mkdir()
    assert not IMPORTER.found(tmp_path)
    (tmp_path / "ids.yaml").write_text(f"- [1, {10**30}]\n")
    with pytest.raises(BadInputError, match="by a number that is too large"):
        IMPORTER.read(tmp_path)
