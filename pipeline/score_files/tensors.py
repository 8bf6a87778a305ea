"""Tensors of files as arrays: real numbers, and no more of them than the file holds."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pipeline.score_files.torch_pickles import OTHER_THINGS, check_pickles

if TYPE_CHECKING:
    from torch import Tensor

MAPPED_BYTES = 64 * 2**20


def load(path: Path) -> Any:
    """What a .pt file holds; nothing is unpickled but tensors, and what torch says of that is said in a few words.

    A large one is mapped, not read: of gigabytes of weights a few columns are needed.
    """
    import torch

    check_pickles(path)
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # About how it was saved, for whoever saved it.
            if _can_be_mapped(path):
                return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            return torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ValueError(OTHER_THINGS) from error


def _can_be_mapped(path: Path) -> bool:
    """Whether it is large, an archive whose parts lie there as they are, and of a name that torch does not look at."""
    if path.stat().st_size < MAPPED_BYTES or path.suffix == ".safetensors" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return all(part.compress_type == zipfile.ZIP_STORED for part in archive.infolist())


def as_array(tensor: Tensor) -> NDArray[Any]:
    """float64 as it is, everything else as float32: numpy has no bfloat16. Without its gradient."""
    import torch

    check_tensor(tensor)
    kind = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    array: NDArray[Any] = tensor.detach().to(kind).numpy()
    return array


def check_tensor(tensor: Tensor) -> None:
    """Refuse complex and sparse ones, and one that is larger than what was stored of it.

    A file of a few bytes can name a tensor of any shape whose steps are 0, as `expand` makes it: it would fill the
    memory when it is copied.
    """
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        raise ValueError("it holds a tensor that is sparse, quantized or without values")
    if tensor.is_complex():
        raise ValueError(f"it holds complex numbers ({str(tensor.dtype).removeprefix('torch.')}), not real ones")
    stored = tensor.untyped_storage().nbytes()
    if tensor.numel() * tensor.element_size() > stored:
        raise ValueError(
            f"it holds a tensor of shape {tuple(tensor.shape)} of which only {stored:,} bytes are stored; save "
            "tensor.contiguous()"
        )
