"""`check`: whether a configuration can work, before anything runs."""

import numpy as np
import pytest
from command_here import call, ok
from own_folders import N_TARGETS, N_TRAIN, law, write

MASKS, OUTCOMES = law()
CONFIG = """
[source]
kind = "files"
folder = "own"
"""


@pytest.fixture
def folder(tmp_path):
    names = {"train_names": [f"x{k}" for k in range(N_TRAIN)], "target_names": list("abcde")}
    write(tmp_path / "own", OUTCOMES, names, masks=MASKS)
    (tmp_path / "own.toml").write_text(CONFIG)
    return tmp_path


def check(folder, *settings):
    return "check", "--config", "own.toml", *(word for setting in settings for word in ("--set", setting))


def test_a_configuration_that_can_run(folder):
    said = ok(folder, *check(folder, "atlas.targets=[0, 3]"))
    assert 'It can run: 5 targets are fitted; test.design "top" tests 200 pairs by swap; Benjamini–Yekutieli' in said
    assert "Atlas: the influence of each of 40 images, 2 targets are looked at." in said
    assert sorted(path.name for path in folder.iterdir()) == ["own", "own.toml"]  # Nothing is written.


def test_all_pairs_of_named_images(folder):
    said = ok(folder, *check(folder, "test.design=grid", "test.targets=all", "test.images=['x3', 'x17', 2]"))
    assert "tests 15 pairs by swap" in said


def test_a_target_may_be_named(folder):
    assert "It can run: 1 target is fitted" in ok(folder, *check(folder, "test.targets=d"))
    done = call(folder, *check(folder, "test.targets=f"))
    assert done.returncode == 2 and "the source has no labels" in done.stderr


def test_a_list_may_name_its_images(folder):
    (folder / "pairs.csv").write_text("i,j,target\nx3,x17,e\nx1 x2,5 x9,0\n")
    assert "tests 2 pairs by swap" in ok(folder, *check(folder, "test.design=list", "test.file=pairs.csv"))
    (folder / "pairs.csv").write_text("i,j,target\nx3,x40,4\n")
    done = call(folder, *check(folder, "test.design=list", "test.file=pairs.csv"))
    assert done.returncode == 2 and "row 1, column j: 'x40' is not an image" in done.stderr


def test_what_cannot_work_is_a_sentence_and_exit_code_2(folder):
    np.save(folder / "scores.npy", np.ones((7, 5)))
    cases = {
        ("test.k=30",): 'test.design "top" cannot be drawn: `k` and `random_partners` must be smaller',
        ("test.design=paper",): "draws images by class, but the source has no labels",
        ("test.design=list", "test.file=none.csv"): "test.file none.csv does not exist",
        ("test.design=grid", "test.images=['x3', 'y']", "test.targets=all"): "'y' is not an image: give a number",
        (
            "fit.mode=load",
            "fit.file=scores.npy",
        ): "must have shape (40, 5), training images × targets, or its transpose",
        ("fit.targets=[0]", "test.targets=[1]"): "target 1 is to be tested but has no datamodel",
        ("source.fit_rows=500", "source.held_out_rows=500"): "overlap: there are only 600 models",
        ("atlas.targets=[9]",): "atlas.targets must be different numbers from 0 to 4",
    }
    for settings, sentence in cases.items():
        done = call(folder, *check(folder, *settings))
        assert done.returncode == 2 and sentence in done.stderr, (settings, done.stderr)
        assert len(done.stderr.splitlines()) == 1


def test_masks_that_break_the_premise(folder):
    np.save(folder / "own" / "masks.npy", np.repeat(MASKS[:300], 2, axis=0))
    done = call(folder, *check(folder))
    assert done.returncode == 2 and "source.group_by_mask = true averages" in done.stderr
    assert "300 for the fit, 300 for the test" in done.stdout  # The table comes first.
    said = ok(folder, *check(folder, "source.group_by_mask=true"))
    assert "150 for the fit, 150 for the test" in said and "It can run" in said


def test_scores_may_lie_either_way_round(folder):
    for shape in ((N_TRAIN, N_TARGETS), (N_TARGETS, N_TRAIN)):
        np.save(folder / "scores.npy", np.ones(shape))
        assert "It can run" in ok(folder, *check(folder, "fit.mode=load", "fit.file=scores.npy"))


def test_rows_that_are_elsewhere_are_not_fetched(tmp_path):
    said = ok(tmp_path, "check", "--config", "cifar10")
    assert "nothing is fetched here" in said and "datamodels-inf run --config cifar10 --dry-run" in said
    bucket = "s3://madrylab-datamodels/cifar"
    assert f"- a run fetches the rows for the test of {bucket}/data/train_masks_50pct.npy\n" in said
    assert f"- a run fetches the weights {bucket}/datamodels/test_50pct.pt\n" in said
    said = ok(tmp_path, "check", "--config", "cifar10-all")
    assert f"- a run fetches all rows of {bucket}/data/test_margins_50pct.npy\n" in said and "weights" not in said
    said = ok(tmp_path, "check", "--config", "cifar10-free")
    assert "the rows for the fit and for the test of https://" in said


def test_the_embedded_set(tmp_path):
    said = ok(tmp_path, "check")
    assert "12,000" in said and "tests 2,000 pairs by swap" in said and "400, 10 classes, with pictures" in said


def test_of_many_weights_pairs_are_not_counted(folder, monkeypatch):
    monkeypatch.setattr("pipeline.commands.check.MOST_WEIGHTS", 10)
    assert 'test.design "top" tests pairs chosen by the fit' in ok(folder, *check(folder))


def test_what_can_run_may_still_be_doubted(folder):
    np.save(folder / "own" / "outcomes.npy", np.ones_like(OUTCOMES))
    said = ok(folder, *check(folder))
    assert "It can run" in said and "Warning: the outcome of every target is the same for all models" in said


def test_a_folder_without_classes_and_the_default_configuration(folder):
    """What the refusal offers works as it stands."""
    rows = "source.fit_rows=", "source.held_out_rows="
    words = [w for s in ("source.kind=files", "source.folder=own", *rows) for w in ("--set", s)]
    done = call(folder, "check", *words)
    assert done.returncode == 2 and "datamodels-inf init FOLDER" in done.stderr
    offered = done.stderr.partition("(on the command line: ")[2].partition(")")[0].split()
    assert "It can run" in ok(folder, "check", *words, *offered)
    assert "It can run" in ok(folder, "init", "own", "--out", "another.toml")
