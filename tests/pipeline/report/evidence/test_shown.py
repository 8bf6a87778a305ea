"""The evidence of a page is that of the tests that it shows, with influences where there is an atlas."""

import dataclasses

from influence_atlas import make_found, make_models
from report_content import groups_of, make_rows

from pipeline.report.evidence.shown import evidence_of


def rows_of_models():
    """Tests among 12 images and 12 targets."""
    places = [{"i": k % 12, "j": (k + 1) % 12, "target": k % 3} for k in range(9)]
    return [dataclasses.replace(row, **place) for row, place in zip(make_rows(9, 5), places, strict=True)]


def test_only_what_is_drawn_is_looked_up():
    models, rows = make_models(), rows_of_models()
    held_out = models.held_out
    drawn = [item.row for group in groups_of(rows) for item in group.drawn(1)]
    found = evidence_of(drawn, held_out, lambda part, index: "", None)
    assert set(found) == {"curves", "galleries"}
    assert set(found["galleries"]) == {row.target for row in drawn}
    assert set(found["curves"]) <= {row.key for row in drawn}


def test_an_atlas_adds_influences_and_what_was_expected():
    models, rows = make_models(), rows_of_models()
    found = evidence_of(rows, models.held_out, lambda part, index: "", make_found(models), expectation="as expected.")
    assert found["influences"].expectation == "as expected."
    assert {one.target for one in found["influences"].targets} <= set(models.targets.tolist())
    known = [target for target in found["galleries"] if target in models.targets]
    assert known
    for target in known:
        assert all(image.single is not None for image in found["galleries"][target].helpers)
