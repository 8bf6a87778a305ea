"""What dattri's benchmarks hold: indices_lds.pt with target_values_lds.pt.

`indices_lds.pt` is int64 (S, k), the images that each of S models was trained on. `target_values_lds.pt` is float
(S, T): minus the target function, as `calculate_lds_ground_truth` returns it. Here the sign is turned back.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.score_files.tensors import check_tensor, load
from pipeline.sources.layouts.base import Layout, folder_of
from pipeline.sources.layouts.own_folder import OwnFolder
from pipeline.sources.outcome_rows import OutcomeRows

if TYPE_CHECKING:
    from pipeline.config import Source

INDICES, VALUES = "indices_lds.pt", "target_values_lds.pt"
OUTCOME = "target function"
WORDS = (
    "outcome: dattri's target function, its sign turned back; higher_is_better false, as of a loss "
    "(subsets.json can name another)"
)


def read_tensor(path: Path) -> NDArray[Any]:
    """One tensor of a .pt file; nothing is unpickled but tensors."""
    import torch

    try:
        found = load(path)
        if not isinstance(found, torch.Tensor):
            raise ValueError(f"it holds a {type(found).__name__}")
        check_tensor(found)
        kind = found.dtype if found.dtype not in (torch.bfloat16,) else torch.float32
        array: NDArray[Any] = found.detach().to(kind).numpy()
        return array
    except Exception as error:  # A damaged file can be anything to an unpickler.
        reason = " ".join(str(error).split())[:120]
        raise BadInputError(f"{path} is not a .pt file of one tensor ({type(error).__name__}: {reason}).") from error


def turned_back(path: Path) -> OutcomeRows:
    """The target function: minus what the file holds."""
    values = read_tensor(path)
    if values.ndim not in (1, 2) or values.dtype.kind not in "iuf" or 0 in values.shape:
        raise BadInputError(
            f"{path} must hold one row a model and one column a target, but it holds {values.dtype} of shape "
            f"{values.shape}."
        )
    return OutcomeRows(str(path), np.ascontiguousarray(values).reshape(len(values), -1), -1.0)


def _folder(source: Source, *, read: bool) -> OwnFolder:
    files = folder_of(source) / INDICES, folder_of(source) / VALUES
    lists, outcomes = (read_tensor(files[0]), turned_back(files[1])) if read else (None, None)
    return OwnFolder(folder_of(source), source.images, lists, outcomes, files, OUTCOME, False, WORDS)


LAYOUT = Layout(
    "dattri",
    "as dattri's benchmarks hold them",
    f"{INDICES} with {VALUES}",
    lambda source: all((folder_of(source) / name).is_file() for name in (INDICES, VALUES)),
    lambda source: _folder(source, read=False).content(),
    lambda source: _folder(source, read=True).open(),
    lambda source: _folder(source, read=False).labelled(),
)
