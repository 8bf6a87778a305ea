"""The picture at the top of README.md: three findings of the CIFAR-10 study, and what fresh models say of them.

    python docs/figures/findings.py

Numbers and images are those of reports/sample (`make sample`).
"""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from style import BLUE, FOLDER, INK, MUTED, ORANGE, SETTINGS, save

SAMPLE = FOLDER.parents[1] / "reports" / "sample"
CHOSEN = (0, 1, 2)
WIDTH, HEIGHT, SIDE = 9.6, 2.72, 0.9
PART = re.compile(
    r'viewBox="(\d+) (\d+) (\d+) (\d+)" role="img" aria-label="[^"]*, (\w+ \d+)"><use href="#(sheet-\d+)"'
)
SHEET = re.compile(r'<image id="(sheet-\d+)" [^>]*href="data:image/\w+;base64,([^"]+)"')


def draw(folder: Path) -> None:
    """Draw it, into a folder."""
    images = images_of((SAMPLE / "index.html").read_text(encoding="utf-8"))
    tested = pd.read_csv(SAMPLE / "findings.csv").query("method == 'swap'").set_index("number")
    again = pd.read_csv(SAMPLE / "verify.csv").query("method == 'swap'").set_index("finding")
    with rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        for place, number in enumerate(tested.index[list(CHOSEN)]):
            _draw_finding(figure, place, images, tested.loc[number], again.loc[number])
        save(figure, folder / "findings.svg")


def images_of(page: str) -> dict[str, NDArray[np.uint8]]:
    """Of "target 101", "train 1111", …: the parts of the page's sheets that are called so."""
    sheets = {
        name: np.asarray(Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB"))
        for name, text in SHEET.findall(page)
    }
    found = {}
    for *box, name, sheet in PART.findall(page):
        x, y, width, height = map(int, box)
        found[name] = sheets[sheet][y : y + height, x : x + width]
    return found


def _draw_finding(figure: Figure, place: int, images: dict[str, NDArray[np.uint8]], row: Any, again: Any) -> None:
    """Target, then the image that it owes more to, then the other; below them what was found."""
    left = 0.12 + place * 3.2
    more, less = (row.i, row.j) if row.effect > 0 else (row.j, row.i)
    class_more, class_less = (row.class_i, row.class_j) if row.effect > 0 else (row.class_j, row.class_i)
    sign = 1 if row.effect > 0 else -1
    shown = (
        (f"target {row.target}", "the target", row.class_target, INK),
        (f"train {more}", "helps more", class_more, BLUE),
        (f"train {less}", "than this", class_less, ORANGE),
    )
    for column, (name, title, class_name, colour) in enumerate(shown):
        x = left + column * (SIDE + 0.07) + (0.06 if column else 0.0)
        axes: Axes = figure.add_axes((x / WIDTH, 1.48 / HEIGHT, SIDE / WIDTH, SIDE / HEIGHT))
        axes.imshow(images[name], interpolation="none")
        axes.set_axis_off()
        figure.text(x / WIDTH, 2.46 / HEIGHT, title, weight="bold", color=colour, size=9.8)
        for line, text in enumerate((class_name, name)):
            figure.text(x / WIDTH, (1.31 - 0.16 * line) / HEIGHT, text, color=MUTED, size=9.5)
    low, high = sorted((sign * row.effect_low_selected, sign * row.effect_high_selected))
    lines = (
        f"p = {_power_of_ten(row.pvalue)}, paper's test",
        f"effect {sign * row.effect:.2f}, interval {low:.2f} to {high:.2f}",
        f"1,000 fresh models: {sign * again.fresh_effect:.2f}, {again.verdict}",
    )
    for number, line in enumerate(lines):
        figure.text(left / WIDTH, (0.7 - 0.25 * number) / HEIGHT, line, size=11)


def _power_of_ten(value: float) -> str:
    """6.2 × 10⁻¹⁹."""
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits} × 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


if __name__ == "__main__":
    draw(FOLDER)
