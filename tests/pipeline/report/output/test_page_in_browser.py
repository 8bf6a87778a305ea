"""The page in a real browser: it loads alone, the switch, filters and sorting work, and anybody can read it.

Needs playwright and a chromium in the path, and for the check of accessibility the environment variable AXE_CORE, the
path of axe-core's axe.min.js; `.ci/run` brings all three. What is missing is skipped.
"""

import re

import numpy as np
import pytest
from report_content import EVIL
from report_page import value_of
from seen_page import of_method, read, seen_cards, seen_rows

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
WIDTHS = (390, 820, 1280)
OTHERS = (
    "nothing", "hostile", "sample", "one", "groups", "atlas", "hostile atlas", "many", "blocks", "prior",
    "trained again", "named",
)  # fmt: skip
SCREENS = [(width, scheme) for width in WIDTHS for scheme in ("light", "dark")]


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *(("methods", *screen) for screen in SCREENS),
        *((name, *screen) for name in OTHERS for screen in ((390, "dark"), (1280, "light"))),
    ],
)
def test_loads_alone_with_every_image_and_nothing_sticks_out(visit, name, width, scheme):
    page = visit(name, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.locator(".sheets image").evaluate_all(
        "sheets => Promise.all(sheets.map(async (sheet) => {"
        " const own = new Image(); own.src = sheet.href.baseVal; await own.decode(); return own.naturalWidth }))"
    )
    assert all(sizes)
    shown = page.locator(".pic").evaluate_all(
        "all => all.filter(one => one.checkVisibility()).map(one => one.querySelector('use').getBBox().width)"
    )
    assert all(shown)
    assert bool(sizes) == ("hostile" not in name and name != "named")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", paper)))
    assert brightness > 700 if scheme == "light" else brightness < 100
    beside = page.evaluate(
        "width => [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, pre, .name > *, .pic > *')"
        " && e.getBoundingClientRect().right > width + 1 && e.checkVisibility()).map(e => e.outerHTML.slice(0, 80))",
        width,
    )
    assert beside == []


def test_the_switch_changes_the_answer_the_panels_and_the_table(visit, folders):
    page = visit("methods")
    answers = {"paired": "24 of 60 pairs", "swap": "9 of 40 pairs", "contrast": "None of the 30 pairs"}
    for place, (method, answer) in enumerate(answers.items()):
        page.locator(f".switch label:has-text('{method}')").first.click()
        assert page.locator(".verdict:visible").all_inner_texts() == [page.locator(".verdict").nth(place).inner_text()]
        assert answer in page.locator(".verdict:visible").inner_text()
        lines = of_method(folders("methods"), method)
        assert sorted(seen_cards(page)) == [number for number, _ in lines[:20]]
        assert len(seen_rows(page)) == len(lines)
        assert page.locator(".tiles div:visible").nth(1).inner_text().startswith(f"findings\n{len(lines)}\n")
        heads = [text for text in page.locator("#diagnostics h3:visible").all_inner_texts() if "p-values" in text]
        assert heads == [f"The p-values of {method}"]
    assert page.locator(".card.miss:visible").count() == 5


def test_filters_hide_what_does_not_match_in_panels_and_table(visit, folders):
    page = visit("methods")
    lines = of_method(folders("methods"), "paired")
    page.select_option("[name=class]", label="truck")
    wanted = [number for number, line in lines if "truck" in (line["class_i"], line["class_j"])]
    assert 0 < len(wanted) < len(lines)
    assert sorted(seen_cards(page)) == [number for number in wanted if number <= 20]
    assert [int(row[0]) for row in seen_rows(page)] == wanted
    panels = sum(number <= 20 for number in wanted)
    assert page.locator("#controls output").inner_text() == f"{len(wanted)} of 24 findings, {panels} with a panel"
    target = lines[wanted[0] - 1][1]["target"]
    page.select_option("[name=target]", value=target)
    both = [number for number in wanted if lines[number - 1][1]["target"] == target]
    assert [int(row[0]) for row in seen_rows(page)] == both
    assert page.locator(".group:visible").count() == 1
    others = {line["target"] for number, line in lines} - {lines[n - 1][1]["target"] for n in wanted}
    if others:
        page.select_option("[name=target]", value=others.pop())
        assert seen_cards(page) == seen_rows(page) == []
        assert page.locator("#controls output").inner_text() == "no finding matches"
    page.click("#controls button[type=reset]")
    playwright.expect(page.locator("#controls output")).to_have_text("24 of 24 findings, 20 with a panel")
    assert len(seen_cards(page)) == 20


def test_panels_are_sorted_within_and_between_targets(visit, folders):
    page = visit("methods")
    lines = dict(of_method(folders("methods"), "paired")[:20])
    size = {number: abs(float(line["effect"])) for number, line in lines.items()}
    rise = {number: float(line["effect"]) for number, line in lines.items()}
    far = {number: abs(float(line["statistic"]) - 0.5) for number, line in lines.items()}
    p = {number: -float(line["pvalue"]) for number, line in lines.items()}
    lower = {number: -value for number, value in rise.items()}
    orders = {"size": size, "raises": rise, "lowers": lower, "u": far, "p": p}
    seen = set()
    for choice, key in orders.items():
        page.select_option("[name=sort]", choice)
        by_target = {}
        for number in sorted(lines, key=lambda n: -key[n]):
            by_target.setdefault(lines[number]["target"], []).append(number)
        expected = [number for numbers in by_target.values() for number in numbers]
        assert seen_cards(page) == expected
        seen.add(tuple(expected))
    assert len(seen) == len(orders)


@pytest.mark.parametrize(
    ("column", "name"), [(4, "statistic"), (5, "pvalue"), (6, "pvalue_adjusted"), (7, "theta_i"), (9, "effect")]
)
def test_the_table_is_sorted_by_the_numbers_and_not_by_their_text(visit, folders, column, name):
    page = visit("methods")
    lines = of_method(folders("methods"), "paired")
    rising = [number for number, line in sorted(lines, key=lambda entry: float(entry[1][name]))]
    head = page.locator("table.sortable:visible th").nth(column)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [int(row[0]) for row in seen_rows(page)] == rising
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [int(row[0]) for row in seen_rows(page)] == rising[::-1]


def test_the_table_is_sorted_by_names_and_numbers_of_images(visit, folders):
    page = visit("methods")
    lines = of_method(folders("methods"), "paired")
    page.locator("table.sortable:visible th").nth(1).locator("button").click()
    rising = sorted(lines, key=lambda entry: (entry[1]["class_target"], int(entry[1]["target"])))
    assert [row[1] for row in seen_rows(page)] == [f"{v['class_target']} {v['target']}" for _, v in rising]


@pytest.mark.parametrize("name", ["methods", "many", "sample"])
def test_numbers_on_the_page_are_those_of_the_file(visit, folders, name):
    page = visit(name, java_script_enabled=False)
    lines = read(folders(name))
    rows = seen_rows(page)
    methods = dict.fromkeys(line["method"] for line in lines)
    assert [int(row[0]) for row in rows] == [n for method in methods for n, _ in of_method(folders(name), method)]
    for row, line in zip(rows, lines, strict=True):
        assert row[1:4] == [f"{line[f'class_{side}']} {line[side]}" for side in ("target", "i", "j")]
    columns = ("statistic", "pvalue", "pvalue_adjusted", "theta_i", "theta_j")
    for place, column in enumerate(columns, start=4):
        values = [float(line[column]) for line in lines]
        np.testing.assert_allclose([value_of(row[place]) for row in rows], values, rtol=0.0051, atol=1e-300)
    effects = [re.fullmatch(r"(\S+) \((\S+) to (\S+)\)", row[9]).groups() for row in rows]
    true = np.array([[float(line[name]) for name in ("effect", "effect_low", "effect_high")] for line in lines])
    wrong = np.abs(np.array([[value_of(text) for text in texts] for texts in effects]) - true)
    assert (wrong <= 0.051 * (true[:, 2:] - true[:, 1:2])).all()
    if name != "sample" or "effect_low_selected" in lines[0]:
        longer = np.array([[value_of(text) for text in row[10].split(" to ")] for row in rows])
        ends = np.array([[float(line[f"effect_{end}_selected"]) for end in ("low", "high")] for line in lines])
        assert (np.abs(longer - ends) <= 0.051 * (true[:, 2:] - true[:, 1:2])).all()
    for card in page.locator("article[id]").all()[:40]:
        method, _, number = card.get_attribute("id").rpartition("-")
        line = [line for line in lines if line["method"] == method][int(number) - 1]
        p, adjusted = card.locator(".p b").inner_text(), card.locator(".p span").inner_text()
        assert value_of(re.sub(r"^p =? ?", "", p)) == pytest.approx(float(line["pvalue"]), rel=0.0051)
        assert value_of(adjusted.removeprefix("adjusted ")) == pytest.approx(float(line["pvalue_adjusted"]), rel=0.0051)
        numbers = card.locator(".numbers dd").all_inner_texts()
        for text, column in zip(numbers[1:4], ("statistic", "theta_i", "theta_j"), strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), rel=0.0051)


def test_an_address_with_a_finding_shows_it_whatever_is_chosen(visit):
    page = visit("methods", anchor="#swap-2")
    assert page.locator("#swap-2").is_visible()
    assert page.locator("[name=method]:checked").get_attribute("value") == "1"
    page.locator(".switch label").first.click()
    page.select_option("[name=class]", label="cat")
    hidden = page.locator("article[id]:not(.miss)[hidden]").first.get_attribute("id")
    page.evaluate("hash => { location.hash = hash }", hidden)
    page.locator(f"#{hidden}").wait_for(state="visible")


def test_the_keyboard_is_enough(visit):
    page = visit("methods")
    page.focus("[name=method]:checked")
    page.keyboard.press("ArrowRight")
    assert "9 of 40" in page.locator(".verdict:visible").inner_text()
    page.keyboard.press("Tab")
    stops = []
    for _ in range(8):
        stops.append(
            page.evaluate(
                "document.activeElement.name || document.activeElement.className || document.activeElement.tagName"
            )
        )
        page.keyboard.press("Tab")
    assert stops[:6] == ["SUMMARY", "class", "target", "image", "sort", "BUTTON"]
    button = page.locator("table.sortable:visible th button").nth(5)
    button.focus()
    assert button.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.locator("table.sortable:visible th").nth(5).get_attribute("aria-sort") == "ascending"


def test_without_scripts_everything_can_be_read(visit, folders):
    page = visit("methods", java_script_enabled=False)
    assert page.locator(".verdict:visible").count() == 3
    assert page.locator("#controls, .switch").evaluate_all("all => all.map(e => e.checkVisibility())") == [False, False]
    assert seen_cards(page).count(1) == 2
    assert sorted(seen_cards(page)) == sorted([*range(1, 21), *range(1, 10)])
    assert len(seen_rows(page)) == len(read(folders("methods")))


def test_hostile_names_stay_text_and_keep_their_direction_to_themselves(visit):
    page = visit("hostile", 390)
    assert page.locator("script").count() == 1
    assert EVIL in page.locator("main").inner_text()
    for text in page.locator(".sentence").all_inner_texts():
        assert not re.search("[\u202a-\u202e]", text)
        assert text.count("\u2068") == text.count("\u2069")


def test_the_browser_refuses_any_other_script(browser, folders):
    page = browser.new_page()
    page.goto((folders("one") / "index.html").as_uri())
    page.evaluate(
        "() => { const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
        " document.body.append(script) }"
    )
    page.evaluate("() => { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">') }")
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    page.close()


def test_on_paper_there_are_no_controls_and_nothing_is_folded(visit):
    page = visit("methods", 794)
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    assert not page.locator(".switch").is_visible()
    assert page.locator(".glossary").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type ?/Page\b", printed)) >= 5


def test_two_thousand_rows_are_sorted_at_once(visit):
    page = visit("many")
    assert len(seen_rows(page)) == 2000
    seconds = page.evaluate(
        "() => { const t = performance.now(); document.querySelectorAll('.sortable th button')[9].click();"
        " document.querySelector('[name=class]').selectedIndex = 1;"
        " document.querySelector('[name=class]').dispatchEvent(new Event('change', {bubbles: true}));"
        " document.body.offsetHeight; return (performance.now() - t) / 1000 }"
    )
    assert seconds < 2.0
    assert 0 < len(seen_rows(page)) < 2000


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("methods", 1280, "light"),
        ("methods", 390, "dark"),
        ("nothing", 1280, "dark"),
        ("hostile", 390, "light"),
        ("groups", 1280, "light"),
        ("atlas", 390, "dark"),
        ("hostile atlas", 390, "light"),
        ("blocks", 1280, "light"),
        ("prior", 1280, "dark"),
        ("trained again", 390, "dark"),
        ("named", 390, "light"),
        ("sample", 1280, "dark"),
    ],
)
def test_no_serious_barrier_is_found(visit, axe, name, width, scheme):
    page = visit(name, width, scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert found["passes"]
    serious = [
        (problem["id"], node["html"][:120], node["failureSummary"])
        for problem in found["violations"]
        if problem["impact"] in ("serious", "critical", "moderate")
        for node in problem["nodes"][:3]
    ]
    assert serious == []
