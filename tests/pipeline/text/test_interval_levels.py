"""Levels with as many digits as they need, and promises as the correction makes them."""

import pytest

from pipeline.config import Test
from pipeline.text.interval_levels import coverage, level_range_text, level_text


def test_levels_as_text():
    levels = (0.95, 0.99, 0.9933, 0.9999, 0.9999137, 1.0)
    assert [level_text(v) for v in levels] == ["95 %", "99 %", "99.3 %", "99.99 %", "99.991 %", "100 %"]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    ((0.95, 0.95, "95 %"), (0.9794, 0.9845, "97.9 % to 98.5 %"), (0.95, 0.9933, "95.0 % to 99.3 %")),
)
def test_two_levels_have_the_digits_that_tell_them_apart(low, high, text):
    assert level_range_text(low, high) == text


def test_promises_of_the_intervals_of_findings():
    assert coverage(Test(), "effect") == (
        "the expected share of findings whose interval misses the effect is at most 0.2, however the tests depend on "
        "each other"
    )
    assert coverage(Test(correction="bonferroni"), "influence").startswith(
        "the chance that any interval misses the influence is at most 0.2, "
    )
