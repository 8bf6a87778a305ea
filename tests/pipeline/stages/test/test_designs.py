"""Designs through the whole stage: the pairs they draw, the targets they need, the key they make."""

import numpy as np
import pytest
from real_command import states
from tested_pairs import datamodel, rows_of

from pipeline.errors import BadInputError


def test_top_tests_the_extremes_of_the_fitted_weights_and_records_its_design(pipeline):
    run = pipeline("test.design=top", "test.targets=[2,7]", "test.k=3", "test.random_partners=2", "test.seed=4")
    result = run.run("test")
    weight, _, targets = datamodel(run)
    assert targets == [2, 7]  # "needed" is what the design can ask for.
    design = rows_of(result, "design.parquet")
    tests = rows_of(result)
    assert [(r["i"], r["j"], r["target"]) for r in design] == [(r["i"], r["j"], r["target"]) for r in tests]
    for k, target in enumerate(targets):
        order = np.argsort(weight[:, k]).tolist()
        strongest = [(r["i"], r["j"]) for r in design if (r["target"], r["kind"]) == (target, "helper against hurter")]
        assert strongest == list(zip(order[::-1][:3], order[:3], strict=True))
    facts = result.summary["design"]
    assert facts["n_of_kind"] == {
        "helper against hurter": 6, "helper against helper": 6, "helper against random image": 12,
    }  # fmt: skip
    assert (facts["seed"], facts["n_repeated"], facts["n_targets"], result.summary["n_tests"]) == (4, 0, 2, 24)
    assert result.summary["tau_x"] == 0.0


def test_too_many_helpers_are_one_sentence(pipeline):
    sentence = r'test\.design "top" cannot be drawn: `k` and `random_partners` must be smaller: 25 images are needed'
    with pytest.raises(BadInputError, match=sentence):
        pipeline("test.design=top", "test.k=10").run("test")


def test_grid_is_all_pairs_of_the_given_images_on_the_given_targets(pipeline):
    result = pipeline("test.design=grid", "test.images=[5,'dog:0',20]", "test.targets=all").run("test")
    tests = [(r["i"], r["j"], r["target"]) for r in rows_of(result)]
    assert tests == [(i, j, t) for t in range(8) for i, j in ((5, 1), (5, 20), (1, 20))]
    with pytest.raises(BadInputError, match=r'test\.design "grid" cannot be drawn: .*image 1 stands there twice'):
        pipeline("test.design=grid", "test.images=[1,'dog:0']").run("test")
    with pytest.raises(BadInputError, match="class dog has 12 training images, so there is no dog:12"):
        pipeline("test.design=grid", "test.images=[1,'dog:12']").run("test")
    with pytest.raises(BadInputError, match="'2 dog:1' must be one training image"):
        pipeline("test.design=grid", "test.images=[1,'2 dog:1']").run("test")


def test_targets_without_a_datamodel_are_refused_where_they_were_named(pipeline, tmp_path):
    (tmp_path / "pairs.csv").write_text("i,j,target\n1,2,3\n1,2,5\n")
    chosen = "fit.targets=[0,1,3]"
    listed = "test.design=list", f"test.file={tmp_path / 'pairs.csv'}"
    for settings in (listed, ("test.design=top", "test.targets=[5,3]", "test.k=2")):
        with pytest.raises(BadInputError, match="target 5 is to be tested but has no datamodel"):
            pipeline(*settings, chosen).run("test")
    result = pipeline("test.design=top", "test.k=2", chosen).run("test")  # Of a class, those that are fitted.
    assert {r["target"] for r in rows_of(result)} == {1, 3}


def test_a_list_is_known_by_its_content_and_the_fit_by_its_targets(pipeline, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("i,j,target\n1,2,3\n1,2,5\n")
    settings = "test.design=list", f"test.file={path}"
    pipeline(*settings).run("test")
    path = path.rename(tmp_path / "moved.csv")
    settings = "test.design=list", f"test.file={path}"
    pipeline(*settings, lines=(lines := [])).run("test")
    assert states("\n".join(lines)) == dict.fromkeys(("download", "fit", "test"), "cached")
    path.write_text("i,j,target\n1,2,3\n4,2,5\n")
    pipeline(*settings, lines=(lines := [])).run("test")
    assert states("\n".join(lines)) == {"download": "cached", "fit": "cached", "test": "running"}
    assert any("content of test.file" in line for line in lines)
    path.write_text("i,j,target\n1,2,3\n4,2,6\n")
    pipeline(*settings, lines=(lines := [])).run("test")
    assert states("\n".join(lines))["fit"] == "running"
    assert any("targets of test.file" in line for line in lines)
