"""Levels of the findings' intervals: one for all, or a range by weights."""

import math

import numpy as np
import pytest
from report_content import groups_of, make_content, make_rows, make_weighted

from datamodels_inf.findings import finding_level
from pipeline.report.levels import finding_levels, levels_text


def test_without_weights_there_is_one_level():
    rows = make_rows(40, 6)
    [group] = groups_of(rows)
    assert finding_levels(group, make_content(rows)) == (finding_level("by", 0.2, 40, 6),) * 2
    [nothing] = groups_of(make_rows(40, 0))
    assert all(map(math.isnan, finding_levels(nothing, make_content(make_rows(40, 0)))))


def test_with_a_prior_the_level_is_by_the_weight_of_each_finding():
    rows, expectations = make_weighted(make_rows(60, 24))
    content = make_content(rows, correction="prior", expectations=expectations)
    [group] = groups_of(rows)
    beta = float(expectations["paired"].prior.shape.beta(24))
    weights = [row.weight for row in rows if row.finding]
    told = finding_levels(group, content)
    assert told == pytest.approx((1 - max(weights) * 0.2 * beta / 60, 1 - min(weights) * 0.2 * beta / 60))
    assert told[0] < told[1]
    with_prior = expectations["paired"].prior.confidence(1 - 0.2 * beta / 60)
    assert told == pytest.approx((np.min(with_prior[36:]), np.max(with_prior[36:])))


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ((0.95, 0.95), ""),
        ((math.nan, math.nan), ""),
        ((0.993, 0.993), "99.3 %"),
        ((0.95, 0.9991), "95.00 % to 99.91 %, by its weight"),
    ],
)
def test_a_range_is_told_as_such(levels, text):
    assert levels_text(*levels) == text
