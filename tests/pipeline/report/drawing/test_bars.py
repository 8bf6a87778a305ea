"""Bars of effects: one scale, two intervals."""

import dataclasses
import math

import numpy as np
import pytest
from PIL import Image
from report_content import make_row, make_rows

from pipeline.report.drawing.bars import Span, bar_of, common_limit


def test_bars_share_a_scale_that_one_wild_interval_cannot_spoil():
    rows = [make_row(finding=False, effect=0.3, effect_low=0.2, effect_high=0.4) for _ in range(9)]
    assert common_limit(rows) == pytest.approx(0.4)
    wild = make_row(finding=False, effect=0.3, effect_low=-500.0, effect_high=math.inf)
    limit = common_limit([*rows, wild])
    assert limit == pytest.approx(4.0)
    bar = bar_of(wild, limit)
    assert (bar.interval, bar.longer, bar.side) == (Span(0.0, 1.0, True, True), None, "unsure")
    bar = bar_of(rows[0], 0.4)
    assert (bar.effect, bar.interval.low, bar.interval.high) == (pytest.approx(0.875), pytest.approx(0.75), 1.0)
    assert (bar.side, bar.longer) == ("raises", None)
    assert bar_of(make_row(effect=math.nan), 1.0) is None
    unknown = {"effect": math.nan, "effect_low": -math.inf, "effect_high": math.inf}
    assert common_limit([make_row(finding=False, **unknown)]) == 1.0


def test_every_estimate_has_its_place_on_the_shared_scale():
    rows = [make_row(finding=False, effect=0.3, effect_low=0.2, effect_high=0.4) for _ in range(9)]
    largest = make_row(finding=False, effect=-7.3, effect_low=-9.9, effect_high=-5.0)  # 18 times the usual reach
    limit = common_limit([*rows, largest])
    assert limit == pytest.approx(8.0)
    bar = bar_of(largest, limit)
    assert bar.effect == pytest.approx((1.0 - 7.3 / 8.0) / 2.0)
    assert (bar.outer.open_low, bar.outer.open_high) == (True, False)


def test_the_longer_interval_of_a_finding_is_drawn_around_the_95_percent_one(report):
    row = make_row(
        effect=0.3, effect_low=0.2, effect_high=0.4, effect_low_selected=-0.1, effect_high_selected=0.7,
    )  # fmt: skip
    assert common_limit([row]) == pytest.approx(0.8)
    bar = bar_of(row, 0.8)
    assert (bar.outer.low, bar.outer.high) == (pytest.approx(0.4375), pytest.approx(0.9375))
    assert (bar.interval.low, bar.interval.high, bar.side) == (pytest.approx(0.625), pytest.approx(0.75), "raises")
    bar = bar_of(row, 0.5)
    assert (bar.outer.open_low, bar.outer.open_high, bar.interval.open_high) == (False, True, False)
    assert bar_of(dataclasses.replace(row, effect_low_selected=0.2, effect_high_selected=0.4), 0.8).longer is None
    folder, page = report([row, *make_rows(40, 0)])
    [bar] = page.all("svg", **{"class": "bar"})
    assert bar["aria-label"] == "effect 0.30 (0.20 to 0.40), as a finding −0.10 to 0.70, on a line from −0.8 to 0.8"
    [_, thin], [_, thick] = (page.all("path", **{"class": kind}) for kind in ("longer", "thick"))
    assert thin["d"] == "M141.8 16H287.8M141.8 9v14M287.8 9v14"
    assert thick["d"] == "M196.5 16H233.0"
    assert "95 % interval 0.20 to 0.40; −0.10 to 0.70 as the only finding; that contains zero" in page.text
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        pixels = np.asarray(panel.convert("RGB")).astype(int)
    blue = (np.abs(pixels - (0x00, 0x72, 0xB2)).sum(axis=2) < 3)[:, 780:1090]
    across = [np.ptp(np.flatnonzero(line)) for line in blue if line.any()]
    assert max(across) == pytest.approx(262 * 0.5, abs=3)  # from −0.1 to 0.7 of −0.8 to 0.8
    assert sorted(across)[len(across) // 2] == pytest.approx(max(across), abs=3)  # the ends are marked
