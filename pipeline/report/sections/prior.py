"""What the fit rows expected of the tests, against what came: how good the prior of a correction is."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.content import Expectation
from pipeline.report.drawing.expected_counts import ExpectedPlot, expected_plot
from pipeline.report.page import MethodOnPage, Page
from pipeline.report.sections.base import Section, Variables
from pipeline.text.numbers import counted, number


@dataclass(frozen=True)
class PriorView:
    """One method: the plot, and weights and centre of ν in one line."""

    method: MethodOnPage
    plot: ExpectedPlot
    line: str


def data(page: Page) -> Variables | None:
    """The methods of which something was predicted."""
    shown = (_view(method, page) for method in page.methods)
    views = [view for view in shown if view is not None]
    return {"views": views, "in_use": page.correction.needs_prior} if views else None


def _view(method: MethodOnPage, page: Page) -> PriorView | None:
    content = page.content
    expectation = content.expectations.get(method.name)
    if expectation is None:
        return None
    shape = content.shape_of(method.name)
    limit = 0.0 if shape is None else method.group.threshold(content.correction, content.alpha, shape)
    plot = expected_plot(expectation, limit)
    return None if plot is None else PriorView(method, plot, prior_line(expectation))


def prior_line(expectation: Expectation) -> str:
    """The range of the weights and the centre of ν."""
    low, high = expectation.weight_range
    text = f"Weights w from {number(low)} to {number(high)}, 1 on average"
    centre = expectation.centre
    return f"{text}; the shape ν is centred on {counted(centre, 'finding')}." if centre is not None else f"{text}."


SECTION = Section("prior", data, inside="corrections")
