"""`import`: another tool's files, then `init`."""

import subprocess
import sys

import numpy as np
import pytest
from command_here import call, ok
from other_tools import FILES, outcomes

from pipeline.sources.imports import IMPORTERS


def test_a_folder_of_dattris_can_be_initialised(tmp_path):
    said = ok(tmp_path, "import", "--from", "dattri", FILES / "dattri", "models")
    assert "models: 60 models of 16 images, 3 targets" in said
    assert "- n_train 16: the largest index is 15" in said and "Next: datamodels-inf init models" in said
    said = ok(tmp_path, "init", "models")
    assert "lower is better" in said and "It can run: 3 targets are fitted" in said


def test_outcomes_of_ones_own_with_all_options(tmp_path):
    outcomes(tmp_path, 6)
    ok(tmp_path, "import", "--from", "dattri", FILES / "dattri" / "retrain", "out", "--outcomes", "mine.npy",
       "--flip-sign", "--n-train", "20", "--outcome", "log-loss", "--lower-is-better")  # fmt: skip
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "outcomes.npy"), -np.load(tmp_path / "mine.npy"))
    text = (tmp_path / "out" / "subsets.json").read_text()
    assert '"n_train": 20' in text and '"outcome": "log-loss"' in text and '"higher_is_better": false' in text


@pytest.mark.parametrize(("words", "sentence"), [
    (("--from", "quanda", FILES / "quanda", "out"), "holds no outcomes; give them"),
    (("--from", "bergson", FILES / "bergson" / "partition", "out"), "no test is possible"),
    (("--from", "dattri", "nowhere", "out"), "nowhere does not exist; name the file or folder that dattri wrote"),
    (("--from", "trak", "x", "out"), "'trak' is not one of 'dattri', 'quanda', 'bergson'"),
    (("--from", "dattri", FILES / "dattri", "full"), "full is there already"),
    (("--from", "dattri", FILES / "dattri", "out", "--flip-sign"), "--flip-sign is for --outcomes"),
    (("--from", "dattri", FILES / "dattri", "out", "--n-train", "4"), "lists image"),
    (("--from", "dattri", FILES / "dattri", "out", "--outcome", ""), "--outcome is empty; say what outcomes are"),
    (("--from", "dattri", FILES / "dattri", "out", "--outcome", " \n"), "--outcome is empty; say what outcomes are"),
])  # fmt: skip
def test_what_cannot_be_imported_is_one_sentence(tmp_path, words, sentence):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    done = call(tmp_path, "import", *words)
    assert done.returncode == 2 and sentence in done.stderr and len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]


@pytest.mark.parametrize("out", ("dead", "file/out", "x" * 300, "a/" + "y" * 300))
def test_a_place_that_cannot_be_is_one_sentence(tmp_path, out):
    (tmp_path / "dead").symlink_to("gone")
    (tmp_path / "file").write_text("mine")
    done = call(tmp_path, "import", "--from", "dattri", FILES / "dattri", out)
    assert done.returncode == 2 and f"OUT {out}" in done.stderr and len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dead", "file"]


def test_a_sentence_names_what_is_there(tmp_path):
    """Not the folder in which the new one is made, which goes."""
    done = call(tmp_path, "import", "--from", "dattri", FILES / "dattri", "out", "--outcome", "x" * 41)
    assert done.returncode == 2 and "out/subsets.json: outcome: string should have at most 40" in done.stderr


def test_the_table_can_be_imported_first():
    """As the command's help does: no import goes in circles by way of a package."""
    subprocess.run([sys.executable, "-c", "import pipeline.sources.imports"], check=True)


def test_every_importer_is_offered(tmp_path):
    said = ok(tmp_path, "import", "--help")
    assert f"[{'|'.join(IMPORTERS)}]" in said
