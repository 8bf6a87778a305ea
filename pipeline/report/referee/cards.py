"""Contradictions on the page: three images and two sentences each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

from pipeline.report.drawing.embedded_images import Pictures, Tile, tile_of
from pipeline.report.drawing.slots import Slot
from pipeline.report.referee.content import Columns, RefereeContent, claim_of
from pipeline.text.given_names import one_line
from pipeline.text.numbers import number, p_equals, percent

SHOWN = 20


@dataclass(frozen=True)
class Card:
    """Who is right against whom, on which images, and what the models say."""

    right: str
    wrong: str
    tiles: tuple[Tile, Tile, Tile]
    said: str
    models: str


def cards_of(content: RefereeContent, pictures: Pictures, most: int = SHOWN) -> list[Card]:
    """The strongest disagreements of each two methods in turn."""
    found = content.contradictions
    return [_card(content, pictures, {name: column[k] for name, column in found.items()}) for k in shown(found, most)]


def shown(found: Columns, most: int) -> list[int]:
    """Which contradictions have a card: of each (right, wrong) the first, then of each the second, and so on.

    A pair that one method is right about is shown once.
    """
    couples: dict[tuple[int, int], list[int]] = {}
    seen: set[tuple[int, int]] = set()
    for k, (pair, right, wrong) in enumerate(zip(found["pair"], found["right"], found["wrong"], strict=True)):
        if (int(pair), int(right)) not in seen:
            seen.add((int(pair), int(right)))
            couples.setdefault((int(right), int(wrong)), []).append(k)
    turns = zip_longest(*couples.values())
    return list(islice((k for turn in turns for k in turn if k is not None), most))


def _card(content: RefereeContent, pictures: Pictures, found: Mapping[str, Any]) -> Card:
    right, wrong = int(found["right"]), int(found["wrong"])
    claim = claim_of(content, int(found["pair"]), right)
    slots = (
        _slot(content, "target", "target", claim.target),
        _slot(content, "helps more", "train", claim.better),
        _slot(content, "helps less", "train", claim.worse),
    )
    first, second = (content.summary.methods[m].name for m in (right, wrong))
    this, that = slots[1].in_sentence("this"), slots[2].in_sentence("that")
    said = f"{first} says that {this} helps more than {that}: {claim.kind}"
    apart = percent(round(float(found["disagreement"]), 3))
    tiles = tile_of(slots[0], pictures), tile_of(slots[1], pictures), tile_of(slots[2], pictures)
    models = _models(content, claim.effect, claim.low, claim.high, claim.adjusted)
    return Card(
        first, second, tiles, f"{said}; {second} has them the other way round, {apart} of all places apart.", models
    )


def _slot(content: RefereeContent, role: str, part: str, index: int) -> Slot:
    """By its own name, where it has one, and its class."""
    name = content.names.of(part, index)
    own = (name,) if one_line(name) else ()
    return Slot(role, part, (index,), content.class_of(part, index), own=own, noun=content.noun)


def _models(content: RefereeContent, effect: float, low: float, high: float, adjusted: float) -> str:
    """The effect in words."""
    verb = "raises" if effect >= 0.0 else "lowers"
    ends = (low, high) if effect >= 0.0 else (-high, -low)
    return (
        f"The models: training on the one instead of the other {verb} the {content.summary.outcome} by "
        f"{number(abs(effect))} (95 % interval {number(ends[0])} to {number(ends[1])}), adjusted {p_equals(adjusted)}."
    )
