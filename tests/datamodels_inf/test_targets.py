"""Prepared targets: the same results as the tests on their own, whatever the block."""

import numpy as np
import pytest

import datamodels_inf.targets as module
from datamodels_inf import (
    Datamodel,
    PackedMasks,
    SquaredResidual,
    contrast_many,
    paired_swap_test_many,
    prepare_targets,
    swap_test_many,
)

N, D, T = 301, 40, 7


def data(coding="mask", dtype=np.float32):
    rng = np.random.default_rng(0)
    x = rng.random((N, D)) < 0.5
    weight = rng.standard_normal((D, T)).astype(dtype) * (rng.random((D, T)) < 0.5)
    bias = rng.standard_normal(T)
    margins = (x @ weight + bias + rng.standard_normal((N, T))).astype(np.float16)
    return x, margins, Datamodel(weight, bias, np.full(T, np.nan), coding)


PAIRS = np.array([(a, b) for a in range(D) for b in range(a)])[::11]


def fields(results):
    return {name: value for name, value in vars(results).items() if isinstance(value, np.ndarray)}


def assert_same(a, b):
    assert fields(a).keys() == fields(b).keys()
    for name, values in fields(a).items():
        np.testing.assert_array_equal(values, fields(b)[name], err_msg=name)


@pytest.mark.parametrize("coding", ("mask", "signed"))
@pytest.mark.parametrize("targets_at_once", (1, 3, 100))
def test_results_are_those_of_the_tests_on_their_own(coding, targets_at_once, monkeypatch):
    x, margins, datamodel = data(coding)
    monkeypatch.setattr(module, "BLOCK_BYTES", targets_at_once * 8 * (N + D))
    masks, plain = PackedMasks.from_bool(x), datamodel.in_mask_coding()
    targets = list(prepare_targets(masks, margins, datamodel))
    assert len(targets) == T
    for t, target in enumerate(targets):
        y, theta, bias = margins[:, t], plain.weight[:, t], float(plain.bias[t])
        score = SquaredResidual(theta, bias)
        for options in ({}, {"pvalue": "exact", "tau": 0.01, "tau_x": 0.01, "rng": 5}):
            expected = swap_test_many(masks, y, PAIRS, score=score, **options)
            assert_same(target.swap_test(PAIRS, threads=2, **options), expected)
        for options in ({}, {"tau": 0.1, "rng": 3}, {"pvalue": "hoeffding"}, {"pvalue": "signed-rank"}):
            expected = paired_swap_test_many(x, y, PAIRS, score=score, **options)
            assert_same(target.paired_swap_test(PAIRS, threads=2, **options), expected)
        expected = contrast_many(x, y, PAIRS, theta=theta, bias=bias, confidence=0.8)
        assert_same(target.contrast(PAIRS, confidence=0.8, threads=2), expected)


def test_masks_are_read_once_a_block(monkeypatch):
    x, margins, datamodel = data()
    calls = []
    monkeypatch.setattr(
        module,
        "products",
        lambda masks, w, threads, product=module.products: calls.append(w.shape) or product(masks, w, threads),
    )
    monkeypatch.setattr(module, "BLOCK_BYTES", 4 * 8 * (N + D))
    for target in prepare_targets(x, margins, datamodel):
        target.swap_test(PAIRS)
        target.paired_swap_test(PAIRS)
        target.contrast(PAIRS)
    assert calls == [(D, 4), (D, 3)]


def test_memory_mapped_margins(tmp_path):
    x, margins, datamodel = data()
    np.save(tmp_path / "margins.npy", margins)
    mapped = np.load(tmp_path / "margins.npy", mmap_mode="r")
    a, b = (next(iter(prepare_targets(x, m, datamodel))).contrast(PAIRS) for m in (margins, mapped))
    assert_same(a, b)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"masks": np.ones((N, D + 1), bool)}, r"`masks` must have 40 columns"),
    ({"margins": np.ones((N, T + 1))}, r"`margins` must have shape \(301, 7\)"),
    ({"margins": np.ones(N)}, r"`margins` must have shape \(301, 7\)"),
    ({"margins": np.full((N, T), np.inf)}, r"`y` must be finite"),
])  # fmt: skip
def test_bad_input(change, sentence):
    x, margins, datamodel = data()
    arguments = {"masks": x, "margins": margins, "datamodel": datamodel, **change}
    with pytest.raises(ValueError, match=sentence):
        list(prepare_targets(**arguments))


def test_bad_questions_get_the_same_sentences():
    x, margins, datamodel = data()
    target = next(iter(prepare_targets(x, margins, datamodel)))
    for ask in (target.swap_test, target.paired_swap_test, target.contrast):
        with pytest.raises(ValueError, match="`pairs` must be column numbers from 0 to 39"):
            ask([(0, 40)])
        with pytest.raises(ValueError, match="`threads` must be a whole number"):
            ask([(0, 1)], threads=0)
    with pytest.raises(ValueError, match="symmetric around 0"):
        target.paired_swap_test([(0, 1)], pvalue="signed-rank", tau=0.1)
