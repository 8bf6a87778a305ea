"""The re-runs of the robustness stage, case by case."""

from clustered_images import rows_of

from pipeline.stages.report.reruns import reruns_of


def test_every_rerun_is_in_its_case_and_every_image_has_its_class(finished):
    made = reruns_of(finished.inputs, finished.data.labels)
    rows = rows_of(finished.inputs["robustness"])
    assert [len(case.reruns) for case in made.cases] == [sum(row["case"] == k for row in rows) for k in (0, 1)]
    for case in made.cases:
        assert len(case.near_i) == len(case.near_j) == 3
        for rerun in case.reruns:
            assert made.classes["train", rerun.i] in ("cat", "dog")
            assert made.classes["target", rerun.target] == "cat"
    assert reruns_of(finished.inputs, None).classes == {}
    assert reruns_of({}, None) is None
