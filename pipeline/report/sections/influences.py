"""Single images, target by target: the strongest helpers and hurters by estimate, with intervals and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from datamodels_inf.findings import MARGINAL
from pipeline.report.content import Content
from pipeline.report.content.influences import Influences, Single, TargetInfluences
from pipeline.report.drawing.embedded_images import Tile, tile_of
from pipeline.report.drawing.influence_dots import Dot, dot_of
from pipeline.report.drawing.slots import slot_of
from pipeline.report.output.influences_table import write_influences
from pipeline.report.page import Page
from pipeline.report.sections.base import File, Section, Variables, titled
from pipeline.report.sentences import sentence_of_image
from pipeline.text.interval_levels import level_text

ENOUGH_MODELS, SHARES = 300, (0.02, 0.75)
"""From so many tested models on, for these shares of images in a mask, p-values were measured down to 1e-6."""
ENOUGH_SEEN = 30  # models that saw an image, and that did not: with fewer, intervals cover less often


@dataclass(frozen=True)
class ImageLine:
    """One training image of a target's plot."""

    tile: Tile
    dot: Dot
    rank: str


@dataclass(frozen=True)
class TargetView:
    """One target: its images in two blocks, and n_between that are not shown. longer: level of the thin line."""

    tile: Tile
    own: TargetInfluences
    blocks: list[list[ImageLine]]
    n_between: int
    longer: str
    sentence: str


def data(page: Page) -> Variables | None:
    """The targets shown, if there is an atlas."""
    influences = page.content.influences
    if influences is None:
        return None
    return {
        "influences": influences,
        "targets": [view_of(target, influences.n_train, page) for target in influences.targets],
        "end": page.influence_end,
        "too_few": too_few(influences),
        "few_seen": few_seen(influences),
    }


def files(page: Page) -> Sequence[File]:
    """The findings of the targets shown, in numbers."""
    influences = page.content.influences
    assert influences is not None  # Else the section is not shown.
    write = partial(write_influences, influences=influences, names=page.content.names)
    return [File("atlas.csv", write, f"single {page.content.noun}s: the findings of the targets shown")]


def view_of(target: TargetInfluences, n_train: int, page: Page) -> TargetView:
    """What the page shows of one target of `n_train` images."""
    slot = slot_of(page.content, "target", "target", (target.target,), target.class_target)
    blocks = [[_line(single, page) for single in some] for some in (target.helpers, target.hurters[::-1])]
    return TargetView(
        tile=tile_of(slot, page.pictures),
        own=target,
        blocks=[block for block in blocks if block],
        n_between=n_train - len(target.shown),
        longer=level_text(target.level) if target.level > MARGINAL else "",
        sentence=strongest_sentence(target, page.content),
    )


def strongest_sentence(target: TargetInfluences, content: Content) -> str:
    """The finding with the largest estimate on either side in words, or that there is none."""
    if not target.findings:
        return f"No single {content.noun} was found to matter for this target."
    largest = max(target.findings, key=lambda single: abs(single.effect))
    return sentence_of_image(largest, target.family_found, content)


def too_few(influences: Influences) -> bool:
    """Whether the asymptotic p-values are beyond what was measured."""
    least, most = SHARES
    return influences.n_models < ENOUGH_MODELS or not least <= round(influences.share, 2) <= most


def few_seen(influences: Influences) -> bool:
    """Whether so few models saw an image, or did not, that Student's intervals are too short."""
    return influences.n_models * min(influences.share, 1.0 - influences.share) < ENOUGH_SEEN


def _line(single: Single, page: Page) -> ImageLine:
    role = "helper" if (single.effect > 0.0) == page.content.higher_is_better else "hurter"
    slot = slot_of(page.content, role, "train", (single.image,), single.class_image)
    rank = "" if single.rank is None else single.rank.words
    return ImageLine(tile_of(slot, page.pictures), dot_of(single, page.influence_end), rank)


SECTION = Section("influences", data, files, style="influences.css", title=titled("Single {noun}s, target by target"))
