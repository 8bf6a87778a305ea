"""The picture at the top of README.md: three findings of the CIFAR-10 study, and what fresh models say of them.

    make study && .venv/bin/python docs/figures/findings.py --store data

The numbers are those of reports/sample (`make sample`); the images come from the store of the study.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.images.image_set import ImageSet

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "reports" / "sample"
CHOSEN = (0, 1, 2)
INK, GREY, BLUE, ORANGE = "#1a1a17", "#66665f", "#0072b2", "#b45309"
SIDE = 0.9


def main() -> None:
    """Draw it, beside this file."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--store", type=Path, required=True, help="where a run of cifar10-study has put its images")
    images = _images_of_study(options.parse_args().store)
    tested = pd.read_csv(SAMPLE / "findings.csv").query("method == 'swap'").set_index("number")
    again = pd.read_csv(SAMPLE / "verify.csv").query("method == 'swap'").set_index("finding")
    matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": 8.5, "text.color": INK})
    figure = Figure(figsize=(9.6, 2.75), facecolor="white")
    for place, number in enumerate(tested.index[list(CHOSEN)]):
        _draw_finding(figure, place, images, tested.loc[number], again.loc[number])
    figure.savefig(HERE / "findings.png", dpi=120)


def _images_of_study(store: Path) -> ImageSet:
    for path in sorted(store.glob("download/*/images.npz")):
        images = ImageSet.load(path)
        if "dog" in images.class_names:
            return images
    raise SystemExit(f"{store} has no images of the study: make study")


def _draw_finding(figure: Figure, place: int, images: ImageSet, row: Any, again: Any) -> None:
    """Target, then the image that it owes more to, then the other; below them what was found."""
    width, height = figure.get_size_inches()
    left = 0.12 + place * 3.2
    more, less = (row.i, row.j) if row.effect > 0 else (row.j, row.i)
    class_more, class_less = (row.class_i, row.class_j) if row.effect > 0 else (row.class_j, row.class_i)
    sign = 1 if row.effect > 0 else -1
    shown = (
        (images.targets[row.target], "the target", f"{row.class_target}, target {row.target}", INK),
        (images.train[more], "helps more", f"{class_more}, train {more}", BLUE),
        (images.train[less], "than this", f"{class_less}, train {less}", ORANGE),
    )
    for column, (image, title, name, colour) in enumerate(shown):
        x = left + column * (SIDE + 0.07) + (0.06 if column else 0.0)
        axes: Axes = figure.add_axes((x / width, 1.5 / height, SIDE / width, SIDE / height))
        axes.imshow(image, interpolation="nearest")
        axes.set_axis_off()
        figure.text(x / width, 2.48 / height, title, weight="bold", color=colour, size=9.8)
        figure.text(x / width, 1.43 / height, name.replace(", ", "\n"), va="top", color=GREY, size=9.5)
    low, high = sorted((sign * row.effect_low_selected, sign * row.effect_high_selected))
    lines = (
        f"p = {_power_of_ten(row.pvalue)}, paper's test",
        f"effect {sign * row.effect:.2f}, interval {low:.2f} to {high:.2f}",
        f"1,000 fresh models: {sign * again.fresh_effect:.2f}, {again.verdict}",
    )
    for number, line in enumerate(lines):
        figure.text(left / width, (0.85 - 0.25 * number) / height, line, va="top", size=11)


def _power_of_ten(value: float) -> str:
    """6.2 × 10⁻¹⁹."""
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits} × 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


if __name__ == "__main__":
    main()
