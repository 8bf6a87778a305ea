"""Claims beside fresh models: what is said of each and of all, and the table."""

import math

import pytest
from pyarrow import parquet
from small_trained import make_claim, make_verified

from pipeline.verified import COLUMNS, FILE, Claim, Tally, Verified, read_verified, write_verified

NAN = math.nan


@pytest.mark.parametrize(
    ("effect", "marginal", "selected", "sign"),
    [(0.5, True, True, True), (0.65, False, True, True), (0.9, False, False, True), (-0.5, False, False, False)],
)
def test_where_the_fresh_estimate_lies(effect, marginal, selected, sign):
    row = make_verified(effect)
    assert (row.inside_marginal, row.inside_selected, row.same_sign) == (marginal, selected, sign)
    assert row.z == pytest.approx((0.4 - effect) / math.hypot(0.1, 0.1))
    assert row.compatible == (abs(row.z) <= 1.96)
    assert row.verdict == ("confirmed" if sign else "reversed")


def test_what_is_not_known_is_not_counted():
    named = make_verified(0.5, finding=None, method="", effect_low_selected=NAN, effect_high_selected=NAN)
    unknown = make_verified(0.5, effect=NAN, effect_low=NAN, effect_high=NAN)
    assert (named.inside_selected, named.title) == (None, "The pair that was asked for")
    assert (unknown.inside_marginal, unknown.same_sign, unknown.compatible, unknown.verdict) == (
        None, None, None, "confirmed",
    )  # fmt: skip
    tally = Tally.of([named, unknown, make_verified(0.05), make_verified(-0.65)])
    assert tally.verdicts == {"confirmed": 2, "open": 1, "reversed": 1}
    assert (tally.same_sign, tally.inside_marginal, tally.inside_selected) == ((2, 3), (1, 3), (1, 3))
    assert tally.sentence.startswith("2 confirmed, 1 open, 1 reversed; 2 of 3 agree in sign; 1 of 3 inside the 95 %")
    assert "findings’" not in Tally.of([named]).sentence


def test_rows_go_through_the_table_and_back(tmp_path):
    rows = [make_verified(0.5), make_verified(0.2, finding=None, members_i=(4, 8), members_j=(0, 9), effect=0.3)]
    write_verified(tmp_path, rows)
    assert read_verified(tmp_path) == rows
    table = parquet.read_table(tmp_path / FILE)
    assert table.column_names == list(COLUMNS)
    assert table["i"].to_pylist() == [1, 4]
    write_verified(tmp_path, [])
    assert read_verified(tmp_path) == []
    assert parquet.read_table(tmp_path / FILE).schema == table.schema


def test_every_part_of_a_claim_is_kept():
    claim, row = make_claim(), make_verified(0.5)
    assert {name: getattr(row, name) for name in vars(claim)} == vars(claim)
    assert issubclass(Verified, Claim)
