"""Bars of equal length whose parts are the shares."""

import pytest

from pipeline.report.referee.stacked_bars import LEFT, WIDTH, stacked_bars


def test_parts_are_shares_side_by_side(content):
    figure = stacked_bars(content.summary.methods)
    first, second = figure.bars
    assert [part.verdict for part in first.parts] == ["confirmed", "unproven", "untested"]
    assert [part.verdict for part in second.parts] == ["confirmed", "reversed"]
    for bar in figure.bars:
        assert sum(float(part.width) for part in bar.parts) == pytest.approx(WIDTH - LEFT, abs=0.2)
        for left, right in zip(bar.parts, bar.parts[1:], strict=False):
            assert float(left.x) + float(left.width) == pytest.approx(float(right.x), abs=0.2)
    assert "second: 1 confirmed, 1 reversed" in figure.alt


def test_a_narrow_part_has_no_number_and_no_claim_no_part(content):
    one = content.summary.methods[0]
    narrow = one.model_copy(
        update={"n_claims": 1000, "verdicts": {"confirmed": 10, "unproven": 990, "reversed": 0, "untested": 0}}
    )
    assert [part.text for part in stacked_bars([narrow]).bars[0].parts] == ["", "990"]
    none = one.model_copy(update={"n_claims": 0, "verdicts": dict.fromkeys(one.verdicts, 0)})
    assert stacked_bars([none]).bars[0].parts == ()
