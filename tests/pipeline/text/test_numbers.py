"""Numbers as text."""

import math

import pytest

from pipeline.text.numbers import are_counted, counted, number, p_equals, pvalue, terminal_pvalue, thousands, weights


def test_numbers_as_text():
    assert [number(v) for v in (0.03124, -1.5, 5e-5, -2.346e-7, 1e10, math.inf, -math.inf, 0.0, -0.0)] == [
        "0.0312", "−1.5", "5 × 10⁻⁵", "−2.35 × 10⁻⁷", "1 × 10¹⁰", "∞", "−∞", "0", "0",
    ]  # fmt: skip


def test_counts_and_weights_as_text():
    assert thousands(1234567) == "1,234,567"
    assert weights([0.44, 0.2, -0.091]) == ["0.44", "0.20", "−0.09"]
    assert weights([0.0041, 0.001]) == ["0.0041", "0.0010"]
    assert weights([]) == []


def test_a_pvalue_that_underflowed_is_tiny_and_not_0():
    assert (pvalue(0.0), p_equals(0.0), p_equals(0.01234)) == ("< 10⁻³⁰⁰", "p < 10⁻³⁰⁰", "p = 0.0123")
    assert [terminal_pvalue(v) for v in (0.0, 1e-320, 0.012345, 1.0, math.nan)] == [
        "<1e-300", "1e-320", "0.0123", "1", "nan",
    ]  # fmt: skip
    assert [terminal_pvalue(v, 2) for v in (0.0, 0.012345, 3.456e-12)] == ["<1e-300", "0.012", "3.5e-12"]


@pytest.mark.parametrize(("count", "said"), [(0, "are 0 pairs"), (1, "is 1 pair"), (2000, "are 2,000 pairs")])
def test_one_is_not_many(count, said):
    assert are_counted(count, "pair") == said
    assert counted(count, "pair") == said.partition(" ")[2]
    assert are_counted(count, "pair", first=True) == f"{said.partition(' ')[2]} {said.partition(' ')[0]}"
