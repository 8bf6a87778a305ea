"""What the key of the download stage holds of a network source, known without asking the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.sources.base import MIRRORS, content_of_images

if TYPE_CHECKING:
    from pipeline.config import Config

LEFT_OUT = {"images": "their content enters instead", **MIRRORS}


def content(config: Config) -> dict[str, Any]:
    """Which rows and columns will be asked for, and the images."""
    fit = config.fit
    return {
        "fit rows needed": fit.needs_rows,
        "weights needed": weights_needed(config),
        "columns of margins": fit.targets if isinstance(fit.targets, list) else "all",
        "content of images": content_of_images(config.source.images) or "CIFAR-10",
    }


def weights_needed(config: Config) -> bool:
    """Whether the weights are to come with the source."""
    return config.fit.mode == "load" and config.fit.file is None
