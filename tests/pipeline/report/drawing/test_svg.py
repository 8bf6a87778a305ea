"""Ticks of axes."""

import numpy as np

from pipeline.report.drawing.svg import decades, ticks_of


def test_ticks_are_round_numbers_inside_the_axis():
    assert [text for _, text in ticks_of(0.0, 1.0, 6)] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [text for _, text in ticks_of(-3.1, 7.9, 6)] == ["−2.5", "0.0", "2.5", "5.0", "7.5"]
    assert [text for _, text in ticks_of(-0.013, 0.052, 6)] == ["0.00", "0.02", "0.04"]
    rng = np.random.default_rng(3)
    for low, width in zip(rng.normal(0, 50, 300), 10 ** rng.uniform(-3, 4, 300), strict=True):
        ticks = ticks_of(low, low + width, 6)
        assert 2 <= len(ticks) <= 6
        assert low - 1e-6 * width <= ticks[0][0] < ticks[-1][0] <= low + width * (1 + 1e-6)
        assert len({text for _, text in ticks}) == len(ticks)


def test_powers_of_ten_on_an_axis():
    assert [text for _, text in decades(-9.0, 0.0, 6)] == ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1"]
    assert [text for _, text in decades(0.0, 3.3, 5)] == ["1", "10", "100", "1000"]
    assert decades(-1.0, 0.0, 5) == [(-1.0, "0.1"), (0.0, "1")]
