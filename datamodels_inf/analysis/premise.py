"""The premise of all p-values, held against the masks before anything is fitted; what fails it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from datamodels_inf.analysis.settings import Settings
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.exchangeability import ExchangeabilityReport, check_exchangeable
from datamodels_inf.internal.checks import Ints
from datamodels_inf.masks import PackedMasks
from datamodels_inf.methods import METHODS
from datamodels_inf.pair_answers import Testable

EQUAL_MASKS = "average the outcomes of equal masks into one row first"
ONE_OF_COUPLE = "keep one model of each couple"
REMEDIES = {
    "Repeated masks": EQUAL_MASKS,
    "Masks of the fit rows": EQUAL_MASKS,
    "Complements": ONE_OF_COUPLE,
    "Complements of fit rows": ONE_OF_COUPLE,
}
LABELS = "if every mask holds so many images of each class, give `labels`, and pairs within a class are tested"


def check_premise(
    tested: PackedMasks, fit: PackedMasks, labels: Ints | None, settings: Settings
) -> ExchangeabilityReport:
    """The check of the tested masks with all that is known; refused where it fails, unless the user answers for it."""
    report = check_exchangeable(tested, labels=labels, fit_masks=fit if fit.n_models else None)
    if settings.allow_unexchangeable:
        return report
    refuse_unexchangeable(report, labels)
    drift = report.found("the given order")
    if drift and trusts_order(settings.order, settings.method):
        raise ValueError(f'order = "given" needs rows of one law, but {drift[0]}; say order = "permuted".')
    return report


def refuse_unexchangeable(report: ExchangeabilityReport, labels: Ints | None) -> None:
    """A `ValueError` where the masks contradict the premise, with what to do about it."""
    if report.ok:
        return
    raise ValueError(
        f"the tested `masks` are not independent and exchangeable, so no p-value would be valid: "
        f"{with_remedies(report, REMEDIES, LABELS if labels is None else None)}; "
        "say allow_unexchangeable=True to go on all the same."
    )


def with_remedies(report: ExchangeabilityReport, remedies: Mapping[str, str], ask_labels: str | None) -> str:
    """Why no test would be valid, and what to do: `remedies`, by the name of a check.

    ask_labels: the remedy where classes, which are not known, would explain which images go together; None if they are.
    """
    found = [check.name for check in report.checks if check.found and check.spoils == "every test"]
    known = dict.fromkeys(remedies[name] for name in found if name in remedies)
    if ask_labels is not None and "Pairs of images" in found:
        known[ask_labels] = None
    return "; ".join([*report.reasons, *known])


def trusts_order(order: str, methods: Sequence[str]) -> bool:
    """Whether a method compares the rows of one half with those of the other, as they were given."""
    return order == "given" and any(METHODS[name].compares_halves for name in methods)


def spoils_of_tests(report: ExchangeabilityReport, order: str, methods: Sequence[str]) -> str:
    """What was found that spoils tests which were made all the same; empty for nothing."""
    found = [*report.reasons, *(f"{words} (pairs across classes)" for words in report.found("tests across classes"))]
    if trusts_order(order, methods):
        found += report.found("the given order")
    return "; ".join(found)


def spoils_of_influences(report: ExchangeabilityReport) -> str:
    """The same of the influences of single images: each is compared with images of all classes, in no order of rows."""
    return "; ".join([*report.reasons, *report.found("tests across classes")])


def testable_pairs(report: ExchangeabilityReport, labels: Ints | None, settings: Settings) -> Testable:
    """Which (P, 2, g) pairs the law of the masks allows to be tested."""
    if settings.allow_unexchangeable or labels is None:
        return lambda pairs: np.ones(len(pairs), np.bool_)
    return lambda pairs: report.testable(pairs, labels)


def refuse_if_untestable(pairs: Pairs, testable: Testable) -> None:
    """An analysis of which no pair can be tested is a mistake."""
    for size in np.unique(pairs.sizes).tolist():
        if testable(pairs.members(np.flatnonzero(pairs.sizes == size))).any():
            return
    raise ValueError(
        "the masks are stratified by class, so only pairs within a class can be tested, but every pair is of two "
        "classes; give `pairs` within a class, or say allow_unexchangeable=True to go on all the same."
    )
