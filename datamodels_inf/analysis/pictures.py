"""Pictures inside a piece of HTML: tiny PNGs as data URIs, each encoded once, and not more than a notebook bears."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

PIXELS = 32
"""Larger pictures are reduced."""
MOST_BYTES = 120_000
"""Of all pictures together; after that there are none."""


class Pictures:
    """images: of the training images and of the targets, either None where there are none."""

    def __init__(self, images: tuple[NDArray[np.uint8] | None, NDArray[np.uint8] | None]) -> None:
        self._images = {"train": images[0], "target": images[1]}
        self._made: dict[tuple[str, int], str] = {}
        self._bytes = 0

    def uri(self, part: str, index: int) -> str | None:
        """That of an image; None where there is none, or too many were asked for."""
        images = self._images[part]
        if images is None:
            return None
        if (part, index) not in self._made:
            made = data_uri(images[index])
            if self._bytes + len(made) > MOST_BYTES:
                return None
            self._bytes += len(made)
            self._made[part, index] = made
        return self._made[part, index]


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """A PNG of at most PIXELS × PIXELS.

    >>> data_uri(np.zeros((2, 2), np.uint8))[:22]
    'data:image/png;base64,'
    """
    from PIL import Image  # Slow to import.

    image = Image.fromarray(pixels)
    image.thumbnail((PIXELS, PIXELS))
    buffer = BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
