"""Bit-packed masks against plain numpy on the unpacked matrix."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from datamodels_inf.masks import TILE_BYTES, PackedMasks, complement_hashes, pack_rows, row_hashes

Bools = NDArray[np.bool_]
SHAPES = [(1, 1), (3, 1), (5, 7), (4, 8), (4, 9), (7, 16), (300, 45), (40, 1003), (1, 500)]
SMALL_TILES = [1, 64, 500, 5000]


def random_masks(n_models: int, n_train: int, seed: int = 0) -> Bools:
    return np.random.default_rng(seed).random((n_models, n_train)) < 0.5


def dyadic(shape: tuple[int, ...], seed: int = 1) -> NDArray[np.float64]:
    """Multiples of 2⁻²⁰ below 2: every sum of a few thousand of them is exact in float64."""
    return np.random.default_rng(seed).integers(-(2**21), 2**21, shape) / 2**20


@pytest.fixture(params=SHAPES, ids=str)
def dense(request: pytest.FixtureRequest) -> Bools:
    return random_masks(*request.param)


def test_round_trip_and_attributes(dense: Bools) -> None:
    packed = PackedMasks.from_bool(dense)
    np.testing.assert_array_equal(packed.bits, np.packbits(dense, axis=1))
    np.testing.assert_array_equal(packed.to_bool(), dense)
    assert packed.to_bool().dtype == np.bool_
    assert packed.shape == (packed.n_models, packed.n_train) == dense.shape
    assert packed.nbytes == dense.shape[0] * -(-dense.shape[1] // 8)
    assert packed.T.shape == dense.T.shape
    assert packed.T.T is packed


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64])
@pytest.mark.parametrize("tile_bytes", [1, 100, TILE_BYTES])
def test_from_bool_takes_bools_and_zero_one_integers(dense: Bools, dtype: type, tile_bytes: int) -> None:
    packed = PackedMasks.from_bool(dense.astype(dtype), tile_bytes=tile_bytes)
    np.testing.assert_array_equal(packed.to_bool(), dense)


@pytest.mark.parametrize("tile_bytes", [*SMALL_TILES, TILE_BYTES])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_products_are_exact_in_float64_for_every_tile_size(dense: Bools, tile_bytes: int, k: int | None) -> None:
    packed = PackedMasks.from_bool(dense, tile_bytes=tile_bytes)
    tail = () if k is None else (k,)
    w, r = dyadic((dense.shape[1], *tail)), dyadic((dense.shape[0], *tail))
    for product, expected in ((packed @ w, dense @ w), (packed.T @ r, dense.T @ r), (packed.t_matmul(r), dense.T @ r)):
        assert product.dtype == np.float64
        np.testing.assert_array_equal(product, expected)


@pytest.mark.parametrize("tile_bytes", [64, TILE_BYTES])
def test_products_in_float32(dense: Bools, tile_bytes: int) -> None:
    packed = PackedMasks.from_bool(dense, tile_bytes=tile_bytes)
    w, r = dyadic((dense.shape[1], 2)).astype(np.float32), dyadic((dense.shape[0],)).astype(np.float32)
    for product, expected in ((packed @ w, dense @ w), (packed.T @ r, dense.T @ r)):
        assert product.dtype == np.float32
        np.testing.assert_allclose(product, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.bool_])
def test_other_real_factors_are_multiplied_in_float64(dtype: type) -> None:
    dense = random_masks(30, 21)
    w = np.arange(21).astype(dtype)
    product = PackedMasks.from_bool(dense) @ w
    assert product.dtype == np.float64
    np.testing.assert_array_equal(product, dense @ w.astype(np.float64))


def test_products_take_strided_factors() -> None:
    dense = random_masks(60, 50)
    w, r = dyadic((3, 100)).T[::2], dyadic((120,))[::2]
    packed = PackedMasks.from_bool(dense, tile_bytes=200)
    np.testing.assert_array_equal(packed @ w, dense @ w)
    np.testing.assert_array_equal(packed.T @ r, dense.T @ r)


@pytest.mark.parametrize("tile_bytes", [*SMALL_TILES, TILE_BYTES])
def test_sums(dense: Bools, tile_bytes: int) -> None:
    packed = PackedMasks.from_bool(dense, tile_bytes=tile_bytes)
    for sums, expected in ((packed.row_sums(), dense.sum(axis=1)), (packed.column_sums(), dense.sum(axis=0))):
        assert sums.dtype == np.int64
        np.testing.assert_array_equal(sums, expected)


def test_images_in_common_with_sets() -> None:
    rng = np.random.default_rng(6)
    dense, sets = rng.random((70, 13)) < 0.5, rng.random((4, 13)) < 0.4
    for tile_bytes in (8, 2**20):
        counts = PackedMasks.from_bool(dense, tile_bytes=tile_bytes).common_with(sets)
        np.testing.assert_array_equal(counts, dense.astype(int) @ sets.T.astype(int))


def test_column_sums_do_not_wrap_at_256() -> None:
    packed = PackedMasks.from_bool(np.ones((1000, 3), dtype=bool))
    np.testing.assert_array_equal(packed.column_sums(), [1000, 1000, 1000])


@pytest.mark.parametrize("tile_bytes", [1, 50, TILE_BYTES])
def test_columns_keep_the_order_asked_for(dense: Bools, tile_bytes: int) -> None:
    packed = PackedMasks.from_bool(dense, tile_bytes=tile_bytes)
    n_train = dense.shape[1]
    for indices in ([0], [n_train - 1, 0], np.random.default_rng(3).integers(0, n_train, 25), range(n_train)):
        columns = packed.columns(indices)
        np.testing.assert_array_equal(columns, dense[:, list(indices)])
        assert columns.dtype == np.bool_
        assert columns.flags.f_contiguous


def test_columns_of_nothing() -> None:
    assert PackedMasks.from_bool(random_masks(4, 9)).columns([]).shape == (4, 0)


def test_rows_are_views(dense: Bools) -> None:
    packed = PackedMasks.from_bool(dense)
    n = packed.n_models
    for start, stop in ((0, n), (n // 2, n), (n // 3, n // 2), (n, n)):
        view = packed.rows(start, stop)
        np.testing.assert_array_equal(view.to_bool(), dense[start:stop])
        assert np.shares_memory(view.bits, packed.bits) == (stop > start)
    for rows in (slice(None), slice(1, 3), slice(-2, None), slice(3, 1), slice(0, 10**9)):
        np.testing.assert_array_equal(packed[rows].to_bool(), dense[rows])


def test_a_view_keeps_the_tile_size() -> None:
    assert PackedMasks.from_bool(random_masks(4, 9), tile_bytes=77)[1:]._tile_bytes == 77


def test_zero_rows_are_fine() -> None:
    empty = PackedMasks.from_bool(np.zeros((0, 13), dtype=bool))
    assert empty.shape == (0, 13)
    assert (empty @ np.ones((13, 2))).shape == (0, 2)
    np.testing.assert_array_equal(empty.T @ np.ones(0), np.zeros(13))
    np.testing.assert_array_equal(empty.column_sums(), np.zeros(13))
    assert empty.row_sums().shape == (0,)
    assert empty.columns([1, 2]).shape == (0, 2)
    assert row_hashes(empty).shape == (0,)


def test_from_chunks_takes_a_generator() -> None:
    dense = random_masks(23, 19)
    packed = PackedMasks.from_chunks(dense[start : start + 5] for start in range(0, 23, 5))
    np.testing.assert_array_equal(packed.to_bool(), dense)


def test_memmaps_are_read_in_place(tmp_path: Path) -> None:
    dense = random_masks(50, 77)
    np.save(tmp_path / "bits.npy", np.packbits(dense, axis=1))
    np.save(tmp_path / "bools.npy", dense)
    bits = np.load(tmp_path / "bits.npy", mmap_mode="r")
    packed = PackedMasks(bits, 77, tile_bytes=300)
    assert np.shares_memory(packed[10:20].bits, bits)
    assert np.shares_memory(packed.bits, bits)
    w, r = dyadic((77,)), dyadic((40, 2))
    np.testing.assert_array_equal(packed @ w, dense @ w)
    np.testing.assert_array_equal(packed[5:45].T @ r, dense[5:45].T @ r)
    np.testing.assert_array_equal(packed.columns([76, 3]), dense[:, [76, 3]])
    np.testing.assert_array_equal(packed.row_sums(), dense.sum(axis=1))
    np.testing.assert_array_equal(packed.column_sums(), dense.sum(axis=0))
    from_bools = PackedMasks.from_bool(np.load(tmp_path / "bools.npy", mmap_mode="r"), tile_bytes=300)
    np.testing.assert_array_equal(from_bools.bits, bits)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_everything_agrees_with_numpy(data: st.DataObject) -> None:
    n_models, n_train = data.draw(st.integers(0, 20)), data.draw(st.integers(1, 40))
    cells = data.draw(st.lists(st.booleans(), min_size=n_models * n_train, max_size=n_models * n_train))
    dense = np.array(cells, dtype=bool).reshape(n_models, n_train)
    indices = data.draw(st.lists(st.integers(0, n_train - 1), max_size=12))
    packed = PackedMasks.from_bool(dense, tile_bytes=data.draw(st.integers(1, 2000)))
    w, r = dyadic((n_train, 2)), dyadic((n_models,))
    np.testing.assert_array_equal(packed @ w, dense @ w)
    np.testing.assert_array_equal(packed.T @ r, dense.T @ r)
    np.testing.assert_array_equal(packed.columns(indices), dense[:, np.array(indices, dtype=int)])
    np.testing.assert_array_equal(packed.row_sums(), dense.sum(axis=1))
    np.testing.assert_array_equal(packed.column_sums(), dense.sum(axis=0))
    assert len(np.unique(row_hashes(packed))) == len(np.unique(dense, axis=0))
    np.testing.assert_array_equal(packed.common_with_next(), (dense[:-1] & dense[1:]).sum(axis=1))


LARGE = (20_000, 8_000)

CALLS: dict[str, Callable[[PackedMasks], Any]] = {
    "masks @ w": lambda masks: masks @ np.ones(LARGE[1]),
    "masks @ W": lambda masks: masks @ np.ones((LARGE[1], 4)),
    "masks.T @ r": lambda masks: masks.T @ np.ones(LARGE[0]),
    "columns": lambda masks: masks.columns(np.arange(0, LARGE[1], 20)),
    "row_sums": PackedMasks.row_sums,
    "column_sums": PackedMasks.column_sums,
    "row_hashes": row_hashes,
}


@pytest.fixture(scope="module")
def large() -> PackedMasks:
    bits = np.random.default_rng(0).integers(0, 256, (LARGE[0], LARGE[1] // 8), dtype=np.uint8)
    return PackedMasks(bits, LARGE[1])


def peak_bytes(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CALLS)
def test_nothing_unpacks_more_than_a_tile(large: PackedMasks, name: str) -> None:
    """The bits take 20 MB, unpacked to bytes they would take 160, to float64 1280."""
    assert peak_bytes(lambda: CALLS[name](large)) < 60e6


@pytest.mark.parametrize("name", ["masks @ w", "masks.T @ r", "row_sums", "column_sums"])
def test_a_smaller_tile_takes_less_memory(large: PackedMasks, name: str) -> None:
    small = PackedMasks(large.bits[:4000], large.n_train, tile_bytes=10**6)
    calls = {**CALLS, "masks.T @ r": lambda masks: masks.T @ np.ones(4000)}
    assert peak_bytes(lambda: calls[name](small)) < 2e6


def test_packing_goes_by_rows() -> None:
    dense = np.zeros((2000, 8000), dtype=np.int8)
    assert peak_bytes(lambda: PackedMasks.from_bool(dense, tile_bytes=10**6)) < dense.nbytes / 8 + 5e6


def test_repr_is_short() -> None:
    assert repr(PackedMasks.from_bool(random_masks(4, 9))) == "PackedMasks(4 models × 9 images, 0.0 MB)"


BITS = np.zeros((4, 2), dtype=np.uint8)
MASKS = PackedMasks(BITS, 12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PackedMasks(BITS, 0), "`n_train` must be at least 1"),
        (lambda: PackedMasks(BITS, 12, tile_bytes=0), "`tile_bytes` must be at least 1"),
        (lambda: PackedMasks(BITS, 17), r"`bits` must be a uint8 array of shape \(n_models, 3\) for 17 images"),
        (lambda: PackedMasks(BITS[0], 12), "`bits` must be a uint8 array"),
        (lambda: PackedMasks(BITS.astype(np.int8), 12), "`bits` must be a uint8 array .* got int8"),
        (lambda: PackedMasks(BITS + np.uint8(8), 12), "`bits` must be 0 in the last 4 bits of each row"),
        (lambda: PackedMasks.from_bool(np.zeros((2, 3))), "`array` must be a 2-D array of bool .* got float64"),
        (lambda: PackedMasks.from_bool(np.zeros(3, bool)), "`array` must be a 2-D array"),
        (lambda: PackedMasks.from_bool(np.zeros((3, 0), bool)), "`array` must be .* with at least one column"),
        (lambda: PackedMasks.from_bool(np.array([[0, 2]])), "`array` must hold nothing but 0 and 1"),
        (lambda: pack_rows(np.array([[0, -1]])), "`array` must hold nothing but 0 and 1"),
        (lambda: PackedMasks.from_chunks([]), "`chunks` must hold arrays of one and the same width"),
        (
            lambda: PackedMasks.from_chunks([np.zeros((1, 9), bool), np.zeros((1, 10), bool)]),
            r"`chunks` must hold arrays of one and the same width, got \[9, 10\]",
        ),
        (lambda: MASKS.rows(-1, 2), "`start` and `stop` must satisfy"),
        (lambda: MASKS.rows(3, 2), "`start` and `stop` must satisfy"),
        (lambda: MASKS.rows(0, 5), "`start` and `stop` must satisfy 0 ≤ start ≤ stop ≤ 4"),
        (lambda: MASKS[::2], "`rows` must be a slice of step 1"),
        (lambda: MASKS[1], "`rows` must be a slice of step 1"),
        (lambda: MASKS.columns([12]), r"`indices` must lie in 0\.\.11"),
        (lambda: MASKS.columns([-1]), r"`indices` must lie in 0\.\.11"),
        (lambda: MASKS.columns([0.5]), "`indices` must be a 1-D sequence of integers"),
        (lambda: MASKS.columns(np.zeros((2, 2), int)), "`indices` must be a 1-D sequence of integers"),
        (lambda: MASKS.columns(np.zeros(12, bool)), "`indices` must be a 1-D sequence of integers"),
        (lambda: MASKS @ np.ones(11), r"`w` must have shape \(12,\) or \(12, k\), got \(11,\)"),
        (lambda: MASKS @ np.ones((12, 1, 1)), "`w` must have shape"),
        (lambda: MASKS @ np.ones(12, complex), "`w` must hold real numbers, got complex128"),
        (lambda: MASKS.T @ np.ones(12), r"`r` must have shape \(4,\)"),
    ],
)
def test_errors_are_one_sentence_that_names_the_argument(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_array_on_the_left_is_refused() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(4) @ MASKS


def test_hashes_of_rows_and_complements():
    """Also of rows that differ in the last bits of two words only, where a careless sum would be blind."""
    rng = np.random.default_rng(9)
    masks = rng.random((50, 130)).argsort(axis=1) < 65
    packed = PackedMasks.from_bool(masks)
    assert (complement_hashes(packed) == row_hashes(PackedMasks.from_bool(~masks))).all()
    twins = np.repeat(masks[:1], 64 * 3, axis=0)
    for k, (a, b) in enumerate((a, b) for a in range(64) for b in (64, 96, 127)):
        twins[k, [a, b]] ^= True
    assert len(np.unique(row_hashes(PackedMasks.from_bool(twins)))) == len(np.unique(twins, axis=0))
