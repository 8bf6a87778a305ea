"""One bar for all of the work of a report."""

import pytest

from pipeline.report.work import WORK, Work, silent


def test_steps_add_up_to_a_hundred_by_what_each_part_costs():
    steps = []
    work = Work(steps.append, tests=2_000_000, lines=1_000_000, panels=10, curves=5)
    for part, count in (("tests", 2.0), ("lines", 1.0), ("curves", 5), ("panels", 10), ("page", 1)):
        work(part, count)
    assert sum(steps) == pytest.approx(100.0)
    assert steps[0] / steps[1] == pytest.approx(2 * WORK["tests"] / WORK["lines"])
    work("panels", 99)
    assert sum(steps) == pytest.approx(100.0)


def test_what_is_left_is_shared_by_what_is_planned_then():
    steps = []
    work = Work(steps.append, tests=1_000_000, lines=0, panels=1000)
    work("tests", 1.0)
    before = sum(steps)
    work.plan(lines=0, panels=1)
    work("panels", 1)
    work("page", 1)
    assert 0 < before < 100
    assert sum(steps) == pytest.approx(100.0)
    assert silent("page", 1) is None
