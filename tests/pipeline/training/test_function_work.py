"""Models of a function: each from its own mask and seed, one thread, tried again where it fails; a sentence for what
is no outcome."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from own_training import expected, write_module
from small_cifar10 import refusal

from datamodels_inf.training.draws import model_seed
from pipeline.errors import WorkStoppedError
from pipeline.places.processes import Processes
from pipeline.training.function_job import FunctionJob
from pipeline.training.function_work import FunctionTraining, check_function
from pipeline.training.own_function import OwnFunction
from pipeline.training.work import CoupledModels, Models


@pytest.fixture
def training(tmp_path):
    """Of a function of the module."""
    write_module(tmp_path)

    def make(name="train_one", **settings):
        digest = OwnFunction.find(f"mine:{name}", tmp_path).sha256
        job = FunctionJob(f"mine:{name}", digest, 40, 5, 30, 7, 0.5, "fixed-size", {})
        return FunctionTraining(job, tmp_path, **settings)

    return make


@pytest.fixture(autouse=True)
def same_threads_afterwards(monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")


def made(training, unit):
    return training.open(1)(unit, lambda step: None)["margins"]


def test_outcomes_are_those_of_each_mask_and_seed_whatever_the_batch(training):
    steps, trainer = [], training().open(4)
    outcomes = trainer(Models(7, 0, 30), steps.append)["margins"]
    assert (outcomes.dtype, sum(steps), training().size(Models(7, 3, 30))) == (np.float32, 30, 27)
    np.testing.assert_array_equal(outcomes, expected(30, seed=7))
    np.testing.assert_array_equal(trainer(Models(7, 11, 13), steps.append)["margins"], outcomes[11:13])
    np.testing.assert_array_equal(made(training("changes_its_mask"), Models(7, 0, 3)), outcomes[:3])


def test_two_sides_of_a_couple_have_one_seed(training):
    job = training().job
    units = [CoupledModels(9, 0, 4, (1,), (2,), side) for side in (0, 1)]
    for unit in units:
        np.testing.assert_array_equal(made(training(), unit), expected(4, seed=9, masks=unit.masks(job)))


def test_processes_find_the_function_by_its_absolute_path(training, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    work = pickle.loads(pickle.dumps(training()))
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr("sys.path", [entry for entry in __import__("sys").path if entry != str(tmp_path)])
    found = dict(Processes(2).done(work, [Models(7, 0, 3), Models(7, 3, 6)], lambda step: None))
    np.testing.assert_array_equal(found[Models(7, 3, 6)]["margins"], expected(6, seed=7)[3:])
    assert len(pickle.dumps(work)) < 2_000


def test_a_function_has_one_thread(tmp_path):
    """Else bits would depend on who trains."""
    text = (
        "import numpy, threadpoolctl\n"
        "def threads(mask, seed):\n"
        "    return [max(pool['num_threads'] for pool in threadpoolctl.threadpool_info())]\n"
    )
    digest = OwnFunction.find("threaded:threads", write_module(tmp_path, "threaded.py", text)).sha256
    job = FunctionJob("threaded:threads", digest, 40, 1, 30, 7, 0.5, "fixed-size", {})
    assert made(FunctionTraining(job, tmp_path), Models(7, 0, 2)).tolist() == [[1], [1]]


def test_a_model_that_fails_is_tried_again_with_its_seed(training, tmp_path, monkeypatch):
    (tmp_path / "tries").mkdir()
    monkeypatch.setenv("TRIES", str(tmp_path / "tries"))
    np.testing.assert_array_equal(made(training("fails_twice", retries=2), Models(7, 4, 6)), expected(6, seed=7)[4:])
    tries = {path.name: path.read_text() for path in (tmp_path / "tries").iterdir()}
    assert tries == {str(model_seed(7, model)): "xxx" for model in (4, 5)}
    with pytest.raises(WorkStoppedError) as caught:
        made(training("fails_twice", retries=1), Models(7, 9, 10))
    assert str(caught.value).startswith("mine:fails_twice failed 2 times for model 9, at last with OSError: the disk")
    assert "what was finished is kept" in str(caught.value)


@pytest.mark.parametrize(("name", "part"), [
    ("fails", "mine:fails failed for model 8 with ValueError: no way ("), ("leaves", "with SystemExit: bye ("),
])  # fmt: skip
def test_one_that_always_fails_stops_the_work_with_its_number_and_place(training, name, part):
    with pytest.raises(WorkStoppedError) as caught:
        made(training(name, retries=0), Models(7, 8, 10))
    assert part in str(caught.value)
    assert "mine.py, line " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "part"), [
    ("three", "mine:three gave for model 2 an array of shape (3,); return 5 numbers (--targets)"),
    ("square", "an array of shape (5, 5); return 5 numbers"),
    ("unknown", "the outcome nan on target 2; outcomes must be finite numbers"),
    ("huge", "the outcome 1e+300 on target 4; outcomes must be finite numbers, at most 3e38"),
    ("words", "a str that is no array of numbers ("),
    ("nothing", "mine:nothing gave for model 2 a NoneType that is no array of numbers"),
    ("masked", "mine:masked gave for model 2 a MaskedArray that is no array of numbers (some of it is masked)"),
    ("learning", "a Tensor that is no array of numbers (Can't call numpy() on Tensor that requires grad."),
    ("endless", "a list that is no array of numbers (int too large to convert to float)"),
    ("complex_ones", "a ndarray that is no array of numbers (it has the type complex128)"),
])  # fmt: skip
def test_what_is_no_outcome_is_one_sentence(training, name, part):
    sentence = refusal(made, training(name), Models(7, 2, 3))
    assert part in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("name", ("tensor", "tensors", "fractions"))
def test_numbers_of_other_libraries_are_outcomes(training, name):
    assert made(training(name), Models(7, 2, 3)).tolist() == [[0.5, 1.5, 2.5, 3.5, 4.5]]


def test_one_target_may_be_a_number(training, tmp_path):
    write_module(tmp_path, "mine.py", "def train_one(mask, seed):\n    return mask.mean()\n")
    one = training()
    job = replace(one.job, n_targets=1)
    assert made(replace(one, job=job), Models(7, 0, 2)).tolist() == [[0.5], [0.5]]


def test_the_first_model_of_the_set_must_give_the_same_twice(training):
    sentence = refusal(made, training("noisy"), Models(7, 0, 1))
    assert sentence.startswith("mine:noisy gave ")
    assert "on target 0 for one model, trained twice with the same mask and seed: draw everything random" in sentence
    assert "--set train.repeatable=false" in sentence
    made(training("noisy", repeatable=False), Models(7, 0, 1))
    for unit in (Models(7, 1, 3), Models(8, 0, 2), CoupledModels(7, 0, 2, (1,), (2,), 0)):  # All others only once.
        made(training("noisy"), unit)


def test_an_edited_function_is_not_that_of_the_job(training, tmp_path):
    work = training()
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "# another line\n")
    sentence = refusal(work.open, 1)
    assert sentence.startswith(f"{tmp_path / 'mine.py'} is not as it was when models were trained by mine:train_one")
    assert "undo the change, or make the set again" in sentence
    check_function(training().job, OwnFunction.find("mine:train_one", tmp_path))
