"""The page: what stands on it, as text, handed to the template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.report.bars import Bar, bar_of, common_limit
from pipeline.report.content import Content, Group, Images, Numbered, Row
from pipeline.report.pictures import Slot, data_uri, picture, slots_of
from pipeline.report.quality import view_of
from pipeline.report.words import (
    CORRECTIONS,
    effect_and_interval,
    number,
    p_equals,
    percent,
    plural,
    promise,
    pvalue,
    sentence,
    unbroken,
    verdict,
)

TABLE_ROWS = 500
PAPER_TESTS = 2000  # the design of the paper whose printed result does not add up
MASK_LAWS = {
    "fixed-size": "every model saw equally many training images, drawn uniformly (fixed-size)",
    "bernoulli": "every training image was in or out of each model by its own independent coin (bernoulli)",
}


@dataclass(frozen=True)
class Tile:
    """One image: embedded, or None where the store has no images."""

    slot: Slot
    uri: str | None


@dataclass(frozen=True)
class Card:
    """One finding, or one of the closest misses, as a panel."""

    number: int
    found: bool
    tiles: list[Tile]
    sentence: str
    row: Row
    bar: Bar | None


@dataclass(frozen=True)
class Edge:
    """How close it was: a p-value at the edge of the findings, what it is, and how it stands to the level."""

    value: str
    what: str
    adjusted: str


@dataclass(frozen=True)
class Section:
    """One method on the page."""

    group: Group
    verdict: str
    cards: list[Card]
    edge: Edge

    @property
    def not_drawn(self) -> int:
        """Findings that have no panel."""
        return len(self.group.findings) - len(self.cards) if self.group.findings else 0

    @property
    def table(self) -> tuple[Numbered, ...]:
        """The findings in the table of the page."""
        return self.group.findings[:TABLE_ROWS]


def shown(groups: Sequence[Group], max_panels: int) -> tuple[list[Numbered], float]:
    """The findings that get a panel, and the end of the line that all bars share."""
    panels = [finding for group in groups for finding in group.findings[:max_panels]]
    misses = [miss for group in groups for miss in group.misses]
    return panels, common_limit([item.row for item in panels + misses])


def page_of(content: Content, groups: Sequence[Group]) -> str:
    """The whole page as HTML, with its style and images inside."""
    _, limit = shown(groups, content.max_panels)
    embed = _embedder(content.images)
    sections = [_section(group, content, limit, embed) for group in groups]
    return (
        _environment()
        .get_template("template.html.j2")
        .render(
            content=content,
            sections=sections,
            several=len(sections) > 1,
            n_findings=sum(len(group.findings) for group in groups),
            quality=None if content.quality is None else view_of(content.quality, content, embed),
            limit=limit,
            correction=CORRECTIONS[content.correction],
            family=content.correction in ("holm", "bonferroni"),
            promise=promise(content),
            mask_law=MASK_LAWS.get(content.mask_law, content.mask_law),
            paper_design=content.correction == "by" and any(group.n_tests == PAPER_TESTS for group in groups),
        )
    )


def _section(group: Group, content: Content, limit: float, embed: Callable[[Slot], str | None]) -> Section:
    items = group.findings[: content.max_panels] if group.findings else group.misses
    cards = [
        Card(
            number=item.number,
            found=bool(item.row.finding),
            tiles=[Tile(slot, embed(slot)) for slot in slots_of(item.row)],
            sentence=sentence(item.row, content.unit),
            row=item.row,
            bar=bar_of(item.row, limit),
        )
        for item in items
    ]
    return Section(group, verdict(group, content), cards, _edge(group, content))


def _edge(group: Group, content: Content) -> Edge:
    if group.findings:
        last = max((item.row for item in group.findings), key=lambda row: row.pvalue)
        adjusted = f"adjusted {pvalue(last.pvalue_adjusted)}, level {content.alpha:g}"
        return Edge(pvalue(last.pvalue), "largest p-value of a finding", adjusted)
    first = group.misses[0].row
    adjusted = f"adjusted {pvalue(first.pvalue_adjusted)}, a finding needs at most {content.alpha:g}"
    return Edge(pvalue(first.pvalue), "smallest p-value", adjusted)


def _embedder(images: Images | None) -> Callable[[Slot], str | None]:
    """Encodes each image once, however often it appears."""
    known: dict[tuple[str, int], str] = {}

    def embed(slot: Slot) -> str | None:
        image = picture(images, slot)
        if image is None:
            return None
        if (slot.part, slot.index) not in known:
            known[slot.part, slot.index] = data_uri(image)
        return known[slot.part, slot.index]

    return embed


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pipeline.report", "."),
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
        unbroken=unbroken,
    )
    return environment
