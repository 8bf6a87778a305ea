"""Lines about models that were made, and about those that are missing."""

import shlex
from pathlib import Path

from command_here import ok

from datamodels_inf.training.recipe import Recipe
from pipeline.commands.made_models import made_lines, shard_lines
from pipeline.training.job import Job
from pipeline.training.made_set import ShardDone
from pipeline.training.parts import Parts, shard_folder
from pipeline.training.shards import Shard

JOB = Job("digits", 40, 20, "0" * 64, 2600, Recipe(), 0, 0.5, "fixed-size")


def lines(tmp_path, number, count, *done):
    parts = Parts(tmp_path, JOB)
    shard_folder(tmp_path, Shard(number, count)).mkdir(parents=True)
    return list(shard_lines(Shard(number, count), ShardDone(*done), parts))


def test_a_shard_says_what_it_did_and_what_is_missing(tmp_path):
    first, second, third = lines(tmp_path, 1, 3, 2, 1024, 512, (1024, 2560))
    assert (
        first
        == f"Shard 1 of 3: 512 models trained, 512 were there, of 2,600 models in all; they are in {tmp_path}/.parts."
    )
    assert second == f"In {tmp_path}, shards 2 and 3 of 3 are missing."
    assert third.endswith(f": datamodels-inf merge {tmp_path}")


def test_one_shard_of_a_whole_set_leaves_it_to_others_to_say(tmp_path):
    assert lines(tmp_path, 1, 3, 2, 1024, 0, (), True) == []


def test_a_set_of_few_models_is_run_by_a_command_that_works(tmp_path):
    """Also after a merge, where nobody said which class its targets are for."""
    size = ("--train", 40, "--targets", 20, "--models", 6, "--steps", 5, "--hidden", 4, "--workers", 1)
    ok(tmp_path, "train", "--out", "a set", *size, "--shard", "1/1", "--quiet")
    said = ok(tmp_path, "merge", "a set").splitlines()[-1]
    program, *words = shlex.split(said.removeprefix("Use them: "))
    assert program == "datamodels-inf"
    ok(tmp_path, *words, "--quiet")


def test_five_models_cannot_be_used():
    (line,) = made_lines(Job("digits", 40, 1, "0" * 64, 5, Recipe(), 0, 0.5, "fixed-size"), Path("set"))
    assert line == "5 models of 40 images and 1 target are in set."
