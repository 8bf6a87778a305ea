"""Sources on the network through the real command: what is asked, said and refused."""

import io
import os
import subprocess

import numpy as np
import pytest
import torch
from command_here import call, ok
from real_command import COMMAND, states
from released_bucket import GOOD_MASKS, KEYS, npy

from pipeline.images import find
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.find import Known, get_images, images_checksum
from pipeline.images.image_set import ImageSet, Labels
from pipeline.sources import network


def test_dry_run_says_and_stops(bucket, tmp_path):
    output = ok(tmp_path, "run", *bucket.arguments(), "--dry-run")
    assert "to fetch: 3 files" in output
    assert output.endswith("dry run: nothing was fetched.\n")
    assert bucket.data_requests("masks") == []


def test_damaged_notes_of_mirrors_are_named_and_block_nothing(bucket, tmp_path):
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    whole = {path: path.read_bytes() for path in tmp_path.glob("data/objects/*/array.npy")}
    for path, note in zip(sorted(whole), ("object.json", "rows.jsonl"), strict=True):
        path.with_name(note).write_bytes(b"\0" * 40 + b"\n")
    output = ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=401"))
    assert "object.json: it does not say what rows were fetched of; all are fetched again" in output
    assert "rows.jsonl: 1 of its 1 lines are not as they were written; rows that only they name" in output
    output = ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=402"))
    assert "damaged" not in output
    assert "all as they were written" in ok(tmp_path, "status", "--verify")


def test_a_terminal_is_asked_and_no_means_no(bucket, tmp_path):
    """Under a pseudo-terminal."""
    import pty

    def ask(answer, *options):
        primary, secondary = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, "download", *bucket.arguments(), *options],
            stdin=secondary, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, text=True,
        )  # fmt: skip
        os.write(primary, answer)
        output, _ = process.communicate(timeout=60)
        os.close(primary)
        os.close(secondary)
        assert process.returncode == 0, output
        return output

    assert "nothing was fetched" in ask(b"n\n")
    assert bucket.data_requests("masks") == []
    assert "Fetch?" not in ask(b"n\n", "--yes")
    assert len(bucket.data_requests("masks")) == 1


class Hostile:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def hostile_pt():
    stream = io.BytesIO()
    torch.save({"weight": Hostile(), "bias": Hostile()}, stream)
    return stream.getvalue()


def object_npy():
    stream = io.BytesIO()
    np.save(stream, np.array([[Hostile()] * 500] * 4000, object), allow_pickle=True)
    return stream.getvalue()


CODE = b"__import__('os').system('touch pwned')".ljust(118)
OBJECTS = {
    "not an npy": (0, b"<html>please log in</html>" * 100, "is not an .npy file"),
    "truncated": (0, GOOD_MASKS[:-1], "is truncated or damaged"),
    "broken header": (0, GOOD_MASKS[:8] + b"\xff\xff" + GOOD_MASKS[10:], "damaged .npy header"),
    "code in the header": (0, GOOD_MASKS[:10] + CODE + GOOD_MASKS[128:], "damaged .npy header"),
    "pickled npy": (0, object_npy(), "must be a C-ordered matrix of numbers"),
    "float masks": (0, npy(np.zeros((4000, 500), np.float32)), "must hold bool masks"),
    "masks of 2": (0, npy(np.full((4000, 500), 2, np.uint8)), "bytes other than 0 and 1"),
    "Fortran order": (0, npy(np.asfortranarray(np.zeros((4000, 500), bool))), "must be a C-ordered matrix"),
    "one-dimensional": (0, npy(np.zeros(4000, bool)), "must be a C-ordered matrix"),
    "other rows": (1, npy(np.zeros((10, 50), np.float16)), "has 4,000 rows and"),
    "integer margins": (1, npy(np.zeros((4000, 50), np.int64)), "must hold margins as floats"),
    "NaN margins": (1, npy(np.full((4000, 50), np.nan, np.float16)), "holds a margin that is NaN"),
    "hostile weights": (2, hostile_pt(), "is not a file of weights"),
    "no weights": (2, b"PK\x03\x04 nothing", "is not a file of weights"),
}  # fmt: skip


@pytest.mark.parametrize("case", OBJECTS)
def test_bad_objects_are_refused_and_run_nothing(bucket, tmp_path, case):
    number, content, part = OBJECTS[case]
    bucket.put(KEYS[number], content)
    done = call(tmp_path, "run", *bucket.arguments())
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "pwned").exists()


def test_weights_that_predict_nothing_stop_the_run_with_both_figures(bucket, tmp_path):
    stream = io.BytesIO()
    torch.save({"weight": torch.ones(500, 50), "bias": torch.zeros(50)}, stream)
    bucket.put(KEYS[2], stream.getvalue())
    done = call(tmp_path, "run", *bucket.arguments())
    assert done.returncode == 2
    assert "(mask)" in done.stderr
    assert "(signed)" in done.stderr
    assert "(constant)" in done.stderr


def test_a_run_with_labels_does_without_images_until_they_come(bucket, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = Labels(rng.integers(0, 10, 500), rng.integers(0, 10, 50), CLASS_NAMES)
    labels.save(tmp_path / "labels.npz")
    pixels = (rng.integers(0, 256, (n, 4, 4, 3), dtype=np.uint8) for n in (500, 50))
    images = ImageSet(next(pixels), labels.train_labels, next(pixels), labels.target_labels, CLASS_NAMES)
    known = Known(images_sha256=images_checksum(images))
    for name, value in {"known": known, "use_torchvision": False, "use_npm": False}.items():
        monkeypatch.setitem(get_images.__kwdefaults__, name, value)
    monkeypatch.setattr(find, "DEFAULT_MIRRORS", ("http://127.0.0.1:1/cifar-10-python.tar.gz",))
    monkeypatch.setattr(network, "CIFAR10", (500, 50))
    words = ["download", *bucket.arguments("source.images=", "source.labels=labels.npz")]
    assert "without images, with grey tiles: CIFAR-10 could not be had" in ok(tmp_path, *words)
    assert states(ok(tmp_path, *words))["download"] == "cached"
    images.save(tmp_path / "data" / "images" / "cifar10.npz")
    assert "running  it was made without images, and now there is" in ok(tmp_path, *words)
    (stage,) = tmp_path.glob("data/download/[0-9a-f]*")
    np.testing.assert_array_equal(ImageSet.load(stage / "images.npz").train, images.train)
    assert states(ok(tmp_path, *words))["download"] == "cached"


def test_images_of_another_set_than_cifar10_are_not_waited_for(bucket, tmp_path):
    rng = np.random.default_rng(0)
    Labels(rng.integers(0, 10, 500), rng.integers(0, 10, 50), CLASS_NAMES).save(tmp_path / "labels.npz")
    words = ["download", *bucket.arguments("source.images=")]
    done = call(tmp_path, *words)
    assert (done.returncode, "which is not CIFAR-10; give their images" in done.stderr) == (2, True)
    assert "without images, with grey tiles: the masks are of 500" in ok(
        tmp_path, *words, "--set", "source.labels=labels.npz"
    )
    (tmp_path / "data" / "images").mkdir()
    (tmp_path / "data" / "images" / "cifar10.npz").write_bytes(b"")
    assert states(ok(tmp_path, *words, "--set", "source.labels=labels.npz"))["download"] == "cached"
