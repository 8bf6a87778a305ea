"""What later stages read: targets by setting, and columns of datamodels in any order."""

from dataclasses import replace

import numpy as np
import pytest
from released_layout import released

from datamodels_inf.datamodel import Datamodel
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline
from pipeline.stages import inputs
from pipeline.stages.inputs import Block, Data, Fitted, chosen_targets


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    released(folder / "cifar")
    return folder


def downloaded(source, *settings):
    """What the download stage left of the released layout: 24 images, targets 0, 2, … cats and 1, 3, … dogs."""
    common = ["source.kind=files", f"source.folder={source / 'cifar'}", "source.fit_rows=200", *settings]
    config = load_config("digits", [*common, "source.held_out_rows=90"])
    return Data.of(Pipeline(config, source / "store", source / "reports", quiet=True).run("download"), config)


def test_rows_of_fit_and_test_are_those_of_the_files_and_disjoint(source):
    data = downloaded(source, f"source.images={source / 'cifar' / 'images.npz'}")
    masks = np.load(source / "cifar" / "data" / "train_masks_50pct.npy")
    margins = np.load(source / "cifar" / "data" / "test_margins_50pct.npy")
    some = np.array([6, 1])
    np.testing.assert_array_equal(data.fit_masks.to_bool(), masks[:200])
    np.testing.assert_array_equal(data.held_out_masks.to_bool(), masks[-90:])
    np.testing.assert_array_equal(data.fit_margins(some), margins[:200][:, some])
    np.testing.assert_array_equal(data.held_out_margins(some), margins[-90:][:, some])
    assert (data.n_train, data.n_targets) == (24, 8)


def test_margins_are_read_some_rows_at_a_time_and_their_pages_given_back(source, monkeypatch):
    data = downloaded(source)
    margins, some = np.load(source / "cifar" / "data" / "test_margins_50pct.npy"), np.array([3, 0, 7])
    given_back = []
    monkeypatch.setattr(inputs, "MARGINS_AT_ONCE", 64)
    monkeypatch.setattr(inputs, "forget_pages", lambda array: given_back.append(isinstance(array, np.memmap)))
    np.testing.assert_array_equal(data.fit_margins(some), margins[:200][:, some])
    assert given_back == [True] * 4


def test_targets_are_chosen_by_class_by_number_or_all(source):
    data = downloaded(source, f"source.images={source / 'cifar' / 'images.npz'}")
    assert chosen_targets(data, "all", "fit.targets").tolist() == list(range(8))
    assert chosen_targets(data, "dog", "fit.targets").tolist() == [1, 3, 5, 7]
    assert chosen_targets(data, [7, 0], "fit.targets").tolist() == [7, 0]
    with pytest.raises(BadInputError, match=r"fit\.targets = 'yak' is no class of this data; there are cat, dog"):
        chosen_targets(data, "yak", "fit.targets")
    with pytest.raises(BadInputError, match=r"fit\.targets must be different numbers from 0 to 7"):
        chosen_targets(data, [8], "fit.targets")
    with pytest.raises(BadInputError, match="draws images by class, but the source has no labels"):
        chosen_targets(downloaded(source), "dog", "fit.targets")


def test_columns_of_a_datamodel_are_found_in_any_order():
    targets = np.array([9, 2, 30, 5])
    fitted = Fitted([Datamodel(np.arange(12.0).reshape(3, 4), np.zeros(4), np.ones(4))], targets)
    for wanted in ([9], [2, 9], [30, 5, 2, 9], [5, 5]):
        expected = [targets.tolist().index(t) for t in wanted]
        assert fitted.places(np.array(wanted)).tolist() == expected
        np.testing.assert_array_equal(fitted.columns(np.array(wanted)), fitted.datamodel.weight[:, expected])


def test_the_first_prefix_is_the_fit_rows_though_others_lie_between_them_and_the_tested_ones(source):
    data = downloaded(source)
    apart = replace(data, held_out=(230, 290))
    vars(apart)["blocks"] = Block((230, 260), 0), Block((260, 290), 1)
    margins = np.load(source / "cifar" / "data" / "test_margins_50pct.npy")
    for block, stop in zip(apart.blocks, (200, 260), strict=True):
        masks, of = apart.prefix(block)
        assert masks.n_models == stop
        assert len(of(np.array([6, 1]))) == stop
    np.testing.assert_array_equal(apart.prefix(apart.blocks[0])[1](np.array([6, 1])), margins[:200][:, [6, 1]])


def test_each_block_is_tested_with_the_datamodel_of_the_rows_before_it(source):
    data = downloaded(source)
    start, stop = data.held_out
    blocks = (Block((start, start + 30), 0), Block((start + 30, start + 70), 1), Block((start + 70, stop), 2))
    object.__setattr__(data, "blocks", blocks)
    rng = np.random.default_rng(0)
    weights = [np.rint(64 * rng.normal(size=(data.n_train, 2))) / 64 for _ in blocks]
    fitted = Fitted([Datamodel(w, np.full(2, k + 0.5), np.ones(2)) for k, w in enumerate(weights)], np.array([4, 1]))
    [tested] = inputs.tested_targets(data, fitted, np.array([1]))
    for k, (block, target) in enumerate(zip(blocks, tested, strict=True)):
        np.testing.assert_array_equal(target.score.theta, weights[k][:, 1])
        assert target.score.bias == k + 0.5
        np.testing.assert_array_equal(target.sample.y, data.block_margins(block, np.array([1]))[:, 0])
    assert sum(len(target.f) for target in tested) == stop - start
