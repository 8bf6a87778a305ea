"""The ordinal dominance curve of a panel as SVG."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.content import Curve
from pipeline.report.drawing.svg import at
from pipeline.text.numbers import fixed, number

CURVE_LEFT, CURVE_TOP, CURVE_SIDE = 18.0, 4.0, 104.0


@dataclass(frozen=True)
class CurveView:
    """The line of the curve, the area between it and the diagonal, its axes in words, and all of it in one sentence.

    below: it runs mostly under the diagonal, so that there is room above.
    """

    line: str
    area: str
    area_text: str
    below: bool
    first: str
    second: str
    label: str


def curve_view(curve: Curve, unit: str) -> CurveView:
    """In a square of CURVE_SIDE, 0 at the lower left."""
    points = [
        f"{at(CURVE_LEFT + CURVE_SIDE * x)} {at(CURVE_TOP + CURVE_SIDE * (1.0 - y))}"
        for x, y in zip(curve.x, curve.y, strict=True)
    ]
    line = "M" + "L".join(dict.fromkeys(points))
    compared = curve.kind.compared.format(unit=unit)
    return CurveView(
        line=line,
        area=line + "z",
        area_text=f"area {fixed(curve.area, 2)}",
        below=curve.area < 0.5,
        first=curve.kind.first,
        second=curve.kind.second,
        label=f"Ordinal dominance curve of {compared}: area {number(curve.area)}, where ½ is no difference",
    )
