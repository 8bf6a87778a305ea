"""Draws the figures of docs/method.md, from the embedded digits: `python docs/figures/method_figures.py`.

All are of one question, whether image FIRST instead of image SECOND moves the margin on TARGET, or of the 2,000 tests
of the configuration `digits-methods`. What is written in them is held against a new drawing by a test.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent))
from style import BLUE, FAINT, FOLDER, GREEN, INK, MUTED, ORANGE, SETTINGS, panels, save

from datamodels_inf import SquaredResidual, adjust_pvalues, contrast, influence, paired_swap_test, swap_test
from datamodels_inf.internal.comparison import halves
from datamodels_inf.multiplicity import critical_values
from datamodels_inf.prior import Prior
from datamodels_inf.pvalues import binomial_pvalue, hoeffding_pvalue
from datamodels_inf.row_blocks import block_ends, first_rows
from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.prior.files import read_prior

FIRST, SECOND, TARGET = 354, 393, 49
"""A 3 and an 8, on a 3: the paper's test does not see what the others do."""
ALPHA = 0.2
SEED = 0


@dataclass(frozen=True)
class Digits:
    """What a run on the embedded digits left in a store."""

    pipeline: Pipeline

    @classmethod
    def made(cls, store: Path) -> Digits:
        """The stages up to the prior, which the report would read."""
        config = load_config("digits-methods", ["test.correction=prior"])
        pipeline = Pipeline(config, store, store / "reports", quiet=True, threads=1)
        pipeline.run("test")
        pipeline.run("prior")
        return cls(pipeline)

    @cached_property
    def data(self) -> Data:
        """Masks and margins."""
        return Data.of(self.pipeline.finished(["download"], "")["download"], self.pipeline.config)

    @cached_property
    def theta(self) -> tuple[np.ndarray, float]:
        """θ̂ and b of TARGET."""
        fitted = Fitted.of(self.pipeline.finished(["download", "fit"], "")["fit"])
        place = fitted.targets.tolist().index(TARGET)
        return fitted.datamodel.weight[:, place].astype(np.float64), float(fitted.datamodel.bias[place])

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(masks, margins on TARGET) of the held-out models."""
        margins = self.data.block_margins(self.data.blocks[0], np.array([TARGET]))
        return self.data.held_out_masks.to_bool().astype(np.float64), np.asarray(margins, np.float64)[:, 0]

    @cached_property
    def residual(self) -> np.ndarray:
        """y − b − xᵀθ̂."""
        (x, y), (theta, bias) = self.rows, self.theta
        return y - bias - x @ theta

    @cached_property
    def pvalues(self) -> np.ndarray:
        """Of the 2,000 tests by the contrast."""
        names = ["download", "fit", "test"]
        table = pq.read_table(self.pipeline.finished(names, "")["test"].folder / "tests.parquet")
        method = np.array(table["method"].to_pylist())
        return table["pvalue"].to_numpy()[method == "contrast"]

    @cached_property
    def prior(self) -> Prior:
        """Weights and shape of the contrast's tests."""
        names = ["download", "fit", "evidence", "prior"]
        return read_prior(self.pipeline.finished(names, "")["prior"], "contrast")


def _swapped(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[:, [FIRST, SECOND]] = x[:, [SECOND, FIRST]]
    return x


def _step(axes: Axes, values: np.ndarray, colour: str, label: str) -> None:
    axes.step(np.sort(values), np.arange(1, len(values) + 1) / len(values), color=colour, label=label, linewidth=1.4)


def swap(digits: Digits) -> Figure:
    """The paper's test: two halves, and what U is held against."""
    (x, y), (theta, bias) = digits.rows, digits.theta
    first, second = halves(len(y), "permuted", SEED)
    half = len(first)
    untouched = digits.residual[first] ** 2
    swapped = (y[second] - bias - _swapped(x[second]) @ theta) ** 2
    figure, (left, right) = panels(2)
    _step(left, untouched, BLUE, "one half, untouched")
    _step(left, swapped, ORANGE, "other half, swapped")
    left.set(title="Scores T of the two halves", xlabel="T = (y − b − xᵀθ̂)²", ylabel="share of models", xlim=(0, 0.6))
    left.legend(loc="lower right")
    score = SquaredResidual(theta, bias)
    options = {"score": score, "rng": SEED}
    found = swap_test(digits.data.held_out_masks, y, FIRST, SECOND, **options)
    exact = swap_test(digits.data.held_out_masks, y, FIRST, SECOND, pvalue="exact", **options)
    _pvalue_curves(right, half)
    for result, colour, name, place in ((found, BLUE, "paper", (-8, -3)), (exact, ORANGE, "exact", (-18, -9))):
        right.plot(result.statistic, result.pvalue, "o", color=colour, markersize=5)
        right.annotate(
            f"{name}: p = {result.pvalue:.2g}", (result.statistic, result.pvalue), xytext=place,
            textcoords="offset points", ha="right", fontsize=8.5, color=colour,
        )  # fmt: skip
    right.set_title(f"p-value of U, {half:,} comparisons")
    return figure


def _pvalue_curves(axes: Axes, h: int) -> None:
    wins = np.arange(int(0.4 * h), int(0.6 * h) + 1)
    u = wins / h
    axes.semilogy(u, hoeffding_pvalue(u, h, 0.0), color=BLUE, label="Hoeffding")
    axes.semilogy(u, binomial_pvalue(wins, np.full(len(wins), h), 0.0), color=ORANGE, label="exact")
    axes.axvline(0.5, color=FAINT, linewidth=1, zorder=0)
    axes.set(xlabel="U, the share of comparisons won", ylim=(1e-12, 2), xlim=(0.36, 0.64), ylabel="p-value")
    axes.set_xticks((0.4, 0.45, 0.5, 0.55, 0.6))
    axes.legend(loc="lower center")


def tau(digits: Digits) -> Figure:
    """What an allowance costs."""
    figure, (axes,) = panels(1, 2.8)
    n = len(digits.residual)
    wins = np.arange(n // 2, int(0.72 * n), 4)
    for allowed, colour in ((0.0, BLUE), (0.05, ORANGE), (0.1, GREEN)):
        p = binomial_pvalue(wins, np.full(len(wins), n), allowed)
        axes.semilogy(wins / n, p, color=colour, label=rf"$\mathregular{{τ + τ_X}}$ = {allowed:g}")
    axes.set(ylim=(1e-8, 2), xlim=(0.5, 0.7), xlabel="share of comparisons won", ylabel="exact p-value")
    axes.set_title(f"The larger the difference that counts as none, the more must be won (n = {n:,})")
    axes.legend(loc="upper right")
    return figure


def paired(digits: Digits) -> Figure:
    """D and its mirror image."""
    (x, y), (theta, bias) = digits.rows, digits.theta
    apart = x[:, FIRST] != x[:, SECOND]
    difference = (digits.residual**2 - (y - bias - _swapped(x) @ theta) ** 2)[apart]
    figure, (axes,) = panels(1)
    bins = np.linspace(-0.32, 0.32, 65)
    axes.hist(difference, bins, color=BLUE, alpha=0.35, label="D")
    axes.hist(-difference, bins, histtype="step", color=ORANGE, linewidth=1.4, label="−D, its mirror image")
    axes.axvline(0.0, color=MUTED, linewidth=1)
    below, above = int((difference < 0).sum()), int((difference > 0).sum())
    result = paired_swap_test(
        digits.data.held_out_masks, y, FIRST, SECOND, score=SquaredResidual(theta, bias), rng=SEED
    )
    axes.set(xlabel="D = T(x, y) − T(swap(x), y) of a model that saw just one of the two images", ylabel="models")
    axes.set_title(f"{below:,} models below 0, {above:,} above: p = {result.pvalue:.1g}")
    axes.legend(loc="upper right")
    return figure


def contrast_groups(digits: Digits) -> Figure:
    """Two groups of r, and the difference of their means."""
    (x, y), (theta, bias) = digits.rows, digits.theta
    r = digits.residual + x[:, FIRST] * theta[FIRST] + x[:, SECOND] * theta[SECOND]
    only_i, only_j = (x[:, FIRST] > x[:, SECOND]), (x[:, SECOND] > x[:, FIRST])
    found = contrast(digits.data.held_out_masks, y, FIRST, SECOND, theta=theta, bias=bias)
    figure, (axes,) = panels(1)
    bins = np.linspace(-0.9, 0.9, 46)
    for rows, colour, name in ((only_i, BLUE, "i in, j out"), (only_j, ORANGE, "j in, i out")):
        mean = r[rows].mean()
        axes.hist(r[rows], bins, color=colour, alpha=0.35, label=f"{int(rows.sum()):,} models with {name}")
        axes.axvline(mean, color=colour, linewidth=1.8)
        axes.annotate(
            f"mean {mean:.2f}".replace("-", "−"), (mean, 1.0), xycoords=("data", "axes fraction"), va="bottom",
            ha="left" if rows is only_i else "right", fontsize=8.5,
        )  # fmt: skip
    low, high = found.interval
    said = f"Δ̂ = {found.estimate:.2f}, 95 % interval {low:.2f} to {high:.2f}, p = {found.pvalue:.1g}".replace(
        "-0", "−0"
    )
    axes.set(xlabel="r, the margin without what θ̂ gives to all other images", ylabel="models")
    axes.set_title(said, pad=16)
    axes.legend(loc="upper left")
    return figure


def single_images(digits: Digits) -> Figure:
    """Δ̂ of every image against its LASSO weight."""
    (_, y), (theta, bias) = digits.rows, digits.theta
    found = influence(digits.data.held_out_masks, y, theta=theta, bias=bias)
    kept = adjust_pvalues(found.pvalue) <= ALPHA
    low, high = found.interval
    figure, both = panels(2, 3.6)
    for axes in both:
        axes.axhline(0.0, color=FAINT, linewidth=1)
        for rows, colour, name in ((~kept, MUTED, "cannot be told from 0"), (kept, BLUE, "findings")):
            axes.vlines(theta[rows], low[rows], high[rows], color=colour, linewidth=0.7, alpha=0.6)
            dots = {"color": colour, "markersize": 2.6, "label": f"{int(rows.sum())} {name}"}
            axes.plot(theta[rows], found.estimate[rows], "o", **dots)
        ends = np.array([theta.min(), theta.max()])
        axes.plot(ends, ends - theta.mean(), color=ORANGE, linewidth=1, label="the weight itself, centred")
        axes.set_xlabel(r"$\mathregular{\hat{θ}_i}$, the weight of the LASSO")
    both[0].set(title=f"{len(theta)} images on one target", ylabel=r"$\mathregular{\hat{Δ}_i}$ with its 95 % interval")
    both[0].legend(loc="upper left")
    of_weights = f"{int((kept & (theta != 0)).sum())} of {int((theta != 0).sum())} weights stand"
    both[1].set(title=f"Near 0: {of_weights}", xlim=(-0.06, 0.06), ylim=(-0.1, 0.1), xticks=(-0.05, 0, 0.05))
    return figure


def progressive(digits: Digits) -> Figure:
    """Which rows fit and which test, block by block."""
    n, d = 12_000, digits.data.n_train
    first = first_rows(n, d)
    starts = block_ends(n, first)
    ends = (*starts[1:], n)
    figure, (axes,) = panels(1, 2.9)
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axes.barh(k, start, color=FAINT, height=0.62, label="fitted" if k == 0 else None)
        axes.barh(k, end - start, left=start, color=BLUE, height=0.62, label="tested with that fit" if k == 0 else None)
        axes.annotate(
            f"{end - start:,}", (end, k), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.set(yticks=range(len(ends)), yticklabels=[f"block {k + 1}" for k in range(len(ends))], xlabel="models")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(0, n * 1.06)
    axes.invert_yaxis()
    axes.set_title(f"{n:,} models of {d} images: the first {first:,} only fit, {n - first:,} test")
    axes.legend(loc="upper right")
    return figure


def corrections(digits: Digits) -> Figure:
    """Sorted p-values and the lines that they are held against."""
    p, prior = digits.pvalues, digits.prior
    m = len(p)
    k = np.arange(1, m + 1)
    figure, (left, right) = panels(2, 3.4, sharey=True)
    left.loglog(k, np.sort(p), color=INK, linewidth=1.6, label="sorted p-values")
    for name, colour, title in (("bh", GREEN, "BH"), ("by", BLUE, "BY"), ("bonferroni", MUTED, "Bonferroni")):
        count = int((adjust_pvalues(p, name) <= ALPHA).sum())
        left.loglog(k, critical_values(name, ALPHA, m), color=colour, linewidth=1.2, label=f"{title}: {count} findings")
    count = int((adjust_pvalues(p, "closed-by", alpha=ALPHA) <= ALPHA).sum())
    left.axvline(count, color=BLUE, linestyle=":", linewidth=1.2, label=f"closed BY: {count} findings")
    count = int((adjust_pvalues(p, "prior", alpha=ALPHA, prior=prior) <= ALPHA).sum())
    right.loglog(k, np.sort(prior.scaled(p)), color=INK, linewidth=1.6, label="sorted p/w")
    right.loglog(k, critical_values("by", ALPHA, m), color=BLUE, linewidth=1.2, label="BY's line")
    line = critical_values("prior", ALPHA, m, shape=prior.shape)
    right.loglog(k[line > 0], line[line > 0], color=ORANGE, linewidth=1.4, label=f"α·β(k)/m: {count} findings")
    left.set(title="One line for all tests", ylabel="p-value")
    right.set(title="Weights and a shape from the fit rows")
    for axes in (left, right):
        axes.set(xlabel="k-th smallest of 2,000", ylim=(1e-12, 1.5), xlim=(1, m))
        axes.legend(loc="lower left")
    return figure


FIGURES: dict[str, Callable[[Digits], Figure]] = {
    "swap": swap,
    "tau": tau,
    "paired": paired,
    "contrast": contrast_groups,
    "influence": single_images,
    "progressive": progressive,
    "corrections": corrections,
}
"""Name of the file → what draws it."""


def draw(folder: Path) -> None:
    """All of them, into a folder."""
    with tempfile.TemporaryDirectory() as store, rc_context(SETTINGS):
        digits = Digits.made(Path(store))
        for name, figure in FIGURES.items():
            save(figure(digits), folder / f"method-{name}.svg")


if __name__ == "__main__":
    draw(FOLDER)
