"""How good the datamodels are: table, scatter plots, spreads."""

import math
import re

import numpy as np
import pytest
from report_content import EVIL, NAMES, make_quality, make_rows
from report_page import part_of, points_of, read_table, scatters_of, section_of

from pipeline.text.numbers import number


def test_the_quality_of_every_target_is_in_a_table(report):
    quality = make_quality([0.61, math.nan, 0.83], gap=np.full(3, math.nan))
    folder, page = report(make_rows(9, 2), quality=quality)
    assert page.html.index("All findings in numbers") < page.html.index(section_of(page))
    assert "datamodels.csv (the quality of each datamodel)" in page.text
    lines = read_table(folder / "datamodels.csv")
    assert list(lines[0]) == ["target", "class", "r2", "spearman", "mse", "n_nonzero", "lambda", "gap"]
    assert [line["class"] for line in lines] == list(NAMES)
    assert [line["r2"] for line in lines] == ["0.61", "nan", "0.83"]
    assert {line["gap"] for line in lines} == {"nan"}
    for name, column in [("targets", "target"), ("n_nonzero", "n_nonzero"), ("lam", "lambda"), ("mse", "mse")]:
        assert [float(line[column]) for line in lines] == pytest.approx(getattr(quality, name).tolist(), rel=1e-9)


def test_without_the_quality_of_each_target_there_is_no_section(report):
    folder, page = report(make_rows(9, 2))
    assert "How good the datamodels are" not in page.text
    assert "datamodels.csv" not in page.html
    assert not (folder / "datamodels.csv").exists()


def test_predicted_against_true_margins_on_one_scale(report):
    quality = make_quality(np.linspace(0.2, 0.9, 12))
    _, page = report(make_rows(9, 2), quality=quality, n_models_test=4000)
    assert [a["alt"] for a in page.all("img")[-3:]] == [
        "target: dog, target 0",
        "target: dog, target 6",
        "target: cat, target 11",
    ]
    assert "lowest R² dog target 0: R² 0.2, Spearman 0.447" in page.text
    assert "middle R² dog target 6:" in page.text
    assert "highest R² cat target 11:" in page.text
    assert "400 of 4000 are drawn" in page.text
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


@pytest.mark.parametrize("count", [1, 2, 12, 1000, 10_000])
def test_the_section_stays_small_for_any_number_of_targets(report, count):
    r2 = np.random.default_rng(5).beta(6, 3, count)
    _, page = report(make_rows(9, 2), quality=make_quality(r2), images=None, n_models_test=400)
    assert len(section_of(page).encode()) < 60_000
    assert len(page.all("svg", **{"class": "scatter"})) == min(count, 3)
    assert len(page.all("svg", **{"class": "spread"})) == 4
    label = page.all("svg", **{"class": "spread"})[0]["aria-label"]
    assert label.startswith(f"R² of {count} targets: lowest" if count > 1 else f"R² of one target: {number(r2[0])}")
    assert "are drawn" not in page.text
    if count <= 12:
        assert len(points_of(part_of(page).all("path", **{"class": "dots"})[0]["d"])) == count
    else:
        columns = part_of(page).all("path", **{"class": "columns"})[0]["d"]
        heights = [float(v) for v in re.findall(r"v-([\d.]+)h", columns)]
        counts = [c for c in np.histogram(r2, np.linspace(0, 1, 41))[0] if c]
        assert max(heights) <= 77
        np.testing.assert_allclose(np.divide(heights, max(heights)), np.divide(counts, max(counts)), atol=0.02)


def test_quality_that_is_not_defined_or_far_below_zero(report):
    _, page = report(make_rows(9, 2), quality=make_quality([math.nan] * 4), r2_median=math.nan)
    assert "R² is not defined: on 1000 held-out models" in page.text
    spreads = [a["aria-label"].split(" of ")[0] for a in page.all("svg", **{"class": "spread"})]
    assert spreads == ["Number", "Penalty λ"]
    assert page.all("svg", **{"class": "scatter"}) == []
    odd = make_quality([-50.0, -0.1, 0.0, math.nan, 1.0], spearman=np.full(5, math.nan))
    _, page = report(make_rows(9, 2), quality=odd)
    assert "One dot a target; 1 below −1 in the first column; not defined for 1 target." in page.text
    assert "lowest R² dog target 0: R² −50, Spearman not known" in page.text
    spread = page.all("svg", **{"class": "spread"})[0]
    assert spread["aria-label"] == "R² of 4 targets: lowest −50, median −0.05, highest 1"
    assert "nan" not in re.sub(r'src="[^"]*"', "", section_of(page)).lower()
    flat = make_quality([0.5], shown_true=np.full((1, 9), 3.0), shown_predicted=np.full((1, 9), 3.0))
    _, page = report(make_rows(9, 2), quality=flat)
    assert scatters_of(page) == [[(169.0, 133.0)] * 9]


def test_what_a_low_quality_means(report):
    _, page = report(make_rows(9, 2), quality=make_quality([0.1]))
    assert "whatever a datamodel is worth, because it was fitted on other models. What a poor" in page.text
    warned = {"Warning": "the masks failed the check."}
    _, page = report(make_rows(9, 2), quality=make_quality([0.1], loaded=True), provenance=warned)
    assert "cannot be checked for weights that were loaded (but see the warning above). What a poor" in page.text


def test_quality_gives_the_same_bytes_and_hostile_names_are_only_text(report):
    quality = make_quality([0.2, 0.5], classes=[EVIL, ""])
    first, page = report(make_rows(9, 2), quality=quality)
    second, _ = report(make_rows(9, 2), quality=make_quality([0.2, 0.5], classes=[EVIL, ""]))
    assert page.html.count("<script") == 1
    assert "highest R² image target 1:" in page.text
    assert read_table(first / "datamodels.csv")[0]["class"] == EVIL
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()
