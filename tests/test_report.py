"""The report: its files, its sentences, its numbers, and every odd content it must survive."""

import base64
import csv
import dataclasses
import json
import math
import re
import time
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from report_content import (
    EVIL,
    NAMES,
    Page,
    check_self_contained,
    make_content,
    make_images,
    make_masks,
    make_quality,
    make_row,
    make_rows,
)

from pipeline.report import COLUMNS, Images, write_report
from pipeline.report.drawing.bars import Span, bar_of, common_limit
from pipeline.report.drawing.canvas import PLAIN, fit, font, wrap
from pipeline.report.drawing.svg import decades, ticks_of
from pipeline.report.names import class_name
from pipeline.report.rows import Numbered, groups_of
from pipeline.report.sections.datamodels import quality_sentence
from pipeline.report.sentences import effect_texts, sentence
from pipeline.text.numbers import number, p_equals, thousands, unbroken, weights

ENDS = {"low": -1, "high": 1, "low_selected": -1, "high_selected": 1}


def section_of(page):
    start = page.html.index('<section id="datamodels">')
    return page.html[start : page.html.index("</section>", start)]


def part_of(page):
    """The section of the datamodels alone."""
    return Page(section_of(page) + "</section>")


def points_of(path):
    """Where the dots of a path are."""
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", path)]


def scatters_of(page):
    """The dots of every scatter plot."""
    parts = page.html.split('<svg class="scatter"')[1:]
    return [points_of(re.search(r'class="dots" d="([^"]*)"', part)[1]) for part in parts]


@pytest.fixture
def report(tmp_path):
    """Writes a report into a folder of its own and returns the folder and the parsed page."""
    count = iter(range(100))

    def write(rows, **changes):
        folder = tmp_path / f"report{next(count)}"
        folder.mkdir()
        paths = write_report(folder, make_content(rows, **changes))
        assert sorted(paths) == sorted(p for p in folder.rglob("*") if p.is_file())
        assert {"index.html", "overview.png", "findings.csv", "tests.csv", "report.json"} <= {p.name for p in paths}
        page = Page((folder / "index.html").read_text(encoding="utf-8"))
        check_self_contained(page)
        return folder, page

    return write


def read_table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def value_of(text):
    """The number that stands in a text of the page."""
    mantissa, _, power = text.replace("−", "-").replace("< 10", "1 × 10").partition(" × 10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(mantissa) * 10.0 ** int(digits or 0)


@pytest.mark.parametrize(
    ("tests", "found", "expected"),
    [
        (2000, 7, "7 of 2000 pairs influence their target differently, at a false discovery rate of 0.2."),
        (2000, 1, "1 of 2000 pairs influences its target differently, at a false discovery rate of 0.2."),
        (
            40,
            0,
            "None of the 40 pairs was found to influence its target differently, at a false discovery rate of 0.2.",
        ),
        (1, 1, "1 of 1 pair influences its target differently, at a false discovery rate of 0.2."),
        (1, 0, "The one pair tested was not found to influence its target differently, at a false discovery"),
        (0, 0, "No pair was tested."),
    ],
)
def test_the_answer_comes_first(report, tests, found, expected):
    folder, page = report(make_rows(tests, found))
    assert page.text.startswith(f"Digits Digits {expected}")
    assert len(read_table(folder / "tests.csv")) == tests
    assert len(read_table(folder / "findings.csv")) == found
    panels = sorted(p.name for p in folder.glob("panels/*"))
    assert panels == [f"paired-{k:03d}.png" for k in range(1, found + 1)]
    assert ("5 × 10⁻⁵" in page.text) == (tests == 2000)


@pytest.mark.parametrize(("correction", "alpha", "share"), [("holm", 0.2, "a 20 %"), ("bonferroni", 0.08, "an 8 %")])
def test_a_family_wise_correction_promises_something_else(report, correction, alpha, share):
    _, page = report(make_rows(9, 3), correction=correction, alpha=alpha)
    assert f"3 of 9 pairs influence their target differently, with at most {share} chance of any false" in page.text
    assert "false discovery rate" not in page.text
    assert f"the chance that any of them has its Δ outside is at most {share.split(' ', 1)[1]}." in page.text
    assert "1 − α/m for each of m tests" in page.text
    assert "false coverage rate" not in page.text


def test_twenty_findings_with_fewer_panels(report):
    folder, page = report(make_rows(60, 20), max_panels=6)
    assert len(page.all("article")) == len(list(folder.glob("panels/*"))) == 6
    assert len(page.all("img")) == 18 + len(page.all("section", **{"class": "group"}))
    assert "14 more findings are in the table below and in findings.csv" in page.text
    assert len(page.rows) == 21
    assert [a["href"] for a in page.all("a") if a["href"].startswith("#")] == [f"#paired-{k}" for k in range(1, 7)]
    _, page = report(make_rows(60, 20), max_panels=19)
    assert "1 more finding is in the table" in page.text
    folder, page = report(make_rows(60, 20), max_panels=0)
    assert page.all("img") == []
    assert not (folder / "panels").exists()


def test_two_thousand_findings_in_time_and_size(report):
    start = time.process_time()
    folder, page = report(make_rows(2000, 2000), images=make_images((32, 32, 3)))
    assert time.process_time() - start < 15.0
    assert (folder / "index.html").stat().st_size < 2e6
    assert len(page.all("article")) == 50
    assert "1950 more findings" in page.text
    assert len(page.rows) == 2001
    assert "The first 2000" not in page.text


def test_the_table_on_the_page_has_an_end(report):
    _, page = report(make_rows(2100, 2100), max_panels=0)
    assert len(page.rows) == 2001
    assert "The first 2000 of 2100 findings; all of them are in findings.csv" in page.text


def test_nothing_found_shows_the_closest_misses(report):
    rows = make_rows(40, 0)
    _, page = report(rows)
    assert "Nothing was found." in page.text
    assert len(page.all("article", **{"class": "card"})) == 5
    assert page.text.count("not a finding") == 5
    assert len(page.rows) == 0
    nearest = sorted(row.pvalue for row in rows)[:5]
    misses = dict(re.findall(r"Closest miss (\d) not a finding (p = [\d.]+)", page.text))
    assert misses == {str(k): p_equals(p) for k, p in enumerate(nearest, start=1)}


def test_findings_come_in_order_and_methods_in_groups(report):
    same = [
        make_row(finding=True, pvalue=1e-6, effect=effect, target=target, i=i, j=5)
        for effect, target, i in [(0.1, 0, 0), (-0.3, 3, 2), (-0.3, 3, 1), (-0.3, 2, 9), (math.nan, 0, 0)]
    ]
    other = [make_row(7, method="swap", pvalue=1e-9), *make_rows(3, 0, method="swap-exact")]
    folder, page = report([*same, *other, make_row(8, finding=True, pvalue=1e-7)])
    lines = read_table(folder / "findings.csv")
    assert [(r["method"], r["target"], r["i"]) for r in lines[1:]] == [
        ("paired", "2", "9"),
        ("paired", "3", "1"),
        ("paired", "3", "2"),
        ("paired", "0", "0"),
        ("paired", "0", "0"),
        ("swap", lines[-1]["target"], lines[-1]["i"]),
    ]
    assert "paired 6 of 6 pairs influence" in page.text
    assert "swap 1 of 1 pair influences" in page.text
    assert "swap-exact None of the 3 pairs was" in page.text
    assert sorted(a["id"] for a in page.all("article") if "id" in a) == [
        *(f"paired-{k}" for k in range(1, 7)),
        "swap-1",
    ]
    assert [g.method for g in groups_of([*same, *other])] == ["paired", "swap", "swap-exact"]
    assert [a["value"] for a in page.all("input", name="method")] == ["0", "1", "2"]
    sections = re.findall(r'<div class="of-method" data-method="(\d)">\s*<h3>([^<]+)</h3>', page.html)
    assert sections[:3] == [("0", "paired"), ("1", "swap"), ("2", "swap-exact")]


def test_numbers_on_the_page_are_those_of_the_table(report):
    rows = make_rows(50, 30)
    folder, page = report(rows)
    assert (folder / "tests.csv").read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)
    written = read_table(folder / "tests.csv")
    assert [int(r["i"]) for r in written] == [row.i for row in rows]
    assert [float(r["effect"]) for r in written] == pytest.approx([row.effect for row in rows], rel=1e-9)
    assert {r["finding"] for r in written} == {"true", "false"}
    for cells, line in zip(page.rows[1:], read_table(folder / "findings.csv"), strict=True):
        assert cells[1] == f"{line['class_target']} {line['target']}"
        assert cells[2] == f"{line['class_i']} {line['i']}"
        columns = ("statistic", "pvalue", "pvalue_adjusted", "theta_i", "theta_j")
        for text, column in zip(cells[4:9], columns, strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), rel=0.0051)
        effect = re.fullmatch(r"(\S+) \((\S+) to (\S+)\)", cells[9]).groups()
        for text, column in zip(effect, ("effect", "effect_low", "effect_high"), strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), abs=0.0051)
        for text, column in zip(cells[10].split(" to "), ("effect_low_selected", "effect_high_selected"), strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), abs=0.0051)
        assert f"{p_equals(float(line['pvalue']))} adjusted {number(float(line['pvalue_adjusted']))}" in page.text
    keys = ("pvalue", "pvalue_adjusted", "statistic", "theta_i", "theta_j", "effect")
    items = [a for a in page.all("tr") if "data-s" in a]
    assert [a["data-s"].split() for a in items] == [[r[k] for k in keys] for r in read_table(folder / "findings.csv")]
    assert [a["data-t"] for a in items] == [r["target"] for r in read_table(folder / "findings.csv")]


def test_the_same_content_gives_the_same_bytes(report):
    rows = [*make_rows(30, 8), *make_rows(20, 0, method="swap")]
    first, _ = report(rows)
    second, _ = report(list(rows))
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()


@pytest.mark.parametrize("shape", [(8, 8), (32, 32, 3), (28, 20), (300, 200, 3)])
def test_images_of_any_size(report, shape):
    folder, page = report(make_rows(9, 2), images=make_images(shape))
    assert page.all("img")[2]["alt"].startswith("image i: ")
    shown = Image.open(BytesIO(base64.b64decode(page.all("img")[0]["src"].split(",")[1])))
    factor = -(-max(shape[:2]) // 96)
    assert shown.size == (-(-shape[1] // factor), -(-shape[0] // factor))
    if factor == 1:
        target = int(read_table(folder / "findings.csv")[0]["target"])
        np.testing.assert_array_equal(np.asarray(shown), make_images(shape).targets[target])
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        assert panel.info == {}
        assert panel.width > 1000


def test_the_panel_enlarges_without_blur(report):
    folder, _ = report([make_row(3)])
    target = make_images().targets[make_row(3).target]
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        tile = np.asarray(panel)[98 : 98 + 224, 36 : 36 + 224]
    np.testing.assert_array_equal(tile, np.repeat(np.kron(target, np.ones((28, 28), np.uint8))[..., None], 3, axis=2))


def test_without_images_grey_tiles_stand_in(report):
    folder, page = report(make_rows(9, 2), images=None)
    assert page.all("img") == []
    assert len(page.all("div", **{"class": "blank"})) == 6 + len(page.all("section", **{"class": "group"}))
    assert "give source.images in the configuration and run again" in page.text
    assert len(list(folder.glob("panels/*"))) == 2


def test_hostile_and_long_names_are_only_text(report):
    rows = [
        make_row(1, class_i=EVIL, class_target="x" * 400, note=EVIL, method=EVIL),
        make_row(2, class_j="", method="b"),
    ]
    folder, page = report(rows, title=EVIL, provenance={EVIL: EVIL}, configuration=f"# </pre>{EVIL}")
    assert page.html.count("<script") == 1
    assert page.text.count(EVIL) >= 8
    assert "that image (train" in page.text
    lines = read_table(folder / "findings.csv")
    assert lines[0]["class_i"] == EVIL


def test_effects_that_could_not_be_estimated(report):
    line, unknown = ({f"effect_{end}": value * sign for end, sign in ENDS.items()} for value in (math.inf, math.nan))
    rows = [
        make_row(1, effect=math.nan, **line, theta_i=math.nan, note="θ̂_i = θ̂_j: uninformative"),
        make_row(2, effect=0.31, **line),
        make_row(3, effect=0.31, **unknown, pvalue=0.0),
        *make_rows(40, 0),
    ]
    folder, page = report(rows, r2_median=math.nan, spearman_median=math.nan)
    assert sorted(row[10] for row in page.rows[1:]) == ["–", "–", "−∞ to ∞"]
    assert len(page.all("path", **{"class": "thick"})) == 1  # in the legend
    assert page.text.count("the effect could not be estimated") == 1
    assert "its 95 % interval is the whole line" in page.text
    assert "no interval is known" in page.text
    assert "θ̂_i = θ̂_j: uninformative" in page.text
    assert "median R² of the datamodels not known" in page.text
    assert "p < 10⁻³⁰⁰" in page.text
    assert not re.search(
        r"\bnan\b", re.sub(r'(src|data-s)="[^"]*"|<script>.*</script>', "", page.html, flags=re.DOTALL)
    )
    assert len(page.all("svg", **{"class": "bar"})) == 2
    assert {r["effect_high"] for r in read_table(folder / "findings.csv")} == {"inf", "nan"}


@pytest.mark.parametrize(
    ("effect", "low", "high", "expected"),
    [
        (0.31, 0.22, 0.4, "Training on {pair} raises the margin on the target by 0.31, 95 % interval 0.22 to 0.40{_}."),
        (
            -0.31,
            -0.4,
            -0.22,
            "Training on {pair} lowers the margin on the target by 0.31, 95 % interval 0.22 to 0.40{_}.",
        ),
        (
            2.5,
            1.25,
            math.inf,
            "Training on {pair} raises the margin on the target by 2.50, 95 % interval 1.25 to ∞{_}.",
        ),
        (
            -0.05,
            -0.2,
            0.1,
            "By estimate, training on {pair} lowers the margin on the target by 0.05; "
            "the 95 % interval of Δ, −0.20 to 0.10, contains zero.",
        ),
        (
            0.0,
            -1.0,
            1.0,
            "By estimate, training on {pair} leaves the margin on the target as it is; "
            "the 95 % interval of Δ, −1.0 to 1.0, contains zero.",
        ),
    ],
)
def test_the_effect_in_words(effect, low, high, expected):
    row = make_row(
        class_i="dog", i=12, class_j="truck", j=801, effect=effect, effect_low=low, effect_high=high,
        effect_low_selected=-0.48 if effect < 0 else -0.01, effect_high_selected=0.01 if effect < 0 else 0.48,
    )  # fmt: skip
    pair = "this dog (train 12) instead of that truck (train 801)"
    for n_found, one in ((1, "the only finding"), (39, "one of 39 findings")):
        told = expected.format(pair=pair, _=f"; −0.01 to 0.48 as {one}")
        assert sentence(Numbered(7, row, n_found), "margin") == told
    same = dataclasses.replace(row, effect_low_selected=low, effect_high_selected=high)
    assert sentence(Numbered(7, same, 39), "margin") == expected.format(pair=pair, _="")
    missed = sentence(Numbered(1, dataclasses.replace(row, finding=False), 0), "margin")
    assert missed.startswith("By estimate, training on this dog")
    assert missed.endswith(("the test does not confirm it.", "contains zero."))
    assert unbroken("(train 12), 95 % x").count("\N{NO-BREAK SPACE}") == 2
    assert unbroken("p ≤ 1.2 × 10⁻⁵ of 3") == "p ≤ 1.2\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁵ of 3"


def test_numbers_as_text():
    assert [number(v) for v in (0.03124, -1.5, 5e-5, -2.346e-7, 1e10, math.inf, -math.inf, 0.0, -0.0)] == [
        "0.0312", "−1.5", "5 × 10⁻⁵", "−2.35 × 10⁻⁷", "1 × 10¹⁰", "∞", "−∞", "0", "0",
    ]  # fmt: skip
    tiny = make_row(effect=1e-7, effect_low=5e-8, effect_high=2e-7)
    assert effect_texts(tiny) == ("1 × 10⁻⁷", "5 × 10⁻⁸", "2 × 10⁻⁷")
    assert effect_texts(make_row(effect=0.4, effect_low=-0.001, effect_high=0.8)) == ("0.40", "0.00", "0.80")


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
    assert "95 % interval 0.20 to 0.40; −0.10 to 0.70 as the only finding." in page.text
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        pixels = np.asarray(panel.convert("RGB")).astype(int)
    blue = (np.abs(pixels - (0x00, 0x72, 0xB2)).sum(axis=2) < 3)[:, 780:1090]
    across = [np.ptp(np.flatnonzero(line)) for line in blue if line.any()]
    assert max(across) == pytest.approx(262 * 0.5, abs=3)  # from −0.1 to 0.7 of −0.8 to 0.8
    assert sorted(across)[len(across) // 2] == pytest.approx(max(across), abs=3)  # the ends are marked


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


def test_text_in_pictures_stays_inside():
    face = font(PLAIN, 20)
    assert face.getlength(fit("x" * 500, face, 200)) <= 200
    lines = wrap("some words " * 100, face, 300, most=3)
    assert len(lines) == 3
    assert max(face.getlength(line) for line in lines) <= 300
    assert lines[-1].endswith("…")
    assert wrap("", face, 300, most=3) == []


def test_another_unit_is_not_called_a_margin(report):
    _, page = report(make_rows(9, 2), unit="loss", mask_law="bernoulli", configuration="")
    assert "the loss on the target by" in page.text
    assert "more sure of the true class" not in page.text
    assert "as if by independent coins" in page.text
    assert "Configuration" not in page.text


def test_a_warning_stands_under_the_answer(report):
    _, page = report(make_rows(9, 2))
    assert "a swap alone changes nothing" in page.text
    _, page = report(make_rows(9, 2), provenance={"Warning": "the masks failed the check."})
    assert "at a false discovery rate of 0.2. Warning: the masks failed the check. " in page.text
    assert "a swap alone changes nothing" not in page.text


@pytest.mark.parametrize(
    ("r2", "expected"),
    [
        (
            [0.61, 0.75, 0.83],
            "On 4000 held-out models the datamodels explain 75 % of the variance of the margin "
            "(median over 3 targets); the worst target 61 %, the best 83 %.",
        ),
        (
            [0.754],
            "On 4000 held-out models the datamodel of the one target explains 75 % of the variance of the margin.",
        ),
        (
            [-0.4, -0.03, 0.12],
            "On 4000 held-out models the datamodels explain none of the variance of the margin "
            "(median over 3 targets, R² = −0.03); the worst target none (R² = −0.4), the best 12 %.",
        ),
        (
            [-0.4],
            "On 4000 held-out models the datamodel of the one target explains none of the variance of the margin "
            "(R² = −0.4).",
        ),
        (
            [math.nan, 0.0034, 0.997, math.nan],
            "On 4000 held-out models the datamodels explain 50 % of the variance of the margin "
            "(median over 2 targets); the worst target 0.34 %, the best 99.7 %. For 2 other targets R² is not defined, "
            "because their margin does not vary on these models.",
        ),
        (
            [math.nan, 0.3],
            "On 4000 held-out models the datamodel of one target explains 30 % of the variance of the margin. "
            "For one other target R² is not defined, because its margin does not vary on these models.",
        ),
        ([math.nan], "R² is not defined: on 4000 held-out models, the margin of the one target does not vary."),
        (
            [math.nan] * 5,
            "R² is not defined: on 4000 held-out models, the margin of each of the 5 targets does not vary.",
        ),
    ],
)
def test_the_quality_in_words(r2, expected):
    assert quality_sentence(make_quality(r2), 4000, "margin") == expected
    loaded = quality_sentence(make_quality(r2, loaded=True), 4000, "loss")
    assert loaded == expected.replace("the datamodel", "the loaded datamodel").replace("margin", "loss")


def test_the_quality_of_every_target_is_in_a_table(report):
    quality = make_quality([0.61, math.nan, 0.83], gap=np.full(3, math.nan))
    folder, page = report(make_rows(9, 2), quality=quality)
    assert page.html.index("All findings in numbers") < page.html.index(section_of(page))
    assert "datamodels.csv (the quality of each datamodel)" in page.text
    lines = read_table(folder / "datamodels.csv")
    assert list(lines[0]) == ["target", "class", "r2", "spearman", "mse", "n_nonzero", "lambda", "gap"]
    assert [line["class"] for line in lines] == list(NAMES)
    assert [line["r2"] for line in lines] == ["0.61", "nan", "0.83"]
    assert {line["gap"] for line in lines} == {"nan"}
    for name, column in [("targets", "target"), ("n_nonzero", "n_nonzero"), ("lam", "lambda"), ("mse", "mse")]:
        assert [float(line[column]) for line in lines] == pytest.approx(getattr(quality, name).tolist(), rel=1e-9)


def test_without_the_quality_of_each_target_there_is_no_section(report):
    folder, page = report(make_rows(9, 2))
    assert "How good the datamodels are" not in page.text
    assert "datamodels.csv" not in page.html
    assert not (folder / "datamodels.csv").exists()


def test_predicted_against_true_margins_on_one_scale(report):
    quality = make_quality(np.linspace(0.2, 0.9, 12))
    _, page = report(make_rows(9, 2), quality=quality, n_models_test=4000)
    assert [a["alt"] for a in page.all("img")[-3:]] == [
        "target: dog, target 0",
        "target: dog, target 6",
        "target: cat, target 11",
    ]
    assert "lowest R² dog target 0: R² 0.2, Spearman 0.447" in page.text
    assert "middle R² dog target 6:" in page.text
    assert "highest R² cat target 11:" in page.text
    assert "400 of 4000 are drawn" in page.text
    assert len(page.all("svg", **{"class": "scatter"})) == 3
    assert {(a["x1"], a["y1"], a["x2"], a["y2"]) for a in page.all("line", **{"class": "diagonal"})} == {
        ("46", "256", "292", "10")
    }
    paths = scatters_of(page)
    for k, points in enumerate(paths):
        assert len(points) == 400
        x, y = np.array(points).T
        assert x.min() >= 46
        assert x.max() <= 292
        assert y.min() >= 10
        assert y.max() <= 256
        # One unit of the margin is equally long on both axes, and equal values lie on the diagonal.
        scale, start = np.polyfit(quality.shown_predicted[k], x - 46, 1)
        np.testing.assert_allclose(256 - y, start + scale * quality.shown_true[k], atol=0.11)
        np.testing.assert_allclose(x - 46, start + scale * quality.shown_predicted[k], atol=0.11)


@pytest.mark.parametrize("count", [1, 2, 12, 1000, 10_000])
def test_the_section_stays_small_for_any_number_of_targets(report, count):
    r2 = np.random.default_rng(5).beta(6, 3, count)
    _, page = report(make_rows(9, 2), quality=make_quality(r2), images=None, n_models_test=400)
    assert len(section_of(page).encode()) < 60_000
    assert len(page.all("svg", **{"class": "scatter"})) == min(count, 3)
    assert len(page.all("svg", **{"class": "spread"})) == 4
    label = page.all("svg", **{"class": "spread"})[0]["aria-label"]
    assert label.startswith(f"R² of {count} targets: lowest" if count > 1 else f"R² of one target: {number(r2[0])}")
    assert "are drawn" not in page.text
    if count <= 12:
        assert len(points_of(part_of(page).all("path", **{"class": "dots"})[0]["d"])) == count
    else:
        columns = part_of(page).all("path", **{"class": "columns"})[0]["d"]
        heights = [float(v) for v in re.findall(r"v-([\d.]+)h", columns)]
        counts = [c for c in np.histogram(r2, np.linspace(0, 1, 41))[0] if c]
        assert max(heights) <= 77
        np.testing.assert_allclose(np.divide(heights, max(heights)), np.divide(counts, max(counts)), atol=0.02)


def test_quality_that_is_not_defined_or_far_below_zero(report):
    _, page = report(make_rows(9, 2), quality=make_quality([math.nan] * 4), r2_median=math.nan)
    assert "R² is not defined: on 1000 held-out models" in page.text
    spreads = [a["aria-label"].split(" of ")[0] for a in page.all("svg", **{"class": "spread"})]
    assert spreads == ["Number", "Penalty λ"]
    assert page.all("svg", **{"class": "scatter"}) == []
    odd = make_quality([-50.0, -0.1, 0.0, math.nan, 1.0], spearman=np.full(5, math.nan))
    _, page = report(make_rows(9, 2), quality=odd)
    assert "One dot a target; 1 below −1 in the first column; not defined for 1 target." in page.text
    assert "lowest R² dog target 0: R² −50, Spearman not known" in page.text
    spread = page.all("svg", **{"class": "spread"})[0]
    assert spread["aria-label"] == "R² of 4 targets: lowest −50, median −0.05, highest 1"
    assert "nan" not in re.sub(r'src="[^"]*"', "", section_of(page)).lower()
    flat = make_quality([0.5], shown_true=np.full((1, 9), 3.0), shown_predicted=np.full((1, 9), 3.0))
    _, page = report(make_rows(9, 2), quality=flat)
    assert scatters_of(page) == [[(169.0, 133.0)] * 9]


def test_what_a_low_quality_means(report):
    _, page = report(make_rows(9, 2), quality=make_quality([0.1]))
    assert "whatever a datamodel is worth, because it was fitted on other models. What a poor" in page.text
    warned = {"Warning": "the masks failed the check."}
    _, page = report(make_rows(9, 2), quality=make_quality([0.1], loaded=True), provenance=warned)
    assert "cannot be checked for weights that were loaded (but see the warning above). What a poor" in page.text


def test_quality_gives_the_same_bytes_and_hostile_names_are_only_text(report):
    quality = make_quality([0.2, 0.5], classes=[EVIL, ""])
    first, page = report(make_rows(9, 2), quality=quality)
    second, _ = report(make_rows(9, 2), quality=make_quality([0.2, 0.5], classes=[EVIL, ""]))
    assert page.html.count("<script") == 1
    assert "highest R² image target 1:" in page.text
    assert read_table(first / "datamodels.csv")[0]["class"] == EVIL
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()


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


def test_counts_and_weights_as_text():
    assert thousands(1234567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert weights([0.44, 0.2, -0.091]) == ["0.44", "0.20", "−0.09"]
    assert weights([0.0041, 0.001]) == ["0.0041", "0.0010"]
    assert weights([]) == []


def test_names_cannot_turn_the_text_around_them():
    assert class_name("a\u202eb\n\u2069c") == "abc"
    assert class_name("\u202e") == class_name("") == "image"
    row = make_row(class_i="עברית\u202e", class_j="x" * 200, i=3, j=4)
    text = sentence(Numbered(1, row, 1), "margin")
    assert "this \u2068עברית\u2069 (train 3) instead of that " + "x" * 59 + "… (train 4)" in text


def test_groups_are_shown_whole(report):
    row = make_row(5, class_i="dog", class_j="", members_i=(1, 2, 3, 4, 5), members_j=(6, 7, 8, 9, 10), i=1, j=6)
    many = make_row(6, members_i=tuple(range(11)), members_j=tuple(range(11)), n_informative=12)
    folder, page = report([row, many])
    assert "raining on these 5 dog images (train 1, 2, 3, …) instead of those 5 images (train 6, 7, 8, …)" in page.text
    shown = [a["alt"] for a in page.all("img") if a["alt"].startswith("train")]
    assert sorted(shown) == sorted([f"train {k}" for k in [*range(1, 11), *range(9), *range(9)]])
    assert len(page.all("div", **{"class": "mosaic"})) == 4
    lines = read_table(folder / "findings.csv")
    assert {line["members_i"] for line in lines} == {"1 2 3 4 5", "0 1 2 3 4 5 6 7 8 9 10"}
    assert {line["n_informative"] for line in lines} == {"", "12"}
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        assert panel.width > 1000
    with pytest.raises(ValueError, match="`i` of a row is 12, but there are 12 images"):
        make_content([make_row(members_i=(1, 12), members_j=(2, 3))])


def test_a_pair_is_two_groups_of_one(report):
    folder, _ = report([make_row(1)])
    [line] = read_table(folder / "findings.csv")
    assert (line["members_i"], line["members_j"]) == (line["i"], line["j"])


def test_the_report_for_programs_says_the_same(report):
    rows = [*make_rows(40, 6), *make_rows(30, 0, method="swap"), make_row(77, effect=math.nan, effect_high=math.inf)]
    folder, page = report(rows, quality=make_quality([0.3, 0.5]), masks=make_masks(500))

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = (folder / "report.json").read_text(encoding="utf-8")
    told = json.loads(text, parse_constant=refuse)
    assert told["format"] == "datamodels-inf report 1"
    assert [(m["method"], m["n_tests"], m["n_findings"]) for m in told["methods"]] == [
        ("paired", 41, 7),
        ("swap", 30, 0),
    ]
    for method in told["methods"]:
        assert method["answer"] in page.text
        assert len(method["findings"]) == method["n_findings"]
        assert len(method["closest_misses"]) == (0 if method["n_findings"] else 5)
        assert number(method["threshold"]) in page.text
    lines = read_table(folder / "findings.csv")
    listed = [finding for method in told["methods"] for finding in method["findings"]]
    assert [finding["number"] for finding in listed] == list(range(1, 8))
    for finding, line in zip(listed, lines, strict=True):
        assert finding["pvalue"] == pytest.approx(float(line["pvalue"]), rel=1e-9)
        assert (finding["i"], finding["members_i"]) == (int(line["i"]), [int(line["i"])])
    assert [finding["effect"] for finding in listed].count(None) == 1
    assert told["masks"]["law"] == "bernoulli"
    assert told["methods"][1]["limits"]["detectable_effect"]["swap"] > 0


def test_methods_side_by_side_say_what_they_share(report):
    mine = make_rows(30, 9)
    theirs = [dataclasses.replace(row, method="swap") for row in mine[-4:]]
    _, page = report([*mine, *theirs])
    [rows] = [rows for kind, rows in page.tables if kind == "methods"]
    assert rows[0][4:] == ["also by paired", "also by swap"]
    assert rows[1][:3] == ["paired", "30", "9"]
    assert rows[1][4:] == ["", "4"]
    assert rows[2][4:] == ["4", ""]


def test_progress_is_told_of_every_panel(tmp_path):
    steps = []
    paths = write_report(tmp_path, make_content(make_rows(9, 2)), progress=steps.append)
    assert steps == [1, 1]
    assert paths[-1].name == "index.html"


def test_bad_input_is_refused(tmp_path):
    (tmp_path / "old").write_text("x")
    with pytest.raises(ValueError, match="`folder` must be an existing empty folder"):
        write_report(tmp_path, make_content([]))
    with pytest.raises(ValueError, match="`correction` must be one of by, bh, holm, bonferroni"):
        make_content([], correction="none")
    with pytest.raises(ValueError, match="`target` of a row is 12, but there are 12 images"):
        make_content([make_row(target=12)])
    with pytest.raises(ValueError, match="`train` must be uint8 of shape"):
        Images(np.zeros((3, 8, 8)), np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="`mse` must have one entry for each of the 2 targets"):
        make_quality([0.1, 0.2], mse=np.ones(3))
    with pytest.raises(ValueError, match="`shown_true` and `shown_predicted` must have one row for each target"):
        make_quality([0.1], shown_true=np.ones((1, 3)))
    with pytest.raises(ValueError, match="`shown_true` and `shown_predicted` must be finite"):
        make_quality([0.1], shown_true=np.full((1, 400), math.inf))
    with pytest.raises(ValueError, match="`shown` must hold positions among the 2 targets"):
        make_quality([0.1, 0.2], shown=np.array([0, 2]))
    with pytest.raises(ValueError, match="`targets` holds 12, but there are 12 images"):
        make_content([], quality=make_quality([0.1], targets=np.array([12])))
