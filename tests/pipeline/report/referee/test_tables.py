"""CSV and JSON beside the page."""

import csv
import json

from pipeline.report.referee.tables import write_tables


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_claims_are_a_row_each(tmp_path, content):
    write_tables(tmp_path, content)
    claims = rows(tmp_path / "claims.csv")
    assert [(r["method"], r["target"], r["better"], r["worse"], r["verdict"]) for r in claims] == [
        ("A & <b>", "0", "0", "3", "confirmed"),
        ("A & <b>", "1", "4", "2", "unproven"),
        ("A & <b>", "1", "0", "1", "untested"),
        ("second", "0", "3", "0", "reversed"),
        ("second", "0", "2", "1", "confirmed"),
    ]
    assert (claims[0]["label_target"], claims[0]["label_better"], claims[0]["label_worse"]) == ("dog", "cat", "dog")
    assert (claims[0]["kind"], claims[0]["rank"], claims[0]["adjusted"]) == ("helper ≻ hurter", "1", "3e-09")


def test_methods_and_contradictions(tmp_path, content):
    write_tables(tmp_path, content)
    first, second = rows(tmp_path / "methods.csv")
    assert (first["method"], first["claims"], first["confirmed"], first["untested"]) == ("A & <b>", "3", "1", "1")
    assert (second["reversed"], second["lds_low"], second["fit_correlation"]) == ("1", "0.4", "-0.5")
    found = rows(tmp_path / "contradictions.csv")
    assert [(r["right"], r["wrong"], r["disagreement"], r["better"]) for r in found] == [
        ("A & <b>", "second", "0.75", "0"),
        ("second", "A & <b>", "0.5", "2"),
    ]


def test_json_says_what_the_page_says(tmp_path, content):
    write_tables(tmp_path, content)
    said = json.loads((tmp_path / "referee.json").read_text())
    assert said["format"] == "datamodels-inf referee 1"
    assert said["scores_have_seen_tested_models"] == "not known"
    assert "p-values are not valid" in said["leak"]
    assert "its sign may be turned" in said["warnings"][0]
    assert said["methods"][1]["verdicts"]["reversed"] == 1
    assert said["headline"].startswith("Confirmed most: second, 1 of 2")
