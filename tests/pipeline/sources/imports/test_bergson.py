"""Bergson's lists of left-out items, and the losses beside them."""

import csv
import json
import shutil

import numpy as np
import pytest
from other_tools import FILES

from pipeline.errors import BadInputError
from pipeline.sources.imports.base import Given, with_given, write_folder
from pipeline.sources.imports.bergson import IMPORTER

FOLDER = FILES / "bergson" / "overlapping"
LISTS = json.loads((FOLDER / "subsets.json").read_text())


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "bergson")
    return tmp_path / "bergson"


def test_items_are_left_out_and_losses_are_read(folder, tmp_path):
    assert IMPORTER.found(folder) and IMPORTER.found(folder / "subsets.json")
    opened = write_folder(tmp_path / "out", with_given(IMPORTER.read(folder), Given(n_train=16), folder))
    masks = np.unpackbits(opened.masks.bits(np.arange(6)), axis=1, count=16)
    assert [np.flatnonzero(mask == 0).tolist() for mask in masks] == [sorted(images) for images in LISTS]
    rows = list(csv.DictReader((FOLDER / "validation.csv").read_text().splitlines()))
    found = opened.outcomes.values(np.arange(6))
    assert all(found[int(row["subset"]), int(row["query"])] == float(row["diff"]) for row in rows) and len(rows) == 12
    assert (opened.outcome, opened.higher_is_better) == ("loss reduction", True)


def test_shards_and_models_without_a_loss(folder):
    lines = (folder / "validation.csv").read_text().splitlines(keepends=True)
    (folder / "validation.csv").unlink()
    (folder / "validation_0_3.csv").write_text("".join(lines[:7]))
    (folder / "validation_3_6.csv").write_text("".join([lines[0], *lines[9:]]))  # Subset 3 is missing.
    found = IMPORTER.read(folder).outcomes
    assert np.isnan(found[3]).all() and np.isfinite(np.delete(found, 3, axis=0)).all()


def test_one_query_has_no_column(folder):
    (folder / "validation.csv").write_text("subset,diff,score_sum\n" + "".join(f"{k},{k / 2},0\n" for k in range(6)))
    assert IMPORTER.read(folder).outcomes.tolist() == [[k / 2] for k in range(6)]


def test_a_partition_cannot_be_tested():
    with pytest.raises(BadInputError, match=r"leaves out no item twice, .* no test is possible; draw overlapping"):
        IMPORTER.read(FILES / "bergson" / "partition")


@pytest.mark.parametrize(("name", "content", "sentence"), [
    ("subsets.json", "[[1, 2]", "subsets.json is not valid JSON"),
    ("subsets.json", "[" * 99_999, r"subsets\.json is not valid JSON \(it is nested too deep"),
    ("subsets.json", f"[[0, {10**30}], [0]]", "by a number that is too large"),
    ("validation.csv", "subset,query,diff\n0,-1,0.5\n", "from 0 without a gap, but they have 1 from -1 to -1"),
    ("validation.csv", "subset,query,diff\n0,0,0.5\n0,2,0.5\n", "from 0 without a gap, but they have 2 from 0 to 2"),
    ("validation.csv", f"subset,query,diff\n0,{10**12},0.5\n", "without a gap"),
    ("validation_2.csv", "subset,query,diff\n0,0,99\n", "says 99 of subset 0 and query 0, but .* was said"),
    ("validation.csv", 'subset,query,diff\n0,0,"' + "9" * 200_000 + '"\n', "is not a file of subsets and losses"),
    ("subsets.json", '{"n_train": 3}', "must hold a list of lists"),
    ("validation.csv", "subset,query,diff\n0,0,low\n", "is not a file of subsets and losses"),
    ("validation.csv", "subset,query,diff\n9,0,0.5\n", r"has an outcome of subset 9, but subsets\.json lists 6"),
])  # fmt: skip
def test_what_is_wrong(folder, name, content, sentence):
    (folder / name).write_text(content)
    with pytest.raises(BadInputError, match=sentence):
        IMPORTER.read(folder)


def test_losses_may_be_missing(folder):
    (folder / "validation.csv").write_text("step,loss\n1,2\n")
    assert IMPORTER.read(folder).outcomes is None


def test_shards_that_say_the_same_twice_are_no_matter(folder):
    shutil.copy(folder / "validation.csv", folder / "validation_again.csv")
    np.testing.assert_array_equal(IMPORTER.read(folder).outcomes, IMPORTER.read(FOLDER).outcomes)
