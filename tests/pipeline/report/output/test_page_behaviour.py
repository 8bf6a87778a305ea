"""The page under a reader's hands: the address says what is chosen, findings and images open, contents lead about."""

import re

import pytest
from seen_page import of_method, seen_cards, seen_rows

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


def hash_of(page):
    return page.evaluate("location.hash")


def chosen(page):
    """What the controls say."""
    fields = page.evaluate(
        "() => Object.fromEntries(['class', 'target', 'image', 'sort'].map(name =>"
        " [name, document.getElementById('controls').elements[name].value]))"
    )
    sorted_by = page.locator("table.sortable:visible th[aria-sort]").evaluate_all(
        "heads => heads.map(head => [head.dataset.name, head.ariaSort])"
    )
    return page.locator("[name=method]:checked").get_attribute("data-name"), fields, sorted_by


def test_method_filter_and_sort_are_in_the_address_and_come_back_from_it(visit):
    page = visit("methods")
    assert hash_of(page) == ""
    page.locator(".switch label:has-text('swap')").click()
    page.select_option("[name=class]", label="truck")
    page.select_option("[name=sort]", "size")
    page.locator("table.sortable:visible th button").nth(9).click()
    page.locator("table.sortable:visible th button").nth(9).click()
    assert re.fullmatch(r"#method=swap&class=\d+&sort=size&rows=-effect", hash_of(page))
    before = chosen(page), seen_cards(page), seen_rows(page)
    assert before[0][2] == [["effect", "descending"]]
    again = visit("methods", anchor=hash_of(page))
    assert (chosen(again), seen_cards(again), seen_rows(again)) == before
    assert 0 < len(before[2]) < 9


def test_back_and_forward_go_through_what_was_chosen(visit):
    page = visit("methods")
    states = [chosen(page)]
    page.locator(".switch label:has-text('swap')").click()
    states.append(chosen(page))
    page.select_option("[name=class]", label="cat")
    states.append(chosen(page))
    page.select_option("[name=sort]", "raises")
    states.append(chosen(page))
    assert len({str(state) for state in states}) == 4
    for state in states[-2::-1]:
        page.go_back()
        assert chosen(page) == state
    assert "24 of 60 pairs" in page.locator(".verdict:visible").inner_text()
    for state in states[1:]:
        page.go_forward()
        assert chosen(page) == state


def test_a_link_keeps_what_is_chosen_and_reset_clears_the_address(visit):
    page = visit("methods")
    page.select_option("[name=sort]", "size")
    page.locator('.toc a[href="#diagnostics"]').click()
    assert hash_of(page) == "#sort=size&at=diagnostics"
    assert page.locator("#diagnostics").evaluate("section => Math.abs(section.getBoundingClientRect().top)") < 60
    again = visit("methods", anchor="#sort=size&at=diagnostics")
    assert again.locator("#diagnostics").evaluate("section => Math.abs(section.getBoundingClientRect().top)") < 60
    page.click("#controls button[type=reset]")
    playwright.expect(page.locator("[name=sort]")).to_have_value("p")
    playwright.expect(page).to_have_url(re.compile(r"index\.html#?$"))
    assert hash_of(page) == ""


@pytest.mark.parametrize(
    "anchor",
    ["#method=none&class=99&target=x&sort=%3Cscript%3E&rows=-nothing&image=-1.5e9", "#%%%=", "#=&=", "#nowhere"],
)
def test_an_address_that_says_nothing_of_this_page_shows_it_whole(visit, anchor):
    page = visit("methods", anchor=anchor)
    assert page.locator("[name=method]:checked").get_attribute("data-name") == "paired"
    assert chosen(page)[1]["sort"] == "p"
    if "image" not in anchor:
        assert len(seen_cards(page)) == 20


def test_a_finding_without_a_panel_opens_with_its_images_and_closes(visit, folders):
    page = visit("methods")
    line = dict(of_method(folders("methods"), "paired"))[22]
    row = page.locator("#paired-22")
    opener = row.locator("button.opener")
    assert opener.get_attribute("aria-expanded") == "false"
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true"
    opened = page.locator("#paired-22 + tr.opened-row")
    names = opened.locator("canvas").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert names == [
        f"{role}: {line[f'class_{side}']}, {part} {line[side]}"
        for role, side, part in (("target", "target", "target"), ("image i", "i", "train"), ("image j", "j", "train"))
    ]
    assert [drawn_by(canvas) for canvas in opened.locator("canvas").all()] == [
        pixels_of(folders.images("methods"), part, int(line[side]))
        for side, part in (("target", "targets"), ("i", "train"), ("j", "train"))
    ]
    page.select_option("[name=target]", value=line["target"])
    assert opened.is_visible()
    page.locator("table.sortable:visible th button").nth(9).click()
    assert page.locator("#paired-22 + tr.opened-row").count() == 1
    opener.click()
    assert page.locator(".opened-row").count() == 0
    assert page.locator("#paired-3 button.opener").count() == 0


def drawn_by(canvas):
    """The red of every pixel of a canvas."""
    return canvas.evaluate(
        "one => [...one.getContext('2d').getImageData(0, 0, one.width, one.height).data].filter((v, k) => k % 4 === 0)"
    )


def pixels_of(images, part, index):
    return getattr(images, part)[index].ravel().tolist()


def test_an_address_of_a_finding_without_a_panel_opens_it(visit):
    page = visit("methods", anchor="#swap-2")
    assert page.locator("article#swap-2").is_visible()
    page = visit("methods", anchor="#paired-23")
    assert page.locator("#paired-23 + tr.opened-row canvas").count() == 3
    page = visit("blocks", anchor="#contrast-21")
    assert page.locator("[name=method]:checked").get_attribute("data-name") == "contrast"
    assert page.locator("#contrast-21 + tr.opened-row").is_visible()


def test_a_helper_can_be_asked_about_and_shows_its_findings(visit, folders):
    page = visit("atlas")
    thumb = page.locator(".strip li[data-image]:visible").first
    image, target = thumb.get_attribute("data-image"), thumb.get_attribute("data-target")
    own = [(number, line) for number, line in of_method(folders("atlas"), "paired") if image in (line["i"], line["j"])]
    here = sum(line["target"] == target for _, line in own)
    assert own
    thumb.locator("button").focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog.about")
    assert dialog.is_visible()
    text = dialog.inner_text()
    assert f"train {image}" in text
    assert f"weight θ̂ for target {target}\n{thumb.get_attribute('data-theta')}, one of the strongest helpers" in text
    assert f"in findings\n{len(own)}, {here} on this target" in text
    assert "finding" in thumb.get_attribute("data-influence")
    assert thumb.get_attribute("data-influence") in text
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert thumb.locator("button").evaluate("button => button === document.activeElement")
    thumb.locator("button").click()
    dialog.locator("button:has-text('Show only')").click()
    assert hash_of(page) == f"#image={image}"
    assert sorted(int(row[0]) for row in seen_rows(page)) == [number for number, _ in own]
    assert page.locator("[name=image]").input_value() == image
    page.go_back()
    assert len(seen_rows(page)) == 24


def test_a_link_of_the_dialog_leads_to_the_finding(visit):
    page = visit("atlas", 390)
    page.locator(".strip li[data-image] button:visible").first.click()
    link = page.locator("dialog.about li a").first
    wanted = link.get_attribute("href")
    link.click()
    assert not page.locator("dialog.about").is_visible()
    top = page.locator(wanted).evaluate("item => item.getBoundingClientRect().top")
    assert 0 <= top < 120


def test_without_a_finding_an_image_is_in_none(visit):
    page = visit("nothing")
    page.locator(".strip li[data-image] button:visible").first.click()
    assert "in findings\nnone" in page.locator("dialog.about").inner_text()
    assert page.locator("dialog.about a, dialog.about button").all_inner_texts() == ["Close"]


def test_contents_stand_beside_a_wide_page_and_say_where_one_is(visit):
    page = visit("atlas", 1280)
    contents = page.locator(".toc")
    assert contents.locator("summary").is_hidden()
    titles = contents.locator("a").all_inner_texts()
    assert titles[:3] == ["The answer", "Findings", "All findings in numbers"]
    assert {"Diagnostics", "p-values", "The datamodels", "The masks", "Where this comes from"} <= set(titles)
    for link in contents.locator("a").all():
        link.click()
        page.wait_for_function(
            "id => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 70"
            " || scrollY + innerHeight >= document.documentElement.scrollHeight - 2",
            arg=link.get_attribute("href")[1:],
        )
        assert contents.is_visible()
        assert contents.evaluate("nav => nav.getBoundingClientRect().top") == pytest.approx(0, abs=1)
    contents.locator('a[href="#influences"]').click()
    page.locator('.toc a[href="#influences"][aria-current=location]').wait_for()


def test_contents_are_folded_on_a_phone_and_stay_in_reach(visit):
    page = visit("atlas", 390)
    contents = page.locator(".toc")
    assert not contents.locator("a").first.is_visible()
    page.evaluate("scrollTo(0, 4000)")
    assert contents.evaluate("nav => nav.getBoundingClientRect().top") == 0
    contents.locator("summary").click()
    contents.locator('a[href="#diagnostics"]').click()
    assert not contents.locator("a").first.is_visible()
    top = page.locator("#diagnostics h2").evaluate("head => head.getBoundingClientRect().top")
    assert contents.evaluate("nav => nav.getBoundingClientRect().bottom") <= top < 140


def test_contents_work_without_scripts_and_are_not_printed(visit):
    page = visit("methods", 390, java_script_enabled=False)
    page.locator(".toc summary").click()
    assert page.locator('.toc a[href="#diagnostics"]').is_visible()
    assert page.locator(".js-note").is_hidden()
    page.emulate_media(media="print")
    assert page.locator(".toc").is_hidden()


def test_named_items_without_images_read_well(visit):
    page = visit("named")
    text = page.locator("main").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"Training on [a-z0-9]+ \(train \d+\) instead of [a-z0-9]+ \(train \d+\) (raises|lowers)", text)
    assert "the loss on" in text
    assert "margin" not in text
    assert "not in the store" not in text
    assert not re.search(r"\bimages? i\b|training images?\b|single images?\b", text)
    assert page.locator("#sprite, img").count() == 0
    page.locator(".strip li[data-image] button:visible").first.click()
    assert re.match(r"[\w ]+, train \d+", page.locator("dialog.about h2").inner_text())


@pytest.mark.parametrize("width", [1200, 1300, 1500])
def test_no_table_is_cut_where_there_is_room_for_the_contents_beside_it(visit, width):
    page = visit("atlas", width=width)
    cut = page.locator(".scroll:visible").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
    )
    assert cut == []
    room = page.locator("main").evaluate("main => main.getBoundingClientRect().width")
    assert room == width - 212  # All that the contents leave, up to 1320.


def test_a_finding_without_a_panel_and_without_images_opens_in_words(visit):
    page = visit("named", anchor="#paired-22")
    opened = page.locator("#paired-22 + tr.opened-row")
    assert re.search(r"raining on .* the loss on patient .*95 % interval .* as one of 24 findings", opened.inner_text())
    assert opened.locator("canvas, figure").count() == 0
    page.locator("#paired-22 button.opener").click()
    assert page.locator(".opened-row").count() == 0


def test_what_is_trained_on_can_be_asked_for_by_name(visit, folders):
    page = visit("named")
    own = [
        number for number, line in of_method(folders("named"), "paired") if "bmi" in (line["name_i"], line["name_j"])
    ]
    page.fill("[name=image]", "BMI")
    page.locator("[name=image]").blur()
    assert sorted(int(row[0]) for row in seen_rows(page)) == own != []
    assert hash_of(page) == "#image=BMI"
    page.fill("[name=image]", "2")
    page.locator("[name=image]").blur()
    assert sorted(int(row[0]) for row in seen_rows(page)) == own


def test_a_filter_that_leaves_no_panel_points_to_the_table(visit, folders):
    page = visit("named")
    assert page.locator("#only-in-table").is_hidden()
    lines = dict(of_method(folders("named"), "paired"))
    drawn = {lines[k]["target"] for k in range(1, 9)}
    alone = next(line["target"] for k, line in lines.items() if k > 8 and line["target"] not in drawn)
    page.select_option("[name=target]", value=alone)
    assert seen_cards(page) == [] and seen_rows(page) != []
    page.locator("#only-in-table a").click()
    assert page.locator("#table h2").evaluate("head => Math.abs(head.getBoundingClientRect().top)") < 120


def test_the_filter_counts_among_the_findings_that_the_page_lists_and_says_so(visit):
    page = visit("cut")
    count = page.locator("#controls output")
    assert count.inner_text() == "2,000 of the first 2,000 of 2,100 findings, 3 with a panel"
    page.locator("[name=image]").fill("3")
    page.locator("[name=image]").dispatch_event("change")
    listed = page.locator("tbody tr[data-s]:not([hidden])").count()
    assert 0 < listed < 2000
    assert count.inner_text().startswith(f"{listed:,} of the first 2,000 of 2,100 findings, ")
    page.locator("[name=image]").fill("11111")
    page.locator("[name=image]").dispatch_event("change")
    assert count.inner_text() == "none of the first 2,000 of 2,100 findings, 0 with a panel"


EDGES = "one => { const box = one.getBoundingClientRect(); return [box.left, box.right, box.top, box.bottom]; }"


@pytest.mark.parametrize("width", [390, 900, 1280])
def test_an_opened_finding_is_within_what_is_seen_of_the_table_and_below_its_head(visit, width):
    page = visit("many", width, anchor="#paired-300")
    page.wait_for_function("document.querySelector('#paired-300 + .opened-row canvas')")
    table = page.locator(".tall:visible")
    left, right, _, bottom = table.evaluate(EDGES)
    for scrolled in (0, 400):
        table.evaluate(f"one => {{ one.scrollLeft = {scrolled}; }}")
        own = page.locator("#paired-300 + .opened-row .sentence").evaluate(EDGES)
        assert left <= own[0] < own[1] <= right
        assert own[3] <= bottom
    if width == 1280:
        assert table.evaluate("one => one.scrollWidth === one.clientWidth")
    top = page.locator("#paired-300").evaluate(EDGES)[2]
    assert table.locator("thead th").first.evaluate(EDGES)[3] <= top < 200
    if width < 1200:
        assert page.locator(".toc").evaluate(EDGES)[3] <= top


def test_the_address_of_a_finding_that_is_not_listed_says_where_it_is(visit):
    page = visit("cut", anchor="#paired-2050")
    notice = page.locator("#not-listed")
    assert notice.inner_text() == (
        "Finding paired-2050 is not on this page, whose table has the first 2,000 of 2,100 findings. It is in "
        "findings.csv; its picture: datamodels-inf panel --finding paired-2050, with the options of the run."
    )
    assert 0 <= notice.evaluate(EDGES)[2] < 200
    page.evaluate("location.hash = '#paired-2101'")
    page.wait_for_function("document.getElementById('not-listed').textContent.startsWith('There is no')")
    assert notice.inner_text() == "There is no finding paired-2101: the last is paired-2100."
    page.evaluate("location.hash = '#paired-2000'")
    page.locator("#paired-2000 + .opened-row").wait_for()
    assert notice.is_hidden()
    assert visit("cut", anchor="#another-7").locator("#not-listed").is_hidden()


def test_a_notice_keeps_its_distance_from_what_is_below(visit):
    page = visit("blind")
    notice, below = page.locator(".notice.stronger"), page.locator("header.target").first
    assert below.evaluate(EDGES)[2] - notice.evaluate(EDGES)[3] >= 16
