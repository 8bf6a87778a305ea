"""Effects, qualities, numbers and names in words."""

import dataclasses
import math

import pytest
from report_content import make_quality, make_row

from pipeline.report.names import class_name
from pipeline.report.rows import Numbered
from pipeline.report.sections.datamodels import quality_sentence
from pipeline.report.sentences import effect_texts, sentence
from pipeline.text.numbers import number, thousands, unbroken, weights


@pytest.mark.parametrize(
    ("effect", "low", "high", "expected"),
    [
        (0.31, 0.22, 0.4, "Training on {pair} raises the margin on the target by 0.31, 95 % interval 0.22 to 0.40{_}."),
        (
            -0.31,
            -0.4,
            -0.22,
            "Training on {pair} lowers the margin on the target by 0.31, 95 % interval 0.22 to 0.40{_}.",
        ),
        (
            2.5,
            1.25,
            math.inf,
            "Training on {pair} raises the margin on the target by 2.50, 95 % interval 1.25 to ∞{_}.",
        ),
        (
            -0.05,
            -0.2,
            0.1,
            "By estimate, training on {pair} lowers the margin on the target by 0.05; "
            "the 95 % interval of Δ, −0.20 to 0.10, contains zero.",
        ),
        (
            0.0,
            -1.0,
            1.0,
            "By estimate, training on {pair} leaves the margin on the target as it is; "
            "the 95 % interval of Δ, −1.0 to 1.0, contains zero.",
        ),
    ],
)
def test_the_effect_in_words(effect, low, high, expected):
    row = make_row(
        class_i="dog", i=12, class_j="truck", j=801, effect=effect, effect_low=low, effect_high=high,
        effect_low_selected=-0.48 if effect < 0 else -0.01, effect_high_selected=0.01 if effect < 0 else 0.48,
    )  # fmt: skip
    pair = "this dog (train 12) instead of that truck (train 801)"
    for n_found, one in ((1, "the only finding"), (39, "one of 39 findings")):
        told = expected.format(pair=pair, _=f"; −0.01 to 0.48 as {one}")
        assert sentence(Numbered(7, row, n_found), "margin") == told
    same = dataclasses.replace(row, effect_low_selected=low, effect_high_selected=high)
    assert sentence(Numbered(7, same, 39), "margin") == expected.format(pair=pair, _="")
    missed = sentence(Numbered(1, dataclasses.replace(row, finding=False), 0), "margin")
    assert missed.startswith("By estimate, training on this dog")
    assert missed.endswith(("the test does not confirm it.", "contains zero."))
    assert unbroken("(train 12), 95 % x").count("\N{NO-BREAK SPACE}") == 2
    assert unbroken("p ≤ 1.2 × 10⁻⁵ of 3") == "p ≤ 1.2\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁵ of 3"


def test_numbers_as_text():
    assert [number(v) for v in (0.03124, -1.5, 5e-5, -2.346e-7, 1e10, math.inf, -math.inf, 0.0, -0.0)] == [
        "0.0312", "−1.5", "5 × 10⁻⁵", "−2.35 × 10⁻⁷", "1 × 10¹⁰", "∞", "−∞", "0", "0",
    ]  # fmt: skip
    tiny = make_row(effect=1e-7, effect_low=5e-8, effect_high=2e-7)
    assert effect_texts(tiny) == ("1 × 10⁻⁷", "5 × 10⁻⁸", "2 × 10⁻⁷")
    assert effect_texts(make_row(effect=0.4, effect_low=-0.001, effect_high=0.8)) == ("0.40", "0.00", "0.80")


@pytest.mark.parametrize(
    ("r2", "expected"),
    [
        (
            [0.61, 0.75, 0.83],
            "On 4000 held-out models the datamodels explain 75 % of the variance of the margin "
            "(median over 3 targets); the worst target 61 %, the best 83 %.",
        ),
        (
            [0.754],
            "On 4000 held-out models the datamodel of the one target explains 75 % of the variance of the margin.",
        ),
        (
            [-0.4, -0.03, 0.12],
            "On 4000 held-out models the datamodels explain none of the variance of the margin "
            "(median over 3 targets, R² = −0.03); the worst target none (R² = −0.4), the best 12 %.",
        ),
        (
            [-0.4],
            "On 4000 held-out models the datamodel of the one target explains none of the variance of the margin "
            "(R² = −0.4).",
        ),
        (
            [math.nan, 0.0034, 0.997, math.nan],
            "On 4000 held-out models the datamodels explain 50 % of the variance of the margin "
            "(median over 2 targets); the worst target 0.34 %, the best 99.7 %. For 2 other targets R² is not defined, "
            "because their margin does not vary on these models.",
        ),
        (
            [math.nan, 0.3],
            "On 4000 held-out models the datamodel of one target explains 30 % of the variance of the margin. "
            "For one other target R² is not defined, because its margin does not vary on these models.",
        ),
        ([math.nan], "R² is not defined: on 4000 held-out models, the margin of the one target does not vary."),
        (
            [math.nan] * 5,
            "R² is not defined: on 4000 held-out models, the margin of each of the 5 targets does not vary.",
        ),
    ],
)
def test_the_quality_in_words(r2, expected):
    assert quality_sentence(make_quality(r2), 4000, "margin") == expected
    loaded = quality_sentence(make_quality(r2, loaded=True), 4000, "loss")
    assert loaded == expected.replace("the datamodel", "the loaded datamodel").replace("margin", "loss")


def test_counts_and_weights_as_text():
    assert thousands(1234567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert weights([0.44, 0.2, -0.091]) == ["0.44", "0.20", "−0.09"]
    assert weights([0.0041, 0.001]) == ["0.0041", "0.0010"]
    assert weights([]) == []


def test_names_cannot_turn_the_text_around_them():
    assert class_name("a\u202eb\n\u2069c") == "abc"
    assert class_name("\u202e") == class_name("") == "image"
    row = make_row(class_i="עברית\u202e", class_j="x" * 200, i=3, j=4)
    text = sentence(Numbered(1, row, 1), "margin")
    assert "this \u2068עברית\u2069 (train 3) instead of that " + "x" * 59 + "… (train 4)" in text
