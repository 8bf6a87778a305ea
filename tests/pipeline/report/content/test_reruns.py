"""A case of re-runs: which pairs stand in its table, and which re-run belongs to which."""

from dataclasses import replace

import pytest
from report_content import make_robustness

CASE = make_robustness(cases=2).cases[1]


def test_the_table_has_the_pair_itself_and_look_alikes_beside_each_other():
    assert (CASE.i, CASE.j) == (1, 5)
    assert CASE.pairs == [("original", 1, 5), ("neighbour", 2, 6), ("neighbour", 3, 7), ("neighbour", 4, 8)]
    with pytest.raises(ValueError, match="shorter"):
        _ = replace(CASE, near_j=CASE.near_j[:-1]).pairs


def test_the_re_runs_of_a_role_are_found_by_the_target_that_they_are_compared_on():
    """Not by the one that they were tested on, which for look-alikes of a target is another."""
    again = CASE.again("target", 1)
    assert [(rerun.target, rerun.of) for rerun in again] == [(4, 1)]
    assert CASE.again("target", 4) == []
    assert len(CASE.again("neighbour", 2)) == 3 * 3
    assert sum(
        len(CASE.again(role, t)) for role in ("original", "neighbour", "random", "target") for t in range(3)
    ) == len(CASE.reruns)


def test_a_pair_of_the_table_finds_its_own_re_run():
    rerun = CASE.of_pair("neighbour", 3, 7, 2)
    assert (rerun.role, rerun.i, rerun.j, rerun.of) == ("neighbour", 3, 7, 2)
    assert CASE.of_pair("neighbour", 7, 3, 2) is None
    assert CASE.of_pair("original", 3, 7, 2) is None


def test_a_pair_that_the_user_named_is_no_finding():
    assert (CASE.title, replace(CASE, number=0).title) == ("Finding 2", "The pair that was asked for")
