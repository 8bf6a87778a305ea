"""What the referee found, in sentences, for a terminal and for its page: the whole, what may leak, what is promised."""

from __future__ import annotations

from collections.abc import Callable

from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.refereeing.verdicts import CONFIRMED, REVERSED
from pipeline.summaries import MethodFigures, RefereeSummary

LEAK = (
    "The referee cannot see how scores were made. If models that are tested here were used to make them, as the "
    "checkpoints of TRAK or of an ensemble often are, p-values are not valid, and the claims of these scores look "
    "better than they are."
)
REMEDY = (
    "Make the scores from models that are not tested (source.held_out_rows says how many of the last rows are), and say"
    " so with --unseen."
)
OWN = "the datamodel of this configuration"
APART = "The datamodel of this configuration was fitted on models that are not tested."
UNSEEN = "The user says that no tested model was used to make the scores; the referee cannot check it."


def headline(summary: RefereeSummary, count: Callable[[int], str] = "{:,}".format) -> str:
    """The whole in a sentence or two; `count` writes numbers."""
    best = max(summary.methods, key=lambda one: one.share(CONFIRMED))
    worst = max(summary.methods, key=lambda one: one.share(REVERSED))

    def counted(one: MethodFigures, verdict: str) -> str:
        return f"{count(one.verdicts[verdict])} of {count(one.n_claims)} claims ({100 * one.share(verdict):.3g} %)"

    if not summary.n_claims:
        return "No method claims anything, so there is nothing to decide."
    if len(summary.methods) == 1:
        both = f"{counted(best, CONFIRMED)} are confirmed and {count(best.verdicts[REVERSED])} reversed"
        return f"Of {best.name}, {both}."
    most = f"Confirmed most: {best.name}, {counted(best, CONFIRMED)}."
    if not worst.verdicts[REVERSED]:
        return f"{most} No claim of any method is reversed."
    return f"{most} Reversed most: {worst.name}, {counted(worst, REVERSED)}."


def leak_words(summary: RefereeSummary, unseen: bool) -> str:
    """What is to be said about tested models that the scores may have seen; of a datamodel made here, that is known."""
    if all(method.source == OWN for method in summary.methods):
        return APART
    return UNSEEN if unseen else f"{LEAK} {REMEDY}"


def direction(summary: RefereeSummary) -> str:
    """What help means here: a claim of a method stands or falls with it."""
    change = "raises" if summary.higher_is_better else "lowers"
    return f"An image helps a target where training on it {change} the {summary.outcome}."


def promise(summary: RefereeSummary) -> str:
    """What the correction controls, in a sentence."""
    rule = CORRECTIONS[summary.correction]
    share = f"{100 * summary.alpha:.4g} %"
    if rule.controls == "FWER":
        text = f"the chance that any is wrong is at most {share}"
    else:
        text = f"at most {share} are expected to be wrong"
    return f"Of what is confirmed or reversed, {text}, for each method ({rule.title}, {rule.dependence})."
