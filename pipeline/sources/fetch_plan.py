"""Which bytes of a source's objects are needed, which are missing here, and what they cost."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from datamodels_inf.row_blocks import RowRange
from pipeline.errors import BadInputError
from pipeline.remote.fetch import Need
from pipeline.remote.mirror import Mirror, Rows
from pipeline.remote.npy import Header, read_header
from pipeline.remote.objects import RemoteObject, retry_identify
from pipeline.sources.row_split import split_rows
from pipeline.text.numbers import human_bytes

if TYPE_CHECKING:
    from pipeline.config import Config

SPARE_BYTES = 200 * 10**6
CODING_SHARE = 50
LEAST_CODING_ROWS = 100


@dataclass(frozen=True)
class Remotes:
    """The objects of a source; sha256 of whole files where the user gave them."""

    masks: RemoteObject
    margins: RemoteObject
    weights: RemoteObject | None = None
    digests: Sequence[tuple[str, str | None]] = ()
    usd_per_gb: float = 0.0


@dataclass(frozen=True)
class PlannedRows:
    """What `DownloadSummary` says of rows, known from the headers alone."""

    n_models: int
    n_train: int
    n_targets: int
    fit: RowRange
    coding: RowRange
    held_out: RowRange
    columns: tuple[int, ...] | None


@dataclass(frozen=True)
class Plan:
    """What must be there before the stage is complete."""

    needs: list[Need]
    usd_per_gb: float
    rows: PlannedRows | None = None
    """None where whole files are fetched, and their rows are looked at afterwards."""

    @property
    def missing_bytes(self) -> int:
        """What is still to be fetched, of all needs."""
        return sum(need.missing_bytes for need in self.needs)

    def sentence(self, folder: Path) -> str:
        """What will be fetched, in one line."""
        files = [f"{n.label} {human_bytes(n.missing_bytes)}" for n in self.needs if n.missing_bytes]
        cost = (
            f", about {self.missing_bytes / 1e9 * self.usd_per_gb:.2f} USD to the requester" if self.usd_per_gb else ""
        )
        free = shutil.disk_usage(folder).free
        if not files:
            return "nothing is left to fetch"
        names = f"{len(files)} file{'s' if len(files) > 1 else ''} ({', '.join(files)})"
        return (
            f"to fetch: {names}, {human_bytes(self.missing_bytes)} in all{cost}; {human_bytes(free)} free on this disk"
        )

    def check_disk(self, folder: Path) -> None:
        """Refuse what would not fit."""
        needed = sum(need.stored_bytes for need in self.needs) + SPARE_BYTES
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise BadInputError(
                f"{folder} has {human_bytes(free)} free, but {human_bytes(needed)} are needed; free some space, "
                "or give --store a folder on a larger disk."
            )


def make_plan(config: Config, remotes: Remotes, home: Path) -> Plan:
    """Read the headers, check them, and find what is missing in `home`, the folder of mirrors."""
    masks, masks_need = _array(remotes.masks, home, "masks", mask_rows)
    columns = tuple(config.fit.targets) if isinstance(config.fit.targets, list) else None
    margins, margins_need = _array(remotes.margins, home, "margins", lambda remote, h: _margin_rows(remote, h, columns))
    if masks.n_rows != margins.n_rows:
        raise BadInputError(
            f"{remotes.masks.name} has {masks.n_rows:,} rows and {remotes.margins.name} {margins.n_rows:,}; "
            "they must be of the same models."
        )
    fit, held_out = split_rows(config, masks.n_rows, masks.n_columns)
    wanted = (fit, held_out) if config.fit.needs_rows else (held_out,)
    coding = held_out[0], held_out[0] + (0 if config.fit.needs_rows else _coding_rows(held_out[1] - held_out[0]))
    needs = [Need("masks", remotes.masks, masks_need, wanted), Need("margins", remotes.margins, margins_need, wanted)]
    rows = PlannedRows(
        n_models=fit[1] - fit[0] + held_out[1] - held_out[0],
        n_train=masks.n_columns,
        n_targets=margins.n_columns,
        fit=fit if config.fit.needs_rows else (0, 0),
        coding=coding,
        held_out=(coding[1], held_out[1]),
        columns=columns,
    )
    if remotes.weights is not None:
        needs.append(_whole_file(remotes.weights, home, "weights"))
    return Plan(needs, remotes.usd_per_gb, rows)


def make_whole_plan(remotes: Remotes, home: Path) -> Plan:
    """All bytes of all objects: where a sha256 of a whole array must be checked before it is packed."""
    objects = {"masks": remotes.masks, "margins": remotes.margins, "weights": remotes.weights}
    needs = [_whole_file(remote, home, label) for label, remote in objects.items() if remote is not None]
    return Plan(needs, remotes.usd_per_gb)


def _whole_file(remote: RemoteObject, home: Path, label: str) -> Need:
    identity = retry_identify(remote)
    rows = Rows(identity.size, 1, 0, (identity.size,), "uint8", lambda values: values)
    return Need(label, remote, Mirror(home, remote.name, identity, rows, "file"), ((0, identity.size),))


def _array(
    remote: RemoteObject, home: Path, kind: str, rows_of: Callable[[RemoteObject, Header], Rows]
) -> tuple[Header, Mirror]:
    identity = retry_identify(remote)
    header = read_header(remote, identity)
    rows = rows_of(remote, header)
    return header, Mirror(home, remote.name, identity, rows, f"{kind} {rows.shape}")


def mask_rows(remote: RemoteObject, header: Header) -> Rows:
    """How rows of one byte an image become rows of one bit an image."""
    if header.dtype not in (np.dtype(np.bool_), np.dtype(np.uint8)):
        raise BadInputError(f"{remote.name} must hold bool masks, but it holds {header.dtype}.")

    def pack(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        try:
            return pack_rows(values)
        except ValueError as error:
            raise BadInputError(f"{remote.name} holds bytes other than 0 and 1, so it is no array of masks.") from error

    shape = header.n_rows, (header.n_columns + 7) // 8
    return Rows(header.n_rows, header.row_bytes, header.offset, shape, "uint8", pack)


def _margin_rows(remote: RemoteObject, header: Header, columns: tuple[int, ...] | None) -> Rows:
    if header.dtype.kind != "f":
        raise BadInputError(f"{remote.name} must hold margins as floats, but it holds {header.dtype}.")
    if columns is not None and max(columns, default=0) >= header.n_columns:
        raise BadInputError(f"fit.targets must lie in 0..{header.n_columns - 1}, the targets of {remote.name}.")

    def take(values: NDArray[np.uint8]) -> NDArray[np.float16]:
        margins = values.view(header.dtype)
        with np.errstate(over="ignore"):
            chosen = (margins if columns is None else margins[:, list(columns)]).astype(np.float16)
        if not np.isfinite(chosen).all():
            raise BadInputError(f"{remote.name} holds a margin that is NaN, infinite or too large for float16.")
        return chosen

    shape = header.n_rows, header.n_columns if columns is None else len(columns)
    return Rows(header.n_rows, header.row_bytes, header.offset, shape, "float16", take)


def _coding_rows(n_held_out: int) -> int:
    """How many held-out rows tell what loaded weights multiply, where no fit rows are fetched; they are not tested."""
    if n_held_out < 4:
        raise BadInputError(
            f"source.held_out_rows = {n_held_out} is too few: some of them must tell what the loaded weights multiply, "
            "and are not tested then; ask for at least 4."
        )
    return min(max(LEAST_CODING_ROWS, n_held_out // CODING_SHARE), n_held_out // 2)
