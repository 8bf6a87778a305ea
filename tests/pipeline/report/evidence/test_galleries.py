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
