"""Lines of a chart lie where their numbers are."""

import math
import re

import pytest

from pipeline.report.drawing.lines import BOTTOM, LEFT, MARKS, RIGHT, TOP, line_chart


def points(path):
    return [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_points_lie_between_the_axes():
    chart = line_chart("all", {"a": [(50.0, 0.0), (100.0, 10.0)], "b": [(100.0, 5.0)]}, (0.0, 10.0), whole=True)
    middle = (LEFT + RIGHT) / 2
    assert points(chart.lines[0].path) == [(middle, BOTTOM), (RIGHT, TOP)]
    assert points(chart.lines[1].path) == [(RIGHT, (TOP + BOTTOM) / 2)]
    assert [line.mark for line in chart.lines] == ["●", "■"]
    assert all(line.marks.count("z") == line.path.count(" ") for line in chart.lines)
    assert (chart.across[0].at, chart.across[0].text) == (LEFT, "0")
    assert [tick.text for tick in chart.up] == ["0", "5", "10"]


def test_what_is_not_known_is_left_out():
    chart = line_chart("", {"a": [(1.0, math.nan), (2.0, 1.0)], "b": [(2.0, math.nan)]}, (0.0, 1.0), whole=False)
    assert points(chart.lines[0].path) == [(RIGHT, TOP)]
    assert (chart.lines[1].path, chart.lines[1].marks) == ("", "")


def test_what_is_beyond_the_ends_stands_at_them():
    chart = line_chart("", {"a": [(1.0, -7.0)]}, (-1.0, 1.0), whole=False)
    assert points(chart.lines[0].path) == [(RIGHT, BOTTOM)]


@pytest.mark.parametrize("count", [1, 4, 9])
def test_colours_and_marks_begin_again_when_they_are_used_up(count):
    chart = line_chart("", {str(k): [(1.0, 0.5)] for k in range(count)}, (0.0, 1.0), whole=False)
    assert [line.kind for line in chart.lines] == [k % 4 for k in range(count)]
    assert [line.mark for line in chart.lines] == [list(MARKS)[k % 4] for k in range(count)]
