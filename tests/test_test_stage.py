"""The test stage: designs through the whole stage, groups, notes, chunks, kills."""

import json
import shutil
import signal
import subprocess
import time
import tracemalloc

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from test_pipeline import COMMAND, ok, released, states

from datamodels_inf import SquaredResidual, contrast, paired_swap_test, swap_test
from datamodels_inf.contrast import effect_interval
from datamodels_inf.designs.pairs import Pairs
from pipeline.config import load_config
from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline
from pipeline.stages.test.pair_chunks import EFFECTS, NOTES
from pipeline.stages.test.tests_table import write_tests

METHODS = ("swap", "swap-exact", "paired", "contrast")
FOUR = f"test.method={list(METHODS)}"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """24 training images and 8 targets of two classes, 300 models, 100 of them held out."""
    folder = tmp_path_factory.mktemp("source")
    released(folder)
    return folder


@pytest.fixture
def pipeline(source, tmp_path):
    """Make a pipeline on that source with these settings, in one store; what it says goes to `lines`."""

    def make(*settings, lines=None, threads=None):
        common = ["source.kind=files", f"source.folder={source}", f"source.images={source / 'images.npz'}",
                  "source.fit_rows=200", "source.held_out_rows=100", "fit.n_lambdas=10", "test.target_class=dog",
                  f"fit.file={source / 'datamodels' / 'test_50pct.pt'}", "fit.mode=load"]  # fmt: skip
        say = (lambda line: None) if lines is None else lines.append
        config = load_config("digits", [*common, *settings])
        return Pipeline(config, tmp_path / "store", tmp_path / "reports", quiet=True, say=say, threads=threads)

    return make


def rows_of(result, name="tests.parquet"):
    return parquet.read_table(result.folder / name).to_pylist()


def held_out(source):
    masks = np.load(source / "data" / "train_masks_50pct.npy")[200:]
    return masks, np.load(source / "data" / "test_margins_50pct.npy")[200:].astype(float)


def datamodel(pipeline):
    with np.load(next(pipeline.store.root.glob("fit/*/datamodel.npz"))) as arrays:
        return arrays["weight"].astype(float), arrays["bias"], arrays["targets"].tolist()


def by_library(method, x, y, i, j, score, **options):
    if method == "paired":
        return paired_swap_test(x, y, i, j, score=score, **options)
    pvalue = "exact" if method == "swap-exact" else "hoeffding"
    return swap_test(x, y, i, j, score=score, pvalue=pvalue, **options)


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


def test_a_list_with_groups_agrees_with_the_library(pipeline, source, tmp_path):
    """Sizes are mixed in one family; every number is that of the library on dense masks."""
    path = tmp_path / "pairs.csv"
    path.write_text("i,j,target\n1 2,3 4,5\n0,cat:3,1\n7,9,dog:0\n8,3,5\ndog:0 dog:4,11 12,5\n9,7,1\n6,0,1\n")
    run = pipeline("test.design=list", f"test.file={path}", FOUR)
    result = run.run("test")
    tests = rows_of(result)
    members = [(r["members_i"], r["members_j"], r["target"]) for r in tests[:5]]
    # By target, and (6, 0) is (0, 6), (9, 7) is (7, 9) again.
    assert members == [([0], [6], 1), ([7], [9], 1), ([1, 2], [3, 4], 5), ([8], [3], 5), ([1, 9], [11, 12], 5)]
    assert result.summary["design"]["n_repeated"] == 2
    assert [r["method"] for r in tests] == [m for m in METHODS for _ in range(5)]
    weight, bias, targets = datamodel(run)
    assert targets == [1, 5]
    x, margins = held_out(source)
    for row in tests:
        i, j, k = row["members_i"], row["members_j"], targets.index(row["target"])
        y, theta, score = margins[:, row["target"]], weight[:, k], SquaredResidual(weight[:, k], bias[k])
        assert (row["i"], row["j"]) == (i[0], j[0])
        effect = contrast(x, y, i, j, theta=theta, bias=bias[k])
        expected = effect if row["method"] == "contrast" else by_library(row["method"], x, y, i, j, score)
        assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
        assert (row["theta_i"], row["theta_j"]) == pytest.approx((theta[i].sum(), theta[j].sum()))
        assert (row["effect"], row["n_informative"]) == (pytest.approx(effect.estimate), effect.n_informative)
        assert (row["effect_low"], row["effect_high"]) == pytest.approx(effect.interval)
        again = effect_interval(*(np.array(row[name]) for name in ("effect", "effect_se", "effect_df")), 0.95)
        assert again == pytest.approx(effect.interval)
        assert row["class_i"] == ("cat", "dog")[i[0] % 2]
        assert row["class_target"] == "dog"


def test_tau_reaches_every_method(pipeline, source):
    """τ > 0 makes p-values larger, and the two p-values of one statistic are the library's."""
    settings = "test.design=grid", "test.images=[0,1,2,3]", "test.method=['swap','swap-exact','paired']"
    run = pipeline(*settings, "test.tau=0.05", "test.seed=3")
    tests = rows_of(run.run("test"))
    weight, bias, targets = datamodel(run)
    x, margins = held_out(source)
    for row in tests:
        k = targets.index(row["target"])
        score = SquaredResidual(weight[:, k], bias[k])
        y = margins[:, row["target"]]
        expected = by_library(row["method"], x, y, row["i"], row["j"], score, tau=0.05, rng=3)
        assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)


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


def test_without_labels_a_list_by_numbers_is_tested_and_reported(pipeline, source, tmp_path):
    (tmp_path / "pairs.csv").write_text("i,j,target\n1,2,3\n1 2,4 5,3\n")
    bare = [f"source.folder={source}", "source.kind=files", "source.fit_rows=200", "source.held_out_rows=100",
            "fit.n_lambdas=5", "test.design=list", f"test.file={tmp_path / 'pairs.csv'}"]  # fmt: skip
    run = Pipeline(load_config("digits", bare), tmp_path / "store", tmp_path / "reports", quiet=True)
    run.run("report")
    (path,) = (tmp_path / "store" / "test").glob("*/tests.parquet")
    assert {r["class_i"] + r["class_j"] + r["class_target"] for r in parquet.read_table(path).to_pylist()} == {""}


def test_what_was_not_tested_is_marked_and_stays_in_the_family(pipeline, source, tmp_path):
    """Equal weights are invisible to the squared residual; groups of six leave no mask to contrast."""
    arrays = {"weight": np.zeros((24, 8)), "bias": np.zeros(8)}
    rng = np.random.default_rng(1)
    masks = np.load(source / "data" / "train_masks_50pct.npy")[:200]
    margins = np.load(source / "data" / "test_margins_50pct.npy")[:200].astype(float)
    for t in range(8):
        full = np.linalg.lstsq(np.column_stack([masks, np.ones(200)]), margins[:, t], rcond=None)[0]
        arrays["weight"][:, t], arrays["bias"][t] = full[:-1], full[-1]
    arrays["weight"][3] = arrays["weight"][2]
    np.savez(tmp_path / "ties.npz", **arrays)
    first, second = rng.permutation(24)[:12].reshape(2, 6).tolist()
    groups = ",".join(" ".join(map(str, side)) for side in (first, second))
    (tmp_path / "pairs.csv").write_text(f"i,j,target\n2,3,1\n2,4,1\n{groups},1\n")
    run = pipeline("test.design=list", f"test.file={tmp_path / 'pairs.csv'}", f"fit.file={tmp_path / 'ties.npz'}", FOUR)
    result = run.run("test")
    notes = {(r["method"], len(r["members_i"]), r["j"]): r["note"] for r in rows_of(result)}
    assert len(notes) == 12
    for method in METHODS:
        assert notes[method, 1, 3] == ("" if method == "contrast" else NOTES[1])
        assert notes[method, 1, 4] == ""
        assert notes[method, 6, second[0]] == (NOTES[2] if method == "contrast" else NOTES[4])
    x, _ = held_out(source)
    assert not (x[:, first].all(1) & ~x[:, second].any(1)).any()  # So there is really nothing to compare.
    (row,) = (r for r in rows_of(result) if (r["method"], len(r["members_i"])) == ("contrast", 6))
    assert (row["pvalue"], row["n_informative"]) == (1.0, 0)
    assert result.summary["notes"] == {
        **{m: {NOTES[1]: 1, NOTES[4]: 1} for m in METHODS[:3]},
        "contrast": {NOTES[2]: 1},
    }


def test_an_image_that_no_mask_tells_from_another_is_marked(pipeline, source, tmp_path):
    """Two images that are always in together: the check of the masks names them, and the user goes on."""
    folder = tmp_path / "twins"
    shutil.copytree(source, folder)
    masks = np.load(folder / "data" / "train_masks_50pct.npy")
    masks[:, 1] = masks[:, 0]
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    (tmp_path / "pairs.csv").write_text("i,j,target\n0,1,1\n")
    design = f"source.folder={folder}", "test.design=list", f"test.file={tmp_path / 'pairs.csv'}", FOUR
    with pytest.raises(BadInputError, match="columns 0 and 1 are both in or both out in 100 of 100"):
        pipeline(*design).run("test")
    tests = rows_of(pipeline(*design, "test.allow_unexchangeable=true").run("test"))
    assert [r["note"] for r in tests] == [NOTES[2]] * 4


# Chunks.

PAIRS = ("test.repeats=3", FOUR)


def table_bytes(result):
    return (result.folder / "tests.parquet").read_bytes(), (result.folder / "design.parquet").read_bytes()


def test_neither_chunks_nor_threads_change_a_byte_or_the_key(pipeline, tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.stages.test.tests_table.ROWS", 5)  # So that groups of rows cross chunks, too.
    weight = released(tmp_path / "coarse")  # Whole margins and half weights: many ties, so that coins decide.
    margins = tmp_path / "coarse" / "data" / "test_margins_50pct.npy"
    np.save(margins, np.rint(np.load(margins)))
    np.savez(tmp_path / "coarse.npz", weight=np.rint(2 * weight) / 2, bias=np.full(8, 2.0))
    settings = (*PAIRS, f"source.folder={tmp_path / 'coarse'}", f"fit.file={tmp_path / 'coarse.npz'}")
    expected = table_bytes(pipeline(*settings, threads=1).run("test"))
    key = pipeline(*settings).run("test").manifest["key"]
    for chunk, threads in ((1, 2), (4, 1), (5, 2), (11, 2), (12, 1)):
        shutil.rmtree(tmp_path / "store" / "test")
        result = pipeline(*settings, f"test.chunk_pairs={chunk}", threads=threads).run("test")
        assert table_bytes(result) == expected, (chunk, threads)
        assert result.manifest["key"] == key
    assert parquet.read_metadata(result.folder / "tests.parquet").num_row_groups == 4 * 3
    assert parquet.read_table(result.folder / "tests.parquet").num_rows == 4 * 12


def test_a_large_table_is_written_in_little_memory(tmp_path):
    """300,000 pairs by four methods from files of 20,000: a whole table would need 200 MB."""
    n, step = 300_000, 20_000
    rng = np.random.default_rng(0)
    triples = np.stack([rng.integers(0, 500, n), rng.integers(500, 1000, n), np.sort(rng.integers(0, 50, n))], axis=1)
    pairs = Pairs.of_triples(triples, "list")
    labels = Labels(np.arange(1000) % 2, np.arange(50) % 2, ("cat", "dog"))
    shared = ("theta_i", "theta_j", *EFFECTS)
    chunks = []
    for start in range(0, n, step):
        columns = {name: rng.random(step) for name in shared} | {"n_informative": np.full(step, start)}
        columns |= {f"{name} {m}": rng.random(step) for name in ("statistic", "pvalue") for m in METHODS}
        columns |= {f"note {m}": np.full(step, k % 2, np.int8) for k, m in enumerate(METHODS)}
        chunks.append(tmp_path / f"{start:06d}.npz")
        np.savez(chunks[-1], **columns)
    write_tests(tmp_path / "tests.parquet", pairs, chunks[:1], METHODS, labels)  # What it imports is not counted.
    pool = pyarrow.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    notes = write_tests(tmp_path / "tests.parquet", pairs, chunks, METHODS, labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 25e6
    assert pool.bytes_allocated() - before < 1e6
    assert notes == {m: {NOTES[1]: n} if k % 2 else {} for k, m in enumerate(METHODS)}
    table = parquet.read_table(tmp_path / "tests.parquet")
    assert table.num_rows == 4 * n
    np.testing.assert_array_equal(table["i"].to_numpy()[2 * n : 3 * n], triples[:, 0])
    np.testing.assert_array_equal(table["n_informative"].to_numpy()[:n], np.arange(n) // step * step)
    with np.load(chunks[-1]) as last:
        np.testing.assert_array_equal(table["pvalue"].to_numpy()[-step:], last["pvalue contrast"])


DIGITS = ("test", "--set", "fit.n_lambdas=10", "--set", "test.method=['swap','contrast']", "--set", "test.repeats=10")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A store with the digits fitted, and the test stage's tables of an undisturbed run."""
    folder = tmp_path_factory.mktemp("digits")
    ok(folder, "fit", *DIGITS[1:])
    shutil.copytree(folder / "data", folder / "only fitted")
    ok(folder, *DIGITS)
    return folder


def stopped(folder, pattern, *settings):
    """Start the test stage and kill it as soon as a file like `pattern` is there; its unfinished."""
    process = subprocess.Popen(
        [*COMMAND, *DIGITS, "--set", "test.chunk_pairs=10", *settings],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (found := list(folder.glob(f"data/test/.work-*/{pattern}"))):
        assert process.poll() is None, "the stage ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return found[0].parent


def tables(folder):
    (path,) = folder.glob("data/test/[0-9a-f]*/tests.parquet")
    return path.read_bytes()


def test_a_killed_stage_goes_on_says_so_and_ends_with_the_same_bytes(fitted, tmp_path):
    shutil.copytree(fitted / "only fitted", tmp_path / "data")
    unfinished = stopped(tmp_path, "pairs-0000000200-*.npz")
    before = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("pairs-*.npz")}
    assert 21 <= len(before) < 100
    again = stopped(tmp_path, "pairs-0000000400-*.npz")
    after = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("pairs-*.npz")}
    assert again == unfinished
    assert before.items() <= after.items()  # What was done was not done again.
    output = ok(tmp_path, *DIGITS, "--set", "test.chunk_pairs=10")
    assert f"going on with a test that was stopped: {len(after)} of 100 chunks are done" in output
    assert tables(tmp_path) == tables(fitted)
    assert not unfinished.exists()


def test_other_chunks_than_those_of_the_stopped_run_are_made_anew(fitted, tmp_path):
    shutil.copytree(fitted / "only fitted", tmp_path / "data")
    stopped(tmp_path, "pairs-0000000100-*.npz")
    output = ok(tmp_path, *DIGITS, "--set", "test.chunk_pairs=70")
    assert "going on" not in output
    assert tables(tmp_path) == tables(fitted)


def test_a_damaged_chunk_is_named_and_tested_again(fitted, tmp_path):
    shutil.copytree(fitted / "only fitted", tmp_path / "data")
    unfinished = stopped(tmp_path, "pairs-0000000100-*.npz")
    cut, changed = (unfinished / f"pairs-{start:010d}-{start + 10:010d}.npz" for start in (0, 10))
    cut.write_bytes(cut.read_bytes()[:-300])
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    output = ok(tmp_path, *DIGITS, "--set", "test.chunk_pairs=10")
    assert f"{cut.name} is damaged" in output
    assert f"{changed.name} is damaged" in output
    assert "its pairs are tested again" in output
    assert tables(tmp_path) == tables(fitted)


def test_the_manifest_of_the_papers_design(fitted):
    (path,) = fitted.glob("data/test/[0-9a-f]*/manifest.json")
    summary = json.loads(path.read_text())["summary"]
    assert summary["design"] == {
        "design": "paper", "seed": 0, "n_repeated": 0, "n_targets": 12, "n_of_kind": {"paper": 1000},
    }  # fmt: skip
    assert 0 < summary["notes"]["swap"][NOTES[1]] < 1000
    assert summary["notes"]["contrast"] == {}
