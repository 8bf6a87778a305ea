"""Effects in words, with the decimals that their intervals deserve."""

import dataclasses
import math

import pytest
from report_content import groups_of, make_blocks, make_content, make_row

from pipeline.images.item_names import ItemNames
from pipeline.report.content.influences import Single
from pipeline.report.rows import Numbered
from pipeline.report.sentences import blocks_sentence, effect_texts, models_of, sentence, sentence_of_image, verdict
from pipeline.text.numbers import unbroken

CONTENT = make_content([])


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
        effect_low_selected=-0.48 if effect < 0 else 0.01, effect_high_selected=-0.01 if effect < 0 else 0.48,
    )  # fmt: skip
    pair = "this dog (train 12) instead of that truck (train 801)"
    for n_found, one in ((1, "the only finding"), (39, "one of 39 findings")):
        told = expected.format(pair=pair, _=f"; 0.01 to 0.48 as {one}")
        assert sentence(Numbered(7, row, n_found), CONTENT) == told
    same = dataclasses.replace(row, effect_low_selected=low, effect_high_selected=high)
    assert sentence(Numbered(7, same, 39), CONTENT) == expected.format(pair=pair, _="")
    missed = sentence(Numbered(1, dataclasses.replace(row, finding=False), 0), CONTENT)
    assert missed.startswith("By estimate, training on this dog")
    assert missed.endswith(("the paired test does not confirm it.", "contains zero."))
    assert unbroken("(train 12), 95 % x").count("\N{NO-BREAK SPACE}") == 2
    assert unbroken("p ≤ 1.2 × 10⁻⁵ of 3") == "p ≤ 1.2\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁵ of 3"


def test_effects_have_the_decimals_of_their_interval():
    tiny = make_row(effect=1e-7, effect_low=5e-8, effect_high=2e-7)
    assert effect_texts(tiny) == ("1 × 10⁻⁷", "5 × 10⁻⁸", "2 × 10⁻⁷")
    assert effect_texts(make_row(effect=0.4, effect_low=-0.001, effect_high=0.8)) == ("0.40", "0.00", "0.80")


@pytest.mark.parametrize("sign", [1, -1])
def test_a_finding_whose_longer_interval_contains_zero_has_no_sure_direction(sign):
    (low, high), (low_selected, high_selected) = (sorted([sign * a, sign * b]) for a, b in ((0.22, 0.4), (-0.01, 0.63)))
    ends = {"effect": sign * 0.31, "effect_low": low, "effect_high": high}
    longer = {"effect_low_selected": low_selected, "effect_high_selected": high_selected}
    does = "raises" if sign > 0 else "lowers"
    told = f"{does} the margin on the target by 0.31, 95 % interval 0.22 to 0.40; −0.01 to 0.63 as one of 3 findings; "
    end = "that contains zero, so the direction is not sure."
    of_pair = sentence(Numbered(7, make_row(**ends, **longer), 3), CONTENT)
    assert of_pair.startswith("By estimate, training on this ")
    assert of_pair.endswith(told + end)
    single = Single(1, 12, "cat", "dog", 0.3, effect_se=0.05, pvalue=1e-4, finding=True, **ends, **longer)
    who = "training on this dog (train 12) instead of an average other image"
    assert sentence_of_image(single, 3, CONTENT) == f"By estimate, {who} {told}{end}"
    low, high = sorted([sign * 0.1, sign * 0.5])
    sure = dataclasses.replace(single, effect_low_selected=low, effect_high_selected=high)
    text = sentence_of_image(sure, 3, CONTENT)
    assert text.startswith(f"T{who[1:]} {does}")
    assert text.endswith("0.10 to 0.50 as one of 3 findings.")


def test_where_the_short_interval_of_a_single_image_contains_zero_it_is_said():
    single = Single(1, 12, "cat", "dog", 0.3, 0.1, 0.06, -0.02, 0.22, 0.1, True, -0.02, 0.22)
    text = sentence_of_image(single, 1, CONTENT)
    assert text.startswith("By estimate, training on this dog")
    assert text.endswith("95 % interval −0.02 to 0.22; that contains zero, so the direction is not sure.")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"n_rows": None, "n_informative": 450}, ""),
        ({"n_rows": 900, "n_informative": 450}, "Tested on 900 models, 450 of which tell the two apart."),
        (
            {"n_rows": 900, "n_informative": 87, "members_i": (1, 2), "members_j": (3, 4)},
            "Tested on 900 models; Δ is from 87 of them, which saw all of one group and none of the other.",
        ),
        (
            {"n_rows": 300, "n_informative": 87, "members_i": (1, 2), "members_j": (3, 4)},
            "Tested on the last block’s 300 models; of all 900, Δ is from 87 of them, which saw all of one group and "
            "none of the other.",
        ),
        ({"n_rows": 900}, "Tested on 900 models."),
        (
            {"n_rows": 300, "n_informative": 450},
            "Tested on the last block’s 300 models; Δ is from all 900, 450 of which tell the two apart.",
        ),
    ],
)
def test_how_many_models_tested_a_pair(changes, expected):
    assert models_of(make_row(**changes), make_content([], n_models_test=900, blocks=make_blocks())) == expected


def test_with_a_prior_the_weight_of_a_pair_is_told():
    content = make_content([], n_models_test=900, correction="prior")
    told = models_of(make_row(n_rows=900, weight=1.25), content)
    assert told == "Tested on 900 models. Its weight w in the correction is 1.25."


def test_methods_on_the_last_block_are_named():
    assert blocks_sentence(make_blocks(1, (5, 4), of_method={"paired": 9})).startswith("Every model but the first one")
    told = blocks_sentence(make_blocks(of_method={"swap": 300, "swap-exact": 300, "paired": 900}))
    assert told.endswith("it. swap and swap-exact are tested on the last block’s 300 models alone.")


def test_without_a_method_that_combines_blocks_the_last_one_is_all_that_tests():
    told = blocks_sentence(make_blocks(of_method={"swap": 300}))
    assert told.startswith("swap is tested on the last block’s 300 models alone, with datamodels fitted on the ")


def test_the_headline_names_the_level_and_the_family():
    rows = [make_row(k, pvalue=0.06, pvalue_adjusted=0.09) for k in range(2)]
    (group,) = groups_of(rows)
    rate = "at a false discovery rate of 0.2 (Benjamini–Yekutieli over 2 tests)."
    assert verdict(group, make_content(rows)) == f"2 of 2 pairs influence their target differently, {rate}"
    by_holm = make_content(rows, correction="holm", alpha=0.08)
    assert verdict(group, by_holm).endswith("with at most an 8 % chance of any false finding (Holm over 2 tests).")
    (one,) = groups_of([make_row(finding=False)])
    assert verdict(one, make_content([])).endswith("(Benjamini–Yekutieli over 1 test).")


def test_an_outcome_and_images_with_names_are_called_by_them():
    names = ItemNames(train=tuple("abcdefghijklm"), targets=("glucose",) * 12)
    content = make_content([], unit="loss", names=names, images=None, higher_is_better=False)
    ends = {"effect": 0.31, "effect_low": 0.22, "effect_high": 0.4, "effect_low_selected": 0.22}
    row = make_row(i=1, j=2, target=3, class_i="", class_j="dog", class_target="", effect_high_selected=0.4, **ends)
    start = "Training on b (train 1) instead of c (dog, train 2) raises the loss on glucose (target 3) by 0.31, "
    assert sentence(Numbered(1, row, 1), content).startswith(start)
    single = Single(3, 12, "", "", 0.3, -0.2, 0.01, -0.22, -0.18, 1e-4, True, -0.22, -0.18)
    told = "Training on m (train 12) instead of an average other item lowers the loss on glucose (target 3) by 0.20"
    assert sentence_of_image(single, 1, content).startswith(told)
