"""Galleries hold the images of the largest weights."""

import numpy as np

from pipeline.report.evidence.galleries import galleries_of


def test_galleries_hold_the_largest_weights_and_no_zero(held_out):
    asked, _, _, weight, _ = held_out
    galleries = galleries_of([3, 8], asked, lambda k: f"class {k % 2}")
    order = np.argsort(-weight[:, 0])
    assert [w.index for w in galleries[3].helpers] == [k for k in order[:6].tolist() if weight[k, 0] > 0]
    assert [w.index for w in galleries[3].hurters] == [k for k in order[::-1][:6].tolist() if weight[k, 0] < 0]
    assert galleries[3].helpers[0].label == f"class {order[0] % 2}"
    sparse = galleries[8]
    assert len(sparse.helpers) + len(sparse.hurters) == 4
    assert all(w.theta > 0 for w in sparse.helpers)
    assert all(w.theta < 0 for w in sparse.hurters)


def test_where_less_is_better_helpers_have_negative_weights(held_out):
    asked, _, _, _, _ = held_out
    more, less = (galleries_of([3, 8], asked, str, higher_is_better=better) for better in (True, False))
    for target in (3, 8):
        assert {w.index for w in less[target].helpers} == {w.index for w in more[target].hurters}
        assert {w.index for w in less[target].hurters} == {w.index for w in more[target].helpers}
        assert [w.theta for w in less[target].helpers] == sorted(w.theta for w in less[target].helpers)
