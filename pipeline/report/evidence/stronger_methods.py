"""Where a method found nothing: whether another would see more, and the command that asks it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues
from pipeline.report.content import Content
from pipeline.report.groups import Group
from pipeline.unseen_effects import effect_pvalues, with_method

IN_PLACE_OF_PRIOR = "by"  # The correction by which effects are counted where the one in use needs weights.


@dataclass(frozen=True)
class Stronger:
    """Another method. n_found: its findings, where it is on the same page, else 0.

    n_clear: tests whose effect, by Student's law of effect/standard error, is a finding after the same correction.
    n_blind: tests of equal weights, which the method of the page cannot see, and this one can.
    command: runs it, empty where that is not known. half: the level at which it and the method that found nothing keep
    the promise of α together, for the false share of either list is at most the sum of both.
    """

    method: str
    n_found: int
    n_clear: int
    n_blind: int
    command: str
    half: float


def stronger_of(group: Group, content: Content) -> Stronger | None:
    """None where nothing says that another method would see more.

    Where this one found nothing: a method on the page that found some of these pairs; else the one that sees pairs of
    equal weights, if there are effects for it to find, or pairs that this one cannot see. Where this one found
    something: the latter, if it cannot see some pairs. It answers for τ = 0 alone.
    """
    if not group.n_tests or (group.n_found and not group.n_equal_weights):
        return None
    found = [(other.n_found, other.method) for other in content.groups if other.n_found and other is not group]
    half = content.alpha / 2.0
    if found and not group.n_found:
        count, method = max(found, key=lambda one: one[0])
        return Stronger(method, count, 0, group.n_equal_weights, "", half)
    name = next(name for name, method in METHODS.items() if method.sees_equal_weights)
    asked = name in {other.method for other in content.groups} or group.method not in METHODS
    if asked or (METHODS[name].needs_tau_zero and content.tau > 0.0):
        return None
    clear = 0 if group.n_found else clear_effects(group, content)
    return (
        Stronger(name, 0, clear, group.n_equal_weights, _command(content, name), half)
        if clear or group.n_equal_weights
        else None
    )


def _command(content: Content, method: str) -> str:
    """The one that made this page, or the call, with another method; empty where it is not known."""
    if content.in_memory:
        return f'analyse(masks, outcomes, …, method="{method}", alpha={content.alpha / 2.0:g})'
    return with_method(content.provenance.get("Command", ""), method)


def clear_effects(group: Group, content: Content) -> int:
    """How many effects are too far from zero for chance: p = 2·P(t > |Δ̂|/SE), corrected over the tests of the group."""
    effect, error, freedom = (group.columns.column(name) for name in ("effect", "effect_se", "effect_df"))
    p = np.where(np.isnan(group.pvalue), np.nan, effect_pvalues(effect, error, freedom))
    if np.isnan(p).all():
        return 0
    rule = IN_PLACE_OF_PRIOR if CORRECTIONS[content.correction].needs_prior else content.correction
    adjusted = adjust_pvalues(p, rule, n_hypotheses=group.n_tests, alpha=content.alpha)
    return int(np.count_nonzero(adjusted <= content.alpha))
