"""The most influential training images on the page."""

from influence_atlas import make_influences, make_models
from report_content import EVIL, Page, make_rows


def part_of(page):
    start = page.html.index('<section id="influential">')
    return Page(page.html[start : page.html.index('<section id="diagnostics">')])


def test_images_with_their_counts_and_strongest_targets(report):
    influences = make_influences(models=make_models(n=1000, targets=range(12)))
    _, page = report(make_rows(9, 2), influences=influences)
    part = part_of(page)
    assert f"{influences.n_moving} of 12 training images are findings on at least one of 12 targets." in part.text
    assert len(part.tables) == 3
    for (_, rows), images in zip(
        part.tables, (influences.raising, influences.lowering, influences.doubtful), strict=True
    ):
        assert len(rows) == 1 + len(images)
        for row, image in zip(rows[1:], images, strict=True):
            assert row[0].strip() == f"{image.class_image}train {image.image}"
            assert row[1:3] == [str(image.raised), str(image.lowered)]
            assert row[3] == f"raises {image.own_raised}, lowers {image.own_lowered}"
            shown = [f"{single.class_target}target {single.target}" for single in image.strongest]
            assert all(text in row[4] for text in shown)
    assert "Each target was corrected on its own, so the counts over targets carry no promise" in part.text


def test_alternatives_name_image_and_target(report):
    influences = make_influences()
    _, page = report(make_rows(9, 2), influences=influences)
    alts = part_of(page).pictures
    first = influences.raising[0]
    assert alts[0] == f"training image: {first.class_image}, train {first.image}"
    assert alts[1] == f"target: {first.strongest[0].class_target}, target {first.strongest[0].target}"


def test_without_classes_or_findings(report):
    _, page = report(make_rows(9, 2), influences=make_influences(names=()), images=None)
    part = part_of(page)
    assert "of its own class" not in part.text
    assert "its label" not in part.text
    _, page = report(make_rows(9, 2), influences=make_influences(models=make_models(effect=0.0), alpha=0.001))
    part = part_of(page)
    assert "No training image is a finding on any of 5 targets." in part.text
    assert part.tables == []


def test_no_target_of_its_own_class_is_not_none_moved(report):
    influences = make_influences(models=make_models(n=1000, targets=(0, 3, 6, 9)))
    _, page = report(make_rows(9, 2), influences=influences)
    rows = [row for _, rows in part_of(page).tables for row in rows[1:]]
    images = (*influences.raising, *influences.lowering, *influences.doubtful)
    assert [row[3] == "–" for row in rows] == [image.own_raised is None for image in images]
    assert {row[3] == "–" for row in rows} == {True, False}


def test_one_family_of_everything_promises_more(report):
    _, page = report(make_rows(9, 2), influences=make_influences(family="all"))
    assert "carry no promise" not in part_of(page).text


def test_hostile_names_are_only_text(report):
    influences = make_influences(names=(EVIL,))
    _, page = report(make_rows(9, 2), influences=influences)
    assert page.html.count("<script") == 1
    assert EVIL in part_of(page).text
