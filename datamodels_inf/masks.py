"""Bit-packed masks: the one way to hold the training subsets of many models and to multiply by them.

A mask matrix M is (n_models, n_train), M[m, l] = 1 when model m was trained on image l. Eight images share a
byte, in the order of `np.packbits(axis=1)`: image l is bit 7 − l mod 8 of byte l div 8. At the true size,
300,000 × 50,000, that is 1.9 GB on disk; nothing here but `to_bool` unpacks more than one tile at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]

# Measured on 10,000 × 50,000: larger tiles are slower for one vector, smaller ones for a hundred.
TILE_BYTES = 8 * 2**20
# 8192 images: wide enough for BLAS, narrow enough that the partial result of Mᵀ r stays a tile, not a copy.
_TILE_WIDTH = 1024
_ROWS_AT_ONCE = 256
_POPCOUNT = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)


class PackedMasks:
    """(n_models, n_train) masks held as bits, in memory or in a `np.memmap` that the caller opened.

    Parameters
    ----------
    bits : (n_models, ceil(n_train / 8)) uint8, as `np.packbits(masks, axis=1)` gives it. Never copied.
    n_train : number of images, so of columns; the bits after the last image must be 0.
    tile_bytes : memory that one unpacked tile may take.

    `from_bool` and `from_chunks` pack what is not packed yet.

    >>> masks = PackedMasks.from_bool(np.array([[1, 0, 1, 1], [0, 0, 1, 0]]))
    >>> masks.nbytes, masks.row_sums(), masks @ np.array([0.5, 4.0, 2.0, 1.0])
    (2, array([3, 1]), array([3.5, 2. ]))
    """

    __array_ufunc__ = None  # `array @ masks` is refused by numpy instead of looping over objects

    def __init__(self, bits: NDArray[np.uint8], n_train: int, *, tile_bytes: int = TILE_BYTES) -> None:
        if n_train < 1:
            raise ValueError(f"`n_train` must be at least 1, got {n_train}.")
        if tile_bytes < 1:
            raise ValueError(f"`tile_bytes` must be at least 1, got {tile_bytes}.")
        bits = np.asarray(bits)
        width = (n_train + 7) // 8
        if bits.dtype != np.uint8 or bits.ndim != 2 or bits.shape[1] != width:
            raise ValueError(
                f"`bits` must be a uint8 array of shape (n_models, {width}) for {n_train} images, "
                f"got {bits.dtype} of shape {bits.shape}."
            )
        padding = 8 * width - n_train
        if padding and np.any(bits[:, -1] & np.uint8(2**padding - 1)):
            raise ValueError(f"`bits` must be 0 in the last {padding} bits of each row, after {n_train} images.")
        self._bits = bits
        self._n_train = n_train
        self._tile_bytes = tile_bytes

    @classmethod
    def of(cls, masks: PackedMasks | NDArray[Any]) -> PackedMasks:
        """`masks` themselves where they are packed, else packed by `from_bool`."""
        return masks if isinstance(masks, PackedMasks) else cls.from_bool(np.asarray(masks))

    @classmethod
    def from_bool(cls, array: NDArray[Any], *, tile_bytes: int = TILE_BYTES) -> PackedMasks:
        """Pack a bool or 0/1 integer array, a memmap too, a few rows at a time."""
        _check_packable(array)
        n_models, n_train = array.shape
        bits = np.empty((n_models, (n_train + 7) // 8), dtype=np.uint8)
        for rows in _slices(n_models, tile_bytes // (n_train * array.itemsize)):
            bits[rows] = pack_rows(array[rows])
        return cls(bits, n_train, tile_bytes=tile_bytes)

    @classmethod
    def from_chunks(cls, chunks: Iterable[NDArray[Any]], *, tile_bytes: int = TILE_BYTES) -> PackedMasks:
        """Stack blocks of rows, each packed as it comes; `chunks` may be a generator.

        >>> PackedMasks.from_chunks(np.eye(2, 3, dtype=bool) for _ in range(3)).shape
        (6, 3)
        """
        packed: list[NDArray[np.uint8]] = []
        widths: set[int] = set()
        for chunk in chunks:
            packed.append(pack_rows(chunk))
            widths.add(chunk.shape[1])
        if len(widths) != 1:
            raise ValueError(f"`chunks` must hold arrays of one and the same width, got {sorted(widths)}.")
        return cls(np.concatenate(packed), widths.pop(), tile_bytes=tile_bytes)

    @property
    def bits(self) -> NDArray[np.uint8]:
        """(n_models, ceil(n_train / 8)) uint8: the array that was given, not a copy."""
        return self._bits

    @property
    def n_models(self) -> int:
        """The number of models, so of rows."""
        return len(self._bits)

    @property
    def n_train(self) -> int:
        """The number of images, so of columns."""
        return self._n_train

    @property
    def shape(self) -> tuple[int, int]:
        """(n_models, n_train), as of the unpacked matrix."""
        return self.n_models, self.n_train

    @property
    def nbytes(self) -> int:
        """Of the bits, in memory or on disk: n_models · ceil(n_train / 8)."""
        return self._bits.nbytes

    @property
    def T(self) -> TransposedMasks:  # noqa: N802 (numpy's name)
        """Mᵀ without a copy, for `masks.T @ r`."""
        return TransposedMasks(self)

    def __repr__(self) -> str:
        return f"PackedMasks({self.n_models} models × {self.n_train} images, {self.nbytes / 1e6:.1f} MB)"

    def rows(self, start: int, stop: int) -> PackedMasks:
        """The models start..stop−1, as a view of the same bits."""
        if not 0 <= start <= stop <= self.n_models:
            raise ValueError(
                f"`start` and `stop` must satisfy 0 ≤ start ≤ stop ≤ {self.n_models}, got {start} and {stop}."
            )
        return PackedMasks(self._bits[start:stop], self.n_train, tile_bytes=self._tile_bytes)

    def __getitem__(self, rows: slice) -> PackedMasks:
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise ValueError(f"`rows` must be a slice of step 1, got {rows!r}.")
        start, stop, _ = rows.indices(self.n_models)
        return self.rows(start, max(start, stop))

    def to_bool(self) -> NDArray[np.bool_]:
        """The whole matrix as bool: eight times the memory of the bits."""
        return np.unpackbits(self._bits, axis=1, count=self.n_train).view(np.bool_)

    def columns(self, indices: NDArray[np.integer[Any]] | Iterable[int]) -> NDArray[np.bool_]:
        """(n_models, k): who was trained on each of `indices`, in that order, each column contiguous.

        Reads the one byte a model that holds the image, nothing else.
        """
        index = check_indices("indices", indices, self.n_train)
        byte, shift = index >> 3, (7 - (index & 7)).astype(np.uint8)
        out = np.empty((index.size, self.n_models), dtype=np.bool_)
        for rows in _slices(self.n_models, self._tile_bytes // max(1, index.size)):
            block = self._bits[rows][:, byte]
            block >>= shift
            block &= 1
            out[:, rows] = block.T
        return out.T

    def __matmul__(self, w: FloatArray) -> FloatArray:
        """M w for `w` (n_train,) or (n_train, k); float32 for float32, float64 for anything else.

        Where all partial sums are exact, as for weights on a dyadic grid, the tile size changes no bit.
        """
        w = _check_factor("w", w, self.n_train)
        out = np.zeros((self.n_models, *w.shape[1:]), dtype=w.dtype)
        for rows, columns, tile in self._tiles(w.dtype):
            out[rows] += tile @ w[columns]
        return out

    def t_matmul(self, r: FloatArray) -> FloatArray:
        """Mᵀ r for `r` (n_models,) or (n_models, k); types and exactness as in M w."""
        r = _check_factor("r", r, self.n_models)
        out = np.zeros((self.n_train, *r.shape[1:]), dtype=r.dtype)
        for rows, columns, tile in self._tiles(r.dtype):
            out[columns] += tile.T @ r[rows]
        return out

    def row_sums(self) -> NDArray[np.int64]:
        """(n_models,): the number of images each model was trained on."""
        sums = np.empty(self.n_models, dtype=np.int64)
        for rows in _slices(self.n_models, _ROWS_AT_ONCE):
            sums[rows] = count_ones(self._bits[rows])
        return sums

    def constant_columns(self) -> NDArray[np.bool_]:
        """(n_train,): whether all models were trained on an image, or none was."""
        never, always = (~np.bitwise_or.reduce(self._bits, axis=0), np.bitwise_and.reduce(self._bits, axis=0))
        return np.unpackbits(never | always, count=self.n_train).view(np.bool_)

    def column_sums(self) -> NDArray[np.int64]:
        """(n_train,): the number of models trained on each image."""
        sums = np.zeros(self.n_train, dtype=np.int64)
        # 255 ones fit a uint8, so each tile is summed in bytes: four times as fast as in int64.
        for _, columns, tile in self._tiles(np.dtype(np.uint8), max_rows=255):
            sums[columns] += tile.sum(axis=0, dtype=np.uint8)
        return sums

    def common_with_next(self) -> NDArray[np.int64]:
        """(n_models − 1,): the number of images that each model shares with the next one."""
        common = np.empty(max(0, self.n_models - 1), dtype=np.int64)
        for rows in _slices(len(common), self._tile_bytes // self._bits.shape[1]):
            shared = self._bits[rows] & self._bits[rows.start + 1 : rows.stop + 1]
            common[rows] = count_ones(shared)
        return common

    def common_with(self, sets: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(n_models, len(sets)): how many images of each of `sets` (k, n_train) a model was trained on."""
        packed = np.packbits(sets, axis=1)
        counts = np.empty((self.n_models, len(packed)), dtype=np.int64)
        for rows in _slices(self.n_models, self._tile_bytes // self._bits.shape[1]):
            for k, members in enumerate(packed):
                counts[rows, k] = count_ones(self._bits[rows] & members)
        return counts

    def _tiles(self, dtype: np.dtype[Any], max_rows: int | None = None) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
        """(rows, columns, M[rows, columns]) over all of M; the next tile overwrites the one before."""
        # A cell is a byte as it comes out of np.unpackbits, and an item of `dtype` after it.
        cells = max(8, self._tile_bytes // (1 + dtype.itemsize))
        width = min(_TILE_WIDTH, cells // 8, self._bits.shape[1])
        height = min(cells // (8 * width), self.n_models, max_rows or self.n_models)
        buffer = np.empty(height * 8 * width, dtype=dtype)
        for rows in _slices(self.n_models, height):
            for byte in _slices(self._bits.shape[1], width):
                columns = slice(8 * byte.start, min(8 * byte.stop, self.n_train))
                shape = rows.stop - rows.start, columns.stop - columns.start
                tile = buffer[: shape[0] * shape[1]].reshape(shape)
                tile[...] = np.unpackbits(self._bits[rows, byte], axis=1, count=shape[1])
                yield rows, columns, tile


class TransposedMasks:
    """`masks.T`: no more than the operand of `masks.T @ r`."""

    def __init__(self, masks: PackedMasks) -> None:
        self.T = masks
        self.shape = masks.n_train, masks.n_models

    def __matmul__(self, r: FloatArray) -> FloatArray:
        return self.T.t_matmul(r)


def count_ones(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Of each row; eight bytes at a time where numpy can count bits."""
    if not hasattr(np, "bitwise_count"):  # numpy 1
        return np.asarray(_POPCOUNT[bits].sum(axis=1, dtype=np.int64))
    whole = bits.shape[1] // 8 * 8
    words = np.ascontiguousarray(bits[:, :whole]).view(np.uint64)
    sums = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return np.asarray(sums + np.bitwise_count(bits[:, whole:]).sum(axis=1, dtype=np.int64))


def row_hashes(masks: PackedMasks) -> NDArray[np.void]:
    """(n_models,): 16 bytes for each row, equal for equal rows.

    Two sums Σ_w r_w·x_w mod 2⁶⁴ over the 32-bit words of a row, r random and fixed: two different rows agree in both
    with a chance of at most 2⁻⁶⁶. Linear, so that the complement of a row has a hash without being made.
    """
    return _as_keys(_word_sums(masks.bits, masks._tile_bytes))


def complement_hashes(masks: PackedMasks) -> NDArray[np.void]:
    """(n_models,): the hash that the complement of each row would have."""
    ones = np.packbits(np.ones((1, masks.n_train), np.bool_), axis=1)
    return _as_keys(_word_sums(ones, masks._tile_bytes) - _word_sums(masks.bits, masks._tile_bytes))


def _word_sums(bits: NDArray[np.uint8], tile_bytes: int) -> NDArray[np.uint64]:
    """(rows, 2): the two sums of `row_hashes`."""
    n_words = -(-bits.shape[1] // 4)
    factors = np.random.default_rng(2023).integers(0, 2**64, (n_words, 2), np.uint64)
    sums = np.empty((len(bits), 2), np.uint64)
    for rows in _slices(len(bits), tile_bytes // (12 * n_words)):
        block = np.zeros((rows.stop - rows.start, 4 * n_words), np.uint8)
        block[:, : bits.shape[1]] = bits[rows]
        sums[rows] = block.view("<u4").astype(np.uint64) @ factors
    return sums


def _as_keys(sums: NDArray[np.uint64]) -> NDArray[np.void]:
    return np.ascontiguousarray(sums).view(np.dtype((np.void, 16))).ravel()


def pack_rows(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bits of a (rows, n_train) bool or 0/1 integer array, for a caller who writes them to a file."""
    _check_packable(array)
    if array.dtype != np.bool_ and not np.all((array == 0) | (array == 1)):
        raise ValueError("`array` must hold nothing but 0 and 1.")
    return np.packbits(array.astype(np.bool_, copy=False), axis=1)


def check_indices(name: str, indices: Any, size: int) -> NDArray[np.intp]:
    """`indices` as a 1-D array of positions 0..size−1; negative ones are refused, not wrapped."""
    index = np.asarray(indices if isinstance(indices, np.ndarray) else list(indices))
    if index.ndim != 1 or not (index.size == 0 or np.issubdtype(index.dtype, np.integer)):
        raise ValueError(f"`{name}` must be a 1-D sequence of integers, got {index.dtype} of shape {index.shape}.")
    if index.size and not (index.min() >= 0 and index.max() < size):
        raise ValueError(f"`{name}` must lie in 0..{size - 1}, got {index.min()}..{index.max()}.")
    return index.astype(np.intp)


def _check_packable(array: NDArray[Any]) -> None:
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "biu":
        raise ValueError(
            f"`array` must be a 2-D array of bool or of the integers 0 and 1 with at least one column, "
            f"got {array.dtype} of shape {array.shape}."
        )


def _check_factor(name: str, factor: NDArray[Any], length: int) -> FloatArray:
    factor = np.asarray(factor)
    if factor.ndim not in (1, 2) or factor.shape[0] != length:
        raise ValueError(f"`{name}` must have shape ({length},) or ({length}, k), got {factor.shape}.")
    if factor.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must hold real numbers, got {factor.dtype}.")
    return factor.astype(np.float32 if factor.dtype == np.float32 else np.float64, copy=False)


def _slices(stop: int, step: int) -> Iterator[slice]:
    """0..stop in slices of `step`, or of 1 where the budget does not even allow that."""
    step = max(1, step)
    for start in range(0, stop, step):
        yield slice(start, min(start + step, stop))
