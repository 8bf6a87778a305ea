"""Whether the masks keep the premise of the tests (`check_exchangeable`), and which pairs may be tested then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.analysis.premise import spoils_of_influences, spoils_of_tests, trusts_order, with_remedies
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.exchangeability import ExchangeabilityReport, check_exchangeable
from datamodels_inf.internal.checks import Ints
from datamodels_inf.pair_answers import Testable
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.inputs import Described, Divided

KEEP_ONE = "keep one model of each couple (in a folder, a _completed.npy beside the masks leaves rows out)"
STRATIFIED = "the masks are stratified by class"
LABELS = "if every mask holds so many images of each class, give source.labels, and pairs within a class are tested"
REMEDIES = {
    "Repeated masks": "source.group_by_mask = true averages the outcomes of equal masks",
    "Masks of the fit rows": "source.group_by_mask = true averages the outcomes of equal masks",
    "Complements": KEEP_ONE,
    "Complements of fit rows": KEEP_ONE,
}


def check_premise(config: Config, data: Divided) -> ExchangeabilityReport:
    """The check of the held-out masks with all that is known; what fails it is refused, unless the user answers."""
    report = check_exchangeable(
        data.held_out_masks,
        labels=None if data.labels is None else data.labels.train_labels,
        fit_masks=data.fit_masks if data.fit_masks.n_models else None,
    )
    if config.test.allow_unexchangeable:
        return report
    if not report.ok:
        raise BadInputError(
            f"the held-out masks are not independent and exchangeable, so no p-value would be valid: "
            f"{with_remedies(report, REMEDIES, LABELS if data.labels is None else None)}; "
            "set test.allow_unexchangeable = true to go on all the same."
        )
    drift = report.found("the given order")
    if drift and trusts_order(config.test.order, config.test.method):
        raise BadInputError(f'test.order = "given" needs rows of one law, but {drift[0]}; set test.order = "permuted".')
    return report


def spoiled_tests(config: Config, report: ExchangeabilityReport) -> str:
    """What was found that spoils tests which were made all the same, because the user answered for it; else empty."""
    if not config.test.allow_unexchangeable:
        return ""
    return spoils_of_tests(report, config.test.order, config.test.method)


def spoiled_influences(config: Config, report: ExchangeabilityReport) -> str:
    """The same of the influences of single images: each is compared with images of all classes, in no order of rows."""
    if not config.test.allow_unexchangeable:
        return ""
    return spoils_of_influences(report)


@dataclass(frozen=True)
class TestablePairs:
    """Which (P, 2, g) pairs the law of the masks allows to be tested; it may travel to a worker."""

    report: ExchangeabilityReport
    data: Described
    answered_for: bool

    def __call__(self, pairs: Ints) -> NDArray[np.bool_]:
        """One answer a pair."""
        labels = self.data.labels
        if self.answered_for or labels is None:
            return np.ones(len(pairs), np.bool_)
        return self.report.testable(pairs, labels.train_labels)


def testable_pairs(config: Config, report: ExchangeabilityReport, data: Described) -> Testable:
    """Which (P, 2, g) pairs the law of the masks allows to be tested, or the user answers for."""
    return TestablePairs(report, data, config.test.allow_unexchangeable)


def tests_made(pairs: Pairs, testable: Testable) -> NDArray[np.bool_]:
    """Which tests of a design the law of the masks allows; refused where that is none."""
    made = np.zeros(len(pairs), np.bool_)
    for size in np.unique(pairs.sizes).tolist():
        tests = np.flatnonzero(pairs.sizes == size)
        made[tests] = testable(pairs.members(tests))
    if not made.any():
        raise BadInputError(
            f"{STRATIFIED}, so only pairs within a class can be tested, but every pair of this design is of two "
            'classes; choose pairs within a class (test.design = "list"), or set test.allow_unexchangeable = true to '
            "go on all the same."
        )
    return made
