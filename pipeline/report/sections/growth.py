"""Findings against the number of models that tested, where they test in blocks."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.report.content import Growth
from pipeline.report.drawing.lines import LineChart, line_chart
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled


def data(page: Page) -> Variables | None:
    """The chart and its numbers, where p-values after each block are known."""
    growth, blocks = page.content.growth, page.content.blocks
    if not growth:
        return None
    numbers = [one.n_models for one in growth.values()]
    counts = [one.n_found for one in growth.values()]
    return {
        "chart": chart_of(growth),
        "names": list(growth),
        "steps": list(zip(numbers[0], zip(*counts, strict=True), strict=True)),
        "left_out": [] if blocks is None else list(blocks.on_last),
    }


def chart_of(growth: Mapping[str, Growth]) -> LineChart:
    """One line a method, from the first block to the last."""
    series = {
        method: [(float(n), float(found)) for n, found in zip(one.n_models, one.n_found, strict=True)]
        for method, one in growth.items()
    }
    most = max(found for one in growth.values() for found in one.n_found)
    told = [f"{name}, {one.n_found[0]:,} to {one.n_found[-1]:,}" for name, one in growth.items()]
    models = next(iter(growth.values())).n_models
    label = f"Findings after each block, from {models[0]:,} to {models[-1]:,} models: {'; '.join(told)}"
    return line_chart(label, series, (0.0, 1.05 * max(most, 1)), whole=True)


SECTION = Section("growth", data, title=titled("Findings against models"))
