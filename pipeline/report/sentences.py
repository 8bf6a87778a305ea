"""Effects and answers in words, for the page and for the pictures alike."""

from __future__ import annotations

import math

from datamodels_inf.findings import one_of
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.report.content import Blocks, Content
from pipeline.report.content.influences import Single
from pipeline.report.drawing.slots import Slot, slot_of, slots_of
from pipeline.report.effects import Estimated
from pipeline.report.groups import Group
from pipeline.report.rows import Numbered, Row
from pipeline.text.numbers import counted, fixed, number, percent


def effect_texts(row: Estimated) -> tuple[str, str, str]:
    """The effect and the ends of its interval, all with the decimals that the width of the interval deserves."""
    places = _decimals(row.effect, row.effect_low, row.effect_high)
    return fixed(row.effect, places), fixed(row.effect_low, places), fixed(row.effect_high, places)


def selected_interval(row: Estimated) -> str:
    """The longer interval of a finding, for tables: "0.14 to 0.48", or "–" where none is known."""
    if not math.isfinite(row.effect) or math.isnan(row.effect_low_selected):
        return "–"
    return _interval(row, row.effect_low_selected, row.effect_high_selected)


def effect_and_interval(row: Estimated) -> str:
    """ "0.31 (0.22 to 0.40)", for tables."""
    if not math.isfinite(row.effect):
        return "not estimated"
    effect, low, high = effect_texts(row)
    return effect if math.isnan(row.effect_low) or math.isnan(row.effect_high) else f"{effect} ({low} to {high})"


def effect_of_rerun(effect: float) -> str:
    """ "Δ 0.312", for a cell."""
    return "not estimated" if math.isnan(effect) else f"Δ {fixed(effect, 3)}"


def sentence(item: Numbered, content: Content) -> str:
    """The effect in words: "Training on this dog (train 12) instead of that truck (train 801) raises the margin …".

    What is no finding, or has an interval around zero, is told as an estimate only.
    """
    row = item.row
    target, left, right = slots_of(row, content)
    this, that = left.in_sentence("this"), right.in_sentence("that")
    if not math.isfinite(row.effect):
        return f"For training on {this} instead of {that}, the effect could not be estimated."
    effect, low, high = effect_texts(row)
    what = _change(row.effect, effect.lstrip("−"), content.unit, target)
    if row.effect_low <= 0.0 <= row.effect_high or math.isnan(row.effect_low) or math.isnan(row.effect_high):
        return f"By estimate, training on {this} instead of {that} {what}; {_unsure(row, low, high)}."
    if not row.finding:
        interval = _of_change(row, row.effect_low, row.effect_high)
        done = f"training on {this} instead of {that} {what}, 95 % interval {interval}"
        return f"By estimate, {done}; the {row.method} test does not confirm it."
    return _told(row, f"training on {this} instead of {that} {what}", item.n_found)


def sentence_of_image(single: Single, n_found: int, content: Content) -> str:
    """A finding in words: "Training on this 5 (train 84) instead of an average other image lowers the margin …".

    n_found: findings of its family.
    """
    size = effect_texts(single)[0].lstrip("−")
    who = slot_of(content, "", "train", (single.image,), single.class_image).in_sentence("this")
    target = slot_of(content, "target", "target", (single.target,), single.class_target)
    change = _change(single.effect, size, content.unit, target)
    what = f"training on {who} instead of an average other {content.noun} {change}"
    return _told(single, what, n_found)


def verdict(group: Group, content: Content) -> str:
    """The answer of one method in one sentence."""
    found, tests = group.n_found, group.n_tests
    if tests == 0:
        return f"None of the {len(group):,} pairs could be tested."
    if found == 0:
        who = "The one pair tested was not" if tests == 1 else f"None of the {tests:,} pairs was"
        told = f"{who} found to influence its target differently{content.beyond}, {promise(content, tests)}."
    else:
        pairs = "pair" if tests == 1 else "pairs"
        what = "influences its" if found == 1 else "influence their"
        told = f"{found:,} of {tests:,} {pairs} {what} target differently{content.beyond}, {promise(content, tests)}."
    return f"{told}{_unable(group)}"


def _unable(group: Group) -> str:
    """How many of the tests see nothing of their pairs and why, as a sentence; nothing where all do.

    " Of the 2,000 pairs, swap cannot see 177 (equal weights)."
    """
    unseen, tests, equal = group.n_unseen, group.n_tests, group.n_equal_weights
    if not unseen:
        return ""
    others = unseen - equal
    why = "equal weights" if not others else "no held-out model tells the two apart"
    if equal and others:
        why = f"{equal:,} of equal weights, {others:,} that no held-out model tells apart"
    if tests == 1:
        return f" {group.method} cannot see it ({why})."
    by_chance = group.n_found_unseen
    chance = ""
    if by_chance:
        are = "finding is" if by_chance == 1 else "findings are"
        chance = f" {by_chance:,} {are} among those, by chance: their p-values are coins."
    if 2 * unseen > tests:
        return f" Only {tests - unseen:,} of the {tests:,} pairs can be seen by {group.method} ({why}).{chance}"
    return f" Of the {tests:,} pairs, {group.method} cannot see {unseen:,} ({why}).{chance}"


def promise(content: Content, n_tests: int) -> str:
    """What the correction for many tests guarantees over which family, as the end of a sentence.

    "at a false discovery rate of 0.2 (Benjamini–Yekutieli over 2 tests)".
    """
    rule = CORRECTIONS[content.correction]
    rate = f"at a false discovery rate of {content.alpha:g}"
    if rule.controls == "FWER":
        rate = f"with {chance_of_any(content.alpha)}"
    return f"{rate} ({rule.title} over {counted(n_tests, 'test')})"


def chance_of_any(alpha: float) -> str:
    """ "at most a 20 % chance of any false finding"."""
    return f"at most {_article(alpha)} {percent(alpha)} chance of any false finding"


def blocks_sentence(blocks: Blocks) -> str:
    """Which models test what, where every model but the first tests."""
    if len(blocks.on_last) == len(blocks.of_method):
        verb = "is" if len(blocks.on_last) == 1 else "are"
        before = blocks.fitted[-1]
        return (
            f"{' and '.join(blocks.on_last)} {verb} tested on the last block’s {counted(blocks.sizes[-1], 'model')} "
            f"alone, with datamodels fitted on the {counted(before, 'model')} before it."
        )
    first = "one" if blocks.n_first == 1 else f"{blocks.n_first:,}"
    parts = counted(len(blocks.sizes), "block")
    text = f"Every model but the first {first} tests: {counted(blocks.n_tested, 'model')} in {parts}, "
    text += "each block with datamodels fitted on the models before it."
    if not blocks.on_last:
        return text
    verb = "is" if len(blocks.on_last) == 1 else "are"
    return f"{text} {' and '.join(blocks.on_last)} {verb} tested on the last block’s {blocks.sizes[-1]:,} models alone."


def models_of_method(method: str, content: Content) -> str:
    """Which models tested each pair: "90 held-out models", "90 models, in 8 blocks", "the last block’s 20 models"."""
    count, blocks = content.n_models_of(method), content.blocks
    if blocks is None:
        return counted(count, "held-out model")
    if method in blocks.on_last:
        return f"the last block’s {counted(count, 'model')}"
    return f"{counted(count, 'model')}, in {counted(len(blocks.sizes), 'block')}"


def models_of(row: Row, content: Content) -> str:
    """How many models tested a pair, how many of them tell the two apart, and its weight; empty where none is known."""
    texts = [] if row.n_rows is None else [_tested(row, row.n_rows, content)]
    if CORRECTIONS[content.correction].needs_prior:
        texts.append(f"Its weight w in the correction is {number(row.weight)}.")
    return " ".join(texts)


def _tested(row: Row, count: int, content: Content) -> str:
    if len(row.left) > 1 and row.n_informative is not None:
        return _tested_groups(row.n_informative, count, content)
    apart = "" if row.n_informative is None else f", {row.n_informative:,} of which tell the two apart"
    if count < content.n_models_test:
        return f"Tested on the last block’s {counted(count, 'model')}; Δ is from all {content.n_models_test:,}{apart}."
    return f"Tested on {counted(count, 'model')}{apart}."


def _tested_groups(n_informative: int, count: int, content: Content) -> str:
    """The number is that of the effect: other tests than the contrast also use models that saw parts of a group."""
    whole = f"{n_informative:,} of them, which saw all of one group and none of the other"
    if count < content.n_models_test:
        first = f"Tested on the last block’s {counted(count, 'model')}"
        return f"{first}; of all {content.n_models_test:,}, Δ is from {whole}."
    return f"Tested on {counted(count, 'model')}; Δ is from {whole}."


def _article(share: float) -> str:
    """ "an 8 % chance", "a 20 % chance"."""
    return "an" if percent(share).startswith(("8", "11 ", "11.", "18 ", "18.")) else "a"


def _told(row: Estimated, what: str, n_found: int) -> str:
    """What a finding does, with its intervals; only "by estimate" where one of them leaves the direction open."""
    text = f"{what}, 95 % interval {_of_change(row, row.effect_low, row.effect_high)}"
    low, high = row.effect_low, row.effect_high
    if row.is_longer:
        low, high = min(low, row.effect_low_selected), max(high, row.effect_high_selected)
        longer = _of_change(row, row.effect_low_selected, row.effect_high_selected)
        text += f"; {longer} as {one_of(n_found)}"
    if low <= 0.0 <= high:
        return f"By estimate, {text}; that contains zero, so the direction is not sure."
    return f"{text[0].upper()}{text[1:]}."


def _change(effect: float, size: str, unit: str, target: Slot) -> str:
    where = target.in_sentence("this") if target.own else "the target"
    if effect == 0.0:
        return f"leaves the {unit} on {where} as it is"
    return f"{'raises' if effect > 0 else 'lowers'} the {unit} on {where} by {size}"


def _of_change(row: Estimated, low: float, high: float) -> str:
    """An interval of the size of the change: with "lowers by", both ends change sign."""
    return _interval(row, low, high) if row.effect > 0.0 else _interval(row, -high, -low)


def _interval(row: Estimated, low: float, high: float) -> str:
    """ "0.22 to 0.40", with the decimals of `effect_texts`."""
    places = _decimals(row.effect, row.effect_low, row.effect_high)
    return f"{fixed(low, places)} to {fixed(high, places)}"


def _unsure(row: Estimated, low: str, high: str) -> str:
    """Why the sign of the effect is not settled by its interval."""
    if math.isnan(row.effect_low) or math.isnan(row.effect_high):
        return "no interval is known"
    if row.effect_low == -math.inf and row.effect_high == math.inf:
        return "its 95 % interval is the whole line, so even the sign is open"
    return f"the 95 % interval of Δ, {low} to {high}, contains zero"


def _decimals(effect: float, low: float, high: float) -> int:
    """Two significant digits of the interval's width, and at least one of the effect."""
    width = high - low
    sizes = [width / 10.0] if math.isfinite(width) and width > 0.0 else [abs(effect) / 100.0]
    sizes.append(abs(effect))
    return max([0, *(-math.floor(math.log10(size)) for size in sizes if math.isfinite(size) and size > 0.0)])
