"""The tests of a method as columns: what is counted, numbered and kept, against the same from single rows."""

import math
from collections import Counter

import numpy as np
import pytest
from report_content import groups_of, make_row, make_rows

from datamodels_inf.findings import Family
from datamodels_inf.pair_answers import UNSEEN
from pipeline.columns import TableColumns
from pipeline.report.groups import KEPT, MISSES, group_of


class Rule:
    alpha, correction = 0.2, "bh"


def decided(n, planted, seed=0):
    """A group that is corrected here."""
    rng = np.random.default_rng(seed)
    p = np.where(np.arange(n) < planted, 10.0 ** rng.uniform(-12, -9, n), rng.random(n))
    effect = rng.normal(size=n)
    words = np.array(["a", "b", "c"], object)
    columns = TableColumns.of({
        "i": rng.integers(0, 9, n), "j": rng.integers(9, 18, n), "target": rng.integers(0, 4, n), "pvalue": p,
        "effect": effect, "effect_se": np.full(n, 0.1), "effect_df": np.full(n, 50.0),
        "class_i": words[rng.integers(0, 3, n)], "class_j": words[rng.integers(0, 2, n)],
        "class_target": words[rng.integers(0, 3, n)], "note": np.full(n, "", object), "statistic": rng.random(n),
        "theta_i": rng.random(n), "theta_j": rng.random(n), "effect_low": effect - 0.2, "effect_high": effect + 0.2,
        "n_informative": rng.integers(5, 50, n), "members_i": np.fromiter(((0,) for _ in range(n)), object, n),
        "members_j": np.fromiter(((9,) for _ in range(n)), object, n),
    })  # fmt: skip
    steps = []
    group = group_of("contrast", columns, Family(p, Rule()), 77, steps.append)
    assert sum(steps) == pytest.approx(1.0)
    return group


def test_findings_are_numbered_by_p_and_only_the_first_become_rows():
    group = decided(5000, KEPT + 300)
    assert group.n_found >= KEPT + 300
    assert len(group.kept) == KEPT
    assert [item.number for item in group.kept] == list(range(1, KEPT + 1))
    p = [item.row.pvalue for item in group.kept]
    assert p == sorted(p) == sorted(group.pvalue.tolist())[:KEPT]
    last, first = group.numbered([group.n_found, 1])
    assert (last.number, first.name, last.n_found) == (group.n_found, "contrast-1", group.n_found)
    assert last.row.pvalue == group.pvalue[group.places].max()
    assert (first.row.n_rows, first.row.finding, first.row.left, first.row.weight) == (77, True, (0,), 1.0)
    assert group.least_effect == np.abs(group.columns.column("effect")[group.places]).min()
    assert group.misses == ()


def test_classes_are_counted_as_rows_would_be():
    rows = [make_row(k, finding=k % 4 == 0, class_i="ab"[k % 2], class_j="xyz"[k % 3]) for k in range(50)]
    rows.append(make_row(99, finding=False, pvalue=math.nan, class_i="a", class_j="x"))
    [group] = groups_of(rows)
    tests = Counter((row.class_i, row.class_j) for row in rows if not math.isnan(row.pvalue))
    found = Counter((row.class_i, row.class_j) for row in rows if row.finding)
    assert group.class_counts == {pair: (count, found[pair]) for pair, count in tests.items()}
    assert (len(group), group.n_tests) == (51, 50)


def test_closest_misses_are_pairs_that_the_test_can_see():
    seen = [make_row(k, finding=False, pvalue=0.5 + k / 100) for k in range(9)]
    unseen = [
        make_row(k, finding=False, pvalue=p, note=note) for k, p, note in [(20, 0.01, UNSEEN[0]), (21, 0.02, UNSEEN[1])]
    ]
    [group] = groups_of([*seen, *unseen, make_row(30, finding=False, pvalue=math.nan, note=UNSEEN[0])])
    assert [item.row.pvalue for item in group.misses] == [row.pvalue for row in seen[:MISSES]]
    assert (group.n_unseen, group.n_equal_weights) == (2, 1)
    assert group.drawn(50) == group.misses
    ties = [make_row(k, finding=False, pvalue=1.0, effect=e) for k, e in enumerate((0.1, -0.9, 0.5, 0.2, 0.7, 0.3))]
    [group] = groups_of(ties)
    assert [item.row.effect for item in group.misses] == [-0.9, 0.7, 0.5, 0.3, 0.2]


def test_weights_divide_p_and_the_nearest_is_told():
    rows = [make_row(k, pvalue=p, weight=w) for k, (p, w) in enumerate([(1e-6, 2.0), (1e-5, 0.5), (1e-4, 0.0)])]
    [group] = groups_of([*rows, make_row(5, finding=False, pvalue=math.nan)])
    np.testing.assert_array_equal(group.weighted, [5e-7, 2e-5, math.inf, math.nan])
    assert group.nearest == math.inf
    [nothing] = groups_of(make_rows(9, 0))
    assert nothing.nearest == min(nothing.pvalue)
    [unmade] = groups_of([make_row(5, finding=False, pvalue=math.nan)])
    assert math.isnan(unmade.nearest)
    assert unmade.misses == ()
