"""The p-values of each method, its findings by class, and what this many models can see."""

from __future__ import annotations

from dataclasses import dataclass

from datamodels_inf.methods import METHODS
from pipeline.report.drawing.class_heatmap import Heatmap, heatmap_of
from pipeline.report.drawing.pvalue_plots import PvaluePlots, plots_of
from pipeline.report.page import MethodOnPage, Page
from pipeline.report.sections.base import Section, Variables, titled


@dataclass(frozen=True)
class PvaluesOfMethod:
    """bound: why p-values of this method pile up at 1 without a difference, if they do."""

    method: MethodOnPage
    plots: PvaluePlots
    bound: str
    heatmap: Heatmap | None


def data(page: Page) -> Variables:
    """The methods that have p-values."""
    shown = (_of_method(method, page) for method in page.methods)
    return {"of_methods": [view for view in shown if view is not None]}


def _of_method(method: MethodOnPage, page: Page) -> PvaluesOfMethod | None:
    content = page.content
    plots = plots_of(method.group, content.correction, content.alpha, content.shape_of(method.name))
    if plots is None:
        return None
    bound = METHODS[method.name].bound if method.name in METHODS else ""
    return PvaluesOfMethod(method, plots, bound, heatmap_of(method.group, content.class_names))


SECTION = Section("pvalues", data, inside="diagnostics", title=titled("p-values"))
