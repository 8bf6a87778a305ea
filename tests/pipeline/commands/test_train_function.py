"""`train --function`: the folder it makes, its use, that kills and shards change nothing, what is refused."""

import csv
import json
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
from command_here import call, ok
from own_training import WEIGHTS, expected, function, write_module
from real_command import COMMAND
from small_cifar10 import wait_for
from trained_here import noted_units
from warm import Command

from datamodels_inf.training.draws import model_seed
from pipeline.images.image_set import ImageSet, Labels

LABELS = Labels(np.arange(40) % 2, np.arange(5) % 2, ("cat", "dog"))
NAMED = {
    "train_labels": ["cat", "dog"] * 20, "target_labels": ["dog"] * 5, "train_names": [f"row {k}" for k in range(40)],
    "target_names": ["a", "b", "c", "d", "all"],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    return write_module(tmp_path)


def train(folder, name, out, *options, models=30):
    return call(folder, "train", *function(name), "--models", models, "--out", out, "--workers", 1, *options)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A set of 900 models, run."""
    folder = write_module(tmp_path_factory.mktemp("used"))
    (folder / "names.json").write_text(json.dumps(NAMED))
    done = train(folder, "train_one", "set", "--labels", "names.json", "--outcome", "score", models=900)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout == "900 models of 40 items and 5 targets are in set.\nUse them: datamodels-inf init set\n"
    ok(folder, "init", "set")
    ok(folder, "run", "--config", "set.toml", "--quiet", "--set", "report.max_panels=0")
    return folder


def test_the_folder_is_one_of_ones_own(used):
    names = {path.name for path in (used / "set").iterdir()}
    assert names == {"masks.npy", "outcomes.npy", "subsets.json", "manifest.json"}
    np.testing.assert_array_equal(np.load(used / "set" / "outcomes.npy"), expected(900))
    assert json.loads((used / "set" / "subsets.json").read_text()) == {**NAMED, "n_train": 40, "outcome": "score"}
    table = " ".join(ok(used, "check", "--config", "set.toml").split())
    assert "models 900" in table and "2 classes" in table and "exchangeable" in table
    assert "40, 2 classes" in table and "score" in table


def test_findings_are_those_of_the_function(used):
    """Of every pair that is found, the image with the larger weight is the one that raises the score."""
    rows = list(csv.DictReader(ok(used, "findings", "--config", "set.toml", "--csv").splitlines()))
    assert len(rows) > 50
    for row in rows:
        i, j, target = (int(row[name]) for name in ("i", "j", "target"))
        assert np.sign(float(row["effect"])) == np.sign(WEIGHTS[i, target] - WEIGHTS[j, target])


def test_fresh_models_are_trained_by_the_function(used):
    said = ok(used, "verify", "--config", "set.toml", "--top", 2, "--set", "verify.models=40")
    assert "2 confirmed, 0 open, 0 reversed" in said
    said = ok(used, "verify", "--config", "set.toml", "--fresh", 200)
    (path,) = (used / "data" / "fresh").glob("*/margins.npy")
    masks = np.unpackbits(np.load(path.parent / "masks.npy"), axis=1, count=40)
    noise = np.load(path) - masks @ WEIGHTS
    assert noise.std() == pytest.approx(0.1, rel=0.1)
    assert "Held against 200 fresh models" in said


def test_an_edited_function_trains_no_fresh_models(used, tmp_path):
    shutil.copytree(used, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# edited")
    done = call(tmp_path, "verify", "--config", "set.toml", "--fresh", 300, "--quiet")
    assert (done.returncode, "mine.py is not as it was when models were trained" in done.stderr) == (2, True)


def test_labels_and_images_are_brought(folder):
    LABELS.save(folder / "some labels.npz")
    pictures = [np.zeros((n, 4, 4), np.uint8) for n in (40, 5)]
    np.savez(folder / "bare.npz", train=pictures[0], targets=pictures[1])
    ImageSet(pictures[0], LABELS.train_labels, pictures[1], LABELS.target_labels, LABELS.class_names).save(
        folder / "images.npz"
    )
    for out, options, files, table in (
        ("a", ("--labels", "some labels.npz"), {"labels.npz"}, "40, 2 classes, no pictures"),
        ("b", ("--labels", "some labels.npz", "--images", "bare.npz"), {"labels.npz", "images.npz"},
         "40, 2 classes, with pictures"),
        ("c", ("--images", "images.npz"), {"images.npz"}, "40, 2 classes, with pictures"),
        ("d", ("--set", "train.higher_is_better=false"), set(), "40, no classes, no pictures"),
    ):  # fmt: skip
        assert train(folder, "train_one", out, *options, models=60).returncode == 0
        assert {path.name for path in (folder / out).iterdir()} == {
            "masks.npy", "outcomes.npy", "subsets.json", "manifest.json", *files
        }  # fmt: skip
        said = ok(folder, "init", out)
        assert table in said
        assert ("lower is better" in said) == (out == "d")
    done = train(folder, "train_one", "a", models=60)  # Without its labels, it is another set.
    assert (done.returncode, "made with other settings (files.labels.npz" in done.stderr) == (2, True)


def test_a_killed_training_goes_on_and_workers_and_shards_change_nothing(folder):
    assert train(folder, "slow", "whole", models=150).returncode == 0
    words = [*function("slow"), "--models", 150, "--out", "cut", "--workers", 2, "--quiet"]
    process = Command(folder, "train", *words)

    def parts():
        return len(list(folder.glob("cut/.parts/0*.npz")))

    wait_for(lambda: parts() >= 5)
    process.kill()
    process.wait()
    time.sleep(0.2)  # A file that is being written may still appear.
    kept = parts()
    assert 5 <= kept < 150
    with noted_units() as trained:
        done = train(folder, "slow", "cut", "--shard", "2/3", models=150)
    assert done.returncode == 0, done.stderr
    assert 0 < len(trained) <= 50 and all(50 <= unit.first < 100 for unit in trained)
    for k in (1, 3):
        assert train(folder, "slow", "cut", "--shard", f"{k}/3", models=150).returncode == 0
    ok(folder, "merge", "cut")
    assert contents(folder / "cut") == contents(folder / "whole")


def test_shards_may_each_have_a_cluster_at_the_same_time(folder):
    """On one folder; their workers import the function from where the command runs."""
    assert train(folder, "train_one", "whole").returncode == 0
    words = [*COMMAND, "train", *map(str, function("train_one")), "--models", "30", "--out", "cut", "--quiet"]
    shards = [
        subprocess.Popen([*words, "--shard", f"{k}/2", "--cluster", "local:1"], cwd=folder, stderr=subprocess.PIPE)
        for k in (1, 2)
    ]
    ends = [process.communicate() for process in shards]
    assert [process.returncode for process in shards] == [0, 0], ends
    ok(folder, "merge", "cut")
    assert contents(folder / "cut") == contents(folder / "whole")


def test_models_of_an_edited_function_are_not_mixed_with_older_ones(folder):
    assert train(folder, "train_one", "cut", "--shard", "1/2").returncode == 0
    text = (folder / "mine.py").read_text()
    # Of another length: within one second, that is how Python knows what it compiled from what is there.
    (folder / "mine.py").write_text(text.replace("0.1 *", "0.25 *"))
    before = contents(folder / "cut")
    done = train(folder, "train_one", "cut")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cut/.parts holds models that mine:train_one trained before its file was changed" in done.stderr
    assert f"undo the change of {folder / 'mine.py'}, or give --out another folder." in done.stderr
    assert contents(folder / "cut") == before
    (folder / "mine.py").write_text(text)
    assert train(folder, "train_one", "cut").returncode == 0
    np.testing.assert_array_equal(np.load(folder / "cut" / "outcomes.npy"), expected(30))


def test_a_function_that_fails_leaves_its_folder_to_the_mended_one(folder):
    done = train(folder, "fails", "set", "--retries", 0)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert re.search(r"mine:fails failed for model \d with ValueError: no way \(", done.stderr)
    assert train(folder, "train_one", "set").returncode == 0


def test_what_was_finished_before_a_failure_is_kept(folder):
    with (folder / "mine.py").open("a") as file:
        file.write(f"def stops(mask, seed):\n    if Path('stop').exists() and seed == {model_seed(0, 12)}:\n")
        file.write("        raise OSError('full')\n    return train_one(mask, seed)\n")
    (folder / "stop").touch()
    done = train(folder, "stops", "set")
    assert done.returncode == 1 and "mine:stops failed 3 times for model 12, at last" in done.stderr
    (folder / "stop").unlink()
    with noted_units() as trained:
        assert train(folder, "stops", "set").returncode == 0
    assert 0 < len(trained) <= 18
    np.testing.assert_array_equal(np.load(folder / "set" / "outcomes.npy"), expected(30))


def test_what_cannot_be_repeated_is_refused_unless_it_is_allowed(folder):
    done = train(folder, "noisy", "set")
    assert (done.returncode, "trained twice with the same mask and seed" in done.stderr) == (2, True)
    assert train(folder, "noisy", "set", "--set", "train.repeatable=false").returncode == 0


def test_a_process_that_dies_is_a_sentence(folder):
    done = train(folder, "dies", "set")
    assert (done.returncode, "a process that did work was ended" in done.stderr) == (1, True)


def test_the_section_may_say_it_all(folder):
    (folder / "mine.toml").write_text(
        '[train]\nfunction = "mine:train_one"\nn_train = 40\nn_targets = 5\nn_models = 30\nseed = 3\n'
    )
    ok(folder, "train", "--config", "mine.toml", "--workers", 1, "--quiet")
    made = folder / "data" / "trained" / "mine"
    np.testing.assert_array_equal(np.load(made / "outcomes.npy"), expected(30, seed=3))
    ok(
        folder,
        "train",
        "--set",
        "train.function=mine:train_one",
        "--train",
        40,
        "--targets",
        5,
        "--models",
        6,
        "--out",
        "x",
    )


@pytest.mark.parametrize(("arguments", "part"), [
    (("--function", "mine:train_one"), "--function needs --train N: nobody here knows how many it has"),
    (("--function", "mine:train_one", "--train", 40), "--function needs --targets N"),
    (("--function", "nowhere:f", "--train", 40, "--targets", 5), "there is no module nowhere in"),
    ((*function("train_one"), "--steps", 3), "train.steps is for networks of ours, not for a function"),
    ((*function("train_one"), "--proportion", 0.01), "--proportion 0.01 of 40 images is none or all of them"),
    ((*function("train_one"), "--labels", "none.npz"), "--labels none.npz does not exist"),
    ((*function("train_one"), "--labels", "mine.py"), "mine.py is not a whole set of labels"),
    ((*function("train_one"), "--labels", "few.npz"), "few.npz has labels of 4 items and 5 targets, but there are 40"),
    ((*function("train_one"), "--labels", "few.json"), "few.json has 2 train_names, but there are 40"),
    ((*function("train_one"), "--labels", "seeds.json"), "seeds.json has seeds, which is said of masks that are drawn"),
    ((*function("train_one"), "--labels", "other.json"), "other.json has n_train 30, but there are 40 items"),
    ((*function("train_one"), "--labels", "odd.json"), "odd.json: colour is not a key"),
    ((*function("train_one"), "--images", "few.npz"), "few.npz is not a whole image set"),
    ((*function("train_one"), "--images", "."), "--images . is a folder"),
    (("--retries", 3), "train.retries is for train.function"),
    (("--labels", "few.npz"), "train.labels is for train.function"),
])  # fmt: skip
def test_what_is_refused(folder, arguments, part):
    Labels(np.arange(4) % 2, np.arange(5) % 2, ("cat", "dog")).save(folder / "few.npz")
    for name, said in {
        "few": {"train_names": ["a", "b"]}, "seeds": {"seeds": [1]}, "other": {"n_train": 30}, "odd": {"colour": 1}
    }.items():  # fmt: skip
        (folder / f"{name}.json").write_text(json.dumps(said))
    done = call(folder, "train", *arguments, "--out", "set")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert part in done.stderr
    assert not (folder / "set").exists()
