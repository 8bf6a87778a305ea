"""The masks against their law."""

import re

import numpy as np
import pytest
from report_content import make_content, make_masks
from scipy.stats import binom

from pipeline.report.sections import masks as mask_view


def test_the_masks_are_drawn_against_their_law():
    check = make_masks(n_train=3000, n_models=500)
    view = mask_view.view_of(check, make_content([], n_models_test=500))
    law = np.array([tuple(map(float, point.split(" "))) for point in view.law[1:].split("L")])
    tops = {
        round((float(a) + float(b)) / 2, 1): float(y)
        for a, y, b in re.findall(r"M([\d.]+) 150V([\d.]+)H([\d.]+)V", view.columns)
    }
    seen = np.array([150 - tops.get(round(x, 1), 150.0) for x, _ in law])
    expected = 150 - law[:, 1]
    assert np.abs(seen - expected).max() < 0.15 * expected.max()
    assert seen.sum() == pytest.approx(expected.sum(), rel=0.03)
    assert view.label.startswith("3,000 training images by the number of held-out models that saw them: from ")
    assert "where 250 ± 11 are expected" in view.label


def test_the_law_of_the_masks_is_binomial():
    check = make_masks(n_train=400, n_models=18)
    law = mask_view.view_of(check, make_content([], n_models_test=18)).law
    heights = 150 - np.array([float(point.split(" ")[1]) for point in law[1:].split("L")])
    pmf = binom.pmf(np.arange(19), 18, check.report.proportion)
    np.testing.assert_allclose(heights / heights.sum(), pmf, atol=0.002)
