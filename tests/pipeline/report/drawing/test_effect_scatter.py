"""Fresh effects against those of the set: one scale on both axes, findings apart from others."""

import numpy as np
from report_page import points_of

from pipeline.report.content.fresh import FreshFamily, Points
from pipeline.report.drawing.effect_scatter import effect_scatter


def family(found, other):
    points = [Points(np.array(effect, float), np.array(fresh, float)) for effect, fresh in (found, other)]
    return FreshFamily("contrast", 9, 3, None, None, *points)


def test_dots_lie_on_the_diagonal_where_both_say_the_same():
    drawn = effect_scatter(family(([-2, 1, 4], [-2, 1, 4]), ([0, 1], [1, 0])), "margin")
    found, other = np.array(points_of(drawn.found)), np.array(points_of(drawn.other))
    np.testing.assert_allclose(found[:, 0] - 46, 256 - found[:, 1], atol=0.11)
    across, up = other[:, 0] - 46, 256 - other[:, 1]
    assert across[0] < up[0]
    assert across[1] > up[1]
    np.testing.assert_allclose(across, up[::-1], atol=0.11)
    assert (drawn.n_found, drawn.n_other) == (3, 2)
    assert [tick.text for tick in drawn.across] == [tick.text for tick in drawn.up]
    assert "3 findings and 2 other tests" in drawn.label


def test_without_any_test_there_is_nothing_to_draw():
    assert effect_scatter(family(([], []), ([], [])), "margin") is None
    assert effect_scatter(family(([], []), ([1], [2])), "margin").found == ""
