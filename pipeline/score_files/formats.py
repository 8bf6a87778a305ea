"""The arrays of a file of weights or scores, whoever wrote it. Nothing is unpickled.

What a file is, its first bytes say, never its name: traker's `scores/NAME.mmap` is an .npy array.

| first bytes | format | who leaves it |
|---|---|---|
| `\\x93NUMPY` | .npy, memory-mapped | traker, `np.save` |
| `PK` | a zip: .npz if it holds .npy files, else torch's | dattri, MadryLab's `datamodels.pt`, `np.savez` |
| a length and `{` | .safetensors | kronfluence |
| anything, with an `info.json` beside it that describes fields `score_0`, `written_0`, … | raw records | Bergson |
| else | torch's older format | `torch.save` of long ago |
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import map_npy, open_npz
from pipeline.errors import BadInputError
from pipeline.score_files.records import record_type, widened
from pipeline.score_files.tensors import as_array, load
from pipeline.text.json_file import read_json

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

NAMES = ("weight", "bias", "lam")
ALL_MODULES = "all_modules"
"""What kronfluence calls the scores of all modules together."""
NPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"
UNNAMED = "it has no array named weight, and not one array alone"


@dataclass(frozen=True, eq=False)
class Content:
    """weight and, where the file has them, bias and lam. notes: what was done that the user should know, in lines.

    by_target: whether a row of weight is a target, where the format says it; None where only its shape may tell.
    """

    arrays: Arrays
    notes: tuple[str, ...] = ()
    by_target: bool | None = None


def read_content(path: Path) -> Content:
    """What `path` holds; ValueError or another exception says what is wrong with it."""
    with path.open("rb") as file:
        head = file.read(9)
    if not head:
        raise ValueError("it is empty")
    if head.startswith(NPY):
        return Content({"weight": map_npy(path)})
    if head.startswith(ZIP):
        return Content(_npz(path) if _holds_arrays(path) else _torch(path))
    if records_beside(path) is not None:
        return Content({"weight": _records(path)}, by_target=False)
    if _is_safetensors(head, path.stat().st_size):
        return _safetensors(path)
    return Content(_torch(path))


def records_beside(path: Path) -> Path | None:
    """The description of raw records, as Bergson puts it beside them; None for any other file."""
    info = path.parent / "info.json"
    try:
        names = read_json(info)["dtype"]["names"]
    except (BadInputError, KeyError, TypeError):
        return None
    return info if isinstance(names, list) and "score_0" in names and "written_0" in names else None


def _holds_arrays(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    return bool(names) and all(name.endswith(".npy") for name in names)


def _is_safetensors(head: bytes, size: int) -> bool:
    """Eight bytes that say how long the header is, which is JSON."""
    return len(head) == 9 and head[8:] == b"{" and int.from_bytes(head[:8], "little") <= size - 8


def chosen(names: Iterable[str]) -> list[str]:
    """Those that are known, if `weight` is among them; or else all."""
    given = list(names)
    return [name for name in NAMES if name in given] if "weight" in given else given


def _npz(path: Path) -> Arrays:
    with open_npz(path) as file:
        names = chosen(file.files)
        if "weight" not in names and len(names) != 1:
            raise ValueError(UNNAMED)
        return {name: file[name] for name in names}


def _torch(path: Path) -> Arrays:
    import torch

    content = load(path)
    if isinstance(content, torch.Tensor):
        return {"weight": as_array(content)}
    if not isinstance(content, Mapping):
        raise ValueError(f"it holds a {type(content).__name__}, not a tensor or a dictionary of tensors")
    names = chosen(content)
    for name in names:
        if not isinstance(content[name], torch.Tensor):
            raise ValueError(f"{name} is no tensor")
    return {name: as_array(content[name]) for name in names}


def _safetensors(path: Path) -> Content:
    """One array, or kronfluence's scores: of all modules, or of each, to be added up."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        names, metadata = list(file.keys()), file.metadata() or {}
        if ALL_MODULES in names:
            return Content({"weight": as_array(file.get_tensor(ALL_MODULES))}, _partition(path), by_target=True)
        if len(names) > 1 and metadata.get("compute_per_module_scores") == "True":
            arrays = [as_array(file.get_tensor(name)) for name in names]
            listed = ", ".join([*names[:3], *(["…"] if len(names) > 3 else [])])
            note = f"the scores of {len(names)} modules ({listed}) are added up"
            return Content({"weight": _sum(arrays)}, (note, *_partition(path)), by_target=True)
        return Content({name: as_array(file.get_tensor(name)) for name in chosen(names)})


def _sum(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(f"the scores of its modules have different shapes: {', '.join(map(str, sorted(shapes)))}")
    return np.asarray(np.sum(arrays, axis=0))


def _partition(path: Path) -> tuple[str, ...]:
    """A part of kronfluence's scores looks like a whole when only the modules were parted."""
    if "_module_partition" not in path.stem:
        return ()
    return (f"{path.name} may be a part of the modules' scores: kronfluence's aggregate_pairwise_scores joins them",)


def _records(path: Path) -> NDArray[Any]:
    """(items, queries) of records score_0, written_0, score_1, …"""
    info = read_json(path.parent / "info.json")
    if info.get("attribute_tokens"):
        raise ValueError("it scores tokens, not items; score whole items")
    kind, halves = record_type(info["dtype"])
    records = np.memmap(path, kind, "r")
    missing = sum(int(np.count_nonzero(records[f"written_{k}"] == 0)) for k in range(len(halves)))
    if missing:
        raise ValueError(f"{missing:,} of its {len(records) * len(halves):,} scores were never written")
    columns = [np.asarray(records[f"score_{k}"]) for k in range(len(halves))]
    return np.stack([widened(c) if half else c for c, half in zip(columns, halves, strict=True)], axis=1)
