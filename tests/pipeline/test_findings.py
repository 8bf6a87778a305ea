"""What a finding is: decided, ordered and given its interval."""

import math

import pytest

from datamodels_inf.multiplicity import selected_confidence
from pipeline.findings import finding_level, level_text, one_of


def test_being_found_makes_no_interval_shorter():
    assert finding_level("by", 0.2, 2000, 39) == selected_confidence("by", 0.2, 2000, 39) > 0.95
    assert selected_confidence("bh", 0.2, 10, 9) == pytest.approx(0.82)
    assert finding_level("bh", 0.2, 10, 9) == finding_level("by", 0.2, 1, 1) == 0.95
    assert math.isnan(finding_level("by", 0.2, 2000, 0))
    assert math.isnan(finding_level("by", 0.2, 0, 0))


def test_levels_and_counts_as_text():
    levels = (0.95, 0.99, 0.9933, 0.9999, 0.9999137, 1.0)
    assert [level_text(v) for v in levels] == ["95 %", "99 %", "99.3 %", "99.99 %", "99.991 %", "100 %"]
    assert (one_of(1), one_of(39)) == ("the only finding", "one of 39 findings")
