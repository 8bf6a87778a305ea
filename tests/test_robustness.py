"""Robustness re-runs: clusters of images with one influence, controls without, and everything that can be refused."""

import csv
import json

import numpy as np
import pytest
from PIL import Image
from pyarrow import parquet
from report_content import Page
from scipy.stats import spearmanr
from test_pipeline import call, ok

from datamodels_inf import SquaredResidual, adjust_pvalues, contrast, swap_test
from datamodels_inf.neighbours.agreement import agreement
from pipeline.config import load_config
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
from pipeline.run import Pipeline
from pipeline.text.numbers import pvalue

CLASSES, CLUSTERS, SIZE, TARGETS = 2, 5, 6, 12
N_TRAIN = CLASSES * CLUSTERS * SIZE
N_FIT, N_TEST = 2000, 1600
CLUSTER = np.arange(N_TRAIN) // SIZE
LABELS = CLUSTER % CLASSES


def write_clusters(folder, *, alike=True, seed=0):
    """Clusters of images that look alike. With `alike` they have one influence too; else each image has its own.

    Targets come in four kinds of three that look alike and, with `alike`, are influenced alike.
    """
    rng = np.random.default_rng(seed)
    looks = rng.integers(30, 220, (CLASSES * CLUSTERS, 6, 6))
    train = np.clip(looks[CLUSTER] + rng.integers(-6, 7, (N_TRAIN, 6, 6)), 0, 255).astype(np.uint8)
    train[1] = train[0]  # A copy.
    target_looks = rng.integers(30, 220, (4, 6, 6))
    kind = np.arange(TARGETS) // 3
    targets = np.clip(target_looks[kind] + rng.integers(-6, 7, (TARGETS, 6, 6)), 0, 255).astype(np.uint8)
    shape = (CLASSES * CLUSTERS, 4)
    weight = rng.standard_normal(shape)[CLUSTER][:, kind] if alike else rng.standard_normal((N_TRAIN, TARGETS))
    masks = rng.random((N_FIT + N_TEST, N_TRAIN)) < 0.5
    margins = masks @ weight + rng.standard_normal((len(masks), TARGETS))
    (folder / "data").mkdir(parents=True)
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    images = ImageSet(train, LABELS, targets, np.zeros(TARGETS, np.int64), ("cat", "dog"))
    images.save(folder / "images.npz")
    return weight


def settings(folder):
    return [
        "source.kind=files", f"source.folder={folder}", f"source.images={folder / 'images.npz'}",
        f"source.fit_rows={N_FIT}", f"source.held_out_rows={N_TEST}", "fit.n_lambdas=30", "test.target_class=cat",
        "test.repeats=40", "test.method=contrast",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    for name in ("alike", "unlike"):
        write_clusters(folder / name, alike=name == "alike")
    return folder


def run(clusters, *extra, name="alike"):
    config = load_config("digits", [*settings(clusters / name), *extra])
    return Pipeline(config, clusters / name / "store", clusters / name / "reports", quiet=True).run("robustness")


def datamodel(clusters):
    (path,) = (clusters / "alike" / "store" / "fit").glob("*/datamodel.npz")
    with np.load(path) as fit:
        return fit["weight"].astype(float), fit["bias"], fit["targets"].tolist()


def rows_of(result):
    return parquet.read_table(result.folder / "reruns.parquet").to_pylist()


@pytest.mark.parametrize("metric", ("pixels", "features", "influence"))
def test_look_alikes_of_one_influence_agree_and_controls_do_not(clusters, metric):
    n_targets = 8 if metric != "influence" else 4  # The other eight tell who has the same influence.
    result = run(clusters, "robustness.top=3", f"robustness.metric={metric}", f"robustness.n_targets={n_targets}")
    cases = result.summary["cases"]
    assert [case["finding"] for case in cases] == [1, 2, 3]
    for case in cases:
        for side in ("i", "j"):
            assert (CLUSTER[case["near"][side]["images"]] == CLUSTER[case[side]]).all()
        a = case["agreement"]
        assert a["neighbour"]["n"] == a["random"]["n"] == n_targets * 25
        assert a["neighbour"]["same_sign"] > 0.9
        if metric != "influence":  # Its four targets are too few and too equal to be put in order.
            assert a["neighbour"]["effects"] > 0.85
            assert a["neighbour"]["pvalues"] > 0.6
    random = [case["agreement"]["random"] for case in cases]
    assert np.mean([a["same_sign"] for a in random]) < 0.8
    assert np.mean([a["effects"] for a in random]) < 0.5


def test_look_alikes_of_different_influence_do_not_agree(clusters):
    """The control of the test above: alike to the eye alone, agreement is that of random images."""
    result = run(clusters, "robustness.top=3", "robustness.n_targets=8", name="unlike")
    found = [case["agreement"]["neighbour"] for case in result.summary["cases"]]
    assert np.mean([a["same_sign"] for a in found]) < 0.7
    assert np.mean([a["effects"] for a in found]) < 0.4


def test_neighbouring_targets_are_influenced_alike(clusters):
    """Two of twelve targets are tested, and each has two more of its kind."""
    result = run(clusters, "robustness.top=2", "robustness.targets=[0,4]", "robustness.neighbours=2")
    for case in result.summary["cases"]:
        assert case["targets"] == [0, 4]
        assert set(case["near"]["target 0"]["images"]) == {1, 2}
        assert set(case["near"]["target 4"]["images"]) == {3, 5}
        assert case["agreement"]["target"]["n"] == 4
        assert case["agreement"]["target"]["same_sign"] == 1.0


def test_copies_are_flagged(clusters):
    result = run(clusters, "robustness.pair=[0,7]", "robustness.n_targets=2")
    (case,) = result.summary["cases"]
    assert case["near"]["i"]["images"][0] == 1
    assert case["near"]["i"]["distances"][0] == 0.0
    assert case["near"]["i"]["near_copies"][0] == 1
    assert case["finding"] is None


@pytest.mark.parametrize("method", ("contrast", "swap"))
def test_every_figure_is_that_of_the_library_and_the_family_is_corrected(clusters, method):
    result = run(clusters, "robustness.pair=[3,9]", "robustness.n_targets=3", "robustness.neighbours=2",
                 f"robustness.method={method}")  # fmt: skip
    rows = rows_of(result)
    x = np.load(clusters / "alike" / "data" / "train_masks_50pct.npy")[N_FIT:]
    y = np.load(clusters / "alike" / "data" / "test_margins_50pct.npy")[N_FIT:].astype(float)
    weight, bias, targets = datamodel(clusters)
    family = {}
    for row in rows:
        k = targets.index(row["target"])
        sample = x, y[:, row["target"]], row["i"], row["j"]
        effect = contrast(*sample, theta=weight[:, k], bias=bias[k])
        assert (row["effect"], row["effect_low"]) == pytest.approx((effect.estimate, effect.interval[0]), rel=1e-6)
        if method == "contrast":
            assert row["pvalue"] == pytest.approx(effect.pvalue, rel=1e-6)
        else:
            expected = swap_test(*sample, score=SquaredResidual(weight[:, k], bias[k]))
            assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-6)
        family[row["i"], row["j"], row["target"]] = row["pvalue"], row["adjusted"]
    pvalues, adjusted = np.array(list(family.values())).T
    np.testing.assert_allclose(adjusted, adjust_pvalues(pvalues, "by"))
    assert result.summary["n_tests"] == len(family)
    (case,) = result.summary["cases"]
    original = {row["of"]: row for row in rows if row["role"] == "original"}
    for role in ("neighbour", "random", "target"):
        some = [(original[row["of"]], row) for row in rows if row["role"] == role]
        figures = case["agreement"][role]
        assert figures["n"] == len(some)
        assert figures["same_sign"] == pytest.approx(np.mean([a["effect"] * b["effect"] > 0 for a, b in some]))
        for name, key in (("effects", "effect"), ("pvalues", "pvalue")):
            expected = spearmanr([a[key] for a, _ in some], [b[key] for _, b in some]).statistic
            assert figures[name] == pytest.approx(expected)


def test_two_images_of_one_class_have_no_look_alike_in_common(clusters):
    """Of two images that look alike themselves: else (a, b) and (b, a) would both be re-runs, and never agree."""
    i, j = np.flatnonzero(CLUSTER[2] == CLUSTER)[[1, 3]].tolist()
    (case,) = run(clusters, f"robustness.pair=[{i},{j}]", "robustness.neighbours=4").summary["cases"]
    near = {side: case["near"][side]["images"] for side in ("i", "j")}
    assert len({i, j, *near["i"], *near["j"]}) == 10
    for side, own in (("i", i), ("j", j)):
        assert (LABELS[near[side]] == LABELS[own]).all()
        assert case["near"][side]["distances"] == sorted(case["near"][side]["distances"])
        assert np.mean(CLUSTER[near[side]] == CLUSTER[own]) >= 0.5


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


def test_a_split_finds_on_one_half_and_tests_on_the_other(clusters):
    """Which finding is first depends on the first half alone, its p-value on the second alone."""
    result = run(clusters, "robustness.top=1", "robustness.split=true", "robustness.n_targets=2")
    (case,) = result.summary["cases"]
    assert result.summary["n_held_out"] == N_TEST // 2
    x = np.load(clusters / "alike" / "data" / "train_masks_50pct.npy")
    y = np.load(clusters / "alike" / "data" / "test_margins_50pct.npy").astype(float)
    weight, bias, targets = datamodel(clusters)

    def by_half(i, j, target, rows):
        k = targets.index(target)
        return contrast(x[rows], y[rows, target], i, j, theta=weight[:, k], bias=bias[k])

    first, second = slice(N_FIT, N_FIT + N_TEST // 2), slice(N_FIT + N_TEST // 2, None)
    original = next(row for row in rows_of(result) if row["role"] == "original" and row["target"] == case["targets"][0])
    expected = by_half(original["i"], original["j"], original["target"], second)
    assert original["pvalue"] == pytest.approx(expected.pvalue, rel=1e-6)
    design = parquet.read_table(next((clusters / "alike" / "store" / "test").glob("*/design.parquet"))).to_pylist()
    found = [(by_half(d["i"], d["j"], d["target"], first).pvalue, d) for d in design]
    best = min(found, key=lambda entry: entry[0])[1]
    assert (case["i"], case["j"], case["targets"][0]) == (best["i"], best["j"], best["target"])


def test_nothing_found_means_nothing_to_make_again(clusters):
    result = run(clusters, "robustness.top=3", "test.alpha=1e-200", "robustness.method=contrast")
    assert result.summary["cases"] == []
    assert rows_of(result) == []


def test_embeddings_of_ones_own(clusters, tmp_path):
    """Neighbours by number, whatever the images look like."""
    angle = np.arange(N_TRAIN) / N_TRAIN
    np.save(tmp_path / "own.npy", np.stack([np.cos(angle), np.sin(angle)], axis=1))
    result = run(clusters, "robustness.pair=[13,40]", "robustness.metric=features", "robustness.neighbours=2",
                 f"robustness.embeddings={tmp_path / 'own.npy'}", "robustness.same_class=false")  # fmt: skip
    (case,) = result.summary["cases"]
    assert sorted(case["near"]["i"]["images"]) == [12, 14]
    assert sorted(case["near"]["j"]["images"]) == [39, 41]


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
        (["robustness.pair=[0]"], "must be two images"),
        (["robustness.pair=[0,7]", "robustness.split=true"], "robustness.split is for findings"),
        (["robustness.pair=[0,7]", "robustness.metric=features", "robustness.embeddings=/nowhere.npy"], "nowhere.npy"),
    ],
)
def test_what_cannot_be_made_again_gets_a_sentence(clusters, extra, sentence):
    with pytest.raises(BadInputError) as refused:
        run(clusters, *extra)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_image_without_weights_has_no_neighbours_by_influence(clusters):
    with pytest.raises(BadInputError, match=r"training image 0 has no neighbours by robustness\.metric = 'influence'"):
        run(clusters, "robustness.pair=[0,7]", "robustness.metric=influence", f"robustness.targets={list(range(12))}")


def test_a_class_of_one_has_no_neighbours(tmp_path):
    write_clusters(tmp_path / "source")
    images = ImageSet.load(tmp_path / "source" / "images.npz")
    labels = np.where(np.arange(N_TRAIN) == 4, 2, LABELS)
    ImageSet(images.train, labels, images.targets, images.target_labels, ("cat", "dog", "okapi")).save(
        tmp_path / "source" / "images.npz"
    )
    extra = ["test.design=grid", "test.images=[0,4]", "robustness.pair=[4,0]"]
    own = [s for s in settings(tmp_path / "source") if "repeats" not in s]
    config = load_config("digits", [*own, *extra])
    with pytest.raises(BadInputError, match="training image 4 has 0 others of its class"):
        Pipeline(config, tmp_path / "store", tmp_path / "reports", quiet=True).run("robustness")


def test_the_command_prints_the_table_and_a_second_run_is_cached(clusters, tmp_path):
    options = [word for setting in settings(clusters / "alike") for word in ("--set", setting)]
    command = ("robustness", *options, "--pair", "cat:3", "7", "--n-targets", "2", "--neighbours", "3")
    out = ok(tmp_path, *command)
    assert "Pair: training image 3 against 7, contrast, by pixels" in out
    assert "valid if the pair was chosen before looking at these models" in out
    (manifest,) = (tmp_path / "data" / "robustness").glob("*/manifest.json")
    case = json.loads(manifest.read_text())["summary"]["cases"][0]
    lines = out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:2] == ["i", "j"])
    assert lines[head].split()[2:] == [word for t in case["targets"] for word in ("target", str(t))]
    assert lines[head + 1].split()[:2] == ["3", "7"]
    near = zip(case["near"]["i"]["images"], case["near"]["j"]["images"], strict=True)
    assert [line.split()[:2] for line in lines[head + 2 : head + 5]] == [[str(i), str(j)] for i, j in near]
    same_sign = case["agreement"]["neighbour"]["same_sign"]
    assert any(line.split()[-3:-2] == [f"{same_sign:.0%}"] for line in lines if "look-alikes of both images" in line)
    assert "robustness cached" in ok(tmp_path, *command)
    finding = ok(tmp_path, "robustness", *options, "--finding", "2", "--quiet")
    assert finding.startswith("Finding 2: ")
    assert "Follow-up" in finding
    both = call(tmp_path, "robustness", *options, "--finding", "2", "--pair", "1", "2")
    assert both.returncode == 2
    assert "--finding and --pair cannot both be given" in both.stderr


def test_agreement_leaves_out_what_is_unknown():
    nan = float("nan")
    once, again = np.array([1.0, -1.0, nan, 2.0]), np.array([0.5, 1.0, 1.0, nan])
    found = agreement(once, np.full(4, 0.5), again, np.full(4, 0.1))
    assert (found.n, found.same_sign) == (2, 0.5)
    assert np.isnan(found.pvalues)
    assert agreement(once[2:3], np.ones(1), again[2:3], np.ones(1)).n == 0


@pytest.fixture(scope="module")
def report(clusters):
    """The whole pipeline with re-runs, to the report."""
    config = load_config("digits", [*settings(clusters / "alike"), "robustness.top=2", "robustness.neighbours=3"])
    Pipeline(config, clusters / "alike" / "store", clusters / "reports", quiet=True).run("report")
    return clusters / "reports" / "digits"


def test_the_report_shows_the_table_the_strips_and_the_plots(clusters, report):
    html = (report / "index.html").read_text(encoding="utf-8")
    page = Page(html)
    (rows,) = [rows for kind, rows in page.tables if kind == "reruns"][:1]
    result = run(clusters, "robustness.top=2", "robustness.neighbours=3")
    case = result.summary["cases"][0]
    assert len(rows) == 1 + 1 + 3 + 3  # Targets, the original, its look-alikes, medians of three roles.
    original = [r for r in rows_of(result) if r["case"] == 0 and r["role"] == "original"]
    shown = [cell.split("Δ")[0] for cell in rows[1][2:]]
    assert shown == [pvalue(r["pvalue"]) for r in original]
    assert [cell.split()[-1] for cell in rows[2][:2]] == [str(case["near"][side]["images"][0]) for side in ("i", "j")]
    assert "Follow-up" in page.text
    assert page.text.count("same sign of Δ") == 2
    assert html.count('class="lane"') == 2 * 5
    with (report / "reruns.csv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    assert len(listed) == len(rows_of(result))
    for line, row in zip(listed, rows_of(result), strict=True):
        assert (line["role"], int(line["i"]), int(line["target"])) == (row["role"], row["i"], row["target"])
        assert float(line["adjusted"]) == pytest.approx(row["adjusted"])
    with Image.open(report / "robustness.png") as picture:
        assert picture.width > 600
        assert picture.height > 1000


def test_the_picture_shows_the_first_cases_only(clusters, report, tmp_path):
    config = load_config("digits", [*settings(clusters / "alike"), "robustness.top=6", "robustness.neighbours=3"])
    Pipeline(config, clusters / "alike" / "store", tmp_path, quiet=True).run("report")
    with Image.open(report / "robustness.png") as two, Image.open(tmp_path / "digits" / "robustness.png") as six:
        assert 1.5 < six.height / two.height < 2.2
    assert (tmp_path / "digits" / "index.html").read_text(encoding="utf-8").count('class="lane"') == 6 * 5


def test_a_report_without_findings_says_that_nothing_was_made_again(clusters, tmp_path):
    extra = ["robustness.top=2", "test.alpha=1e-200"]
    config = load_config("digits", [*settings(clusters / "alike"), *extra])
    Pipeline(config, clusters / "alike" / "store", tmp_path, quiet=True).run("report")
    text = Page((tmp_path / "digits" / "index.html").read_text(encoding="utf-8")).text
    assert "There is no finding, so nothing was tested again." in text
