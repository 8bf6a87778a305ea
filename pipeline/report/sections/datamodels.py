"""How good the datamodels are: where their figures lie, and predicted against true outcomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.images.item_names import ItemNames
from pipeline.report.content import Blocks, Content, DatamodelQuality
from pipeline.report.drawing.distribution import (
    LOWEST,
    Distribution,
    count_columns,
    distribution_of,
    log_columns,
    share_columns,
)
from pipeline.report.drawing.embedded_images import Pictures
from pipeline.report.drawing.lines import LineChart, line_chart
from pipeline.report.drawing.scatter import Scatter, scatter_of
from pipeline.report.page import Page
from pipeline.report.sections.base import File, Section, Variables, titled
from pipeline.text.csv_text import write_csv
from pipeline.text.numbers import counted, number

CSV_COLUMNS = ("target", "class", "r2", "spearman", "mse", "n_nonzero", "lambda", "gap")
LEAST_SHARE = 0.0005  # of the variance; less is called none


@dataclass(frozen=True)
class QualityView:
    """The section of the page; a distribution is None where the figure is not known for any target.

    by_rows: R² against the models fitted on, where models test in blocks.
    """

    sentence: str
    r2: Distribution | None
    spearman: Distribution | None
    lam: Distribution | None
    support: Distribution | None
    scatters: list[Scatter]
    n_drawn: int
    by_rows: LineChart | None


def data(page: Page) -> Variables | None:
    """The drawings, if the quality of the datamodels is known."""
    quality = page.content.quality
    return None if quality is None else {"quality": quality, "view": view_of(quality, page.content, page.pictures)}


def files(page: Page) -> Sequence[File]:
    """Every target in numbers."""
    quality = page.content.quality
    assert quality is not None  # Else the section is not shown.
    write = partial(write_datamodels, quality=quality, names=page.content.names)
    return [File("datamodels.csv", write, "the quality of each datamodel")]


def write_datamodels(path: Path, quality: DatamodelQuality, names: ItemNames) -> None:
    """The quality of the datamodels as CSV, one line a target; names of targets, where they have any, come last."""
    arrays = (quality.r2, quality.spearman, quality.mse, quality.n_nonzero, quality.lam, quality.gap)
    columns = [quality.targets.tolist(), quality.classes, *(array.tolist() for array in arrays)]
    header: tuple[str, ...] = CSV_COLUMNS
    if names.targets:
        header = (*CSV_COLUMNS, "name")
        columns.append([names.of("target", target) for target in quality.targets.tolist()])
    write_csv(path, header, zip(*columns, strict=True))


def view_of(quality: DatamodelQuality, content: Content, pictures: Pictures) -> QualityView:
    """What the page shows of the datamodels."""
    columns = [share_columns("R²", quality.r2), share_columns("Spearman’s rank correlation", quality.spearman)]
    tallest = max((int(c.counts.max()) for c in columns if c is not None), default=1)
    r2, spearman = (None if c is None else distribution_of(c, tallest) for c in columns)
    lam = log_columns("Penalty λ", quality.lam)
    support = count_columns("Number of weights other than zero", quality.n_nonzero.astype(np.float64), content.n_train)
    return QualityView(
        sentence=quality_sentence(quality, content),
        r2=r2,
        spearman=spearman,
        lam=None if lam is None else distribution_of(lam),
        support=None if support is None else distribution_of(support),
        scatters=[scatter_of(quality, k, content, pictures) for k in range(len(quality.shown))],
        n_drawn=quality.shown_true.shape[1],
        by_rows=None if content.blocks is None else r2_by_rows(content.blocks),
    )


def r2_by_rows(blocks: Blocks) -> LineChart:
    """The median R² of each fit on the block after it, against the models that it was fitted on."""
    points = [(float(n), r2) for n, r2 in zip(blocks.fitted, blocks.r2, strict=True)]
    told = ", ".join(f"{number(r2, 2)} on {n}" for n, r2 in zip(blocks.fitted, blocks.r2, strict=True))
    low = max(LOWEST, min([0.0, *(math.floor(5.0 * r2) / 5.0 for _, r2 in points if not math.isnan(r2))]))
    label = f"Median R² of the datamodels on the next block, by the number of models they were fitted on: {told}"
    return line_chart(label, {"R²": points}, (low, 1.0), whole=False)


def quality_sentence(quality: DatamodelQuality, content: Content) -> str:
    """How well the datamodels predict, and of how many targets that cannot be said; of several fits, by the last."""
    r2 = quality.r2[~np.isnan(quality.r2)]
    unknown = len(quality.r2) - len(r2)
    unit, name = content.unit, "loaded datamodel" if quality.loaded else "datamodel"
    models = counted(content.n_models_judged, content.tested_model)
    if content.blocks is not None:
        models = f"the last block’s {models}"
    if not r2.size:
        who = "the one target" if unknown == 1 else f"each of the {unknown} targets"
        return f"R² is not defined: on {models}, the {unit} of {who} does not vary."
    if r2.size == 1:
        who = "one target" if unknown else "the one target"
        share, sign = _share(float(r2[0]))
        text = f"On {models} the {name} of {who} explains {share} of the variance of the {unit}{sign}."
    else:
        share, sign = _share(float(np.median(r2)), f"median over {r2.size} targets")
        worst, best = ("".join(_share(float(value))) for value in (r2.min(), r2.max()))
        text = f"On {models} the {name}s explain {share} of the variance of the {unit}{sign}"
        text += f"; the worst target {worst}, the best {best}."
    if unknown:
        others, whose = ("one other target", "its") if unknown == 1 else (f"{unknown} other targets", "their")
        text += f" For {others} R² is not defined, because {whose} {unit} does not vary on these models."
    return text


def _share(r2: float, what: str = "") -> tuple[str, str]:
    """A share of the variance, "75 %" or "none", and what follows it in brackets: `what`, and R² where it is "none"."""
    if r2 < LEAST_SHARE:
        return "none", f" ({what}{', ' if what else ''}R² = {number(r2)})"
    digits = ".0f" if 0.01 <= r2 <= 0.99 else ".3g"
    return f"{100.0 * r2:{digits}} %", f" ({what})" if what else ""


SECTION = Section("datamodels", data, files, inside="diagnostics", title=titled("The datamodels"))
