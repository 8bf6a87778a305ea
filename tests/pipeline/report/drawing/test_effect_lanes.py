"""Effects of re-runs below each other: on one axis, by role, the larger first."""

import math
import re
from dataclasses import replace

import pytest
from report_content import make_robustness

from pipeline.report.drawing.effect_lanes import axis_limit, lane_of, rows_of_lane
from pipeline.report.drawing.embedded_images import Tile
from pipeline.report.drawing.slots import Slot

CASE = make_robustness(cases=1).cases[0]
TILE = Tile(Slot("target", "target", (1,), "dog"), [])


def with_reruns(**changes):
    first, *others = CASE.reruns
    return replace(CASE, reruns=(replace(first, **changes), *others))


def test_the_axis_holds_every_interval_and_is_a_round_number():
    ends = [abs(v) for rerun in CASE.reruns for v in (rerun.effect_low, rerun.effect_high)]
    limit = axis_limit(CASE.reruns)
    assert max(ends) <= limit <= 2 * max(ends)
    assert float(f"{limit:.2g}") == pytest.approx(limit)
    infinite = with_reruns(effect_low=-math.inf, effect_high=math.inf)
    assert axis_limit(infinite.reruns) == limit
    assert axis_limit([]) == 1.0
    assert axis_limit([replace(CASE.reruns[0], effect_low=0.0, effect_high=0.0)]) == 1.0


def test_roles_come_in_their_order_with_the_larger_effects_first():
    rows = rows_of_lane(CASE, 1)
    assert [(role, len(some)) for role, some in rows] == [
        ("original", 1),
        ("neighbour", 9),
        ("random", 3),
        ("target", 1),
    ]
    for _, some in rows:
        effects = [rerun.effect for rerun in some]
        assert effects == sorted(effects, reverse=True)


def test_an_effect_that_is_not_known_is_not_drawn():
    unknown = with_reruns(effect=math.nan)
    assert rows_of_lane(unknown, 0)[0] == ("original", [])
    lane = lane_of(unknown, 0, TILE, 2.0)
    assert lane.marks[0].dots == ""
    assert lane.label.startswith("effects with 95 % intervals on target 1: 9 of look-alikes of both images, ")


def test_intervals_lie_where_their_numbers_are():
    limit = axis_limit(CASE.reruns)
    lane = lane_of(CASE, 1, TILE, limit)
    assert lane.zero == 160.0
    heights = []
    for marks, (role, some) in zip(lane.marks, rows_of_lane(CASE, 1), strict=True):
        assert marks.role == role
        spans = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", marks.intervals)
        dots = re.findall(r"M([\d.]+) ([\d.]+)h0", marks.dots)
        for rerun, (low, y, high), (middle, same) in zip(some, spans, dots, strict=True):
            expected = [10 + 300 * (v / limit + 1) / 2 for v in (rerun.effect_low, rerun.effect, rerun.effect_high)]
            assert [float(low), float(middle), float(high)] == pytest.approx(expected, abs=0.06)
            assert y == same
            heights.append(float(y))
    assert heights == sorted(heights)
    assert len(set(heights)) == len(heights)
    assert heights[-1] < lane.height


def test_many_intervals_are_drawn_closer():
    some = tuple(replace(CASE.again("neighbour", 1)[0], effect=k / 1000) for k in range(500))
    lane = lane_of(replace(CASE, reruns=some), 1, TILE, 1.0)
    assert lane.height == pytest.approx(110 + 2 * 9)
