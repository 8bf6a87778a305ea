"""Which pairs, targets and controls are tested again, and what is refused."""

import numpy as np
import pytest
from clustered_images import LABELS, datamodel, rows_of, run, write_clusters

from pipeline.errors import BadInputError


def test_the_chosen_images_are_those_that_are_asked_for(clusters):
    (case,) = run(clusters, "robustness.pair=[3,9]").summary["cases"]
    rows = [row for row in rows_of(run(clusters, "robustness.pair=[3,9]")) if row["role"] == "random"]
    near = {3, 9, *case["near"]["i"]["images"], *case["near"]["j"]["images"]}
    for side, own in (("i", 3), ("j", 9)):
        chosen = {row[side] for row in rows}
        assert len(chosen) == 5
        assert not chosen & near
        assert (LABELS[list(chosen)] == LABELS[own]).all()
    weight, _, _ = datamodel(clusters)
    apart = np.abs(weight[3] - weight[9])
    assert case["targets"] == np.argsort(-apart, kind="stable")[:5].tolist()


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (["robustness.findings=[100000]"], "names finding 100000, but there are"),
        (["robustness.pair=[0,60]"], "there is no training image 60: they go from 0 to 59"),
        (["robustness.pair=[0,0]"], "two different images"),
        (['robustness.pair=["cat:0","bird:1"]'], "'bird' is no class of this data"),
        (["robustness.pair=[0,7]", "robustness.targets=[3,99]"], "names target 99, which has no datamodel"),
        (["robustness.pair=[0,7]", "robustness.neighbours=40"], "has 29 others of its class to choose neighbours from"),
        (["robustness.pair=[0,7]", "robustness.neighbours=20"], "left for random replacements"),
        (["robustness.top=1", "robustness.method=swap"], "'swap' was not run, so it has no findings"),
        (["robustness.top=1", "robustness.pair=[0,7]"], "only one of robustness.top"),
        (["robustness.pair=[0]"], "must be two different images"),
        (["robustness.pair=[12, 12]"], "must be two different images"),
        (["robustness.pair=[0,7]", "robustness.split=true"], "robustness.split is for findings"),
        (["robustness.pair=[0,7]", "robustness.metric=features", "robustness.embeddings=/nowhere.npy"], "nowhere.npy"),
    ],
)
def test_what_cannot_be_made_again_gets_a_sentence(clusters, extra, sentence):
    with pytest.raises(BadInputError) as refused:
        run(clusters, *extra)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_where_every_model_tests_no_tested_row_chooses_what_is_tested_again(tmp_path):
    """Targets by θ̂, look-alikes by θ̂: the same, whatever the margins of the tested rows are."""
    chosen = []
    for name in ("as they are", "others"):
        write_clusters(tmp_path / name)
        if name == "others":
            path = tmp_path / name / "data" / "test_margins_50pct.npy"
            margins = np.load(path)
            margins[300:] = np.random.default_rng(1).normal(size=margins[300:].shape)
            np.save(path, margins)
        rows = ("test.rows=progressive", "source.first_rows=300", "test.blocks=2")
        (case,) = run(
            tmp_path, *rows, "robustness.pair=[3,9]", "robustness.n_targets=3", "robustness.metric=influence", name=name
        ).summary["cases"]
        chosen.append((case["targets"], {side: near["images"] for side, near in case["near"].items()}))
    assert chosen[0] == chosen[1]
