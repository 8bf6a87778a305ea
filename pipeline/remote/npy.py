"""The header of a remote .npy file: shape, dtype and where the rows begin. Nothing is ever unpickled."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.arrays.npy import LONGEST_HEADER
from pipeline.arrays.npy import read_header as read_fields
from pipeline.remote.failures import CutShortError, NotRangedError, RemoteError
from pipeline.remote.objects import Identity, RemoteObject, fetch, rows_patience
from pipeline.remote.patience import persist

MOST_COLUMNS = 100_000_000
"""As many images as a set may have: a row is in memory at once."""


@dataclass(frozen=True)
class Header:
    """A C-ordered (n_rows, n_columns) array that begins `offset` bytes into its file."""

    offset: int
    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in the file."""
        return self.n_columns * self.dtype.itemsize


def read_header(remote: RemoteObject, identity: Identity) -> Header:
    """Fetch and check the header; the object must be as long as it says."""
    start = first_bytes(remote, min(identity.size, 128))
    if start[:6] != b"\x93NUMPY":
        raise RemoteError(f"{remote.name} is not an .npy file; check that this is the right object.")
    length = _header_length(start)
    if length is None or length > LONGEST_HEADER or length > identity.size:
        raise RemoteError(f"{remote.name} has a damaged .npy header; check that this is the right object.")
    if length > len(start):
        start = first_bytes(remote, length)
    try:
        told = read_fields(io.BytesIO(start[:length]))
    except ValueError as error:
        if "it holds" in str(error):
            raise RemoteError(f"{remote.name} must be a C-ordered matrix of numbers, but {error}.") from error
        raise RemoteError(f"{remote.name} has a damaged .npy header; check that this is the right object.") from error
    if len(told.shape) != 2 or told.fortran or not 0 < told.shape[1] <= MOST_COLUMNS:
        order = "Fortran" if told.fortran else "C"
        raise RemoteError(
            f"{remote.name} must be a C-ordered matrix of numbers, but it is {told.dtype} {told.shape} in {order} "
            "order."
        )
    header = Header(length, *told.shape, told.dtype)
    expected = header.offset + header.n_rows * header.row_bytes
    if identity.size != expected:
        raise RemoteError(
            f"{remote.name} is truncated or damaged: {identity.size:,} bytes where its header promises {expected:,}; "
            "nothing can be done about it here."
        )
    return header


def first_bytes(remote: RemoteObject, count: int) -> bytes:
    """The first `count` bytes, also of a server that serves no ranges."""
    try:
        return b"".join(fetch(remote, 0, count, count, lambda n: None))
    except NotRangedError:
        return persist(
            lambda: _start_of_whole(remote, count),
            rows_patience(),
            lambda reason: f"{remote.name} could not be read ({reason}); run the command again later.",
        )


def _start_of_whole(remote: RemoteObject, count: int) -> bytes:
    content = b"".join(remote.stream_whole(count))
    if len(content) < count:
        raise CutShortError(f"it ended after {len(content):,} bytes")
    return content


def _header_length(start: bytes) -> int | None:
    """Bytes before the first row: magic, version, length field and text."""
    if len(start) < 12:
        return None
    if start[6] == 1:
        return 10 + int.from_bytes(start[8:10], "little")
    return 12 + int.from_bytes(start[8:12], "little")
