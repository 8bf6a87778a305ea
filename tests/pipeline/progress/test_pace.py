"""A rate that says what is to come: without the first step, without what was there already."""

import pytest

from pipeline.progress.pace import MOST_MARKS, Pace


def test_nothing_is_known_before_the_second_step():
    pace = Pace(0.0)
    assert pace.rate(10.0) is None
    pace.note(46.0, 1.0)  # With 46 seconds of compiling.
    assert pace.rate(46.0) is None
    assert pace.rate(50.0) is None


def test_the_time_of_the_first_step_does_not_count():
    pace = Pace(100.0)
    for k in range(5):
        pace.note(146.0 + 2 * k, k + 1.0)
    assert pace.rate(154.0) == pytest.approx(0.5)


def test_what_was_kept_from_an_earlier_run_does_not_count():
    pace = Pace(0.0)
    for k in range(900):
        pace.note(0.0001 * k, k + 1.0)
    for second in range(1, 11):
        pace.note(float(second), 900.0 + second)
    assert pace.rate(10.0) == pytest.approx(1.0)


def test_the_rate_is_that_of_the_second_half():
    """What was fast at first and is slow now is told as slow."""
    pace = Pace(0.0)
    for second in range(1, 21):
        pace.note(float(second), 10.0 * min(second, 8) + 4.0 * max(0, second - 8))
    assert pace.rate(20.0) == pytest.approx(4.0)


def test_a_rate_falls_while_nothing_is_done():
    pace = Pace(0.0)
    for second in range(1, 6):
        pace.note(float(second), float(second))
    rates = [pace.rate(float(now)) for now in (5, 6, 8)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[-1]


def test_marks_are_bounded_and_the_rate_stays():
    pace = Pace(0.0)
    for k in range(100_000):
        pace.note(1.0 + 0.01 * k, float(k))
    assert len(pace._marks) <= MOST_MARKS + 1
    assert pace.rate(1.0 + 0.01 * 99_999) == pytest.approx(100.0, rel=1e-3)


def test_a_pause_does_not_look_like_the_end_of_all_work():
    """21 of 100 in six seconds, then ten seconds of nothing: what is left is not told in hours."""
    pace = Pace(0.0)
    for k in range(60):
        pace.note(1.0 + 0.1 * k, 0.35 * k)
    assert (100 - 20.65) / pace.rate(16.9) < 180
