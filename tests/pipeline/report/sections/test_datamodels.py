"""The section on how good the datamodels are: sentence, table, spreads."""

import math
import re

import numpy as np
import pytest
from report_content import EVIL, NAMES, make_blocks, make_content, make_quality, make_rows
from report_page import part_of, points_of, read_table, scatters_of, section_of

from pipeline.report.sections.datamodels import quality_sentence, r2_by_rows
from pipeline.text.numbers import number


@pytest.mark.parametrize(
    ("r2", "expected"),
    [
        (
            [0.61, 0.75, 0.83],
            "On 4,000 held-out models the datamodels explain 75 % of the variance of the margin "
            "(median over 3 targets); the worst target 61 %, the best 83 %.",
        ),
        (
            [0.754],
            "On 4,000 held-out models the datamodel of the one target explains 75 % of the variance of the margin.",
        ),
        (
            [-0.4, -0.03, 0.12],
            "On 4,000 held-out models the datamodels explain none of the variance of the margin "
            "(median over 3 targets, R² = −0.03); the worst target none (R² = −0.4), the best 12 %.",
        ),
        (
            [-0.4],
            "On 4,000 held-out models the datamodel of the one target explains none of the variance of the margin "
            "(R² = −0.4).",
        ),
        (
            [math.nan, 0.0034, 0.997, math.nan],
            "On 4,000 held-out models the datamodels explain 50 % of the variance of the margin "
            "(median over 2 targets); the worst target 0.34 %, the best 99.7 %. For 2 other targets R² is not defined, "
            "because their margin does not vary on these models.",
        ),
        (
            [math.nan, 0.3],
            "On 4,000 held-out models the datamodel of one target explains 30 % of the variance of the margin. "
            "For one other target R² is not defined, because its margin does not vary on these models.",
        ),
        ([math.nan], "R² is not defined: on 4,000 held-out models, the margin of the one target does not vary."),
        (
            [math.nan] * 5,
            "R² is not defined: on 4,000 held-out models, the margin of each of the 5 targets does not vary.",
        ),
    ],
)
def test_the_quality_in_words(r2, expected):
    assert quality_sentence(make_quality(r2), make_content([], n_models_test=4000)) == expected
    loaded = quality_sentence(make_quality(r2, loaded=True), make_content([], n_models_test=4000, unit="loss"))
    assert loaded == expected.replace("the datamodel", "the loaded datamodel").replace("margin", "loss")


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
    assert "R² is not defined: on 1,000 held-out models" in page.text
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


def test_in_blocks_r2_is_told_for_each_fit_and_the_rest_is_of_the_last(report):
    _, page = report(make_rows(9, 3), quality=make_quality([0.5, 0.7]), blocks=make_blocks(), n_models_test=900)
    part = part_of(page)
    assert "On the last block’s 300 tested models the datamodels explain" in part.text
    assert "There are 3 fits." in part.text
    assert "from the first 100 to the first 700 models" in part.text
    [drawing] = part.all("svg", **{"class": "lines"})
    assert drawing["aria-label"].endswith("fitted on: 0.3 on 100, 0.45 on 300, 0.6 on 700")
    assert "fitted on other models, those before the block that it tests" in part.text
    _, page = report(make_rows(9, 3), quality=make_quality([0.5, 0.7]))
    assert part_of(page).all("svg", **{"class": "lines"}) == []


def test_a_fit_worse_than_the_mean_lies_below_zero():
    chart = r2_by_rows(make_blocks(r2=(-0.31, math.nan, 0.5)))
    assert [tick.text for tick in chart.up] == ["0.0", "0.5", "1.0"]
    assert chart.up[0].at < 150.0  # where −0.4 is
    assert chart.lines[0].path.count("L") == 1
