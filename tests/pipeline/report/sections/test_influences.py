"""Single images, target by target: numbers of the page are those of the models, marks, words, and no trace without."""

import dataclasses
import json
import math
import re
from difflib import SequenceMatcher

import pytest
from influence_atlas import make_found, make_influences, make_models
from report_content import EVIL, Page, make_content, make_row, make_rows
from report_page import value_of

from datamodels_inf import influence
from pipeline.report.content import Gallery, Weighted
from pipeline.report.evidence.galleries import galleries_of
from pipeline.report.evidence.influences import with_influences
from pipeline.report.page import Page as ReportPage
from pipeline.report.sections import shown_sections
from pipeline.report.sections.influences import few_seen, too_few
from pipeline.report.sentences import effect_texts
from pipeline.text.numbers import fixed, pvalue


def part_of(page, name="influences"):
    """One section of the page, alone."""
    start = page.html.index(f'<section id="{name}">')
    stop = page.html.index('<section id="', start + 1)
    return Page(page.html[start:stop])


def lines_of(page):
    """The lines of all dot plots, without heads and what is between."""
    return [
        row
        for kind, rows in part_of(page).tables
        if kind == "dots"
        for row in rows
        if len(row) == 6 and row[0] != "image"
    ]


def test_numbers_on_the_page_are_those_of_influence_on_the_masks(report):
    models = make_models()
    influences = make_influences(models=models)
    _, page = report(make_rows(9, 2), influences=influences)
    lines = lines_of(page)
    shown = [single for target in influences.targets for single in target.shown]
    assert len(lines) == len(shown) > 30
    for line, single in zip(lines, shown, strict=True):
        theta = models.datamodel.weight[:, single.target]
        true = influence(models.masks, models.margins[:, single.target], theta=theta, images=[single.image])
        (low,), (high,) = true.interval
        assert line[0].endswith(f"train {single.image}")
        assert value_of(line[2]) == pytest.approx(float(true.estimate[0]), abs=0.0051)
        ends = re.match(r"(\S+) to (\S+)", line[3]).groups()
        assert [value_of(end) for end in ends] == pytest.approx([float(low), float(high)], abs=0.011)
        assert line[4].endswith("no finding") != single.finding
        assert line[5] == single.rank.words


def test_dots_are_filled_for_findings_and_hollow_for_others_and_say_so(report):
    influences = make_influences()
    _, page = report(make_rows(9, 2), influences=influences)
    part = part_of(page)
    shown = [single for target in influences.targets for single in target.shown]
    marks = [a["class"] for a in part.all("circle")]
    assert marks == ["filled", "hollow", *("filled" if single.finding else "hollow" for single in shown)]
    labels = [a["aria-label"] for a in part.all("svg") if a["class"] != "pic"][2:]
    assert [label.endswith(": finding") for label in labels] == [single.finding for single in shown]
    assert 0 < marks.count("filled") < len(marks)


def test_the_headline_says_how_many_weights_stand(report):
    _, page = report(make_rows(9, 2), influences=make_influences())
    assert "nonzero weights that stand the test 7 of 48 their influence is a finding of the weight’s sign" in page.text
    assert "each target corrected on its own, no promise for the count over all" in page.text
    assert "Of 60 such influences (12 training images × 5 targets), 8 are findings: Benjamini–Yekutieli at" in page.text
    assert (
        "7 of the 48 weights of the datamodels that are not zero stand the test: the influence is a finding of the same"
        in page.text
    )
    assert "so these counts over all targets carry no promise of their own." in page.text
    assert "4 of 5 targets are shown: those with a panel above, then those with most findings" in page.text
    assert page.text.count(" 2 images between ") == 3


@pytest.mark.parametrize(
    ("family", "correction", "words"),
    [
        ("target", "by", "over the 12 training images of its target; each target is a family of its own. On average"),
        ("all", "by", "over all 60 influences, every training image on every target of the atlas. On average at most"),
        ("all", "holm", "The chance that even one finding of the atlas has no influence is at most 20 %"),
    ],
)
def test_estimand_law_and_family_are_named(report, family, correction, words):
    influences = make_influences(family=family, correction=correction)
    _, page = report(make_rows(9, 2), influences=influences, correction=correction)
    assert words in page.text
    assert "instead of an average other image" in page.text
    assert "Asymptotic: right for many models" in page.text
    assert "from about 300 held-out models on, for shares of 0.02 to 0.75" in page.text
    assert "true to its level or too large, down to 10⁻⁶" in page.text
    assert "Intervals are Student’s alone: they cover less often where fewer than about 30 held-out models" in page.text
    assert ("no promise for the count over all" in page.text) == (family == "target")
    assert ("counts over all targets carry no promise" in page.text) == (family == "target")
    assert "no pair is chosen by it" in page.text


def test_the_strongest_finding_in_words(report):
    influences = make_influences()
    _, page = report(make_rows(9, 2), influences=influences)
    assert page.text.count("No single image was found to matter for this target.") == 1
    target = influences.targets[2]
    [single] = target.findings
    low, high = fixed(single.effect_low, 2), fixed(single.effect_high, 2)
    who = "Training on this truck (train 10) instead of an average other image"
    assert (
        f"{who} raises the margin on the target by {fixed(single.effect, 2)}, 95 % interval {low} to {high}; "
        in page.text
    )
    assert "as the only finding." in page.text


def test_strips_show_the_estimate_its_interval_and_a_mark_with_words(report):
    models = make_models()
    row = make_row(1, target=2)
    galleries = with_influences(galleries_of([2], models.held_out, str), make_found(models))
    _, page = report([row], influences=make_influences(models=models), galleries=galleries)
    images = [image.single for image in (*galleries[2].helpers, *galleries[2].hurters)]
    pattern = r'<b aria-hidden="true">(.)</b><span class="unseen">; (no )?finding, influence</span> (.*?)</span>'
    marks = re.findall(pattern, page.html)
    assert [mark for mark, *_ in marks] == ["●" if single.finding else "○" for single in images]
    assert [bool(no) for _, no, _ in marks] == [not single.finding for single in images]
    assert [text for *_, text in marks] == [effect_texts(single)[0] for single in images]
    assert page.html.count(", θ̂ ") == len(images)
    assert "●" in page.html
    assert "○" in page.html
    assert "strongest helpers, by θ̂; below, their influence (● finding, ○ none)" in page.text
    assert "○ (hollow) it is none, for with this many models it cannot be told from no influence" in page.text


def test_what_is_not_known_is_said(report):
    influences = make_influences()
    target = influences.targets[1]
    line = {"effect_low": -math.inf, "effect_high": math.inf}
    unknown = dataclasses.replace(target.helpers[0], effect_se=math.inf, pvalue=1.0, finding=False, rank=None, **line)
    nothing = dataclasses.replace(unknown, effect=math.nan, effect_se=math.nan)
    target = dataclasses.replace(target, helpers=(unknown, nothing), hurters=(), findings=(), level=math.nan)
    gallery = {2: Gallery((Weighted(0, "dog", 0.2, unknown),), ())}
    changed = dataclasses.replace(influences, targets=(target,), n_unknown=1, n_models=80, warning="masks repeat")
    folder, page = report([make_row(1, target=2)], influences=changed, galleries=gallery, images=None)
    assert page.text.count("not known") >= 3
    assert "Nothing is known of 1 training item that every tested model saw, or none." in page.text
    assert "Warning: these p-values may not be valid: masks repeat" in page.text
    assert "Beyond what was measured: these p-values are asymptotic." in page.text
    assert "Short intervals" not in page.text
    assert not re.search(r"\bnan\b", re.sub(r'data-s="[^"]*"|<script>.*</script>', "", page.html, flags=re.DOTALL))
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["atlas"]["targets"][0]["helpers"]


def test_hostile_names_and_no_images(report):
    influences = make_influences(names=(EVIL, "x" * 300, "\u05e2\u05d1\u202e"))
    _, page = report(make_rows(9, 2), influences=influences, images=None)
    assert page.html.count("<script") == 1
    assert EVIL in part_of(page).text
    assert "\u202e" not in part_of(page).text


@pytest.mark.parametrize(
    ("n_models", "share", "beyond", "short"),
    [
        (300, 0.5, False, False),
        (299, 0.5, True, False),
        (300, 0.1, False, False),
        (1000, 0.0201, False, True),
        (2000, 0.0199, False, False),
        (2000, 0.01, True, True),
        (900, 0.75, False, False),
        (900, 0.9, True, False),
        (900, 0.97, True, True),
        (59, 0.5, True, True),
    ],
)
def test_p_values_beyond_what_was_measured_and_short_intervals_are_told(report, n_models, share, beyond, short):
    influences = dataclasses.replace(make_influences(), n_models=n_models, share=share)
    assert (too_few(influences), few_seen(influences)) == (beyond, short)
    _, page = report(make_rows(9, 2), influences=influences)
    assert ("Beyond what was measured:" in page.text) == beyond
    assert ("Short intervals:" in page.text) == short


def test_without_an_atlas_there_is_no_trace_of_it(report):
    rows = make_rows(9, 2)
    folder, page = report(rows)
    assert not (folder / "atlas.csv").exists()
    assert "atlas" not in json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for trace in ("influences", "influential", "stand the test", "average other image", ".dots .", "●</b>"):
        assert trace not in page.html
    names = [one.section.name for one in shown_sections(ReportPage.of(make_content(rows)))]
    assert not {"influences", "influential"} & set(names)


def test_all_else_on_the_page_stays(report):
    """But for its own sections, style, headline and words in the glossary, the page is that without an atlas."""
    rows = make_rows(9, 2)
    _, before = report(rows)
    _, after = report(rows, influences=make_influences())
    kept, now = before.html.splitlines(), after.html.splitlines()
    changes = SequenceMatcher(None, kept, now, autojunk=False).get_opcodes()
    lost = [
        line
        for kind, start, stop, *_ in changes
        if kind != "equal"
        for line in kept[start:stop]
        if "<image " not in line
    ]
    [weights, files] = lost
    assert "weights are estimates without a test" in weights
    assert "<dt>Files</dt>" in files
    assert len(after.html) < len(before.html) + 150_000


def test_p_values_are_printed_as_everywhere(report):
    influences = make_influences()
    _, page = report(make_rows(9, 2), influences=influences)
    first = influences.targets[0].helpers[0]
    assert lines_of(page)[0][4] == f"{pvalue(first.pvalue)} no finding"
