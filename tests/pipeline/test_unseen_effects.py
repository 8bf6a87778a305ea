"""What another method would see where a test finds nothing."""

import numpy as np
import pytest
from scipy.stats import t

from datamodels_inf import adjust_pvalues
from pipeline.config_files import load_config
from pipeline.unseen_effects import advice, count_unseen, sees_effects


def test_effects_are_counted_as_tests_of_their_own():
    rng = np.random.default_rng(0)
    effect, error, freedom = rng.standard_normal(200), np.full(200, 0.3), np.full(200, 40.0)
    p = 2 * t.sf(np.abs(effect) / error, freedom)
    for correction, alpha in (("by", 0.2), ("bonferroni", 0.05)):
        test = load_config("digits", [f"test.correction={correction}", f"test.alpha={alpha}"]).test
        expected = int((adjust_pvalues(p, correction) <= alpha).sum())
        assert count_unseen(effect, error, freedom, test) == expected > 0
    assert count_unseen(effect / 100, error, freedom, test) == 0


def test_what_is_not_known_is_not_counted():
    unknown = np.array([np.nan, 1.0, 1.0, 1.0]), np.array([1.0, np.inf, 0.0, np.nan]), np.array([9.0, 9.0, 0.0, 9.0])
    assert count_unseen(*unknown, load_config("digits", []).test) == 0


@pytest.mark.parametrize(
    ("overrides", "method"),
    [
        ((), "contrast"),
        (("test.method=paired",), "contrast"),
        (('test.method=["swap", "contrast"]',), None),
        (("test.tau=0.1",), None),  # There it would not be valid.
    ],
)
def test_which_method(overrides, method):
    test = load_config("digits", overrides).test
    assert sees_effects(test) == method
    assert bool(advice(3, test)) == (method is not None)


def test_the_command_is_named():
    test = load_config("digits", []).test
    assert advice(0, test, "datamodels-inf run") == ""
    assert advice(1, test).startswith("Yet the estimated effect of 1 pair differs from 0")
    said = advice(12, test, "datamodels-inf run --config digits")
    assert said.startswith("Yet the estimated effects of 12 pairs differ from 0 at the same error rate; ")
    assert said.endswith(": datamodels-inf run --config digits --set test.method=contrast")
    made = "datamodels-inf run --config digits --set test.method=swap --set 'report.title=A b'"
    assert advice(2, test, made).endswith("--config digits --set 'report.title=A b' --set test.method=contrast")
