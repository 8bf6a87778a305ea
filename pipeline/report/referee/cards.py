"""Contradictions on the page: three images and two sentences each."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.drawing.embedded_images import Tile, embedder, tile_of
from pipeline.report.drawing.slots import Slot
from pipeline.report.referee.content import RefereeContent, claim_of
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


def cards_of(content: RefereeContent, most: int = SHOWN) -> list[Card]:
    """The strongest disagreements; of the same pair and the same method that is right, the first."""
    embed, found, methods = embedder(content.images), content.contradictions, content.summary.methods
    cards: list[Card] = []
    seen: set[tuple[int, int]] = set()
    for k, pair in enumerate(found["pair"].tolist()):
        right, wrong = int(found["right"][k]), int(found["wrong"][k])
        if (pair, right) in seen:
            continue
        seen.add((pair, right))
        claim = claim_of(content, pair, right)
        slots = (
            Slot("target", "target", (claim.target,), content.label("target", claim.target)),
            Slot("helps more", "train", (claim.better,), content.label("train", claim.better)),
            Slot("helps less", "train", (claim.worse,), content.label("train", claim.worse)),
        )
        first, second = methods[right].name, methods[wrong].name
        said = f"{first} says that train {claim.better} helps more than train {claim.worse} ({claim.kind})"
        apart = percent(round(float(found["disagreement"][k]), 3))
        tiles = tile_of(slots[0], embed), tile_of(slots[1], embed), tile_of(slots[2], embed)
        models = _models(content, claim.effect, claim.low, claim.high, claim.adjusted)
        said = f"{said}; {second} has them the other way round, {apart} of all places apart."
        cards.append(Card(first, second, tiles, said, models))
        if len(cards) == most:
            break
    return cards


def _models(content: RefereeContent, effect: float, low: float, high: float, adjusted: float) -> str:
    """The effect in words."""
    verb = "raises" if effect >= 0.0 else "lowers"
    ends = (low, high) if effect >= 0.0 else (-high, -low)
    return (
        f"The models: training on the one instead of the other {verb} the {content.summary.outcome} by "
        f"{number(abs(effect))} (95 % interval {number(ends[0])} to {number(ends[1])}), adjusted {p_equals(adjusted)}."
    )
