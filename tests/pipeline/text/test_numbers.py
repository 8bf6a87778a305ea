"""Numbers as text."""

import math

from pipeline.text.numbers import number, thousands, weights


def test_numbers_as_text():
    assert [number(v) for v in (0.03124, -1.5, 5e-5, -2.346e-7, 1e10, math.inf, -math.inf, 0.0, -0.0)] == [
        "0.0312", "−1.5", "5 × 10⁻⁵", "−2.35 × 10⁻⁷", "1 × 10¹⁰", "∞", "−∞", "0", "0",
    ]  # fmt: skip


def test_counts_and_weights_as_text():
    assert thousands(1234567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert weights([0.44, 0.2, -0.091]) == ["0.44", "0.20", "−0.09"]
    assert weights([0.0041, 0.001]) == ["0.0041", "0.0010"]
    assert weights([]) == []
