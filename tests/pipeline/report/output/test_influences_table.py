"""atlas.csv and the entry of report.json."""

import json

import pytest
from influence_atlas import make_influences
from report_content import EVIL, make_rows
from report_page import read_table

from pipeline.images.item_names import ItemNames
from pipeline.report.output.influences_table import COLUMNS


def test_the_table_has_every_finding_of_the_targets_shown_and_what_is_shown(report):
    influences = make_influences(names=(EVIL, "a,b", ""))
    folder, page = report(make_rows(9, 2), influences=influences)
    lines = read_table(folder / "atlas.csv")
    listed = [single for target in influences.targets for single in target.listed]
    assert tuple(lines[0]) == COLUMNS
    assert [(int(line["target"]), int(line["image"])) for line in lines] == [(s.target, s.image) for s in listed]
    assert [line["class_image"] for line in lines] == [single.class_image for single in listed]
    names = {"estimate": "effect", "low": "effect_low", "high": "effect_high", "standard_error": "effect_se"}
    for line, single in zip(lines, listed, strict=True):
        for column, name in (
            names | {"high_selected": "effect_high_selected", "theta": "theta", "pvalue": "pvalue"}
        ).items():
            assert float(line[column]) == pytest.approx(getattr(single, name), rel=1e-9, nan_ok=True)
        assert line["finding"] == ("true" if single.finding else "false")
        ranks = [str(v) for v in (single.rank.rank, single.rank.low, single.rank.high)] if single.rank else ["", "", ""]
        assert [line["rank"], line["rank_low"], line["rank_high"]] == ranks
    assert "atlas.csv (single images: the findings of the targets shown)" in page.text


def test_a_program_reads_the_same(report):
    influences = make_influences()
    folder, _ = report(make_rows(9, 2), influences=influences)
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))["atlas"]
    assert (told["n_found"], told["n_stand"], told["n_nonzero"], told["family_size"]) == (8, 7, 48, 12)
    assert [target["n_found"] for target in told["targets"]] == [len(t.findings) for t in influences.targets]
    assert told["targets"][0]["selected_confidence"] is None
    assert told["targets"][1]["selected_confidence"] == influences.targets[1].level
    assert [s["image"] for s in told["targets"][0]["helpers"]] == [s.image for s in influences.targets[0].helpers]
    first = told["most_influential"]["raising"][0]
    assert (first["image"], first["raised"]) == (influences.raising[0].image, influences.raising[0].raised)
    assert first["strongest"][0]["finding"] is True


def test_names_come_last_where_there_are_any(report):
    names = ItemNames(tuple(f"row {k}" for k in range(12)), tuple(f"patient {k}" for k in range(12)))
    folder, _ = report(make_rows(9, 2), influences=make_influences(), names=names)
    lines = read_table(folder / "atlas.csv")
    assert tuple(lines[0]) == (*COLUMNS, "name_image", "name_target")
    assert all(line["name_image"] == f"row {line['image']}" for line in lines)
    assert all(line["name_target"] == f"patient {line['target']}" for line in lines)
    atlas = json.loads((folder / "report.json").read_text(encoding="utf-8"))["atlas"]
    assert atlas["targets"][0]["helpers"][0]["name_image"].startswith("row ")
    assert all(image["name_image"] == f"row {image['image']}" for image in atlas["most_influential"]["raising"])
