"""Contradictions with their images: which, and what is said."""

from dataclasses import replace

import numpy as np

from pipeline.images.item_names import ItemNames
from pipeline.report.drawing.embedded_images import Pictures
from pipeline.report.referee.cards import cards_of, shown


def test_a_card_says_who_is_right_and_by_how_much(content):
    first, second = cards_of(content, Pictures(content.images))
    assert (first.right, first.wrong) == ("A & <b>", "second")
    assert first.said == (
        "A & <b> says that this cat (train 0) helps more than that dog (train 3): helper ≻ hurter; second has them the "
        "other way round, 75 % of all places apart."
    )
    assert "raises the margin by 0.5 (95 % interval 0.25 to 0.75), adjusted p = 3 × 10⁻⁹" in first.models
    assert [tile.slot.place for tile in second.tiles] == ["target 0", "train 2", "train 1"]
    assert all(len(tile.pictures) == 1 for tile in second.tiles)


def test_names_are_said_where_there_are_some(content):
    named = replace(content, names=ItemNames(("age", "sex", "bmi", "bp", "s1"), ("first", "second")))
    said = cards_of(named, Pictures(named.images))[0]
    assert "says that age (cat, train 0) helps more than bp (dog, train 3): helper" in said.said
    assert [tile.slot.name for tile in said.tiles] == ["first", "age", "bp"]
    (bare, *_) = cards_of(replace(content, labels=None, images=None), Pictures(None))
    assert "says that this item (train 0) helps more than that item (train 3): helper" in bare.said


def test_where_less_is_better_the_better_image_lowers_the_outcome(content):
    pairs = {**content.pairs, **{name: -content.pairs[name] for name in ("effect", "low", "high")}}
    pairs["low"], pairs["high"] = pairs["high"], pairs["low"]
    loss = content.summary.model_copy(update={"outcome": "loss", "higher_is_better": False})
    (first, *_) = cards_of(replace(content, pairs=pairs, summary=loss), Pictures(content.images))
    assert "lowers the loss by 0.5 (95 % interval 0.25 to 0.75)" in first.models


def test_without_images_there_are_stand_ins(content):
    assert not cards_of(replace(content, images=None), Pictures(None))[0].tiles[0].pictures


def test_methods_take_turns_and_a_pair_is_shown_once():
    found = {"pair": np.array([1, 1, 2, 3, 4]), "right": np.array([0, 0, 0, 0, 1]), "wrong": np.array([1, 2, 1, 1, 0])}
    assert shown(found, 10) == [0, 4, 2, 3]  # The second is the first pair again, against another method.
    assert shown(found, 2) == [0, 4]
