"""`init`: from a folder to a configuration, and on to findings."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from command_here import call, ok
from own_folders import N_MODELS, N_TARGETS, N_TRAIN, law, write
from real_command import table

from pipeline.commands.init import init_lines, report_name
from pipeline.config_files import load_config
from pipeline.errors import BadInputError

MASKS, OUTCOMES = law()


def settings(folder, name="own.toml"):
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def test_from_a_folder_to_findings_in_two_commands(tmp_path):
    """Planted influences are found, and hardly ever a difference between two images without any."""
    write(tmp_path / "my models", OUTCOMES, {"outcome": "accuracy"}, masks=MASKS)
    said = ok(tmp_path, "init", "my models")
    assert "Written: my-models.toml. Next: datamodels-inf run --config my-models.toml" in said
    assert "my models: a folder of one's own (own)" in said and '- higher_is_better true: assumed of "accuracy"' in said
    ok(tmp_path, "run", "--config", "my-models.toml", "--set", "report.max_panels=1")
    rows = table(tmp_path / "reports" / "my-models" / "findings.csv")
    assert len(rows) > 100 and {row["method"] for row in rows} == {"contrast", "paired"}
    false = sum(min(int(row["i"]), int(row["j"])) >= 10 for row in rows)  # Images from 10 on have no influence.
    assert false <= 0.1 * len(rows)
    said = ok(tmp_path, "findings", "--config", "my-models.toml", "--method", "contrast")
    assert f"contrast: {sum(row['method'] == 'contrast' for row in rows)} of 200 pairs" in said
    assert re.search(r"training on item \d+ instead of item \d+ (?:raises|lowers) the \w+ on target \d+ by ", said)
    assert re.search(r"^no\. +i +j +target +p ", said, re.MULTILINE)
    assert "image" not in said
    said = ok(tmp_path, "influence", "--config", "my-models.toml", "--target", "0")
    assert re.search(
        r"training on item \d+ instead of an average other item (?:raises|lowers) the \w+ on target 0", said
    )
    assert "image" not in said


def test_what_is_written_is_what_was_said(tmp_path):
    write(tmp_path / "own", OUTCOMES, masks=MASKS)
    said = ok(tmp_path, "init", "own")
    found = settings(tmp_path)
    assert found["source"] == {"kind": "files", "folder": "own", "fit_rows": 300, "held_out_rows": 300}
    assert found["test"] == {"design": "top", "k": 5, "random_partners": 5, "targets": "all", "alpha": 0.1,
                             "method": ["contrast", "paired"], "correction": "by"}  # fmt: skip
    assert found["atlas"] == {"targets": "needed"}
    assert found["report"]["name"] == "own" and "40 training items" in found["report"]["title"]
    assert "rows                300 for the fit, 300 for the test" in said
    text = (tmp_path / "own.toml").read_text(encoding="utf-8")
    assert '# mode = "load"' in text and "relative to the folder that datamodels-inf is run in" in text


def test_a_file_is_never_written_over(tmp_path):
    write(tmp_path / "own", OUTCOMES, masks=MASKS)
    (tmp_path / "mine.toml").write_text("mine")
    done = call(tmp_path, "init", "own", "--out", "mine.toml")
    assert done.returncode == 2 and "mine.toml is there already; name another file" in done.stderr
    assert (tmp_path / "mine.toml").read_text() == "mine"
    done = call(tmp_path, "init", "own", "--out", "mine.txt")
    assert done.returncode == 2 and "must end in .toml" in done.stderr
    ok(tmp_path, "init", "own", "--out", "deep/mine.toml")
    assert "It can run" in ok(tmp_path, "check", "--config", "deep/mine.toml")


def test_of_few_images_all_pairs(tmp_path):
    rng = np.random.default_rng(0)
    masks = rng.random((200, 12)).argsort(axis=1) < 6
    write(tmp_path / "few", rng.standard_normal(200), masks=masks)
    said = ok(tmp_path, "init", "few")
    found = settings(tmp_path, "few.toml")
    assert found["test"]["design"] == "grid" and found["test"]["images"] == list(range(12))
    assert "tests 66 pairs by contrast and paired" in said
    assert found["source"]["fit_rows"] == 35  # √(12 · 200 / 2), and not half of them.


def test_of_few_images_and_many_targets_fewer_helpers(tmp_path):
    rng = np.random.default_rng(0)
    masks = rng.random((200, 9)).argsort(axis=1) < 4
    write(tmp_path / "few", rng.standard_normal((200, 600)), masks=masks)
    assert "It can run: 100 targets are fitted" in ok(tmp_path, "init", "few")
    found = settings(tmp_path, "few.toml")["test"]
    assert (found["design"], found["k"], found["random_partners"]) == ("top", 2, 5)
    assert found["targets"] == list(range(100))


def test_equal_masks_are_grouped(tmp_path):
    write(tmp_path / "own", OUTCOMES, masks=np.repeat(MASKS[:150], 4, axis=0))
    said = ok(tmp_path, "init", "own")
    found = settings(tmp_path)["source"]
    assert found["group_by_mask"] and (found["fit_rows"], found["held_out_rows"]) == (75, 75)
    assert "450 of a mask in an earlier row" in said and "It can run" in said


def test_stratified_masks_with_labels(tmp_path):
    rng = np.random.default_rng(0)
    masks = (rng.random((N_MODELS, 4, 10)).argsort(axis=2) < 5).reshape(N_MODELS, N_TRAIN)
    labels = {"train_labels": np.repeat(["a", "b", "c", "d"], 10).tolist(), "target_labels": ["b"] * N_TARGETS}
    write(tmp_path / "own", OUTCOMES, labels, masks=masks)
    said = ok(tmp_path, "init", "own")
    found = settings(tmp_path)["test"]
    assert "stratified: so many of each class in every mask" in said
    assert (found["design"], found["target_class"]) == ("paper", "b")
    assert "tests 80 pairs" in said  # 20 within each of 4 classes; the others are not tested.
    assert "Atlas: none, for masks that are stratified by class" in said and "looked at" not in said


def test_names_that_are_nearly_right_are_shown_and_tables_of_text_explained(tmp_path):
    (tmp_path / "own").mkdir()
    assert ", but nothing at all; docs/own-data.md" in call(tmp_path, "init", "own").stderr
    np.save(tmp_path / "own" / "mask.npy", MASKS)
    (tmp_path / "own" / "a\nb").touch()
    done = call(tmp_path, "init", "own")
    assert ", but a b, mask.npy; docs/own-data.md" in done.stderr and "loadtxt" not in done.stderr
    (tmp_path / "own" / "outcomes.CSV").touch()
    done = call(tmp_path, "init", "own")
    assert 'outcomes.CSV (of a table make an array: numpy.save("masks.npy", numpy.loadtxt(' in done.stderr


@pytest.mark.parametrize("turned", ("masks", "outcomes", None))
def test_an_array_that_lies_the_other_way_round_is_named(tmp_path, turned):
    masks, outcomes = (MASKS.T if turned == "masks" else MASKS), (OUTCOMES.T if turned == "outcomes" else OUTCOMES)
    write(tmp_path / "own", outcomes[:300] if turned is None else outcomes, masks=masks)
    done = call(tmp_path, "init", "own")
    assert done.returncode == 2 and "there must be one for each model in both" in done.stderr
    hint = f"(own/{turned}.npy has as many columns: turned, by .T, it would fit)"
    assert (hint in done.stderr) == (turned is not None) and ("turned" in done.stderr) == (turned is not None)


def test_where_a_run_would_be_refused_it_says_so_and_why(tmp_path):
    halves = MASKS[:300]
    write(tmp_path / "own", OUTCOMES, masks=np.concatenate([halves, ~halves]))
    said = ok(tmp_path, "init", "own")
    assert "A run would be refused now: the held-out masks are not independent and exchangeable" in said
    assert "not exchangeable" in said and (tmp_path / "own.toml").is_file()
    assert said.endswith("Written: own.toml. When that is mended: datamodels-inf check --config own.toml\n")
    outcomes = OUTCOMES.copy()
    outcomes[5, 2] = np.nan
    write(tmp_path / "holes", outcomes, masks=MASKS)
    said = ok(tmp_path, "init", "holes")
    assert "A run would be refused now: holes/outcomes.npy holds NaN or infinity in row 5 (row 5: column 2)" in said


def test_weights_that_lie_there_are_an_alternative(tmp_path):
    write(tmp_path / "own", None, margins=OUTCOMES, masks=MASKS)
    (tmp_path / "own" / "reg_results").mkdir()
    (tmp_path / "own" / "reg_results" / "datamodels.pt").write_bytes(b"weights")
    assert "as MadryLab's trainer leaves them (trainer)" in ok(tmp_path, "init", "own")
    text = (tmp_path / "own.toml").read_text(encoding="utf-8")
    assert '# file = "own/reg_results/datamodels.pt"' in text and settings(tmp_path)["fit"] == {"mode": "lasso"}


def test_another_percentage_is_found(tmp_path):
    write(tmp_path / "own", None, test_margins_20pct=OUTCOMES, train_masks_20pct=MASKS)
    ok(tmp_path, "init", "own")
    assert settings(tmp_path)["source"]["percent"] == 20


@pytest.mark.parametrize(("folder", "name"), [
    ("a b", "a-b"), ("…", "my-models"), ("digits", "digits-own"), (".hidden", "hidden"), ("v1.2_x", "v1.2_x"),
])  # fmt: skip
def test_names_of_reports(tmp_path, folder, name):
    assert report_name(tmp_path / folder) == name
    load_config("digits", [f"report.name={name}"])


def test_what_is_no_folder_of_models(tmp_path):
    (tmp_path / "x" / "0").mkdir(parents=True)
    done = call(tmp_path, "init", "x")
    assert done.returncode == 2 and ", but 0; docs/own-data.md shows how it may look" in done.stderr
    (tmp_path / "x" / "0" / "indices.txt").write_text("1\n2")
    done = call(tmp_path, "init", "x")
    assert done.returncode == 2 and "import --from dattri x OUT --outcomes FILE.npy." in done.stderr
    assert not list(Path(tmp_path).glob("*.toml"))


def test_too_few_models(tmp_path):
    write(tmp_path / "own", OUTCOMES[:30], masks=MASKS[:30])
    done = call(tmp_path, "init", "own")
    assert done.returncode == 2 and "there are only 30 models, too few for a rule to divide them" in done.stderr


@pytest.mark.parametrize("out", ("dead.toml", "file/x.toml", f"{'x' * 300}.toml"))
def test_a_place_that_cannot_be_is_one_sentence(tmp_path, out):
    write(tmp_path / "own", OUTCOMES, masks=MASKS)
    (tmp_path / "dead.toml").symlink_to("gone")
    (tmp_path / "file").write_text("mine")
    done = call(tmp_path, "init", "own", "--out", out)
    assert done.returncode == 2 and f"--out {out}" in done.stderr and len(done.stderr.splitlines()) == 1


def test_names_of_any_characters_make_valid_toml(tmp_path):
    said = {"train_labels": ["a\nx = 1", "b\x1b[2J\x7f"] * 20, "target_labels": ["a\nx = 1"] * 5}
    write(tmp_path / "own\x7f\n", OUTCOMES, said, masks=stratified())
    shown = ok(tmp_path, "init", "own\x7f\n", "--out", "own.toml")
    found = settings(tmp_path)
    assert found["source"]["folder"] == "own\x7f\n" and "x" not in found["test"]
    assert found["test"]["target_class"] == "a\nx = 1" and "\x1b" not in shown and "\x7f" not in shown


def stratified():
    """Ten of each of two classes in every mask, so that pairs are drawn by class."""
    rng = np.random.default_rng(0)
    masks = np.zeros((N_MODELS, N_TRAIN), bool)
    masks[:, ::2], masks[:, 1::2] = rng.random((2, N_MODELS, 20)).argsort(axis=2) < 10
    return masks


def test_a_folder_whose_name_is_no_text_is_refused(tmp_path):
    write(tmp_path / "own\udcff", OUTCOMES, masks=MASKS)
    with pytest.raises(BadInputError, match=r"own\\udcff' has bytes in its name that are no UTF-8"):
        list(init_lines(tmp_path / "own\udcff", None))
