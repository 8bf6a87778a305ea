"""Predicted against true outcomes of one target, a dot a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.report.content import Content, DatamodelQuality
from pipeline.report.drawing.embedded_images import Pictures, Tile, tile_of
from pipeline.report.drawing.slots import slot_of
from pipeline.report.drawing.square_axes import SquareAxes
from pipeline.report.drawing.svg import Tick
from pipeline.text.numbers import counted, number


@dataclass(frozen=True)
class Scatter:
    """Predicted (across) against true (up) outcomes of one target, in a square with the same scale on both axes."""

    tile: Tile
    rank: str
    r2: float
    spearman: float
    label: str
    marks: str
    across: list[Tick]
    up: list[Tick]


def scatter_of(quality: DatamodelQuality, k: int, content: Content, pictures: Pictures) -> Scatter:
    """Of the k-th target that is drawn."""
    position = int(quality.shown[k])
    target = int(quality.targets[position])
    slot = slot_of(content, "target", "target", (target,), quality.classes[position])
    true, predicted = quality.shown_true[k], quality.shown_predicted[k]
    axes = SquareAxes.around(np.concatenate([true, predicted]))
    r2, spearman = float(quality.r2[position]), float(quality.spearman[position])
    return Scatter(
        tile=tile_of(slot, pictures),
        rank=_rank(r2, quality.r2),
        r2=r2,
        spearman=spearman,
        label=f"{slot.alt}: true against predicted {content.unit} of {counted(len(true), content.tested_model)}, "
        f"both axes from {axes.span}; R² {number(r2)}, Spearman {number(spearman)}",
        marks=axes.dots(predicted, true),
        across=axes.across,
        up=axes.up,
    )


def _rank(r2: float, all_r2: NDArray[np.float64]) -> str:
    """Why this target was picked."""
    lowest, highest = np.nanmin(all_r2), np.nanmax(all_r2)
    if lowest == highest:
        return ""
    return "lowest R²" if r2 == lowest else "highest R²" if r2 == highest else "middle R²"
