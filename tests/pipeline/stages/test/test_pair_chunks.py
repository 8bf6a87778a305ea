"""Chunks of pairs: notes, threads, kills, and the same bytes whatever happens."""

import json
import shutil

import numpy as np
import pytest
from command_here import ok
from killed_run import kill_when
from pyarrow import parquet
from released_layout import released
from tested_pairs import FOUR, METHODS, held_out, rows_of
from warm import Command

from pipeline.errors import BadInputError
from pipeline.stages.test.pair_chunks import NOTES


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
    for chunk, threads, at_once in ((1, 2, 50), (4, 1, 2), (5, 2, 1), (11, 2, 3), (12, 1, 50)):
        monkeypatch.setattr("pipeline.stages.test.pair_chunks.PAIRS_AT_ONCE", at_once)
        shutil.rmtree(tmp_path / "store" / "test")
        result = pipeline(*settings, f"test.chunk_pairs={chunk}", threads=threads).run("test")
        assert table_bytes(result) == expected, (chunk, threads)
        assert result.manifest["key"] == key
    assert parquet.read_metadata(result.folder / "tests.parquet").num_row_groups == 4 * 3
    assert parquet.read_table(result.folder / "tests.parquet").num_rows == 4 * 12


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
    """Start the test stage, kill it as soon as a file like `pattern` is there, and say in which folder that is."""
    process = Command(folder, *DIGITS, "--set", "test.chunk_pairs=10", *settings)
    return kill_when(process, folder, f"data/test/.work-*/{pattern}")[0].parent


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
