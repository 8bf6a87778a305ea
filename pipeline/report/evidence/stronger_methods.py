"""What a method cannot see, or did not find: whether another would see more, and the command that asks it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues
from pipeline.report.content import Content
from pipeline.report.groups import Group
from pipeline.unseen_effects import effect_pvalues, second_look

IN_PLACE_OF_PRIOR = "by"  # The correction by which effects are counted where the one in use needs weights.


@dataclass(frozen=True)
class Stronger:
    """Another method. n_found: its findings, where it is on the same page and this one found nothing, else 0.

    n_clear: tests whose effect, by Student's law of effect/standard error, is a finding after the same correction.
    n_blind: tests of equal weights, which the method of the page cannot see. sees_blind: the method that can; empty
    where none can, or there are none. command: runs that method, empty where it is on the page or that is not known.
    half: the level at which it and the method of the page keep the promise of α together, for the false share of either
    list is at most the sum of both. on_page: whether the method that sees equal weights is on the page.
    """

    method: str
    n_found: int
    n_clear: int
    n_blind: int
    sees_blind: str
    command: str
    half: float
    on_page: bool


def stronger_of(group: Group, content: Content) -> Stronger | None:
    """None where nothing says that another method would see more.

    Where this one found nothing: a method on the page that found some of these pairs; else the one that sees pairs of
    equal weights, if there are effects for it to find. In any case the latter, if there are pairs that this one cannot
    see. It answers for τ = 0 alone.
    """
    name = next(name for name, method in METHODS.items() if method.sees_equal_weights)
    on_page = name in {other.method for other in content.groups}
    valid = (
        group.method in METHODS and group.method != name and not (METHODS[name].needs_tau_zero and content.tau > 0.0)
    )
    blind = group.n_equal_weights
    sees_blind = name if valid and blind else ""
    found = [(other.n_found, other.method) for other in content.groups if other.n_found and other is not group]
    count, method = (0, name) if group.n_found or not found else max(found, key=lambda one: one[0])
    clear = 0 if group.n_found or count or on_page or not valid else clear_effects(group, content)
    if not group.n_tests or not (count or clear or sees_blind):
        return None
    command = _command(content, name) if (clear or sees_blind) and not on_page else ""
    return Stronger(method, count, clear, blind, sees_blind, command, content.alpha / 2.0, on_page)


def _command(content: Content, method: str) -> str:
    """The one that made this page, or the call, with another method at half the level; empty where it is not known."""
    if content.in_memory:
        return f'analyse(masks, outcomes, …, method="{method}", alpha={content.alpha / 2.0:g})'
    return second_look(content.provenance.get("Command", ""), method, content.alpha)


def clear_effects(group: Group, content: Content) -> int:
    """How many effects are too far from zero for chance: p = 2·P(t > |Δ̂|/SE), corrected over the tests of the group."""
    effect, error, freedom = (group.columns.column(name) for name in ("effect", "effect_se", "effect_df"))
    p = np.where(np.isnan(group.pvalue), np.nan, effect_pvalues(effect, error, freedom))
    if np.isnan(p).all():
        return 0
    rule = IN_PLACE_OF_PRIOR if CORRECTIONS[content.correction].needs_prior else content.correction
    adjusted = adjust_pvalues(p, rule, n_hypotheses=group.n_tests, alpha=content.alpha)
    return int(np.count_nonzero(adjusted <= content.alpha))
