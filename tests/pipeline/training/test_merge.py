"""Shards, in any order and on several machines, become the same bytes as one run; what is missing is named."""

import shutil
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from command_here import call, ok
from small_features import FEATURES
from trained_here import noted_units
from warm import Command

import pipeline.training.merge as merging
from datamodels_inf.training.recipe import PatchRecipe, Recipe
from pipeline.training.job import Job
from pipeline.training.parts import Parts

TINY = ("--train", 40, "--targets", 20, "--models", 2600, "--steps", 5, "--hidden", 4, "--workers", 1)
"""Six batches."""


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(folder, *arguments):
    """The sentence; nothing may have changed."""
    before = contents(folder)
    done = call(folder, *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert contents(folder) == before
    return done.stderr


def shard(folder, out, words, *options):
    return ok(folder, "train", "--out", out, *TINY, *options, "--shard", words, "--quiet")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The set of one run, and the same in four shards, all but one of them there, in another order."""
    folder = tmp_path_factory.mktemp("whole")
    ok(folder, "train", "--out", "whole", *TINY, "--quiet")
    for k in (4, 1, 3):
        shard(folder, "cut", f"{k}/4")
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    """A copy that may be changed."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_missing_shard_is_named_and_then_the_set_is_that_of_one_run(folder):
    assert "shard 2 of 4 is missing; train what is missing with the same settings" in refused(folder, "merge", "cut")
    said = shard(folder, "cut", "2/4")
    assert "Shard 2 of 4: 1,024 models trained, of 2,600 models in all; they are in cut/.parts." in said
    assert said.endswith("No model is missing. Make the set of them: datamodels-inf merge cut\n")
    said = ok(folder, "merge", "cut")
    assert "2,600 models of 40 images and 20 targets are in cut.\nUse them: datamodels-inf init cut\n" in said
    assert contents(folder / "cut") == contents(folder / "whole")
    assert sorted(path.name for path in (folder / "cut").iterdir()) == sorted(contents(folder / "whole"))
    ok(folder, "merge", "cut")  # It is found whole,
    with noted_units() as trained:
        assert "2,600 models" in shard(folder, "cut", "2/4")  # and needs no shard.
    assert trained == []
    assert contents(folder / "cut") == contents(folder / "whole")


def test_folders_of_other_machines_are_taken_in_and_stay_as_they_are(folder):
    said = shard(folder, "there", "2/4")
    assert "In there, shards 1, 3 and 4 of 4 are missing." in said
    before = contents(folder / "cut"), contents(folder / "there")
    ok(folder, "merge", "new", "cut", "there")
    assert contents(folder / "new") == contents(folder / "whole")
    assert (contents(folder / "cut"), contents(folder / "there")) == before
    ok(folder, "merge", "cut", "there", "cut")  # Into one of them.
    assert contents(folder / "cut") == contents(folder / "whole")
    ok(folder, "merge", "cut", "there")  # It is whole.


def test_a_plain_training_finishes_what_shards_began(folder):
    with noted_units() as trained:
        ok(folder, "train", "--out", "cut", *TINY, "--quiet")
    assert [unit.first for unit in trained] == [512, 1024]
    assert contents(folder / "cut") == contents(folder / "whole")


def test_shards_of_different_numbers_are_named_by_models(folder):
    shard(folder, "cut", "2/6")
    assert "models 1,024 to 1,535 are missing" in refused(folder, "merge", "cut")
    shard(folder, "cut", "3/6")
    ok(folder, "merge", "cut")
    assert contents(folder / "cut") == contents(folder / "whole")


def test_a_shard_without_a_batch_says_so_and_succeeds(folder):
    said = shard(folder, "cut", "1/100")
    assert "Shard 1 of 100 has nothing to train: there are only 6 batches of 512 models." in said
    assert "In cut, models 512 to 1,535 are missing.\n" in said


def test_damaged_parts_are_missing_unless_another_folder_has_them(folder):
    shard(folder, "cut", "2/4")
    shutil.copytree(folder / "cut", folder / "copy")
    part = folder / "cut" / ".parts" / "000001536.npz"
    part.write_bytes(part.read_bytes()[:-1])
    done = call(folder, "merge", "cut")
    assert (done.returncode, "shard 3 of 4 is missing" in done.stderr) == (2, True)
    assert "000001536.npz is damaged" in done.stdout
    ok(folder, "merge", "cut", "copy")
    assert contents(folder / "cut") == contents(folder / "whole")


def test_what_does_not_belong_together_is_refused(folder):
    shard(folder, "seed", "2/4", "--seed", 1)
    assert "seed holds work with other settings than cut (seed 0 and 1); leave it out" in refused(
        folder, "merge", "cut", "seed"
    )
    assert "whole is a finished set: use it as it is" in refused(folder, "merge", "cut", "whole")
    assert "nothing holds no shards; name folders" in refused(folder, "merge", "cut", "nothing")
    assert "nothing holds no shards; train them first" in refused(folder, "merge", "nothing")
    assert "seed holds work with other settings than whole" in refused(folder, "merge", "whole", "seed")
    shard(folder, "there", "2/4")
    (folder / "thesis").mkdir()
    (folder / "thesis" / "thesis.tex").write_text("precious")
    sentence = refused(folder, "merge", "thesis", "cut", "there")
    assert "OUT thesis is not empty and was not made by this command" in sentence
    other = folder / "there" / ".parts" / "images.npz"
    other.write_bytes(other.read_bytes()[:-1])
    assert "images.npz is missing or damaged; run one of its shards again" in refused(folder, "merge", "x", "there")


def test_shards_that_run_at_the_same_time_are_killed_and_begun_again(whole, tmp_path):
    """Three real processes on one folder that none of them finds claimed."""

    def start(k):
        return Command(tmp_path, "train", "--out", "cut", *TINY, "--shard", f"{k}/3", "--quiet")

    def parts():
        return sorted(path.name[:-4] for path in tmp_path.glob("cut/.parts/0*.npz"))

    processes = [start(k) for k in (1, 2, 3)]
    deadline = time.monotonic() + 120
    while "000000000" not in parts() and time.monotonic() < deadline:
        time.sleep(0.005)
    processes[0].kill()
    ends = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [-signal.SIGKILL, 0, 0], ends
    assert parts() in (["000000000", "000001024", "000001536", "000002048", "000002560"],
                       ["000000000", "000000512", "000001024", "000001536", "000002048", "000002560"])  # fmt: skip
    with noted_units() as trained:
        shard(tmp_path, "cut", "1/3")
    assert all(unit.first == 512 for unit in trained)
    ok(tmp_path, "merge", "cut")
    assert contents(tmp_path / "cut") == contents(whole / "whole")


def test_models_that_saw_other_features_are_not_mixed(tmp_path):
    """Two machines may learn features that differ in their last bits."""
    job = Job("cifar10", 6, 4, "0" * 64, 12, Recipe(), 0, 0.5, "fixed-size", PatchRecipe())
    for name, features in (("here", FEATURES), ("there", replace(FEATURES, train=FEATURES.train + np.float16(1)))):
        (tmp_path / name).mkdir()
        with Parts(tmp_path / name, job).claimed():
            features.save(tmp_path / name / ".parts" / "features.npz")
    sentence = refused(tmp_path, "merge", "here", "there")
    assert "there/.parts/features.npz is not that of here, so that models of the two have not seen the same" in sentence


def test_a_merge_that_was_killed_goes_on(folder):
    """What it leaves: a claimed folder with some files, and no manifest."""
    shard(folder, "there", "2/4")
    ok(folder, "merge", "new", "cut", "there")
    shutil.copytree(folder / "cut" / ".parts", folder / "new" / ".parts")
    (folder / "new" / "manifest.json").unlink()
    (folder / "new" / "margins.npy").write_bytes(b"half")
    ok(folder, "merge", "new", "cut", "there")
    assert contents(folder / "new") == contents(folder / "whole")
    for path in (folder / "new").iterdir():
        path.unlink()
    job = Parts.found(folder / "cut").job
    with Parts(folder / "new", job).claimed():
        pass  # And one that was killed before it had copied anything, or in the middle of it.
    (folder / "new" / ".parts" / "images.npz").write_bytes(b"half")
    ok(folder, "merge", "new", "cut", "there")
    assert contents(folder / "new") == contents(folder / "whole")


def test_a_disk_that_is_taken_away_from_a_merge_is_a_sentence(folder, monkeypatch):
    """Its folder is still there, and empty."""
    shard(folder, "there", "2/4")

    really_take = merging.take_kept

    def take(*arguments):
        shutil.rmtree(folder / "new" / ".parts")
        really_take(*arguments)

    monkeypatch.setattr(merging, "take_kept", take)
    done = call(folder, "merge", "new", "cut", "there")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "new has gone while it was in use" in done.stderr
    monkeypatch.undo()
    ok(folder, "merge", "new", "cut", "there")
    assert contents(folder / "new") == contents(folder / "whole")


def test_parts_of_another_job_or_place_are_not_taken_for_those_of_this_one(folder):
    """Copied by hand: of another seed, and under the name of another batch."""
    shard(folder, "seed", "2/4", "--seed", 1)
    here = folder / "cut" / ".parts"
    shutil.copy(folder / "seed" / ".parts" / "000000512.npz", here)
    shutil.copy(here / "000000000.npz", here / "000001024.npz")
    done = call(folder, "merge", "cut")
    assert (done.returncode, "shard 2 of 4 is missing" in done.stderr) == (2, True)
    assert "cut/.parts/000000512.npz is of another job, or of other models of it" in done.stdout
    with noted_units() as trained:
        ok(folder, "train", "--out", "cut", *TINY, "--quiet")
    assert [unit.first for unit in trained] == [512, 1024]
    assert contents(folder / "cut") == contents(folder / "whole")


def test_a_folder_may_be_named_twice_by_two_names(folder):
    shard(folder, "there", "2/4")
    (folder / "link").symlink_to(folder / "there")
    ok(folder, "merge", "new", "cut", "there", "link", str(folder / "cut"))
    assert contents(folder / "new") == contents(folder / "whole")
