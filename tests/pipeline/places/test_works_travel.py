"""What is sent to a worker: settings and paths, never masks or margins, of a set as large as the paper's too."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.training.recipe import Recipe
from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.stages.atlas.stage import Estimates
from pipeline.stages.fit.lasso_work import LassoWork
from pipeline.stages.inputs import Data, Fitted, _Lazy
from pipeline.stages.prior.evidence import FitEstimates
from pipeline.stages.test import premise
from pipeline.stages.test.pair_chunks import Chunk, PairWork
from pipeline.training.job import Job
from pipeline.training.work import Training

N_TRAIN, N_TARGETS, N_MODELS = 50_000, 10_000, 240


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    (folder / "set").mkdir()
    np.save(folder / "set" / "masks.npy", rng.random((N_MODELS, N_TRAIN)) < 0.5)
    np.save(folder / "set" / "margins.npy", rng.standard_normal((N_MODELS, N_TARGETS)).astype(np.float16))
    settings = ("source.kind=files", f"source.folder={folder / 'set'}", "test.design=top", "test.target_class=")
    split = ("source.fit_rows=140", "source.held_out_rows=100", "test.repeats=", "test.targets=all")
    config = load_config("digits", [*settings, *split])
    return Data.of(Pipeline(config, folder / "store", folder, quiet=True).run("download"), config)


def works(data, folder):
    targets, config = np.arange(N_TARGETS), data.config
    np.savez(folder / "datamodel.npz", weight=np.zeros((N_TRAIN, 3)), bias=np.zeros(3), lam=np.zeros(3))
    fitted = Fitted(_Lazy([folder / "datamodel.npz"]), targets)
    testable = premise.testable_pairs(config, premise.check_premise(config, data), data)
    job = Job("cifar10", N_TRAIN, N_TARGETS, "0" * 64, 300_000, Recipe(), 0, 0.5, "fixed-size")
    return (
        LassoWork(config, data, targets, folder),
        PairWork(config, data, fitted, testable),
        Estimates(data, fitted, targets),
        FitEstimates(data, fitted, targets, True),
        Training(job, folder / "images.npz"),
    )


def test_a_work_that_was_used_here_is_small(data, tmp_path):
    """All that it maps or reads has been read: none of it goes along."""
    for work in works(data, tmp_path):
        if hasattr(work, "data"):
            assert work.data.held_out_masks.n_models == 100
            assert work.data.fit_masks.column_sums().shape == (N_TRAIN,)
        if hasattr(work, "fitted"):
            assert work.fitted.datamodel.weight.shape == (N_TRAIN, 3)
        sent = pickle.dumps(work)
        assert len(sent) < 500_000, type(work)
        again = pickle.loads(sent)
        if hasattr(again, "data"):
            assert again.data.folder.is_absolute()
            np.testing.assert_array_equal(again.data.fit_masks.column_sums(), data.fit_masks.column_sums())


def test_a_chunk_of_pairs_is_its_pairs():
    numbers = np.arange(20_000)
    pairs = Pairs.of_triples(np.stack([numbers, numbers + 1, numbers % 17], axis=1), "listed")
    assert len(pickle.dumps(Chunk(0, 20_000, pairs))) < 1_000_000


def test_relative_paths_are_those_of_the_command(data, tmp_path, monkeypatch):
    """A worker stands in a folder of its own."""
    store = data.folder.parent
    monkeypatch.chdir(store)
    np.savez(store / "datamodel.npz", weight=np.zeros((N_TRAIN, 3)), bias=np.zeros(3), lam=np.zeros(3))
    here = replace(data, folder=data.folder.relative_to(store)), Fitted(_Lazy([Path("datamodel.npz")]), np.arange(3))
    sent = pickle.dumps(here)
    monkeypatch.chdir(tmp_path)
    there, fitted = pickle.loads(sent)
    assert there.fit_masks.n_models == 140
    assert fitted.datamodel.weight.shape == (N_TRAIN, 3)
