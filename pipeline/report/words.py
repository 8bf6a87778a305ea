"""Numbers and sentences: the one place that turns a value into text, for the page and for the pictures alike."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from datamodels_inf.methods import METHODS, CurveKind
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.findings import one_of
from pipeline.report.content import Content, DatamodelQuality
from pipeline.report.rows import Group, Numbered, Row

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOT_KNOWN = "not known"
SHOWN_MEMBERS = 3  # of a group, by number
LONGEST_NAME = 60  # of a class in a sentence
DIRECTIONS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LEAST_SHARE = 0.0005  # of the variance; less is called none


def number(value: float, digits: int = 3) -> str:
    """`value` to so many significant digits, as one prints it: 0.0312, −1.5, 5 × 10⁻⁵, ∞."""
    if math.isnan(value):
        return NOT_KNOWN
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    mantissa, _, exponent = format(abs(value), f".{digits}g").partition("e")
    power = f" × 10{str(int(exponent)).translate(SUPERSCRIPTS)}" if exponent else ""
    return f"{'−' if value < 0 else ''}{mantissa}{power}"


def fixed(value: float, places: int) -> str:
    """`value` with so many decimals, where that is a sensible length."""
    if not math.isfinite(value) or places > 5 or abs(value) >= 1e6:
        return number(value)
    text = f"{abs(value):.{places}f}"
    return f"−{text}" if value < 0.0 and float(text) != 0.0 else text


def pvalue(value: float) -> str:
    """A p-value; one that underflowed to 0 is known to be tiny, not to be 0."""
    return "< 10⁻³⁰⁰" if value == 0.0 else number(value)


def p_equals(value: float) -> str:
    """ "p = 0.0123", or "p < 10⁻³⁰⁰"."""
    text = pvalue(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def percent(share: float) -> str:
    """0.2 as "20 %"."""
    return f"{100.0 * share:.4g} %"


def plural(count: int, noun: str) -> str:
    """ "1 pair", "2 pairs"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def weights(values: Sequence[float]) -> list[str]:
    """Weights beside each other, with the decimals that give the largest two digits."""
    largest = max((abs(value) for value in values), default=0.0)
    places = max(0, 1 - math.floor(math.log10(largest))) if largest > 0.0 else 0
    return [fixed(value, places) for value in values]


def effect_texts(row: Row) -> tuple[str, str, str]:
    """The effect and the ends of its interval, all with the decimals that the width of the interval deserves."""
    places = _decimals(row.effect, row.effect_low, row.effect_high)
    return fixed(row.effect, places), fixed(row.effect_low, places), fixed(row.effect_high, places)


def selected_interval(row: Row) -> str:
    """The longer interval of a finding, for tables: "0.14 to 0.48", or "–" where none is known."""
    if not math.isfinite(row.effect) or math.isnan(row.effect_low_selected):
        return "–"
    return _interval(row, row.effect_low_selected, row.effect_high_selected)


def effect_and_interval(row: Row) -> str:
    """ "0.31 (0.22 to 0.40)", for tables."""
    if not math.isfinite(row.effect):
        return "not estimated"
    effect, low, high = effect_texts(row)
    return effect if math.isnan(row.effect_low) or math.isnan(row.effect_high) else f"{effect} ({low} to {high})"


def sentence(item: Numbered, unit: str) -> str:
    """The effect in words: "Training on this dog (train 12) instead of that truck (train 801) raises the margin …".

    What is no finding, or has an interval around zero, is told as an estimate only.
    """
    row = item.row
    this, that = image_name("this", row.class_i, row.left), image_name("that", row.class_j, row.right)
    if not math.isfinite(row.effect):
        return f"For training on {this} instead of {that}, the effect could not be estimated."
    effect, low, high = effect_texts(row)
    what = _change(row.effect, effect.lstrip("−"), unit)
    if row.effect_low <= 0.0 <= row.effect_high or math.isnan(row.effect_low) or math.isnan(row.effect_high):
        return f"By estimate, training on {this} instead of {that} {what}; {_unsure(row, low, high)}."
    interval = f"95 % interval {_of_change(row, row.effect_low, row.effect_high)}"
    if not row.finding:
        return f"By estimate, training on {this} instead of {that} {what}, {interval}; the test does not confirm it."
    if row.is_longer:
        longer = _of_change(row, row.effect_low_selected, row.effect_high_selected)
        interval += f"; {longer} as {one_of(item.n_found)}"
    return f"Training on {this} instead of {that} {what}, {interval}."


def unbroken(text: str) -> str:
    """`text` for a page that breaks lines: "95 %", "train 12" and "5 × 10⁻⁵" stay together."""
    return re.sub(r"(?<=\d) (?=%|× 10)|(?<=\btrain) (?=\d)|(?<=\d ×) (?=10)", "\N{NO-BREAK SPACE}", text)


def image_name(article: str, label: str, indices: Sequence[int]) -> str:
    """ "this dog (train 12)", or "these 5 dog images (train 12, 40, 41, …)"."""
    name = _isolated(class_name(label if len(label) <= LONGEST_NAME else f"{label[: LONGEST_NAME - 1]}…"))
    if len(indices) == 1:
        return f"{article} {name} ({place('train', indices)})"
    plural_article = {"this": "these", "that": "those"}[article]
    return f"{plural_article} {len(indices)} {f'{name} ' if label else ''}images ({place('train', indices)})"


def class_name(label: str) -> str:
    """The name of a class to be shown, without characters that would change the text around it; "image" if it has none.

    These are control characters: line breaks, and those that turn the direction of writing.
    """
    return "".join(c for c in label if unicodedata.category(c) != "Cc" and c not in DIRECTIONS) or "image"


def _isolated(name: str) -> str:
    """`name` inside a sentence: one that is written from right to left must not turn what follows it."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turns else name


def place(part: str, indices: Sequence[int]) -> str:
    """ "train 12", "target 17", "train 12, 40, 41, …"."""
    shown = ", ".join(map(str, indices[:SHOWN_MEMBERS]))
    return f"{part} {shown}{', …' if len(indices) > SHOWN_MEMBERS else ''}"


def thousands(count: int) -> str:
    """A count with its thousands apart: 12 000."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def verdict(group: Group, content: Content) -> str:
    """The answer of one method in one sentence."""
    found, tests = len(group.findings), group.n_tests
    if tests == 0:
        return f"None of the {len(group.tests)} pairs could be tested."
    if found == 0:
        who = "The one pair tested was not" if tests == 1 else f"None of the {tests} pairs was"
        return f"{who} found to influence its target differently{content.beyond}, {promise(content)}."
    pairs = "pair" if tests == 1 else "pairs"
    what = "influences its" if found == 1 else "influence their"
    return f"{found} of {tests} {pairs} {what} target differently{content.beyond}, {promise(content)}."


def promise(content: Content) -> str:
    """What the correction for many tests guarantees, as the end of a sentence."""
    if CORRECTIONS[content.correction].controls == "FWER":
        return f"with at most {_article(content.alpha)} {percent(content.alpha)} chance of any false finding"
    return f"at a false discovery rate of {content.alpha:g}"


def quality_sentence(quality: DatamodelQuality, n_models: int, unit: str) -> str:
    """How well the datamodels predict, and of how many targets that cannot be said."""
    r2 = quality.r2[~np.isnan(quality.r2)]
    unknown = len(quality.r2) - len(r2)
    models, name = plural(n_models, "held-out model"), "loaded datamodel" if quality.loaded else "datamodel"
    if not r2.size:
        who = "the one target" if unknown == 1 else f"each of the {unknown} targets"
        return f"R² is not defined: on {models}, the {unit} of {who} does not vary."
    if r2.size == 1:
        who = "one target" if unknown else "the one target"
        share, sign = _share(float(r2[0]))
        text = f"On {models} the {name} of {who} explains {share} of the variance of the {unit}{sign}."
    else:
        share, sign = _share(float(np.median(r2)), f"median over {r2.size} targets")
        worst, best = ("".join(_share(float(value))) for value in (r2.min(), r2.max()))
        text = f"On {models} the {name}s explain {share} of the variance of the {unit}{sign}"
        text += f"; the worst target {worst}, the best {best}."
    if unknown:
        others, whose = ("one other target", "its") if unknown == 1 else (f"{unknown} other targets", "their")
        text += f" For {others} R² is not defined, because {whose} {unit} does not vary on these models."
    return text


def curve_notes(kinds: Iterable[CurveKind], unit: str) -> str:
    """What the two samples are, for each kind of curve on the page, in the order of the methods."""
    present = {kind.name for kind in kinds}
    known = {method.curve.name: method.curve for method in METHODS.values()}
    return " ".join(kind.note.format(unit=unit) for name, kind in known.items() if name in present)


def _share(r2: float, what: str = "") -> tuple[str, str]:
    """A share of the variance, "75 %" or "none", and what follows it in brackets: `what`, and R² where it is "none"."""
    if r2 < LEAST_SHARE:
        return "none", f" ({what}{', ' if what else ''}R² = {number(r2)})"
    digits = ".0f" if 0.01 <= r2 <= 0.99 else ".3g"
    return f"{100.0 * r2:{digits}} %", f" ({what})" if what else ""


def _article(share: float) -> str:
    """ "an 8 % chance", "a 20 % chance"."""
    return "an" if percent(share).startswith(("8", "11 ", "11.", "18 ", "18.")) else "a"


def _change(effect: float, size: str, unit: str) -> str:
    if effect == 0.0:
        return f"leaves the {unit} on the target as it is"
    return f"{'raises' if effect > 0 else 'lowers'} the {unit} on the target by {size}"


def _of_change(row: Row, low: float, high: float) -> str:
    """An interval of the size of the change: with "lowers by", both ends change sign."""
    return _interval(row, low, high) if row.effect > 0.0 else _interval(row, -high, -low)


def _interval(row: Row, low: float, high: float) -> str:
    """ "0.22 to 0.40", with the decimals of `effect_texts`."""
    places = _decimals(row.effect, row.effect_low, row.effect_high)
    return f"{fixed(low, places)} to {fixed(high, places)}"


def _unsure(row: Row, low: str, high: str) -> str:
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
