"""Columns of masks as bits: against indexing."""

import numpy as np
import pytest

from datamodels_inf import PackedMasks
from datamodels_inf.internal.column_words import column_words, count_changed, used_columns


def unpacked(words, n):
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    assert not bits[:, n:].any()
    return bits[:, :n].astype(bool)


@pytest.mark.parametrize("n", (2, 63, 64, 65, 130, 1000))
@pytest.mark.parametrize("rows", ("all", "second half", "shuffled", "few"))
def test_words_are_the_columns(n, rows):
    rng = np.random.default_rng(n)
    x = rng.random((n, 41)) < 0.5
    chosen = {
        "all": slice(0, None),
        "second half": slice(n // 2, None),
        "shuffled": rng.permutation(n),
        "few": rng.permutation(n)[: n // 3 + 1],
    }[rows]
    columns = np.unique(rng.integers(0, 41, 12))
    expected = x[chosen][:, columns].T
    for features in (x, PackedMasks.from_bool(x)):
        words = column_words(features, columns, chosen, 1)
        assert words.shape == (columns.size, -(-expected.shape[1] // 64))
        np.testing.assert_array_equal(unpacked(words, expected.shape[1]), expected)


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_many_columns_in_threads(threads):
    """More than a block of bytes, some bytes without a column."""
    rng = np.random.default_rng(0)
    x = rng.random((150, 3001)) < 0.5
    columns = np.flatnonzero(rng.random(3001) < 0.4)
    words = column_words(PackedMasks.from_bool(x), columns, slice(0, None), threads)
    np.testing.assert_array_equal(unpacked(words, 150), x[:, columns].T)


def test_read_only_memory_map(tmp_path):
    x = np.random.default_rng(0).random((70, 20)) < 0.5
    np.save(tmp_path / "masks.npy", np.packbits(x, axis=1))
    masks = PackedMasks(np.load(tmp_path / "masks.npy", mmap_mode="r"), 20)
    words = column_words(masks, np.arange(20), slice(0, None), 1)
    np.testing.assert_array_equal(unpacked(words, 70), x.T)


def test_positions_among_the_used_columns():
    pairs = np.array([[[7], [3]], [[3], [9]]])
    used, left, right = used_columns(pairs)
    assert used.tolist() == [3, 7, 9]
    assert (left.tolist(), right.tolist()) == ([[1], [0]], [[0], [2]])


@pytest.mark.parametrize("group", [1, 3])
def test_changed_rows_are_those_that_the_swap_changes(group):
    rng = np.random.default_rng(group)
    x = rng.random((203, 30)) < 0.4
    pairs = np.stack([rng.permutation(30)[: 2 * group].reshape(2, group) for _ in range(400)])
    expected = [(x[:, i] != x[:, j]).any(axis=1).sum() for i, j in pairs]
    for masks in (x, PackedMasks.from_bool(x)):
        np.testing.assert_array_equal(count_changed(masks, pairs, 2), expected)
