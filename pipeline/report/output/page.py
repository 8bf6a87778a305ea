"""The page: what stands on it, as text, handed to the templates."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS, threshold
from pipeline.findings import MARGINAL, finding_level, level_text
from pipeline.report.content import Content
from pipeline.report.drawing.bars import common_limit
from pipeline.report.drawing.pictures import embedder
from pipeline.report.evidence.limits import POWER, Limits
from pipeline.report.output.csv_files import plain
from pipeline.report.rows import Group, Numbered, Row
from pipeline.report.sections import masks as mask_view
from pipeline.report.sections import quality
from pipeline.report.sections.cards import Embed, TargetGroup, target_groups
from pipeline.report.sections.heatmap import Heatmap, heatmap_of
from pipeline.report.sections.pvalues import PvaluePlots, plots_of
from pipeline.report.sections.reruns import METRICS, views_of
from pipeline.report.words import (
    class_name,
    curve_notes,
    effect_and_interval,
    number,
    p_equals,
    percent,
    place,
    plural,
    promise,
    pvalue,
    selected_interval,
    thousands,
    unbroken,
    verdict,
)

TABLE_ROWS = 2000
PAPER_TESTS = 2000  # the design of the paper whose printed result does not add up
SORT_KEYS = ("pvalue", "pvalue_adjusted", "statistic", "theta_i", "theta_j", "effect")
MASK_LAWS = {
    "fixed-size": "every model saw equally many training images, drawn uniformly (fixed-size)",
    "bernoulli": "models saw different numbers of training images, as if by independent coins (bernoulli)",
    "stratified": "the classes are treated differently, such as so many images of each in every model (stratified)",
}


@dataclass(frozen=True)
class Edge:
    """How close it was: the p-value that a finding may have at most, and the one nearest to it."""

    threshold: str
    nearest: str


@dataclass(frozen=True)
class Section:
    """One method on the page, the `index`-th. shared: findings in common with each of the methods, in their order.

    longer: the level of the findings' own intervals as text; empty where it is no other than 95 %.
    """

    index: int
    group: Group
    verdict: str
    targets: list[TargetGroup]
    edge: Edge
    longer: str
    shared: list[int]
    plots: PvaluePlots | None
    heatmap: Heatmap | None
    limits: Limits | None

    @property
    def bound(self) -> str:
        """Why p-values of this method pile up at 1 without a difference, if they do."""
        method = METHODS.get(self.group.method)
        return "" if method is None else method.bound

    @property
    def n_drawn(self) -> int:
        return sum(len(target.cards) for target in self.targets)

    @property
    def not_drawn(self) -> int:
        """Findings that have no panel."""
        return len(self.group.findings) - self.n_drawn if self.group.findings else 0

    @property
    def table(self) -> tuple[Numbered, ...]:
        """The findings in the table of the page."""
        return self.group.findings[:TABLE_ROWS]


def panel_scale(groups: Sequence[Group], max_panels: int) -> float:
    """The end of the line around zero that the bars of all panels share."""
    return common_limit([item.row for group in groups for item in group.drawn(max_panels)])


def page_of(content: Content, groups: Sequence[Group], limits: Mapping[str, Limits | None]) -> str:
    """The whole page as HTML, with its style, script and images inside."""
    limit = panel_scale(groups, content.max_panels)
    embed = embedder(content.images)
    findings = [item.row for group in groups for item in group.findings]
    classes = list(dict.fromkeys([*content.class_names, *(name for r in findings for name in (r.class_i, r.class_j))]))
    numbers = {name: k for k, name in enumerate(classes)}
    used = {name for row in findings for name in (row.class_i, row.class_j)}
    script = files("pipeline.report").joinpath("templates/script.js").read_text(encoding="utf-8")
    sections = [_section(k, groups, content, limits[group.method], limit, embed) for k, group in enumerate(groups)]
    return (
        _environment(numbers)
        .get_template("page.html.j2")
        .render(
            content=content,
            sections=sections,
            several=len(groups) > 1,
            n_findings=len(findings),
            class_options=[(k, name) for name, k in numbers.items() if name in used],
            target_options=sorted({(row.target, row.class_target) for row in findings}),
            quality=None if content.quality is None else quality.view_of(content.quality, content, embed),
            masks=None if content.masks is None else mask_view.view_of(content.masks, content.n_models_test),
            reruns=[] if content.robustness is None else views_of(content.robustness, embed),
            metric="" if content.robustness is None else METRICS[content.robustness.metric],
            limit=limit,
            longer=[(section.group.method, section.longer) for section in sections if section.longer],
            curve_notes=curve_notes([content.curves[key].kind for key in content.curves], content.unit),
            has_contrast=any(group.method == "contrast" for group in groups),
            power=POWER,
            correction=CORRECTIONS[content.correction],
            promise=promise(content),
            mask_law=MASK_LAWS.get(content.mask_law, content.mask_law),
            paper_design=content.correction == "by" and any(group.n_tests == PAPER_TESTS for group in groups),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        )
    )


def _section(
    index: int, groups: Sequence[Group], content: Content, limits: Limits | None, limit: float, embed: Embed
) -> Section:
    group = groups[index]
    own = {item.row.key[1:] for item in group.findings}
    return Section(
        index=index,
        group=group,
        verdict=verdict(group, content),
        targets=target_groups(group.drawn(content.max_panels), content, limit, embed),
        edge=_edge(group, content),
        longer=_longer(group, content),
        shared=[len(own & {item.row.key[1:] for item in other.findings}) for other in groups],
        plots=plots_of(group.tests, content.correction, content.alpha),
        heatmap=heatmap_of(group.tests, content.class_names),
        limits=limits,
    )


def _edge(group: Group, content: Content) -> Edge:
    if not group.n_tests:
        return Edge(number(math.nan), "no p-value is known")
    limit = pvalue(threshold(content.correction, content.alpha, group.n_tests, len(group.findings)))
    if group.findings:
        return Edge(limit, f"largest of a finding {pvalue(max(item.row.pvalue for item in group.findings))}")
    return Edge(limit, f"the smallest is {pvalue(group.tests[0].pvalue)}")


def _longer(group: Group, content: Content) -> str:
    level = finding_level(content.correction, content.alpha, group.n_tests, len(group.findings))
    return level_text(level) if level > MARGINAL else ""


def _environment(classes: dict[str, int]) -> Environment:
    def item(row: Row) -> Markup:
        """What the script sorts and filters by: target, classes, and the numbers as in the CSV files."""
        keys = " ".join(plain(getattr(row, name)) for name in SORT_KEYS)
        names = f"{classes.get(row.class_i, -1)} {classes.get(row.class_j, -1)}"
        return Markup('data-t="{}" data-c="{}" data-s="{}"').format(row.target, names, keys)

    environment = Environment(
        loader=PackageLoader("pipeline.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        number=number,
        pvalue=pvalue,
        p_equals=p_equals,
        percent=percent,
        plural=plural,
        effect=effect_and_interval,
        selected=selected_interval,
        unbroken=unbroken,
        subscripts=lambda text: Markup(re.sub(r"_(\w)", r"<sub>\1</sub>", str(escape(text)))),
        thousands=thousands,
        place=place,
        item=item,
        name=class_name,
    )
    return environment
