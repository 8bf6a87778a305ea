"""Figures of the synthetic experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from datamodels_inf.internal.checks import Floats
from datamodels_inf.simulate import PAIRS, THETA_STAR, VARIANTS, D, Rates

# Colour-blind safe (Okabe and Ito).
COLOURS = {
    "swap": "#000000",
    "swap-exact": "#0072B2",
    "paired-hoeffding": "#E69F00",
    "paired": "#009E73",
    "paired-signed-rank": "#CC79A7",
}
TITLES = {
    "size": "Size: share of true nulls rejected",
    "power": "Power: y ~ N(xᵀθ*, 1), θ̂ ~ N(θ*, σ²I), level 0.1",
    "mixture": "Mixture of Gaussians, level 0.1",
}


def draw_heatmaps(rates: Sequence[Rates], path: Path) -> None:
    """One 10 × 10 heatmap per setting and level, side by side, values written in, as in the paper's figures."""
    experiment = rates[0].setting.experiment
    figure = Figure(figsize=(4.6 * len(rates) + 0.8, 5.2), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(rates)))
    ceiling = 0.25 if experiment == "size" else 1.0
    for ax, r in zip(axes, rates, strict=True):
        label = f"level {r.alpha:g}" if experiment == "size" else r.setting.label
        image = _heatmap(ax, r.rate, label, ceiling)
    figure.colorbar(image, ax=list(axes), shrink=0.75, label="rejection rate")
    method = rates[0].method
    figure.suptitle(f"{TITLES[experiment]}\n{VARIANTS[method]} ({rates[0].reps} repetitions)")
    figure.savefig(path, dpi=110)


def _heatmap(ax: Axes, values: Floats, title: str, ceiling: float) -> AxesImage:
    grid = np.full((D, D), np.nan)
    grid[PAIRS[:, 0], PAIRS[:, 1]] = grid[PAIRS[:, 1], PAIRS[:, 0]] = values
    colours = matplotlib.colormaps["cividis"].copy()
    colours.set_bad("white")
    image = ax.imshow(grid, vmin=0.0, vmax=ceiling, cmap=colours)
    for i, j in PAIRS:
        ink = "black" if grid[i, j] > 0.6 * ceiling else "white"
        for row, column in ((i, j), (j, i)):
            ax.text(column, row, f"{grid[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=7.5)
    ax.set(title=title, xticks=range(D), yticks=range(D), xticklabels=range(1, D + 1), yticklabels=range(1, D + 1))
    ax.set(xlabel="feature j", ylabel="feature i")
    ax.tick_params(length=0)
    return image


def draw_gain(rates: Sequence[Rates], path: Path) -> None:
    """Power of every method against the contrast |θ*_i − θ*_j|, one panel per σ: what a better test gains."""
    sigmas = sorted({r.setting.sigma for r in rates})
    contrast = np.abs(THETA_STAR[PAIRS[:, 0]] - THETA_STAR[PAIRS[:, 1]])
    figure = Figure(figsize=(4.2 * len(sigmas), 4.5), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(sigmas), sharey=True))
    for ax, sigma in zip(axes, sigmas, strict=True):
        for r in (r for r in rates if r.setting.sigma == sigma):
            means = [r.rate[contrast == c].mean() for c in range(5)]
            ax.plot(range(5), means, "o-", color=COLOURS[r.method], label=VARIANTS[r.method], markersize=4)
        ax.axhline(rates[0].alpha, color="grey", linewidth=0.8, linestyle=":")
        ax.set(title=f"σ = {sigma:g}", xlabel="contrast |θ*ᵢ − θ*ⱼ|", xticks=range(5), ylim=(-0.03, 1.03))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("rejection rate at level 0.1")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle("What the exact and the paired tests gain (contrast 0 is a true null)")
    figure.savefig(path, dpi=110)
