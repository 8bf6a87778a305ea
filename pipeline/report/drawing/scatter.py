"""Predicted against true outcomes of one target, a dot a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.report.content import Content, DatamodelQuality
from pipeline.report.drawing.embedded_images import Pictures, Tile, tile_of
from pipeline.report.drawing.slots import slot_of
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.text.numbers import number, plural

BOX = (46.0, 292.0, 10.0, 256.0)  # left, right, top and bottom of the plot: a square


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
    low, high = ends_of(np.concatenate([true, predicted]))
    left, right, top, bottom = BOX

    def x(value: Any) -> Any:
        return left + (right - left) * (value - low) / (high - low)

    def y(value: Any) -> Any:
        return bottom - (bottom - top) * (value - low) / (high - low)

    r2, spearman = float(quality.r2[position]), float(quality.spearman[position])
    ticks = ticks_of(low, high, 6)
    points = zip(x(predicted).tolist(), y(true).tolist(), strict=True)
    return Scatter(
        tile=tile_of(slot, pictures),
        rank=_rank(r2, quality.r2),
        r2=r2,
        spearman=spearman,
        label=f"{slot.alt}: true against predicted {content.unit} of {plural(len(true), content.tested_model)}, "
        f"both axes from {number(low)} to {number(high)}; R² {number(r2)}, Spearman {number(spearman)}",
        marks="".join(f"M{at(across)} {at(up)}h0" for across, up in points),
        across=[Tick(x(value), text) for value, text in ticks],
        up=[Tick(y(value), text) for value, text in ticks],
    )


def ends_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """Ends of an axis that holds all `values` and a little more."""
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.5 * max(abs(high), 1.0)
    return low - room, high + room


def _rank(r2: float, all_r2: NDArray[np.float64]) -> str:
    """Why this target was picked."""
    lowest, highest = np.nanmin(all_r2), np.nanmax(all_r2)
    if lowest == highest:
        return ""
    return "lowest R²" if r2 == lowest else "highest R²" if r2 == highest else "middle R²"
