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

from pipeline.report import COLUMNS, Content, DatamodelQuality, Images, Row, write_report
from pipeline.report.bars import bar_of, common_limit
from pipeline.report.rows import groups_of
from pipeline.report.drawing import PLAIN, fit, font, wrap
from pipeline.report.svg import ticks_of
from pipeline.report.words import effect_texts, number, p_equals, quality_sentence, sentence, unbroken

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


def make_quality(r2, **changes):
    """Datamodels of targets 0, 1, … of which the worst, the middle and the best known one are drawn."""
    r2 = np.array(r2, float)
    count, rng = len(r2), np.random.default_rng(2)
    known = np.argsort(r2)[: np.count_nonzero(~np.isnan(r2))]
    shown = known[sorted({0, len(known) // 2, len(known) - 1})] if known.size else known
    true = rng.normal(2.0, 1.0, (len(shown), 400))
    fields = {
        "targets": np.arange(count),
        "classes": [NAMES[k % 3] for k in range(count)],
        "r2": r2,
        "spearman": np.sign(r2) * np.sqrt(np.clip(np.abs(r2), 0, 1)),
        "mse": rng.uniform(0.1, 1.0, count),
        "n_nonzero": rng.integers(1, 500, count),
        "lam": rng.uniform(0.01, 0.02, count),
        "gap": rng.uniform(1e-9, 1e-6, count),
        "shown": shown,
        "shown_true": true,
        "shown_predicted": 1.0 + 0.5 * true + rng.normal(0, 0.3, true.shape),
    }
    return DatamodelQuality(**(fields | changes))


def section_of(page):
    start = page.html.index('<section id="datamodels">')
    return page.html[start : page.html.index("</section>", start)]


def points_of(path):
    """Where the dots of a path are."""
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", path)]


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
        assert (
            link["href"] in ("findings.csv", "tests.csv", "datamodels.csv", "overview.png")
            or link["href"][1:] in anchors
        )


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
    start = time.process_time()
    folder, page = report(make_rows(2000, 2000), images=make_images((32, 32, 3)))
    assert time.process_time() - start < 15.0
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
    assert "lowest R² dog, target 0 R² 0.2, Spearman 0.447" in page.text
    assert "middle R² dog, target 6" in page.text
    assert "highest R² cat, target 11" in page.text
    assert "400 of 4000 are drawn" in page.text
    assert len(page.all("svg", **{"class": "scatter"})) == 3
    assert {(a["x1"], a["y1"], a["x2"], a["y2"]) for a in page.all("line", **{"class": "diagonal"})} == {
        ("46", "256", "292", "10")
    }
    paths = [points_of(a["d"]) for a in page.all("path", **{"class": "dots"})][-3:]
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
    assert len(page.all("svg", **{"class": "spread"})) == 2
    label = page.all("svg", **{"class": "spread"})[0]["aria-label"]
    assert label.startswith(f"R² of {count} targets: lowest" if count > 1 else f"R² of one target: {number(r2[0])}")
    assert "are drawn" not in page.text
    if count <= 12:
        assert len(points_of(page.all("path", **{"class": "dots"})[0]["d"])) == count
    else:
        columns = page.all("path", **{"class": "columns"})[0]["d"]
        heights = [float(v) for v in re.findall(r"v-([\d.]+)h", columns)]
        counts = [c for c in np.histogram(r2, np.linspace(0, 1, 41))[0] if c]
        assert max(heights) <= 77
        np.testing.assert_allclose(np.divide(heights, max(heights)), np.divide(counts, max(counts)), atol=0.02)


def test_quality_that_is_not_defined_or_far_below_zero(report):
    _, page = report(make_rows(9, 2), quality=make_quality([math.nan] * 4), r2_median=math.nan)
    assert "R² is not defined: on 1000 held-out models" in page.text
    assert page.all("svg", **{"class": "spread"}) == page.all("svg", **{"class": "scatter"}) == []
    odd = make_quality([-50.0, -0.1, 0.0, math.nan, 1.0], spearman=np.full(5, math.nan))
    _, page = report(make_rows(9, 2), quality=odd)
    assert "One dot a target; 1 below −1 in the first column; not defined for 1 target." in page.text
    assert "lowest R² dog, target 0 R² −50, Spearman not known" in page.text
    [spread] = page.all("svg", **{"class": "spread"})
    assert spread["aria-label"] == "R² of 4 targets: lowest −50, median −0.05, highest 1"
    assert "nan" not in re.sub(r'src="[^"]*"', "", section_of(page)).lower()
    flat = make_quality([0.5], shown_true=np.full((1, 9), 3.0), shown_predicted=np.full((1, 9), 3.0))
    _, page = report(make_rows(9, 2), quality=flat)
    assert points_of(page.all("path", **{"class": "dots"})[-1]["d"]) == [(169.0, 133.0)] * 9


def test_what_a_low_quality_means(report):
    _, page = report(make_rows(9, 2), quality=make_quality([0.1]))
    assert "whatever a datamodel is worth, because it was fitted on other models. What a poor" in page.text
    warned = {"Warning": "the masks failed the check."}
    _, page = report(make_rows(9, 2), quality=make_quality([0.1], loaded=True), provenance=warned)
    assert "cannot be checked for weights that were loaded (but see the warning above). What a poor" in page.text


def test_quality_gives_the_same_bytes_and_hostile_names_are_only_text(report):
    evil = "<script>alert(1)</script>\"'&"
    quality = make_quality([0.2, 0.5], classes=[evil, ""])
    first, page = report(make_rows(9, 2), quality=quality)
    second, _ = report(make_rows(9, 2), quality=make_quality([0.2, 0.5], classes=[evil, ""]))
    assert "<script" not in page.html
    assert "image, target 1" in page.text
    assert read_table(first / "datamodels.csv")[0]["class"] == evil
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
