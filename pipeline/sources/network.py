"""The network sources: which objects there are, which rows of them the later stages need, and what that costs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.config import Config, Source
from pipeline.errors import BadInputError
from pipeline.sources.remote.fetch import CONNECTIONS, Need
from pipeline.sources.remote.http import HttpObject
from pipeline.sources.remote.mirror import Interval, Mirror, Rows
from pipeline.sources.remote.npy import Header, read_header
from pipeline.sources.remote.objects import RemoteObject, retry_identify
from pipeline.sources.remote.s3 import Place, S3Object, make_client
from pipeline.store.files import file_digest, human_bytes

USD_PER_GB = 0.09
SPARE_BYTES = 200 * 10**6
CODING_SHARE = 50
LEAST_CODING_ROWS = 100


@dataclass(frozen=True)
class Remotes:
    """The objects of a source; sha256 of whole files where the user gave them."""

    masks: RemoteObject
    margins: RemoteObject
    weights: RemoteObject | None
    digests: dict[str, str | None]
    usd_per_gb: float


@dataclass(frozen=True)
class Plan:
    """What must be there before the stage is complete."""

    needs: list[Need]
    usd_per_gb: float
    facts: dict[str, Any]

    @property
    def missing_bytes(self) -> int:
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
        needed = sum(need.stored_bytes for need in self.needs) + SPARE_BYTES
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise BadInputError(
                f"{folder} has {human_bytes(free)} free, but {human_bytes(needed)} are needed; free some space, "
                "or give --store a folder on a larger disk."
            )


def settings(config: Config) -> dict[str, Any]:
    """What the stage's key depends on; known without asking the network."""
    source, fit = config.source, config.fit
    names = ("endpoint_url", "bucket", "prefix", "percent") if source.kind == "madrylab" else (
        "masks_url", "margins_url", "weights_url", "masks_sha256", "margins_sha256", "weights_sha256",
    )  # fmt: skip
    return {
        **{f"source.{name}": getattr(source, name) for name in names},
        "fit rows needed": fit.needs_rows,
        "weights needed": _weights_needed(config),
        "columns of margins": fit.targets if isinstance(fit.targets, list) else "all",
    }


def _weights_needed(config: Config) -> bool:
    return config.fit.mode == "load" and config.fit.file is None


def find_remotes(config: Config) -> Remotes:
    source = config.source
    if source.kind == "madrylab":
        return _released(source, _weights_needed(config))
    assert source.masks_url is not None and source.margins_url is not None
    weights = HttpObject(source.weights_url) if source.weights_url and _weights_needed(config) else None
    digests = {"masks": source.masks_sha256, "margins": source.margins_sha256, "weights": source.weights_sha256}
    return Remotes(HttpObject(source.masks_url), HttpObject(source.margins_url), weights, digests, 0.0)


def _released(source: Source, weights: bool) -> Remotes:
    """MadryLab's keys, DATA.md."""
    place = Place(source.bucket, source.endpoint_url, source.region)
    client = make_client(place, CONNECTIONS)
    names = "train_masks_{}pct.npy", "test_margins_{}pct.npy", "test_{}pct.pt"
    known = "known keys are " + ", ".join(
        f"{source.prefix}/{folder}/{name.format('{10,20,50,75}')}"
        for folder, name in zip(("data", "data", "datamodels"), names, strict=True)
    )

    def key(folder: str, name: str) -> S3Object:
        return S3Object(client, place, f"{source.prefix}/{folder}/{name.format(source.percent)}", known)

    return Remotes(
        key("data", names[0]), key("data", names[1]), key("datamodels", names[2]) if weights else None, {}, USD_PER_GB
    )


def make_plan(config: Config, remotes: Remotes, home: Path) -> Plan:
    """Read the headers, check them, and find what is missing in `home`, the folder of mirrors."""
    source = config.source
    masks, masks_need = _array(remotes.masks, home, "masks", mask_rows)
    columns = list(config.fit.targets) if isinstance(config.fit.targets, list) else None
    margins, margins_need = _array(remotes.margins, home, "margins", lambda remote, h: _margin_rows(remote, h, columns))
    if masks.n_rows != margins.n_rows:
        raise BadInputError(
            f"{remotes.masks.name} has {masks.n_rows} rows and {remotes.margins.name} {margins.n_rows}; "
            "they must be of the same models."
        )
    fit, held_out = _row_ranges(source, masks.n_rows)
    wanted = (fit, held_out) if config.fit.needs_rows else (held_out,)
    coding = held_out[0], held_out[0] + (0 if config.fit.needs_rows else _coding_rows(held_out[1] - held_out[0]))
    needs = [Need("masks", remotes.masks, masks_need, wanted), Need("margins", remotes.margins, margins_need, wanted)]
    facts: dict[str, Any] = {
        "n_models": source.fit_rows + source.held_out_rows,
        "n_train": masks.n_columns,
        "n_targets": margins.n_columns,
        "fit": list(fit) if config.fit.needs_rows else [0, 0],
        "coding": list(coding),
        "held_out": [coding[1], held_out[1]],
        "columns": columns,
    }
    if remotes.weights is not None:
        needs.append(_whole_file(remotes.weights, home, "weights"))
    return Plan(needs, remotes.usd_per_gb, facts)


def make_whole_plan(remotes: Remotes, home: Path) -> Plan:
    """All bytes of all objects: where a sha256 of a whole array must be checked before it is packed."""
    objects = {"masks": remotes.masks, "margins": remotes.margins, "weights": remotes.weights}
    needs = [_whole_file(remote, home, label) for label, remote in objects.items() if remote is not None]
    return Plan(needs, remotes.usd_per_gb, {})


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
    if header.dtype not in (np.dtype(np.bool_), np.dtype(np.uint8)):
        raise BadInputError(f"{remote.name} must hold bool masks, but it holds {header.dtype}.")

    def pack(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if values.max(initial=0) > 1:
            raise BadInputError(f"{remote.name} holds bytes other than 0 and 1, so it is no array of masks.")
        return np.packbits(values, axis=1)

    shape = header.n_rows, (header.n_columns + 7) // 8
    return Rows(header.n_rows, header.row_bytes, header.offset, shape, "uint8", pack)


def _margin_rows(remote: RemoteObject, header: Header, columns: list[int] | None) -> Rows:
    if header.dtype.kind != "f":
        raise BadInputError(f"{remote.name} must hold margins as floats, but it holds {header.dtype}.")
    if columns is not None and max(columns, default=0) >= header.n_columns:
        raise BadInputError(f"fit.targets must lie in 0..{header.n_columns - 1}, the targets of {remote.name}.")

    def take(values: NDArray[np.uint8]) -> NDArray[np.float16]:
        margins = values.view(header.dtype)
        with np.errstate(over="ignore"):
            chosen = (margins if columns is None else margins[:, columns]).astype(np.float16)
        if not np.isfinite(chosen).all():
            raise BadInputError(f"{remote.name} holds a margin that is NaN, infinite or too large for float16.")
        return chosen

    shape = header.n_rows, header.n_columns if columns is None else len(columns)
    return Rows(header.n_rows, header.row_bytes, header.offset, shape, "float16", take)


def _row_ranges(source: Source, n_rows: int) -> tuple[Interval, Interval]:
    """The first rows for the fit, the last for the test."""
    if source.fit_rows + source.held_out_rows > n_rows:
        raise BadInputError(
            f"source.fit_rows = {source.fit_rows} and source.held_out_rows = {source.held_out_rows} overlap: there are "
            f"only {n_rows} models, and testing on rows that the fit has seen is leakage; lower one of them."
        )
    return (0, source.fit_rows), (n_rows - source.held_out_rows, n_rows)


def _coding_rows(n_held_out: int) -> int:
    """How many held-out rows tell what loaded weights multiply, where no fit rows are fetched; they are not tested."""
    if n_held_out < 4:
        raise BadInputError(
            f"source.held_out_rows = {n_held_out} is too few: some of them must tell what the loaded weights multiply, "
            "and are not tested then; ask for at least 4."
        )
    return min(max(LEAST_CODING_ROWS, n_held_out // CODING_SHARE), n_held_out // 2)


def check_digests(needs: list[Need], digests: dict[str, str | None]) -> None:
    """Whole files against the sha256 that the user gave."""
    for need in needs:
        wanted = digests.get(need.label)
        if wanted is not None and file_digest(need.mirror.file) != wanted:
            raise BadInputError(
                f"{need.remote.name} has not the sha256 that source.{need.label}_sha256 gives; check both."
            )
