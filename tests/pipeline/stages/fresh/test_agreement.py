"""The agreement of a whole run: figures of the summary are those of the tables, and the tables those of the stages."""

import numpy as np
import pyarrow.parquet as parquet
import pytest
from small_fresh import FRESH, agreement, pipeline

from pipeline.stages.fresh.agreement import CELLS, PAIRS
from pipeline.summaries import FreshAgreementSummary, read_summary


def columns(result, name):
    table = parquet.read_table(result.folder / name)
    return {column: table[column].to_numpy() for column in table.column_names}


def test_the_summary_says_what_the_tables_hold(agreed):
    summary = read_summary(agreed, FreshAgreementSummary)
    rows = columns(agreed, PAIRS)
    assert summary.n_models == FRESH
    assert list(summary.families) == ["paired", "contrast", "atlas"]
    for method, family in summary.methods.items():
        own = {name: values[rows["method"] == method] for name, values in rows.items()}
        for kind, found in ((True, family.findings), (False, family.others)):
            some = {name: values[own["finding"] == kind] for name, values in own.items()}
            assert found.n == len(some["effect"])
            assert found.same_sign == pytest.approx(np.mean(some["effect"] * some["fresh"] > 0))
            apart = np.abs(some["effect"] - some["fresh"])
            half = (some["high"] - some["low"]) / 2
            reach = np.sqrt(half**2 + (half / some["se"] * some["fresh_se"]) ** 2)
            assert found.coverage == pytest.approx(np.mean(apart <= reach))
            assert found.slope == pytest.approx((some["effect"] @ some["fresh"]) / (some["effect"] @ some["effect"]))
            assert found.same_sign_low <= found.same_sign <= found.same_sign_high
        assert family.findings.false_share == pytest.approx(2 - 2 * family.findings.same_sign)
        assert family.findings.false_bound >= family.findings.false_share
        assert family.n_found == family.findings.n
    atlas = columns(agreed, CELLS)
    assert summary.atlas.findings.n == atlas["finding"].sum()
    assert list(atlas)[:3] == ["image", "target", "finding"]


def test_the_findings_are_those_of_the_test_stage_with_its_effects(agreed, inputs):
    tests = parquet.read_table(inputs["test"].folder / "tests.parquet").to_pylist()
    known = {(row["method"], row["i"], row["j"], row["target"]): row for row in tests}
    rows = parquet.read_table(agreed.folder / PAIRS).to_pylist()
    assert len({(row["method"], row["i"], row["j"], row["target"]) for row in rows}) == len(rows)
    largest = {}
    for row in rows:
        of = known[row["method"], row["i"], row["j"], row["target"]]
        assert (row["effect"], row["se"], row["low"]) == (of["effect"], of["effect_se"], of["effect_low"])
        assert (row["low_selected"] <= row["low"]) == row["finding"]
        if row["finding"]:
            largest[row["method"]] = max(largest.get(row["method"], 0.0), of["pvalue"])
    for key, of in known.items():  # All of them.
        below = of["pvalue"] <= largest[key[0]]
        assert not below or any(key == (r["method"], r["i"], r["j"], r["target"]) and r["finding"] for r in rows)


def test_the_fresh_models_agree_with_findings_more_than_with_others(agreed):
    """Real effects: nearly all signs of findings agree, and of others not much more than half."""
    for family in read_summary(agreed, FreshAgreementSummary).methods.values():
        assert family.findings.same_sign > 0.9 > 0.75 > family.others.same_sign
        assert family.findings.confirmed > 0.5 * family.findings.n
        assert family.findings.reversed == 0


def test_what_decides_about_findings_enters_the_key_and_nothing_else(made, agreed):
    def key(*more):
        return dict(pipeline(made, f"verify.fresh={FRESH}", *more).specs())["agreement"].key

    assert key("report.max_panels=3", "robustness.neighbours=3", "test.chunk_pairs=7") == key()
    assert len({key(), key("test.alpha=0.05"), key("test.correction=bh"), key("verify.seed=1")}) == 4


def test_where_nothing_is_found_others_are_compared(made, agreed):
    summary = read_summary(agreement(made, "test.alpha=1e-200"), FreshAgreementSummary)
    for family in summary.methods.values():
        assert (family.n_found, family.findings, family.others.n) == (0, None, 100)


def test_findings_of_a_correction_with_a_prior_have_their_own_levels(made, agreed):
    result = agreement(made, "test.correction=prior")
    assert read_summary(result, FreshAgreementSummary).methods["contrast"].findings.coverage_selected > 0.9
    rows = columns(result, PAIRS)
    found = rows["finding"]
    levels = ((rows["high_selected"] - rows["low_selected"]) / rows["se"])[found]
    assert levels.std() > 0.01  # By weight.


def test_beyond_a_tau_signs_say_nothing_about_false_findings(made, agreed):
    summary = read_summary(agreement(made, "test.tau=0.01", "test.method=paired"), FreshAgreementSummary)
    found = summary.methods["paired"].findings
    assert found.n > 0
    assert (found.false_share, found.false_bound) == (None, None)
    assert summary.atlas.findings.false_share is not None  # It asks for any influence at all.
