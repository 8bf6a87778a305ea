"""What another method would see where a test finds nothing."""

import shlex

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
    assert "with test.alpha=0.1 each, both together" in said
    assert said.endswith(": datamodels-inf run --config digits --set test.method=contrast --set test.alpha=0.1")
    assert advice(2, test).endswith(": --set test.method=contrast --set test.alpha=0.1")


def test_the_command_does_not_replace_the_report_that_offers_it():
    made = "datamodels-inf run --set test.method=swap --set 'report.title=A b' --set report.name=x --set test.alpha=0.1"
    test = load_config("digits", ["test.alpha=0.1"]).test
    offered = advice(2, test, made).rpartition(": datamodels-inf ")[2]
    assert offered == "run --set 'report.title=A b' --set test.method=contrast --set test.alpha=0.05"
    overrides = [word for word in shlex.split(offered) if "=" in word]
    assert load_config("digits", overrides).report.name == "digits-method-contrast-alpha-0.05"


def test_pairs_of_equal_weights_are_seen_by_another_method_run_or_not():
    test = load_config("digits", []).test
    said = advice(0, test, "datamodels-inf run", n_equal=177)
    assert said.startswith("The method contrast sees also the 177 pairs that have equal weights (a second look: ")
    assert said.endswith(": datamodels-inf run --set test.method=contrast --set test.alpha=0.1")
    both = load_config("digits", ['test.method=["swap", "contrast"]']).test
    said = "The method contrast, which was run too, sees also the 1 pair that has equal weights"
    assert advice(0, both, "datamodels-inf run", n_equal=1) == said
    beyond = load_config("digits", ["test.tau=0.1"]).test
    assert advice(0, beyond, "datamodels-inf run", n_equal=177) == ""
