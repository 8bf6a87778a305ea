"""An analysis in a notebook: a headline, what it rests on, and the first findings with their pictures; as text too.

Colours are those of the page around it, so that dark and light themes both work. All words are escaped.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from datamodels_inf.analysis.pictures import Pictures
from datamodels_inf.findings import error_rate, one_of
from datamodels_inf.methods import METHODS

if TYPE_CHECKING:
    from datamodels_inf.analysis.result import Analysis

SHOWN = 10  # findings of a method, in a notebook
SHOWN_IN_TEXT = 5
MISSES = 3  # the closest, where nothing was found
LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
CELL = f"padding:.25em .6em;text-align:left;vertical-align:middle;white-space:nowrap;{LINE}"


def headline(result: Analysis, method: str) -> str:
    """ "39 of 2,000 pairs influence their target differently: swap, at a false discovery rate of 0.2 (…)"."""
    own = result.table["method"] == method
    tested = int(np.count_nonzero(own & ~np.isnan(result.table["pvalue"])))
    found = int(np.count_nonzero(own & result.table["finding"]))
    pairs = "pair" if tested == 1 else "pairs"
    what = f"{found:,} of {tested:,} {pairs} {'influences its' if found == 1 else 'influence their'} target differently"
    beyond = f" by more than τ = {result.settings.tau:g}" if result.settings.tau > 0 else ""
    return f"{what}{beyond}: {METHODS[method].title}, {error_rate(result.settings, tested)}"


def rests_on(result: Analysis) -> str:
    """The models, images and targets, and how well the datamodels predict."""
    division, premise = result.division, result.premise
    fitted = "LASSO datamodels of" if result.fitted_here else "given weights, beside"
    blocks = f" in {len(division.blocks)} blocks" if len(division.blocks) > 1 else ""
    r2 = result.judged.r2[~np.isnan(result.judged.r2)]
    quality = f"; median R² {np.median(r2):.2f}" if r2.size else ""
    targets = len(np.unique(result.pairs.target))
    return (
        f"{fitted} {division.fit:,} models, {division.n_tested:,} others test{blocks}; "
        f"{premise.d:,} training {result.items.noun}s, {targets:,} target{'s' if targets != 1 else ''}; "
        f"masks: {premise.law}, share {premise.proportion:.2g}"
        f"{quality}; {direction(result)}"
    )


def direction(result: Analysis) -> str:
    """ "a higher margin is better, by its name"; "a lower loss is better, as given"."""
    settings = result.settings
    which = "higher" if settings.more_is_better else "lower"
    known = settings.outcome != "outcome"
    by = "as given" if settings.higher_is_better is not None else "by its name" if known else "assumed"
    return f"a {which} {settings.outcome} is better, {by}"


def in_words(result: Analysis, place: int) -> str:
    """ "training on bmi instead of age raises the loss on target 0 by 0.31, 95 % interval 0.22 to 0.4; 0.18 to 0.44 as
    one of 9 findings"."""
    row = {name: values[place] for name, values in result.table.items()}
    this, that = _side(result, row["members_i"]), _side(result, row["members_j"])
    target = result.items.called("target", int(row["target"]))
    effect = row["effect"]
    if not math.isfinite(effect):
        return f"the effect of training on {this} instead of {that} on {target} could not be estimated"
    verb = "raises" if effect >= 0 else "lowers"
    what = f"training on {this} instead of {that} {verb} the {result.settings.outcome} on {target} by {abs(effect):.3g}"
    marginal, selected = ((row[f"effect_low{kind}"], row[f"effect_high{kind}"]) for kind in ("", "_selected"))
    words = f"{what}, 95 % interval {_change(effect, *marginal)}"
    if not row["finding"] or selected == marginal:
        return words
    count = len(result.order_of(row["method"], findings=True))
    return f"{words}; {_change(effect, *selected)} as {one_of(count)}"


def as_text(result: Analysis) -> str:
    """A few lines."""
    lines = [rests_on(result)]
    if result.warning:
        lines.append(f"Warning: p-values may not be valid: {result.warning}")
    for method in result.settings.method:
        lines.append(headline(result, method))
        found = result.order_of(method, findings=True)
        lines += [f"  {in_words(result, place)}, {_p(result, place)}" for place in found[:SHOWN_IN_TEXT].tolist()]
        if len(found) > SHOWN_IN_TEXT:
            lines.append(f"  and {len(found) - SHOWN_IN_TEXT:,} more: .findings()")
        if not len(found):
            lines.append(f"  {_advice(result, method)}")
    return "\n".join(lines)


def as_html(result: Analysis) -> str:
    """A small piece of HTML without scripts or links."""
    pictures = Pictures(result.items.images)
    parts = []
    if result.warning:
        parts.append(f"<p><b>Warning</b>: p-values may not be valid: {escape(result.warning)}</p>")
    for method in result.settings.method:
        parts.append(f'<p style="margin:.8em 0 .3em"><b>{escape(headline(result, method))}</b></p>')
        found = result.order_of(method, findings=True)
        if not len(found):
            parts.append(f'<p style="margin:.3em 0">{escape(_advice(result, method))} The closest:</p>')
        shown = found[:SHOWN] if len(found) else result.order_of(method, findings=False)[:MISSES]
        parts.append(_html_table(result, shown.tolist(), pictures))
        if len(found) > SHOWN:
            parts.append(f'<p style="opacity:.75">and {len(found) - SHOWN:,} more: <code>.findings()</code></p>')
    parts.append(f'<p style="margin:.8em 0 .4em;opacity:.75">{escape(rests_on(result))}</p>')
    return f'<div style="max-width:70em;overflow-x:auto">{"".join(parts)}</div>'


def _html_table(result: Analysis, places: list[int], pictures: Pictures) -> str:
    unit = escape(result.settings.outcome)
    effect = f"changes its {unit} by", "95 % interval", "as a finding"
    names = ("training on", "instead of", "for the target", *effect, "p", "adjusted p")
    head = "".join(f'<th style="{CELL}">{name}</th>' for name in names)
    body = "".join(f"<tr>{_html_row(result, place, pictures)}</tr>" for place in places)
    return f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _html_row(result: Analysis, place: int, pictures: Pictures) -> str:
    row = {name: values[place] for name, values in result.table.items()}
    cells = [
        *(_item(result, "train", row[f"members_{side}"], pictures) for side in "ij"),
        _item(result, "target", (int(row["target"]),), pictures),
        "not known" if math.isnan(row["effect"]) else f"{row['effect']:+.3g}",
        _interval(row["effect_low"], row["effect_high"]),
        _interval(row["effect_low_selected"], row["effect_high_selected"]),
        escape(_small(row["pvalue"])),
        escape(_small(row["pvalue_adjusted"])),
    ]
    return "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)


def _item(result: Analysis, part: str, members: tuple[int, ...], pictures: Pictures) -> str:
    """The picture of the first, and what it is called."""
    uri = pictures.uri(part, members[0])
    style = "height:32px;image-rendering:pixelated;vertical-align:middle;margin-right:.5em"
    picture = f'<img alt="" style="{style}" src="{uri}">' if uri else ""
    more = f" and {len(members) - 1} more" if len(members) > 1 else ""
    return f"{picture}{escape(result.items.called(part, members[0], ''))}{more}"


def _change(effect: float, low: float, high: float) -> str:
    """An interval in the direction of the verb."""
    return _interval(low, high) if effect >= 0 else _interval(-high, -low)


def _interval(low: float, high: float) -> str:
    return "–" if math.isnan(low) else f"{low:.3g} to {high:.3g}"


def _side(result: Analysis, members: tuple[int, ...]) -> str:
    first = result.items.called("train", members[0])
    return first if len(members) == 1 else f"{first} and {len(members) - 1} more"


def _p(result: Analysis, place: int) -> str:
    pvalue, adjusted = (float(result.table[name][place]) for name in ("pvalue", "pvalue_adjusted"))
    return f"p {'' if pvalue == 0.0 else '= '}{_small(pvalue)}, adjusted {_small(adjusted)}"


def _small(pvalue: float) -> str:
    """To two digits; what is too small for a float is not shown as 0."""
    return "< 1e-300" if pvalue == 0.0 else f"{pvalue:.2g}"


def _advice(result: Analysis, method: str) -> str:
    """Where nothing was found."""
    if method == "contrast" or result.settings.tau > 0.0:
        return "No pair is told apart at this level; more models would show smaller effects."
    return (
        'No pair is told apart at this level; method="contrast" sees smaller effects in the same models '
        f"(a second look: with alpha={result.settings.alpha / 2:g} both keep the promise together)."
    )
