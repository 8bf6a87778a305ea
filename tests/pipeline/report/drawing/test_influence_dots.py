"""The dot of one image: its texts, its place, and what is not known."""

import dataclasses
import math

import pytest
from influence_atlas import make_influences

from pipeline.report.drawing.influence_dots import dot_of


@pytest.fixture(scope="module")
def singles():
    shown = [single for target in make_influences().targets for single in target.shown]
    return next(s for s in shown if s.finding), next(s for s in shown if not s.finding)


def test_a_finding_says_both_intervals(singles):
    found, other = (dot_of(single, 1.0) for single in singles)
    assert found.bar.longer is not None
    assert (
        found.label == f"influence {found.estimate}, 95 % interval {found.ends}, as a finding {found.longer}: finding"
    )
    assert other.bar.longer is None
    assert other.label == f"influence {other.estimate}, 95 % interval {other.ends}: no finding"
    assert found.bar.effect == pytest.approx(0.5 + singles[0].effect / 2.0)


@pytest.mark.parametrize("change", [{"effect_se": math.inf}, {"effect_se": math.nan}, {"effect": math.nan}])
def test_where_nothing_is_known_there_is_no_dot(singles, change):
    ends = {"effect_low": -math.inf, "effect_high": math.inf}
    dot = dot_of(dataclasses.replace(singles[1], **ends, **change), 1.0)
    assert (dot.bar, dot.ends, dot.longer) == (None, "not known", "")
