"""The images of a report."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Images:
    """The pictures themselves, (n, H, W) grey or (n, H, W, 3) colour."""

    train: NDArray[np.uint8]
    targets: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for part in fields(self):
            images = getattr(self, part.name)
            if images.dtype != np.uint8 or not (images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)):
                raise ValueError(
                    f"`{part.name}` must be uint8 of shape (n, H, W) or (n, H, W, 3), "
                    f"but it is {images.dtype} of shape {images.shape}."
                )
