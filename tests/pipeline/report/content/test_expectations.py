"""What was expected of tests: counts against a loop, the centre of ν, and what belongs together."""

import numpy as np
import pytest
from report_content import make_content, make_rows, make_weighted

from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.report.content.expectations import Expectation, realised_counts


def test_realised_counts_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    p, w, u = rng.random(300) ** 3, rng.uniform(0.0, 2.0, 300), np.geomspace(1e-6, 0.5, 30)
    p[:9], w[5:20] = np.nan, 0.0
    told = realised_counts(p, w, u)
    assert told.tolist() == [sum(bool(a <= b * level) for a, b in zip(p, w, strict=True) if b > 0) for level in u]


def test_the_centre_is_where_most_of_beta_comes_from():
    shape = Shape(40, np.array([1, 5, 30]), np.array([0.6, 0.3, 0.1]), 0.0)
    expectation = Expectation(Prior(np.array([0.5, 1.5]), shape), 4.0)
    assert expectation.centre == 30  # 1·0.6, 5·0.3, 30·0.1
    assert expectation.weight_range == (0.5, 1.5)
    flat = Expectation(Prior(np.ones(2), Shape.benjamini_yekutieli(40)), reason="nothing is known")
    assert flat.centre is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expected": 3.0, "u": np.ones(2)}, "one entry for each level"),
        ({"expected": 3.0, "reason": "why"}, "`reason` must say why"),
        ({}, "`reason` must say why"),
    ],
)
def test_what_does_not_belong_together_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Expectation(Prior(np.ones(2), Shape.benjamini_yekutieli(2)), **changes)


def test_a_correction_with_a_prior_needs_one_of_every_method():
    rows, expectations = make_weighted(make_rows(9, 3))
    assert make_content(rows, correction="prior", expectations=expectations).shape_of("paired") is not None
    assert make_content(rows, correction="by", expectations=expectations).shape_of("paired") is None
    with pytest.raises(ValueError, match="`expectations` must hold every method"):
        make_content([*rows, *make_rows(3, 1, method="swap")], correction="prior", expectations=expectations)
