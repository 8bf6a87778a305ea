"""Findings by the classes of their images."""

from report_content import groups_of, make_row

from pipeline.report.drawing.class_heatmap import heatmap_of


def test_the_heatmap_counts_tests_and_findings():
    rows = [make_row(k, finding=k % 3 == 0, class_i="ab"[k % 2], class_j="ca"[k % 2]) for k in range(12)]
    heatmap = heatmap_of(groups_of(rows)[0], ["a", "b"])
    assert heatmap.classes == ["a", "b", "c"]
    counted = {
        (a, b): (cell.tests, cell.found)
        for a, line in zip("abc", heatmap.cells, strict=True)
        for b, cell in zip("abc", line, strict=True)
        if cell.tests
    }
    assert counted == {("a", "c"): (6, 2), ("b", "a"): (6, 2)}
    assert heatmap.uniform == 6
    assert {cell.shade for line in heatmap.cells for cell in line} == {0, 5}
    assert heatmap_of(groups_of([make_row(class_i="a", class_j="a")])[0], []) is None
    assert (
        heatmap_of(groups_of([make_row(class_i="a", class_j="b", pvalue=float("nan"), finding=False)])[0], []) is None
    )


def test_with_many_classes_the_heatmap_shows_those_with_the_most_findings():
    rows = [make_row(k, finding=False, class_i=f"c{k:02d}", class_j="z") for k in range(30)]
    rows.append(make_row(99, finding=True, class_i="c29", class_j="c28"))
    heatmap = heatmap_of(groups_of(rows)[0], [])
    assert len(heatmap.classes) == 20
    assert {"c28", "c29", "z"} <= set(heatmap.classes)
    assert heatmap.left_out == 11
    assert heatmap.uniform == 1
