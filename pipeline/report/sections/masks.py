"""The check of exchangeability as a drawing: how many models saw each training image, against its binomial law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from datamodels_inf.exchangeability import ExchangeabilityReport
from pipeline.report.content import Content, MaskCheck
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled
from pipeline.text.numbers import counted

LEFT, RIGHT, TOP, BOTTOM = 44.0, 308.0, 10.0, 150.0
BINS = 24
SPREAD = 4.5  # standard deviations of the law on either side that are drawn at least


@dataclass(frozen=True)
class MaskView:
    """columns: a histogram of the training images by the number of models that saw them; law: what is expected."""

    report: ExchangeabilityReport
    permuted: bool
    n_models: int
    label: str
    columns: str
    law: str
    across: list[Tick]
    up: list[Tick]


@dataclass(frozen=True, eq=False)
class Counted:
    """Training images by the number of models that saw them: mean and standard deviation of the law, and in bins
    between `edges` how many images there are for each whole number (bins differ by one), seen and expected."""

    mean: float
    sd: float
    edges: NDArray[np.int64]
    seen: NDArray[np.float64]
    expected: NDArray[np.float64]


def data(page: Page) -> Variables | None:
    """The check, if it was made and the masks have a law."""
    check = page.content.masks
    masks = None if check is None else view_of(check, page.content)
    return None if masks is None else {"masks": masks}


def view_of(check: MaskCheck, content: Content) -> MaskView | None:
    """None for masks of all or nothing, which have no law to speak of."""
    n_models = content.n_models_test
    if not check.has_law:
        return None
    sums, bars = check.column_sums, _count(check, n_models)
    edges, middles = bars.edges, (bars.edges[:-1] + bars.edges[1:]) / 2.0
    first, last = float(edges[0]), float(edges[-1])
    highest = float(max(bars.expected.max(), bars.seen.max())) * 1.05
    width = (last - first) / (len(edges) - 1)

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - first) / (last - first)

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * value / highest

    columns = [
        f"M{at(x(a) + 0.5)} {at(BOTTOM)}V{at(y(c))}H{at(x(b) - 0.5)}V{at(BOTTOM)}z"
        for a, b, c in zip(edges[:-1], edges[1:], bars.seen, strict=True)
        if c > 0
    ]
    law = (f"{at(x(float(m)))} {at(y(float(e)))}" for m, e in zip(middles, bars.expected, strict=True))
    return MaskView(
        report=check.report,
        permuted=check.permuted,
        n_models=n_models,
        label=f"{counted(len(sums), f'training {content.noun}')} by the number of {content.tested_model}s that saw "
        f"them: from {int(sums.min())} to {int(sums.max())} of {n_models}, "
        f"where {bars.mean:.0f} ± {bars.sd:.0f} are expected",
        columns="".join(columns),
        law="M" + "L".join(law),
        across=[Tick(x(value), text.removesuffix(".0")) for value, text in ticks_of(first, last - 1.0, 5)],
        up=[Tick(y(value / width), text) for value, text in ticks_of(0.0, highest * width, 4) if value == round(value)],
    )


def _count(check: MaskCheck, n_models: int) -> Counted:
    sums, share = check.column_sums, check.report.proportion
    mean, sd = n_models * share, float(np.sqrt(n_models * share * (1.0 - share)))
    low = max(0, min(int(sums.min()), int(mean - SPREAD * sd)))
    high = min(n_models, max(int(sums.max()), int(mean + SPREAD * sd) + 1))
    edges = np.unique(np.round(np.linspace(low, high + 1, BINS + 1)).astype(np.int64))
    upto = np.where(edges > 0, bdtr(np.maximum(edges - 1.0, 0.0), n_models, share), 0.0)
    widths = np.diff(edges)
    return Counted(mean, sd, edges, np.histogram(sums, edges)[0] / widths, len(sums) * np.diff(upto) / widths)


SECTION = Section("masks", data, inside="diagnostics", title=titled("The masks"))
