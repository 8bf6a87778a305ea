"""How the figures of docs/ look: one palette that follows the reader's light or dark page, the same bytes every time.

Colours are roles. A figure is drawn with those of the light page; in the SVG file each becomes a CSS variable that has
another value where the reader prefers dark. A figure brings its own ground, so that it can be read on any page.
"""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
LIGHT = {
    "ground": "#fdfdfc", "ink": "#20242a", "muted": "#6b7178", "faint": "#d9dcdf",
    "blue": "#2b6cb0", "orange": "#c2570c", "green": "#2f855a",
}  # fmt: skip
DARK = {
    "ground": "#23272f", "ink": "#e6e8eb", "muted": "#a3aab3", "faint": "#454b55",
    "blue": "#7db8ee", "orange": "#f2a33c", "green": "#6fcf97",
}  # fmt: skip
GROUND, INK, MUTED, FAINT, BLUE, ORANGE, GREEN = LIGHT.values()

SETTINGS = {
    "figure.facecolor": GROUND, "axes.facecolor": GROUND, "savefig.facecolor": GROUND, "text.color": INK,
    "axes.edgecolor": MUTED, "axes.labelcolor": INK, "xtick.color": MUTED, "ytick.color": MUTED, "grid.color": FAINT,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 10, "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.labelsize": 9,
    "xtick.labelsize": 8.5, "ytick.labelsize": 8.5, "legend.frameon": False, "legend.fontsize": 8.5, "font.size": 9,
    "font.family": "sans-serif", "svg.fonttype": "none", "svg.hashsalt": "datamodels-inf", "axes.unicode_minus": True,
}  # fmt: skip


def panels(columns: int, height: float = 3.1, **options: object) -> tuple[Figure, list[Axes]]:
    """A figure of as many panels side by side; to be drawn with SETTINGS in force."""
    figure = Figure(figsize=(8.2, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False, **options)[0])


def save(figure: Figure, path: Path) -> None:
    """As SVG whose colours are variables, without a date."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    text = path.read_text(encoding="utf-8")
    for name, colour in LIGHT.items():
        text = re.sub(rf"{colour}(?=[;\"])", f"var(--{name})", text)
    rules = f":root {{{_variables(LIGHT)}}} @media (prefers-color-scheme: dark) {{:root {{{_variables(DARK)}}}}}"
    text = re.sub(r"(<svg\b[^>]*>)", rf"\1\n <style>{rules}</style>", text, count=1)
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
