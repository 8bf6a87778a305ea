"""The check of exchangeability as a drawing: how many models saw each training image, against its binomial law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from datamodels_inf.exchangeability import ExchangeabilityReport
from pipeline.report.content import MaskCheck
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables
from pipeline.text.numbers import plural

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


def data(page: Page) -> Variables | None:
    """The check, if it was made and the masks have a law."""
    check = page.content.masks
    masks = None if check is None else view_of(check, page.content.n_models_test)
    return None if masks is None else {"masks": masks}


def view_of(check: MaskCheck, n_models: int) -> MaskView | None:
    """None for masks of all or nothing, which have no law to speak of."""
    sums, share = check.column_sums, check.report.proportion
    if not check.has_law:
        return None
    mean, sd = n_models * share, float(np.sqrt(n_models * share * (1.0 - share)))
    low = max(0, min(int(sums.min()), int(mean - SPREAD * sd)))
    high = min(n_models, max(int(sums.max()), int(mean + SPREAD * sd) + 1))
    edges = np.unique(np.round(np.linspace(low, high + 1, BINS + 1)).astype(np.int64))
    counts = np.histogram(sums, edges)[0]
    upto = np.where(edges > 0, bdtr(np.maximum(edges - 1.0, 0.0), n_models, share), 0.0)
    expected = len(sums) * np.diff(upto) / np.diff(edges)  # images per whole number, as the bins differ by one
    seen = counts / np.diff(edges)
    highest = float(max(expected.max(), seen.max())) * 1.05

    first, last = float(edges[0]), float(edges[-1])

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - first) / (last - first)

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * value / highest

    columns = [
        f"M{at(x(a) + 0.5)} {at(BOTTOM)}V{at(y(c))}H{at(x(b) - 0.5)}V{at(BOTTOM)}z"
        for a, b, c in zip(edges[:-1], edges[1:], seen, strict=True)
        if c > 0
    ]
    middles = (edges[:-1] + edges[1:]) / 2.0
    width = (last - first) / (len(edges) - 1)
    return MaskView(
        report=check.report,
        permuted=check.permuted,
        n_models=n_models,
        label=f"{plural(len(sums), 'training image')} by the number of held-out models that saw them: from "
        f"{int(sums.min())} to {int(sums.max())} of {n_models}, where {mean:.0f} ± {sd:.0f} are expected",
        columns="".join(columns),
        law="M" + "L".join(f"{at(x(float(m)))} {at(y(float(e)))}" for m, e in zip(middles, expected, strict=True)),
        across=[Tick(x(value), text.removesuffix(".0")) for value, text in ticks_of(low, high, 5)],
        up=[Tick(y(value / width), text) for value, text in ticks_of(0.0, highest * width, 4) if value == round(value)],
    )


SECTION = Section("masks", data, inside="diagnostics")
