"""Contents of reports, made up, and a parser of the page that checks how its tags nest."""

import base64
import dataclasses
import hashlib
import re
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pyarrow as pa
from PIL import Image

from datamodels_inf import check_exchangeable
from datamodels_inf.pair_answers import UNSEEN
from datamodels_inf.prediction.shapes import expected_shape
from datamodels_inf.prior import Prior
from pipeline.columns import WORDS, TableColumns, places_among
from pipeline.in_memory import DECIDED
from pipeline.report import COLUMNS, Content, DatamodelQuality, Group, Images, Row
from pipeline.report.content import Blocks, Expectation, MaskCheck
from pipeline.report.content.expectations import realised_counts
from pipeline.report.content.reruns import Agreement, Alike, Case, Rerun, Robustness

VOID = {"meta", "link", "img", "br", "rect", "line", "circle", "path", "input"}
NAMES = ("dog", "truck", "cat")
FILES = ("findings.csv", "tests.csv", "datamodels.csv", "atlas.csv", "report.json", "overview.png", "verify.csv")
EVIL = "<script>alert(1)</script>\"'&"


class Page(HTMLParser):
    """Checks that tags nest; keeps images, addresses, table rows, text and elements by tag."""

    def __init__(self, html):
        super().__init__()
        self.html, self.open, self.tags, self.tables = html, [], [], []
        self.words, self.scripts = [], []
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append((dict(attrs).get("class"), []))
        if tag == "tr":
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts.append(data)
        elif "style" not in self.open:
            self.words.append(data)
        if "td" in self.open or "th" in self.open:
            self.tables[-1][1][-1][-1] += data

    @property
    def rows(self):
        """Of the tables of findings, their heads too."""
        return [row for kind, rows in self.tables if kind == "sortable" for row in rows]

    @property
    def pictures(self):
        """What is said of each image, in the order of the page."""
        return [drawing["aria-label"] for drawing in self.all("svg", **{"class": "pic"})]

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
        min(1.0, 9.0 * p), finding, *theta, effect, effect - half, effect + half, half / 1.96, 400.0,
        *((effect - 1.8 * half, effect + 1.8 * half) if finding else ()),
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
    return Content(groups=groups_of(rows), **(fields | changes))


def groups_of(rows):
    """The tests by method, as they are decided in `rows`."""
    by_method = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    return [_group(method, some) for method, some in by_method.items()]


def _group(method, rows):
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS if name != "method"}
    columns |= {"members_i": [list(row.left) for row in rows], "members_j": [list(row.right) for row in rows]}
    added = {name: columns.pop(name) for name in DECIDED}
    n_rows = added.pop("n_rows")
    added = {name: np.array(values) for name, values in added.items()}
    added["n_rows"] = None if None in n_rows else np.array(n_rows)
    words = {name: pa.array(columns.pop(name), pa.string()).dictionary_encode() for name in WORDS}
    informative = pa.array(columns.pop("n_informative"), pa.int64())
    tests = TableColumns(pa.table({**columns, **words, "n_informative": informative}))
    pvalue = np.array(columns["pvalue"], float)
    return Group(method, tests, added, pvalue, places_among(tests, "note", UNSEEN))


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


def make_blocks(n_first=100, sizes=(200, 400, 300), **changes):
    """Blocks of models in which "swap" is tested on the last alone."""
    fields = {"of_method": {"paired": sum(sizes), "contrast": sum(sizes), "swap": sizes[-1]}}
    fields["r2"] = tuple(np.linspace(0.3, 0.6, len(sizes)).tolist())
    return Blocks(n_first, sizes, **(fields | changes))


def make_counts(**changes):
    """Findings of each correction, made up; that of the prior is not known."""
    return {"by": 24, "bh": 31, "holm": 12, "bonferroni": 12, "closed-by": 26, "prior": None} | changes


def make_weighted(rows, seed=3):
    """`rows` with weights, and the expectations of their methods, in which the prediction is a tenth too high."""
    expectations, weighted = {}, []
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        weight = np.random.default_rng(seed).uniform(0.8, 1.2, len(own))
        weight *= len(own) / weight.sum()
        shape = expected_shape(len(own), np.array([5.0]), 0.85)
        u = np.geomspace(1e-8, 0.2, 40)
        realised = realised_counts(np.array([row.pvalue for row in own]), weight, u)
        expectations[method] = Expectation(
            Prior(weight, shape), 20.0, (15.0, 26.0), 18.0, u=u, predicted=1.1 * realised, realised=realised
        )
        weighted += [dataclasses.replace(row, weight=w) for row, w in zip(own, weight.tolist(), strict=True)]
    return weighted, expectations


def make_masks(n_train=20, n_models=400):
    masks = np.random.default_rng(4).random((n_models, n_train)) < 0.5
    return MaskCheck(check_exchangeable(masks), masks.sum(axis=0))


def check_self_contained(page):
    for _, attrs in page.tags:
        for name in ("src", "href", "srcset", "action", "xlink:href"):
            assert not re.match(r"(https?:)?//", attrs.get(name, ""))
    assert "url(" not in page.html
    assert "@import" not in page.html
    assert page.all("script") == [{}]
    check_policy(page)
    for image in page.all("img"):
        assert image["alt"]
        head, data = image["src"].split(",")
        assert head == "data:image/png;base64"
        assert Image.open(BytesIO(base64.b64decode(data, validate=True))).format == "PNG"
    for drawing in page.all("svg"):
        if drawing.get("aria-hidden") != "true":
            assert drawing["role"] == "img"
            assert drawing["aria-label"]
    sheets = {sheet["id"] for sheet in page.all("image")}
    assert all(sheet["href"].startswith("data:image/") for sheet in page.all("image"))
    assert {use["href"][1:] for use in page.all("use")} == sheets
    anchors = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(anchors) == len(set(anchors))
    for link in page.all("a"):
        assert link["href"] in FILES or link["href"][1:] in anchors


def check_policy(page):
    """The browser is told to load nothing and to run no script but the page's own."""
    [policy] = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["content"].split("; ")[:4] == [
        "default-src 'none'",
        "img-src data:",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{digest}'",
    ]


def make_robustness(names=NAMES, images=12, cases=2, neighbours=3):
    """Re-runs of made-up pairs, on three targets each."""
    rng = np.random.default_rng(4)

    def rerun(role, i, j, target, of):
        effect, half = rng.normal(0, 0.4), rng.uniform(0.02, 0.3)
        return Rerun(role, i, j, target, of, 10.0 ** rng.uniform(-9, 0), 1.0, effect, effect - half, effect + half)

    made = []
    for k in range(cases):
        i, j, targets = k, k + 4, (0, 1, 2)
        near_i, near_j = (
            tuple(Alike((own + 1 + n) % images, 0.1 * n, n == 0) for n in range(neighbours)) for own in (i, j)
        )
        rows = [rerun("original", i, j, t, t) for t in targets]
        rows += [rerun("neighbour", a.index, b.index, t, t) for t in targets for a in near_i for b in near_j]
        rows += [rerun("random", 10, 11, t, t) for t in targets for _ in range(neighbours)]
        rows += [rerun("target", i, j, t + 3, t) for t in targets]
        agreed = {role: Agreement(9, 0.8, 0.7, float("nan")) for role in ("neighbour", "random", "target")}
        made.append(Case(k + 1, i, j, targets, near_i, near_j, agreed, tuple(rows)))
    classes = {(part, k): names[k % len(names)] for part in ("train", "target") for k in range(images)}
    return Robustness("swap", "pixels", "Follow-up.", 99, 2000, classes, tuple(made))
