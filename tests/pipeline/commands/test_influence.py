"""`influence`, the command on a small atlas: lines, CSV, and a sentence for what cannot be asked."""

import csv
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from command_here import call, ok
from small_atlas import ALL, FIT_ROWS, TARGETS, D, by_library, words, write_source

from pipeline.commands.influence import CSV_COLUMNS

ASYMPTOTIC = "p-values, intervals and ranks are asymptotic: they rest on 500 held-out models being many"
RATE = "at a false discovery rate of 0.2 (Benjamini–Yekutieli)"
OVER = {
    "target": 'corrected over the images of each target (atlas.family = "target")',
    "all": 'corrected over all images and targets of the atlas (atlas.family = "all")',
}


@pytest.fixture(params=("target", "all"))
def family(request):
    return request.param


@pytest.fixture
def ask(estimated_source, estimated_run, family):
    """Call the command; its lines."""

    def lines(*arguments):
        settings = words(estimated_source, ALL, f"atlas.family={family}")
        return ok(estimated_run, "influence", *settings, *arguments).splitlines()

    return lines


def parsed(lines):
    return list(csv.DictReader(io.StringIO("\n".join(lines))))


def counts(folder, family):
    for path in folder.glob("data/influence/*/findings.npz"):
        if f'"atlas.family": "{family}"' in (path.parent / "manifest.json").read_text():
            with np.load(path) as arrays:
                return dict(arrays)
    raise AssertionError(family)


def test_of_a_target(ask, family, estimated_source, estimated_run):
    lines = ask("--target", "17", "--top", "3")
    saved = counts(estimated_run, family)
    found, nonzero, stand = (saved[name][17] for name in ("n_found", "n_nonzero", "n_stand"))
    assert lines[0] == f"Target 17 (dog): {found} of 24 training images influence it, {RATE}, {OVER[family]}"
    assert lines[1:3] == [f"Of the {nonzero} nonzero weights of its datamodel {stand} stand the test", ASYMPTOTIC]
    assert re.match(r"95 % interval: for an image named in advance\. As a finding \([\d.]+ %\): the expected", lines[3])
    assert lines[4] == "Ranks: all that are shown hold together with 95 % confidence; 1 is the most helpful image"
    assert lines[5] == lines[14] == ""
    assert lines[6].startswith("Strongest helpers")
    assert lines[15].startswith("Strongest hurters")
    expected = by_library(estimated_source, estimated_run / "data", 17)
    order = np.argsort(-expected.estimate)
    for title, images in ((6, order[:3]), (15, order[::-1][:3])):
        header, body = lines[title + 1], lines[title + 2 : title + 8]
        assert header.split()[:2] == ["image", "(class)"]
        for image, numbers, sentence in zip(images, body[::2], body[1::2], strict=True):
            cells = re.split(r"\s{2,}", numbers)
            low, high = (end[image] for end in expected.interval)
            name = ("cat", "dog")[image % 2]
            assert cells[:3] == [f"{image} ({name})", f"{expected.estimate[image]:.3g}", f"{low:.3g} to {high:.3g}"]
            assert cells[-1].startswith("rank ")
            verb = "raises" if expected.estimate[image] > 0 else "lowers"
            assert sentence.startswith(
                f"    training on this {name} (train {image}) instead of an average other image {verb} the margin on "
                f"this dog (target 17) by {abs(expected.estimate[image]):.3g}, 95 % interval "
            )


def test_the_columns_stand_below_their_headers(ask):
    lines = ask("--target", "17", "--top", "5")
    start = next(k for k, line in enumerate(lines) if line.startswith("image (class)"))
    header = lines[start].replace("\N{COMBINING CIRCUMFLEX ACCENT}", "")
    for name in ("estimate", "95 % interval", "as a finding", "p ", "finding", "θ", "rank"):
        place = header.index(f"  {name}") + 2
        assert all(line[place - 1] == " " and line[place] != " " for line in lines[start + 1 : start + 11 : 2]), name


def test_of_one_image_on_one_target(ask, estimated_source, estimated_run):
    whole = parsed(ask("--target", "17", "--top", "50", "--csv"))
    lines = ask("--target", "17", "--image", "dog:2")
    assert lines[0].startswith("Target 17 (dog): ")
    assert lines[6] == "This influence:"
    assert len(lines) == 10
    (row,) = (row for row in whole if row["image"] == "5")
    assert lines[9].strip() == row["words"]
    (alone,) = parsed(ask("--target", "17", "--image", "5", "--csv"))
    ranks = ("rank_low", "rank_high")
    assert {k: v for k, v in alone.items() if k not in ranks} == {k: v for k, v in row.items() if k not in ranks}
    assert int(row["rank_low"]) <= int(alone["rank_low"]) <= int(alone["rank"]) <= int(alone["rank_high"])
    assert f"rank {row['rank']}, " in lines[8] or f"rank {D + 1 - int(row['rank'])} from below, " in lines[8]


def test_of_an_image(ask, family, estimated_run):
    saved = counts(estimated_run, family)
    lines = ask("--image", "7", "--top", "4")
    up, down = saved["raised"][7], saved["lowered"][7]
    assert lines[0] == (
        f"Training image 7 (dog) influences {up + down} of 40 targets: it raises the margin on {up} and lowers that on "
        f"{down}, {RATE}, {OVER[family]}"
    )
    families = "Each target is a family of its own: the share of false findings among these targets is not controlled"
    assert (lines[1] == families) == (family == "target")
    rest = lines[2:] if family == "target" else lines[1:]
    assert re.fullmatch(r"Of its \d+ nonzero weights in the datamodels of these targets \d+ stand the test", rest[0])
    assert rest[1] == ASYMPTOTIC
    rows = parsed(ask("--image", "7", "--csv", "--top", "40"))
    assert sorted(int(row["target"]) for row in rows) == list(range(TARGETS))
    assert {row["image"] for row in rows} == {"7"}
    assert sum(row["finding"] == "true" and float(row["estimate"]) > 0 for row in rows) == up
    assert sum(row["finding"] == "true" and float(row["estimate"]) < 0 for row in rows) == down
    values = sorted(rows, key=lambda row: -float(row["estimate"]))
    helped, hurt = (k for k, line in enumerate(lines) if line.startswith("Targets that it "))
    for title, expected in ((helped, values[:4]), (hurt, values[::-1][:4])):
        shown = lines[title + 2 : title + 10 : 2]
        assert [line.split()[0] for line in shown] == [row["target"] for row in expected]
        assert [line.strip() for line in lines[title + 3 : title + 10 : 2]] == [row["words"] for row in expected]


def test_the_csv_has_ten_digits_and_agrees_by_target_and_by_image(ask, family, estimated_source, estimated_run):
    lines = ask("--target", "3", "--csv", "--top", "50")
    assert lines[0] == ",".join(CSV_COLUMNS)
    rows = parsed(lines)
    assert len(rows) == D
    expected = by_library(estimated_source, estimated_run / "data", 3)
    assert [int(row["image"]) for row in rows[:3]] == np.argsort(-expected.estimate)[:3].tolist()
    for row in rows:
        image = int(row["image"])
        assert row["estimate"] == format(float(np.float32(expected.estimate[image])), ".10g")
        assert row["standard_error"] == format(float(np.float32(expected.standard_error[image])), ".10g")
        assert (row["low_selected"] == "") == (row["finding"] == "false")
    by_image = {row["target"]: row for row in parsed(ask("--image", "9", "--csv", "--top", "50"))}["3"]
    by_target = {row["image"]: row for row in rows}["9"]
    same = [name for name in CSV_COLUMNS if name not in ("rank_low", "rank_high")]
    assert [by_image[name] for name in same] == [by_target[name] for name in same]


@pytest.mark.parametrize(("arguments", "sentence"), [
    ((), "name a target, a training image, or both: --target 84, --image 5."),
    (("--target", "40"), "--target 40: there is no target 40: they go from 0 to 39."),
    (("--target", "yak:1"), "--target yak:1: 'yak' is no class of this data; there are cat, dog."),
    (("--target", "1 2"), "--target 1 2: '1 2' must be one target, but it names 2."),
    (("--image", "24"), "--image 24: there is no training image 24: they go from 0 to 23."),
    (("--image", "-1"), "--image -1: '-1' is not an image: give a number such as 12, or class and position"),
    (("--target", "3", "--image", "dog:99"), "--image dog:99: class dog has 12 training images"),
    (("--target", "3", "--top", "0"), "0 is not in the range"),
])  # fmt: skip
def test_bad_input_is_one_sentence(estimated_source, estimated_run, arguments, sentence):
    done = call(estimated_run, "influence", *words(estimated_source, ALL), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_is_not_there_is_asked_for_and_not_run(estimated_source, estimated_run, tmp_path):
    done = call(tmp_path, "influence", "--target", "84", "--set", "test.seed=3", "--store", "my store")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "datamodels-inf: the download stage of this configuration is not in my store (not run before); first run: "
        "datamodels-inf run --config digits --set test.seed=3 --store 'my store'\n"
    )
    assert list(tmp_path.iterdir()) == []
    done = call(estimated_run, "influence", *words(estimated_source, ALL, "test.alpha=0.1"), "--target", "3")
    assert done.returncode == 2
    assert "the influence stage of this configuration is not in data (test.alpha: 0.2 → 0.1)" in done.stderr


def test_a_target_that_is_not_in_the_atlas_and_no_atlas_at_all(estimated_source, estimated_run, tmp_path):
    dogs = words(estimated_source, "report.max_panels=0")
    ok(tmp_path, "run", *dogs)
    done = call(tmp_path, "influence", *dogs, "--target", "4")
    assert (done.returncode, done.stderr) == (2, (
        "datamodels-inf: --target 4 is not in the atlas, which has target 1, 3, 5, 7, 9 and 15 more; "
        "add it to atlas.targets.\n"
    ))  # fmt: skip
    done = call(tmp_path, "influence", "--config", "cifar10", "--target", "4")
    assert done.returncode == 2
    assert 'this configuration has no atlas; add atlas.targets = "needed"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_spoiled_premise_and_an_image_that_all_models_saw(tmp_path):
    """The user answered for it: a warning stands first, and nothing is claimed of that image."""
    source = write_source(tmp_path / "source")
    masks = np.load(source / "data" / "train_masks_50pct.npy")
    masks[FIT_ROWS:, 5] = True
    np.save(source / "data" / "train_masks_50pct.npy", masks)
    settings = words(source, ALL, "test.allow_unexchangeable=true", "report.max_panels=0")
    ok(tmp_path, "run", *settings)
    lines = ok(tmp_path, "influence", *settings, "--target", "3", "--top", "50").splitlines()
    assert lines[0].startswith("Warning: p-values may not be valid: ")
    assert lines[3] == "Not known is the influence of 1 image, which every held-out model saw, or none"
    assert not any("(train 5)" in line for line in lines)
    alone = ok(tmp_path, "influence", *settings, "--target", "3", "--image", "5").splitlines()
    assert alone[-1].strip().startswith("the influence of this dog (train 5) on this dog (target 3) is not known")
    (row,) = parsed(ok(tmp_path, "influence", *settings, "--target", "3", "--image", "5", "--csv").splitlines())
    assert (row["low"], row["high"], row["standard_error"], row["pvalue"], row["finding"]) == ("", "", "", "1", "false")
    image = ok(tmp_path, "influence", *settings, "--image", "5").splitlines()
    assert "Its influence is not known: every held-out model saw the image, or none did" in image
    assert [line for line in image if line.endswith(" none")] == [image[-3], image[-1]]


def test_help_imports_nothing_slow():
    code = (
        "import sys; from pipeline.cli import cli; cli.main(['influence', '--help'], standalone_mode=False); "
        "late = {'numpy', 'scipy', 'numba', 'pydantic'} & set(sys.modules); assert not late, late"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--target" in done.stdout
