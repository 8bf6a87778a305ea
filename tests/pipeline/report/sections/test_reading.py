"""How to read a panel: units, and what the two intervals promise."""

import dataclasses
import json

import pytest
from influence_atlas import make_influences, make_models
from report_content import make_blocks, make_rows
from report_page import read_table


@pytest.mark.parametrize(("correction", "alpha", "share"), [("holm", 0.2, "a 20 %"), ("bonferroni", 0.08, "an 8 %")])
def test_a_family_wise_correction_promises_something_else(report, correction, alpha, share):
    _, page = report(make_rows(9, 3), correction=correction, alpha=alpha)
    assert f"3 of 9 pairs influence their target differently, with at most {share} chance of any false" in page.text
    assert "false discovery rate" not in page.text
    assert f"the chance that any of them has its Δ outside is at most {share.split(' ', 1)[1]}." in page.text
    assert "1 − α/m for each of m tests" in page.text
    assert "false coverage rate" not in page.text


def test_another_unit_is_not_called_a_margin(report):
    _, page = report(make_rows(9, 2), unit="loss", mask_law="bernoulli", configuration="")
    assert "the loss on the target by" in page.text
    assert "more sure of the true class" not in page.text
    assert "as if by independent coins" in page.text
    assert "Configuration" not in page.text


def test_the_page_says_what_the_two_intervals_promise(report):
    rows = [*make_rows(40, 6), *make_rows(30, 0, method="swap"), *make_rows(50, 2, method="contrast")]
    folder, page = report(rows)
    assert "Thick: the 95 % interval, right for a pair named in advance. Thin: the interval to trust for a" in page.text
    assert "on average at most 20 % of them have their Δ outside." in page.text
    total = {m: sum(1 / k for k in range(1, m + 1)) for m in (40, 50)}
    levels = [1 - 0.2 * found / (m * total[m]) for found, m in ((6, 40), (2, 50))]
    assert "at a higher level, 99.3 % for paired, 99.8 % for contrast:" in page.text
    assert page.rows[0][10] == "as a finding (99.3\N{NO-BREAK SPACE}%)"
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"]
    assert told[1]["selected_confidence"] is None
    assert [method["selected_confidence"] for method in told[::2]] == pytest.approx(levels)
    written = read_table(folder / "tests.csv")
    assert {(r["effect_low_selected"] == "nan") for r in written if r["finding"] == "false"} == {True}
    assert [float(r["effect_high_selected"]) for r in written if r["finding"] == "true"] == pytest.approx(
        [row.effect_high_selected for row in rows if row.finding], rel=1e-9
    )


def test_where_the_95_percent_interval_holds_for_findings_there_is_no_other(report):
    rows = [
        dataclasses.replace(row, effect_low_selected=row.effect_low, effect_high_selected=row.effect_high)
        for row in make_rows(4, 4)
    ]
    folder, page = report(rows, correction="bh")
    assert "Thick" not in page.text
    assert "thin line" not in page.text
    assert page.all("path", **{"class": "thick"}) == []
    assert {len(row) for row in page.rows} == {10}
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"][0]["selected_confidence"] == 0.95


def test_closest_misses_have_no_other_interval_either(report):
    _, page = report(make_rows(40, 0))
    assert "Thick" not in page.text
    assert page.all("path", **{"class": "thick"}) == []
    assert len(page.all("path", **{"class": "interval"})) == 5


def test_where_every_model_tests_weights_are_not_said_to_be_of_other_models(report):
    models = make_models(targets=range(12))
    influences = make_influences([0], models)
    fields = {"influences": influences, "n_models_test": 900}
    _, page = report(make_rows(9, 2), blocks=make_blocks(), **fields)
    assert "Fitted on other models than those of the test" not in page.text
    assert "which holds though they were picked" not in page.text
    assert "Shown are those of the last fit, on the 700 models before the last block" in page.text
    assert (
        "so the estimates here tend to lie too far from zero, and the intervals do not make up for that." in page.text
    )
    _, page = report(make_rows(9, 2), **fields)
    assert "Fitted on other models than those of the test" in page.text
    assert "which holds though they were picked" in page.text


def test_an_outcome_of_which_less_is_better_is_explained_by_its_name(report):
    _, page = report(make_rows(9, 2), unit="log loss", higher_is_better=False)
    assert "Δ is in the unit of the log loss." in page.text
    assert "raises the log loss on the target, which is worse: here less is better" in page.text
    assert "Helpers are the images with the largest negative weights, which lower the log loss, hurters" in page.text
    assert "margin" not in page.text
    _, page = report(make_rows(9, 2))
    assert "Helpers are the images with the largest positive weights, hurters those with the largest neg" in page.text
    assert "less is better" not in page.text


def test_without_images_and_classes_the_page_speaks_of_items(report):
    rows = [dataclasses.replace(row, class_i="", class_j="", class_target="") for row in make_rows(9, 2)]
    _, page = report(rows, images=None)
    assert "A pair is two training items, i and j, and one target item." in page.text
    assert "image" not in page.text
