"""Batches of LASSO fits as units: in any order, in another process, without the files of others, the same arrays."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pipeline.config_files import load_config
from pipeline.places.base import InProcess
from pipeline.run import Pipeline
from pipeline.stages.fit.lasso_batches import LassoBatches
from pipeline.stages.fit.lasso_work import BATCH, WORK, Batch, LassoWork
from pipeline.stages.inputs import Data
from pipeline.store.unfinished_steps import read_step

SETTINGS = ("test.rows=progressive", "test.blocks=2", "source.first_rows=300", "fit.n_lambdas=12")
TARGETS = np.arange(BATCH + 3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A work whose batches were all made in their order."""
    folder = tmp_path_factory.mktemp("work")
    config = load_config("digits", SETTINGS)
    download = Pipeline(config, folder / "store", folder / "reports").run("download")
    data = Data.of(download, config)
    batches = LassoBatches(config, data, TARGETS, folder / "steps", InProcess(1), True, lambda line: None)
    assert len(list(batches.run())) == 2
    return LassoWork(config, data, TARGETS, folder / "steps")


def units(work):
    return [Batch(kind, block, start) for block in range(2) for kind in WORK for start in (0, BATCH)]


def arrays_of(work, unit):
    found = read_step(work.file(unit), pytest.fail)
    assert found is not None
    return found


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, strict=True)


def test_the_last_first_and_one_after_another_of_any_prefix(whole):
    """The Gram matrix never gives rows back, so a batch of fewer rows must not see one that has taken more."""
    maker = pickle.loads(pickle.dumps(whole)).open(2)
    for unit in units(whole)[::-1]:
        assert_same(maker(unit, lambda step: None), arrays_of(whole, unit))


def test_batches_that_it_begins_with_are_made_again_where_their_files_are_lost(whole, tmp_path):
    alone = replace(whole, unfinished=tmp_path)
    last = units(whole)[-1]
    assert_same(alone.open(1)(last, lambda step: None), arrays_of(whole, last))
    assert list(tmp_path.iterdir()) == []


def test_what_a_batch_begins_with(whole):
    assert whole.before(Batch("chosen", 0, 0)) is None
    assert whole.before(Batch("fitted", 1, 32)) == Batch("chosen", 1, 32)
    assert whole.before(Batch("chosen", 1, 32)) == Batch("fitted", 0, 32)


def test_sizes_add_up_to_the_fits(whole):
    assert sum(map(whole.size, units(whole))) == pytest.approx(2 * len(TARGETS))


def test_what_travels_holds_paths_and_no_rows(whole):
    assert whole.data.fit_masks.n_models == 300  # Mapped here.
    pickled = pickle.dumps(whole)
    assert len(pickled) < 20_000
    travelled = pickle.loads(pickled)
    assert travelled.data.folder.is_absolute()
    assert travelled.data.fit_masks.n_models == 300
