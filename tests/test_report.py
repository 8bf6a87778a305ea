"""The report: its files, its sentences, its numbers, and every odd content it must survive."""

import base64
import csv
import dataclasses
import math
import re
import time
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pipeline.report import COLUMNS, Content, Images, Row, write_report
from pipeline.report.bars import bar_of, common_limit
from pipeline.report.content import groups_of
from pipeline.report.drawing import PLAIN, fit, font, wrap
from pipeline.report.words import effect_texts, number, p_equals, sentence, unbroken

VOID = {"meta", "link", "img", "br", "rect", "line", "circle", "path"}
NAMES = ("dog", "truck", "cat")


class Page(HTMLParser):
    """Checks that tags nest; keeps images, addresses, table rows, text and elements by tag."""

    def __init__(self, html):
        super().__init__()
        self.html, self.open, self.tags, self.rows = html, [], [], []
        self.words = []
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def all(self, tag, **wanted):
        return [a for t, a in self.tags if t == tag and all(a.get(k, "").split(" ")[0] == v for k, v in wanted.items())]


def make_row(k=0, finding=True, **changes):
    rng = np.random.default_rng(k)
    effect = float(rng.normal(0, 0.4))
    half = float(rng.uniform(0.02, 0.3))
    p = float(10.0 ** rng.uniform(-9, -5)) if finding else float(rng.uniform(0.01, 1.0))
    i, j, target = (int(v) for v in rng.integers(0, 12, 3))
    theta = [float(v) for v in rng.normal(0, 0.1, 2)]
    row = Row(
        "paired", i, j, target, *(NAMES[v % 3] for v in (i, j, target)), float(rng.uniform(0.4, 0.6)), p,
        min(1.0, 9.0 * p), finding, *theta, effect, effect - half, effect + half, "",
    )  # fmt: skip
    return dataclasses.replace(row, **changes)


def make_rows(tests, found, **changes):
    return [make_row(k, finding=k >= tests - found, **changes) for k in range(tests)]


def make_images(shape=(8, 8)):
    pixels = np.random.default_rng(1).integers(0, 256, (2, 12, *shape)).astype(np.uint8)
    return Images(pixels[0], pixels[1])


def make_content(rows, **changes):
    fields = {
        "title": "Digits",
        "images": make_images(),
        "alpha": 0.2,
        "correction": "by",
        "n_models_fit": 3000,
        "n_models_test": 1000,
        "n_train": 500,
        "r2_median": 0.4123,
        "spearman_median": 0.65,
        "mask_law": "fixed-size",
        "max_panels": 50,
        "provenance": {"Command": "datamodels-inf run configs/digits.toml"},
        "configuration": "[test]\nalpha = 0.2\n",
    }
    return Content(rows=rows, **(fields | changes))


@pytest.fixture
def report(tmp_path):
    """Writes a report into a folder of its own and returns the folder and the parsed page."""
    count = iter(range(100))

    def write(rows, **changes):
        folder = tmp_path / f"report{next(count)}"
        folder.mkdir()
        paths = write_report(folder, make_content(rows, **changes))
        assert sorted(paths) == sorted(p for p in folder.rglob("*") if p.is_file())
        assert {"index.html", "overview.png", "findings.csv", "tests.csv"} <= {p.name for p in paths}
        page = Page((folder / "index.html").read_text(encoding="utf-8"))
        check_self_contained(page)
        return folder, page

    return write


def check_self_contained(page):
    for _, attrs in page.tags:
        for name in ("src", "href", "srcset", "action", "xlink:href"):
            assert not re.match(r"(https?:)?//", attrs.get(name, ""))
    assert "url(" not in page.html
    assert "@import" not in page.html
    assert page.all("script") == []
    for image in page.all("img"):
        assert image["alt"]
        head, data = image["src"].split(",")
        assert head == "data:image/png;base64"
        assert Image.open(BytesIO(base64.b64decode(data, validate=True))).format == "PNG"
    for drawing in page.all("svg"):
        assert drawing["role"] == "img"
        assert drawing["aria-label"]
    anchors = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(anchors) == len(set(anchors))
    for link in page.all("a"):
        assert link["href"] in ("findings.csv", "tests.csv", "overview.png") or link["href"][1:] in anchors


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
    assert panels == [f"finding-{k:03d}.png" for k in range(1, found + 1)]
    assert ("5 × 10⁻⁵" in page.text) == (tests == 2000)


@pytest.mark.parametrize(("correction", "alpha", "share"), [("holm", 0.2, "a 20 %"), ("bonferroni", 0.08, "an 8 %")])
def test_a_family_wise_correction_promises_something_else(report, correction, alpha, share):
    _, page = report(make_rows(9, 3), correction=correction, alpha=alpha)
    assert f"3 of 9 pairs influence their target differently, with at most {share} chance of any false" in page.text
    assert "false discovery rate" not in page.text


def test_twenty_findings_with_fewer_panels(report):
    folder, page = report(make_rows(60, 20), max_panels=6)
    assert len(page.all("article")) == len(list(folder.glob("panels/*"))) == 6
    assert len(page.all("img")) == 18
    assert "14 more findings are in the table below and in findings.csv" in page.text
    assert len(page.rows) == 21
    _, page = report(make_rows(60, 20), max_panels=19)
    assert "1 more finding is in the table" in page.text
    folder, page = report(make_rows(60, 20), max_panels=0)
    assert page.all("img") == []
    assert not (folder / "panels").exists()


def test_two_thousand_findings_in_time_and_size(report):
    start = time.perf_counter()
    folder, page = report(make_rows(2000, 2000), images=make_images((32, 32, 3)))
    assert time.perf_counter() - start < 15.0
    assert sum(p.stat().st_size for p in folder.rglob("*.*")) < 5e6
    assert (folder / "index.html").stat().st_size < 1e6
    assert len(page.all("article")) == 50
    assert "1950 more findings" in page.text
    assert len(page.rows) == 501
    assert "The first 500 of 2000 findings; all of them are in findings.csv" in page.text


def test_nothing_found_shows_the_closest_misses(report):
    rows = make_rows(40, 0)
    _, page = report(rows)
    assert "Nothing was found." in page.text
    assert len(page.all("article", **{"class": "card"})) == 5
    assert page.text.count("not a finding") == 5
    assert len(page.rows) == 0
    nearest = sorted(row.pvalue for row in rows)[:5]
    assert re.findall(r"Closest miss \d not a finding (p = [\d.]+)", page.text) == [p_equals(p) for p in nearest]


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
    assert [a["id"] for a in page.all("article") if "id" in a] == [f"finding-{k}" for k in range(1, 8)]
    assert [g.method for g in groups_of([*same, *other])] == ["paired", "swap", "swap-exact"]


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
        assert f"{p_equals(float(line['pvalue']))} adjusted {number(float(line['pvalue_adjusted']))}" in page.text


def test_the_same_content_gives_the_same_bytes(report):
    rows = [*make_rows(30, 8), *make_rows(20, 0, method="swap")]
    first, _ = report(rows)
    second, _ = report(list(rows))
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()


@pytest.mark.parametrize("shape", [(8, 8), (32, 32, 3), (28, 20), (300, 200, 3)])
def test_images_of_any_size(report, shape):
    folder, page = report(make_rows(9, 2), images=make_images(shape))
    assert page.all("img")[1]["alt"].startswith("image i: ")
    shown = Image.open(BytesIO(base64.b64decode(page.all("img")[0]["src"].split(",")[1])))
    factor = -(-max(shape[:2]) // 96)
    assert shown.size == (-(-shape[1] // factor), -(-shape[0] // factor))
    if factor == 1:
        target = int(read_table(folder / "findings.csv")[0]["target"])
        np.testing.assert_array_equal(np.asarray(shown), make_images(shape).targets[target])
    with Image.open(folder / "panels" / "finding-001.png") as panel:
        assert panel.info == {}
        assert panel.width > 1000


def test_the_panel_enlarges_without_blur(report):
    folder, _ = report([make_row(3)])
    target = make_images().targets[make_row(3).target]
    with Image.open(folder / "panels" / "finding-001.png") as panel:
        tile = np.asarray(panel)[106 : 106 + 256, 36 : 36 + 256]
    np.testing.assert_array_equal(tile, np.repeat(np.kron(target, np.ones((32, 32), np.uint8))[..., None], 3, axis=2))


def test_without_images_grey_tiles_stand_in(report):
    folder, page = report(make_rows(9, 2), images=None)
    assert page.all("img") == []
    assert len(page.all("div", **{"class": "blank"})) == 6
    assert "give source.images in the configuration and run again" in page.text
    assert len(list(folder.glob("panels/*"))) == 2


def test_hostile_and_long_names_are_only_text(report):
    evil = "<script>alert(1)</script>\"'&"
    rows = [
        make_row(1, class_i=evil, class_target="x" * 400, note=evil, method=evil),
        make_row(2, class_j="", method="b"),
    ]
    folder, page = report(rows, title=evil, provenance={evil: evil}, configuration=f"# </pre>{evil}")
    assert "<script" not in page.html
    assert page.text.count(evil) >= 8
    assert "that image (train" in page.text
    lines = read_table(folder / "findings.csv")
    assert lines[0]["class_i"] == evil


def test_effects_that_could_not_be_estimated(report):
    nothing = {"effect": math.nan, "effect_low": -math.inf, "effect_high": math.inf}
    rows = [
        make_row(1, **nothing, theta_i=math.nan, note="θ̂_i = θ̂_j: uninformative"),
        make_row(2, effect=0.31, effect_low=-math.inf, effect_high=math.inf),
        make_row(3, effect=0.31, effect_low=math.nan, effect_high=math.nan, pvalue=0.0),
    ]
    folder, page = report(rows, r2_median=math.nan, spearman_median=math.nan)
    assert page.text.count("the effect could not be estimated") == 1
    assert "its 95 % interval is the whole line" in page.text
    assert "no interval is known" in page.text
    assert "θ̂_i = θ̂_j: uninformative" in page.text
    assert "median R² of the datamodels not known" in page.text
    assert "p < 10⁻³⁰⁰" in page.text
    assert "nan" not in re.sub(r'src="[^"]*"', "", page.html).lower()
    assert len(page.all("svg")) == 2
    assert {r["effect_high"] for r in read_table(folder / "findings.csv")} == {"inf", "nan"}


@pytest.mark.parametrize(
    ("effect", "low", "high", "expected"),
    [
        (0.31, 0.22, 0.4, "Training on {pair} raises the margin on the target by 0.31, 95 % interval 0.22 to 0.40."),
        (-0.31, -0.4, -0.22, "Training on {pair} lowers the margin on the target by 0.31, 95 % interval 0.22 to 0.40."),
        (2.5, 1.25, math.inf, "Training on {pair} raises the margin on the target by 2.50, 95 % interval 1.25 to ∞."),
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
    row = make_row(class_i="dog", i=12, class_j="truck", j=801, effect=effect, effect_low=low, effect_high=high)
    pair = "this dog (train 12) instead of that truck (train 801)"
    assert sentence(row, "margin") == expected.format(pair=pair)
    assert unbroken("(train 12), 95 % x").count("\N{NO-BREAK SPACE}") == 2


def test_numbers_as_text():
    assert [number(v) for v in (0.03124, -1.5, 5e-5, -2.346e-7, 1e10, math.inf, -math.inf, 0.0, -0.0)] == [
        "0.0312", "−1.5", "5 × 10⁻⁵", "−2.35 × 10⁻⁷", "1 × 10¹⁰", "∞", "−∞", "0", "0",
    ]  # fmt: skip
    tiny = make_row(effect=1e-7, effect_low=5e-8, effect_high=2e-7)
    assert effect_texts(tiny) == ("1 × 10⁻⁷", "5 × 10⁻⁸", "2 × 10⁻⁷")
    assert effect_texts(make_row(effect=0.4, effect_low=-0.001, effect_high=0.8)) == ("0.40", "0.00", "0.80")


def test_bars_share_a_scale_that_one_wild_interval_cannot_spoil():
    rows = [make_row(effect=0.3, effect_low=0.2, effect_high=0.4) for _ in range(9)]
    assert common_limit(rows) == pytest.approx(0.4)
    wild = make_row(effect=0.3, effect_low=-500.0, effect_high=math.inf)
    limit = common_limit([*rows, wild])
    assert limit == pytest.approx(4.0)
    bar = bar_of(wild, limit)
    assert (bar.low, bar.high, bar.open_low, bar.open_high, bar.side) == (0.0, 1.0, True, True, "unsure")
    bar = bar_of(rows[0], 0.4)
    assert (bar.effect, bar.low, bar.high, bar.side) == (pytest.approx(0.875), pytest.approx(0.75), 1.0, "raises")
    assert bar_of(make_row(effect=math.nan), 1.0) is None
    assert common_limit([make_row(effect=math.nan, effect_low=-math.inf, effect_high=math.inf)]) == 1.0


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
    assert "its own independent coin" in page.text
    assert page.all("details") == []


def test_a_warning_stands_under_the_answer(report):
    _, page = report(make_rows(9, 2))
    assert "a swap alone changes nothing" in page.text
    _, page = report(make_rows(9, 2), provenance={"Warning": "the masks failed the check."})
    assert "at a false discovery rate of 0.2. Warning: the masks failed the check. " in page.text
    assert "a swap alone changes nothing" not in page.text


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
