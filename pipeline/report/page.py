"""What the sections of the page share: the content, its tests by method, and the one scale of all bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from datamodels_inf.multiplicity import CORRECTIONS, Correction
from pipeline.report.content import Content
from pipeline.report.drawing.bars import common_limit
from pipeline.report.drawing.embedded_images import Pictures
from pipeline.report.evidence.detectable_effects import DetectableEffects, detectable_of
from pipeline.report.evidence.stronger_methods import Stronger, stronger_of
from pipeline.report.groups import Group
from pipeline.report.levels import finding_levels, levels_text
from pipeline.report.limits import Limits
from pipeline.report.rows import Numbered, Row, stem_of
from pipeline.report.sentences import models_of_method
from pipeline.report.work import Progress, silent
from pipeline.text.nouns import worded
from pipeline.text.numbers import number, pvalue

METHODS_SHARE = 0.3  # of the work that a page is, what is looked up for all methods
MASK_LAWS = {
    "fixed-size": "every model saw equally many training images, drawn uniformly (fixed-size)",
    "bernoulli": "models saw different numbers of training images, as if by independent coins (bernoulli)",
    "stratified": "the classes are treated differently, such as so many images of each in every model (stratified)",
}


@dataclass(frozen=True)
class Edge:
    """How close it was: the p-value that a finding may have at most, and the one nearest to it.

    of: what is compared, "the p-value" or, with weights, "p/w".
    """

    of: str
    threshold: str
    nearest: str


@dataclass(frozen=True)
class MethodOnPage:
    """One method, the `index`-th. drawn: the tests with a panel. listed: the findings in the table, the first of all.

    n_models: those that tested each pair, and in words.

    longer: the level of the findings' own intervals as text, or its range; empty where it is no other than 95 %.
    stronger: where nothing was found, a method that would see more, if one is known to.
    """

    index: int
    group: Group
    drawn: tuple[Numbered, ...]
    listed: tuple[Numbered, ...]
    n_models: int
    models: str
    edge: Edge
    longer: str
    detectable: DetectableEffects | None
    stronger: Stronger | None

    @property
    def name(self) -> str:
        """As in the configuration."""
        return self.group.method

    @property
    def stem(self) -> str:
        """What the names of its findings begin with."""
        return stem_of(self.name)

    @property
    def n_found(self) -> int:
        """Findings, with a panel or without."""
        return self.group.n_found

    @property
    def not_drawn(self) -> int:
        """Findings that have no panel."""
        return self.n_found - len(self.drawn) if self.n_found else 0

    @property
    def not_listed(self) -> int:
        """Findings that are not in the table either."""
        return self.n_found - len(self.listed)


@dataclass(frozen=True, eq=False)
class Page:
    """methods: in the order of the rows. bar_end: the end of the line around zero that the bars of all panels share.

    pictures: the images that it shows. limits: how many panels and rows of tables it has. progress: told of the work
    that its files are.
    """

    content: Content
    methods: tuple[MethodOnPage, ...]
    bar_end: float
    pictures: Pictures
    limits: Limits
    progress: Progress = silent

    @classmethod
    def of(cls, content: Content, limits: Limits | None = None, progress: Progress = silent) -> Page:
        """The page of `content`, before anything is drawn."""
        limits = limits or Limits.of(content.groups, content.max_panels)
        methods = []
        for k, group in enumerate(content.groups):
            methods.append(_method(k, group, content, limits))
            progress("page", METHODS_SHARE / len(content.groups))
        bar_end = common_limit([item.row for method in methods for item in method.drawn])
        return cls(content, tuple(methods), bar_end, Pictures(content.images), limits, progress)

    @property
    def groups(self) -> Sequence[Group]:
        """The tests by method."""
        return [method.group for method in self.methods]

    @property
    def several(self) -> bool:
        """Whether methods stand side by side."""
        return len(self.methods) > 1

    @property
    def n_findings(self) -> int:
        """Findings of all methods together."""
        return sum(method.n_found for method in self.methods)

    @cached_property
    def findings(self) -> tuple[Row, ...]:
        """Those that are on the page, in a table or as a panel, of all methods one after the other."""
        on_page = (max(method.listed, method.drawn, key=len) for method in self.methods if method.n_found)
        return tuple(item.row for items in on_page for item in items)

    @cached_property
    def influence_end(self) -> float:
        """The end of the line around zero that the influences of all single images share."""
        influences = self.content.influences
        targets = () if influences is None else influences.targets
        of_strips = (image.single for one in self.content.galleries.values() for image in (*one.helpers, *one.hurters))
        known = [single for single in of_strips if single is not None]
        return common_limit([*known, *(single for target in targets for single in target.shown)])

    @property
    def correction(self) -> Correction:
        """The entry of CORRECTIONS."""
        return CORRECTIONS[self.content.correction]

    @property
    def mask_law(self) -> str:
        """The law of the masks in words."""
        law = MASK_LAWS.get(self.content.mask_law, self.content.mask_law)
        return worded(law, self.content.noun)

    @cached_property
    def class_numbers(self) -> dict[str, int]:
        """Class → number, by which the script filters: a name may hold anything."""
        of_findings = (name for row in self.findings for name in (row.class_i, row.class_j))
        return {name: k for k, name in enumerate(dict.fromkeys([*self.content.class_names, *of_findings]))}


def _method(index: int, group: Group, content: Content, limits: Limits) -> MethodOnPage:
    return MethodOnPage(
        index=index,
        group=group,
        drawn=group.drawn(limits.panels),
        listed=group.kept[: limits.rows],
        n_models=content.n_models_of(group.method),
        models=models_of_method(group.method, content),
        edge=_edge(group, content),
        longer=levels_text(*finding_levels(group, content)),
        detectable=detectable_of(group, content),
        stronger=stronger_of(group, content),
    )


def _edge(group: Group, content: Content) -> Edge:
    shape = content.shape_of(group.method)
    of = "the p-value" if shape is None else "p/w"
    if not group.n_tests:
        return Edge(of, number(math.nan), "no p-value is known")
    limit = pvalue(group.threshold(content.correction, content.alpha, shape))
    what = "largest of a finding" if group.n_found else "the smallest is"
    return Edge(of, limit, f"{what} {pvalue(group.nearest)}")
