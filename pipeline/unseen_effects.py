"""Which method sees what another cannot: pairs of equal weights, and effects that stand out where nothing was found.

`swap` and `paired` look at pairs through θ̂, and see nothing of a pair with equal weights; every row has an effect with
a standard error all the same. Student's p-values of these effects, corrected as the tests are, say how many would be
findings by a test of the effect itself.
"""

from __future__ import annotations

import shlex

import numpy as np
from scipy.special import stdtr

from datamodels_inf.findings import Family
from datamodels_inf.internal.checks import Floats
from datamodels_inf.methods import METHODS
from datamodels_inf.pair_answers import UNSEEN
from datamodels_inf.prior import Prior
from pipeline.config import Test
from pipeline.stages.test.tests_file import MethodTests
from pipeline.store.cache import Result
from pipeline.summaries import TestSummary, read_summary
from pipeline.text.numbers import counted

SEES_EFFECTS = "contrast"
REPLACED = "test.method=", "test.alpha=", "report.name="


def sees_effects(test: Test) -> str | None:
    """The method that tests the effect itself, if it was not run and is valid with these settings."""
    valid = test.tau == 0 or not METHODS[SEES_EFFECTS].needs_tau_zero
    return SEES_EFFECTS if valid and SEES_EFFECTS not in test.method else None


def count_unseen(effect: Floats, error: Floats, freedom: Floats, test: Test, prior: Prior | None = None) -> int:
    """How many effects are other than 0 by p = 2·P(T > |effect| / error), corrected as the tests are."""
    pvalue = effect_pvalues(effect, error, freedom)
    return 0 if np.isnan(pvalue).all() else Family(pvalue, test, prior).n_found


def effect_pvalues(effect: Floats, error: Floats, freedom: Floats) -> Floats:
    """Student's p = 2·P(T > |effect| / error) of each effect; NaN where it has no error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(effect) / error
    known = np.isfinite(size) & (freedom > 0)
    return np.where(known, 2.0 * stdtr(np.where(known, freedom, 1.0), -np.where(known, size, 0.0)), np.nan)


def unseen_in(result: Result, method: str, test: Test, prior: Prior | None = None) -> int:
    """The same of the pairs that a method tested, from the result of the test stage."""
    tests = MethodTests.of_result(result, method)
    effect, error, freedom = (tests.column(name) for name in ("effect", "effect_se", "effect_df"))
    return count_unseen(effect, error, freedom, test, prior)


def n_equal_weights(result: Result, method: str) -> int:
    """Pairs of θ̂_i = θ̂_j, which the method cannot see, from the result of the test stage."""
    return read_summary(result, TestSummary).notes.get(method, {}).get(UNSEEN[0], 0)


def advice(n_unseen: int, test: Test, command: str = "", n_equal: int = 0) -> str:
    """A sentence with what to type, or nothing where no other method would see more.

    n_unseen: effects that stand out though the method found nothing; 0 where it found something. n_equal: its pairs of
    equal weights, which it cannot see. command: what made the run; without it, the settings are named.
    """
    pairs = f"the {counted(n_equal, 'pair')} that {'has' if n_equal == 1 else 'have'} equal weights"
    if SEES_EFFECTS in test.method:
        return f"The method {SEES_EFFECTS}, which was run too, sees also {pairs}" if n_equal else ""
    method = sees_effects(test)
    if method is None or not (n_unseen or n_equal):
        return ""
    caution = f"(a second look: with test.alpha={test.alpha / 2:g} each, both together keep the promise)"
    typed = second_look(command, method, test.alpha) or shlex.join(_settings(method, test.alpha))
    if not n_unseen:
        return f"The method {method} sees also {pairs} {caution}: {typed}"
    differ = "effect of 1 pair differs" if n_unseen == 1 else f"effects of {counted(n_unseen, 'pair')} differ"
    return f"Yet the estimated {differ} from 0 at the same error rate; the method {method} sees such {caution}: {typed}"


def second_look(command: str, method: str, alpha: float) -> str:
    """A command with another method at half of the level `alpha`; empty where there is none.

    A name that it gives to its report is left out, so that the second look does not take the place of the first.

    >>> second_look("datamodels-inf run --set test.method=swap --set report.name=mine --quiet", "contrast", 0.2)
    'datamodels-inf run --quiet --set test.method=contrast --set test.alpha=0.1'
    """
    words = shlex.split(command)
    asked = [k for k, word in enumerate(words) if word.startswith(REPLACED) and words[k - 1] == "--set"]
    kept = [word for k, word in enumerate(words) if k not in asked and k + 1 not in asked]
    return shlex.join([*kept, *_settings(method, alpha)]) if kept else ""


def _settings(method: str, alpha: float) -> list[str]:
    return ["--set", f"test.method={method}", "--set", f"test.alpha={alpha / 2:g}"]
