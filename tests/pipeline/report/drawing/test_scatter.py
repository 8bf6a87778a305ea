"""Predicted against true margins."""

import numpy as np
from report_content import make_quality, make_rows
from report_page import scatters_of


def test_predicted_against_true_margins_on_one_scale(report):
    quality = make_quality(np.linspace(0.2, 0.9, 12))
    _, page = report(make_rows(9, 2), quality=quality, n_models_test=4000)
    assert page.pictures[-3:] == [
        "target: dog, target 0",
        "target: dog, target 6",
        "target: cat, target 11",
    ]
    assert "lowest R² dog target 0: R² 0.2, Spearman 0.447" in page.text
    assert "middle R² dog target 6:" in page.text
    assert "highest R² cat target 11:" in page.text
    assert "400 of 4,000 are drawn" in page.text
    assert len(page.all("svg", **{"class": "scatter"})) == 3
    assert {(a["x1"], a["y1"], a["x2"], a["y2"]) for a in page.all("line", **{"class": "diagonal"})} == {
        ("46", "256", "292", "10")
    }
    paths = scatters_of(page)
    for k, points in enumerate(paths):
        assert len(points) == 400
        x, y = np.array(points).T
        assert x.min() >= 46
        assert x.max() <= 292
        assert y.min() >= 10
        assert y.max() <= 256
        # One unit of the margin is equally long on both axes, and equal values lie on the diagonal.
        scale, start = np.polyfit(quality.shown_predicted[k], x - 46, 1)
        np.testing.assert_allclose(256 - y, start + scale * quality.shown_true[k], atol=0.11)
        np.testing.assert_allclose(x - 46, start + scale * quality.shown_predicted[k], atol=0.11)
