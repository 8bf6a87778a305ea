"""A set that can be trained on: what its content depends on, its inputs, and seeds that nobody else has."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from command_here import ok
from own_training import function, write_module
from small_cifar10 import refusal
from small_features import FEATURES

from datamodels_inf.training.recipe import PatchRecipe
from pipeline.config_files import load_config
from pipeline.images.image_set import as_float, load_digits
from pipeline.places.processes import Processes
from pipeline.store.files import file_digest
from pipeline.text.sealed_json import sealed
from pipeline.training.function_work import FunctionTraining
from pipeline.training.inputs import read_inputs
from pipeline.training.trained_set import TrainedSet


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    size = ("--train", 20, "--targets", 10, "--models", 6, "--steps", 2, "--hidden", 2)
    ok(folder, "train", "--out", "set", *size, "--workers", 1, "--quiet")
    return folder / "set"


SPLIT = ("source.fit_rows=3", "source.held_out_rows=3")


def of_folder(folder):
    return TrainedSet.of(load_config("digits", ["source.kind=files", f"source.folder={folder}", *SPLIT]), "verify")


def inputs_of(found):
    return read_inputs(found.inputs_file, found.job)


def test_it_says_how_its_models_were_trained_and_what_they_saw(made):
    found = of_folder(made)
    assert (found.job.n_models, found.job.recipe.hidden) == (6, 2)
    np.testing.assert_array_equal(inputs_of(found).train, as_float(load_digits(20, 10).train))


def test_the_embedded_set_is_one():
    found = TrainedSet.of(load_config("digits", []), "verify")
    assert (found.job.n_train, found.job.n_models) == (400, 12_000)
    assert inputs_of(found).train.shape == (400, 8, 8)


def test_content_changes_with_the_job_and_the_inputs_but_not_with_the_number_of_models(made, tmp_path):
    found = of_folder(made)
    before = found.content
    json.dumps(before)
    assert replace(found, job=replace(found.job, n_models=9)).content == before
    for other in (
        {"margin_step": 0.1},
        {"seed": 1},
        {"law": "bernoulli"},
        {"recipe": replace(found.job.recipe, steps=3)},
        {"proportion": 0.4},
    ):
        assert replace(found, job=replace(found.job, **other)).content != before
    (tmp_path / "images.npz").write_bytes(found.inputs_file.read_bytes() + b" ")
    other = replace(found, inputs_file=tmp_path / "images.npz", inputs_sha256=file_digest(tmp_path / "images.npz"))
    assert other.content != before


def test_what_is_not_as_the_manifest_says_is_refused(made, tmp_path):
    """Else fresh models would be of other images or of another law, and verdicts silently wrong."""
    shutil.copytree(made, tmp_path / "set")
    images = tmp_path / "set" / "images.npz"
    images.write_bytes(images.read_bytes() + b" ")
    found = of_folder(tmp_path / "set")
    assert "images.npz is damaged: its checksum is not that of its manifest" in refusal(lambda: found.content)
    manifest = json.loads((made / "manifest.json").read_text())
    for change in ({"proportion": 0.1}, {"n_train": 18}, {"n_train": 30}, {"law": "bernoulli", "proportion": 0.01}):
        (tmp_path / "set" / "manifest.json").write_text(
            json.dumps(sealed(manifest | {"job": manifest["job"] | change})) + "\n"
        )
        assert "does not hold masks as its manifest says they were drawn" in refusal(of_folder, tmp_path / "set")
    (tmp_path / "set" / "manifest.json").write_text(
        json.dumps(sealed(manifest | {"job": manifest["job"] | {"n_targets": 3}})) + "\n"
    )
    assert "other numbers of images than its manifest" in refusal(inputs_of, of_folder(tmp_path / "set"))
    (tmp_path / "set" / "masks.npy").write_bytes(b"no array")
    assert "masks.npy is not a whole array of masks" in refusal(of_folder, tmp_path / "set")


def test_a_set_with_features_shows_models_these(made, tmp_path):
    manifest = json.loads((made / "manifest.json").read_text())
    job = replace(of_folder(made).job, features=PatchRecipe())
    FEATURES.save(tmp_path / "features.npz")
    digests = {"features.npz": file_digest(tmp_path / "features.npz")}
    job = replace(job, n_train=len(FEATURES.train), n_targets=len(FEATURES.targets))
    np.save(tmp_path / "masks.npy", np.packbits(np.arange(job.n_train)[None] < round(job.n_train / 2), axis=1))
    (tmp_path / "manifest.json").write_text(
        json.dumps(sealed(manifest | {"job": job.as_json(), "sha256": digests})) + "\n"
    )
    found = of_folder(tmp_path)
    assert found.job == job
    gone = replace(found, inputs_file=tmp_path / "gone" / "features.npz")
    assert "features.npz does not exist; the set is not complete" in refusal(lambda: gone.content)
    np.testing.assert_array_equal(inputs_of(found).train, FEATURES.train)
    assert set(found.content) == {"job", "inputs"}


def test_fresh_seeds_differ_by_purpose_and_seed(made):
    found = of_folder(made)
    other = replace(found, job=replace(found.job, seed=1))
    seeds = [
        each.fresh_seed(purpose, seed)
        for each in (found, other)
        for purpose in ("forced", "fresh")
        for seed in (0, 1, 11)
    ]
    assert len({*seeds, found.job.seed, other.job.seed}) == 14
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert found.fresh_seed("forced", 0) == seeds[0]


def test_a_source_that_was_not_trained_here_is_refused(tmp_path):
    np.save(tmp_path / "masks.npy", np.eye(6, 4) > 0)
    np.save(tmp_path / "margins.npy", np.zeros((6, 2), np.float16))
    sentence = refusal(of_folder, tmp_path)
    assert sentence.startswith("verify trains more models like those of the source")


@pytest.mark.parametrize("change", ({"job": {"n_train": 3}}, {"job": None}), ids=("other keys", "nothing"))
def test_a_manifest_that_does_not_say_how_is_refused(made, tmp_path, change):
    manifest = json.loads((made / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(sealed(manifest | change)) + "\n")
    assert "does not say how its models were trained" in refusal(of_folder, tmp_path)


def test_a_changed_digit_of_a_manifest_is_noticed(made, tmp_path):
    """Of the recipe or of the step of margins it would be a number like any other."""
    shutil.copytree(made, tmp_path / "set")
    path = tmp_path / "set" / "manifest.json"
    text = path.read_text()
    path.write_text(text.replace('"seed": ', '"seed": 1'))
    assert path.read_text() != text
    assert "does not say how its models were trained" in refusal(of_folder, tmp_path / "set")


def test_a_set_of_a_function_is_trained_on_by_it_in_the_folder_of_the_command(tmp_path, monkeypatch):
    write_module(tmp_path)
    ok(tmp_path, "train", *function("train_one"), "--models", 6, "--out", "set", "--workers", 1, "--quiet")
    found = of_folder(tmp_path / "set")
    assert (found.job.function, found.inputs_file, found.retries) == ("mine:train_one", None, 2)
    more = ["source.kind=files", f"source.folder={tmp_path / 'set'}", *SPLIT]
    few = load_config("digits", [*more, "train.function=mine:train_one", "train.retries=5"])
    assert TrainedSet.of(few, "verify").retries == 5
    before = found.content
    json.dumps(before)
    assert replace(found, job=replace(found.job, n_models=9, files={})).content == before
    assert replace(found, job=replace(found.job, source_sha256="0" * 64)).content != before
    assert "there is no module mine in" in refusal(found.training, Processes(1), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert found.training(Processes(1), tmp_path) == FunctionTraining(found.job, tmp_path)
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# edited")
    sentence = refusal(found.training, Processes(1), tmp_path)
    assert sentence.startswith(f"{tmp_path / 'mine.py'} is not as it was when models were trained")
