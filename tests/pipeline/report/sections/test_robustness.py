"""The section of the re-runs: table, strips and plots."""

import csv

import pytest
from clustered_images import rows_of, run, settings
from PIL import Image
from report_content import Page

from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.text.numbers import pvalue


def test_the_report_shows_the_table_the_strips_and_the_plots(clusters, robustness_report):
    html = (robustness_report / "index.html").read_text(encoding="utf-8")
    page = Page(html)
    (rows,) = [rows for kind, rows in page.tables if kind == "reruns"][:1]
    result = run(clusters, "robustness.top=2", "robustness.neighbours=3")
    case = result.summary["cases"][0]
    assert len(rows) == 1 + 1 + 3 + 3  # Targets, the original, its look-alikes, medians of three roles.
    original = [r for r in rows_of(result) if r["case"] == 0 and r["role"] == "original"]
    shown = [cell.split("Δ")[0] for cell in rows[1][2:]]
    assert shown == [pvalue(r["pvalue"]) for r in original]
    assert [cell.split()[-1] for cell in rows[2][:2]] == [str(case["near"][side]["images"][0]) for side in ("i", "j")]
    assert "Follow-up" in page.text
    assert page.text.count("same sign of Δ") == 2
    assert html.count('class="lane"') == 2 * 5
    with (robustness_report / "reruns.csv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    assert len(listed) == len(rows_of(result))
    for line, row in zip(listed, rows_of(result), strict=True):
        assert (line["role"], int(line["i"]), int(line["target"])) == (row["role"], row["i"], row["target"])
        assert float(line["adjusted"]) == pytest.approx(row["adjusted"])
    with Image.open(robustness_report / "robustness.png") as picture:
        assert picture.width > 600
        assert picture.height > 1000


def test_a_report_without_findings_says_that_nothing_was_made_again(clusters, tmp_path):
    extra = ["robustness.top=2", "test.alpha=1e-200"]
    config = load_config("digits", [*settings(clusters / "alike"), *extra])
    Pipeline(config, clusters / "alike" / "store", tmp_path, quiet=True).run("report")
    text = Page((tmp_path / config.report.name / "index.html").read_text(encoding="utf-8")).text
    assert "There is no finding, so nothing was tested again." in text
