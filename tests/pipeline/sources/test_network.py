"""Sources on the network through the real command: what is fetched, asked, said and refused."""

import io
import os
import subprocess

import numpy as np
import pytest
import torch
from command_here import call, ok
from real_command import COMMAND, states, table
from released_bucket import GOOD_MASKS, KEYS, npy
from servers import http_server


def test_the_whole_flow_with_the_released_weights(bucket, tmp_path):
    output = ok(tmp_path, "run", *bucket.arguments())
    assert "to fetch: 3 files (masks 500.0 kB, margins 100.0 kB, weights" in output
    assert "USD to the requester" in output
    # Only the held-out rows, and each byte once.
    for part, width, offset in (("masks", 500, 128), ("margins", 100, 128)):
        fetched = [(r.start, r.stop) for r in bucket.data_requests(part)]
        assert fetched == [(offset + 3000 * width, offset + 4000 * width)]
    rows = table(tmp_path / "reports" / "cifar10" / "tests.csv")
    assert len(rows) == 20
    assert {r["class_target"] for r in rows} == {"dog"}
    # The same as from the files themselves, without the 100 rows that told the coding.
    files = ("source.kind=files", f"source.folder={bucket.folder}/cifar", f"fit.file={bucket.folder}/cifar/{KEYS[2]}")
    ok(tmp_path, "run", *bucket.arguments(*files, "source.held_out_rows=900", "report.name=local"))
    assert table(tmp_path / "reports" / "local" / "tests.csv") == rows
    page = (tmp_path / "reports" / "cifar10" / "index.html").read_text()
    assert "seen on 100 models that are not tested" in page
    assert "900 held-out models" in page
    before = len(bucket.log.requests)
    assert states(ok(tmp_path, "run", *bucket.arguments()))["download"] == "cached"
    assert len(bucket.log.requests) == before


def test_widening_fetches_only_what_is_missing(bucket, tmp_path):
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    ok(tmp_path, "download", *bucket.arguments())
    ok(tmp_path, "fit", *bucket.arguments("fit.mode=lasso", "fit.n_lambdas=5"))
    fetched = sorted((r.start, r.stop) for r in bucket.data_requests("masks"))
    rows = [((a - 128) // 500, (b - 128) // 500) for a, b in fetched]
    assert rows == [(0, 3000), (3000, 3600), (3600, 4000)]
    masks = np.load(next((tmp_path / "data" / "objects").glob("*/array.npy"), None))
    expected = {np.packbits(np.load(bucket.folder / "cifar" / KEYS[0]), axis=1).tobytes()}
    stored = {np.load(p).tobytes() for p in (tmp_path / "data" / "objects").glob("*/array.npy")}
    assert expected <= stored
    assert masks.nbytes < 4000 * 500  # Bits, or float16 margins: never the raw masks.


def test_calibration_fetches_the_fit_rows(bucket, tmp_path):
    """Own scores on remote masks: the rows that calibrate them are not those that are tested."""
    np.save(tmp_path / "scores.npy", np.random.default_rng(0).standard_normal((500, 50)))
    own = bucket.arguments("fit.file=scores.npy", "source.fit_rows=800")
    ok(tmp_path, "download", *own)
    ok(tmp_path, "fit", *own, "--set", "fit.calibrate=true")
    rows = [((r.start - 128) // 500, (r.stop - 128) // 500) for r in bucket.data_requests("masks")]
    assert sorted(rows) == [(0, 800), (3000, 4000)]


def test_only_named_targets_are_kept(bucket, tmp_path):
    ok(tmp_path, "run", *bucket.arguments("fit.targets=[1,3,5,49]"))
    shapes = {np.load(p, mmap_mode="r").shape for p in (tmp_path / "data" / "objects").glob("*/array.npy")}
    assert shapes == {(4000, 63), (4000, 4)}


def test_dry_run_says_and_stops(bucket, tmp_path):
    output = ok(tmp_path, "run", *bucket.arguments(), "--dry-run")
    assert "to fetch: 3 files" in output
    assert output.endswith("dry run: nothing was fetched.\n")
    assert bucket.data_requests("masks") == []


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
    "other rows": (1, npy(np.zeros((10, 50), np.float16)), "has 4000 rows and"),
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


def test_http_source_through_the_command(source, tmp_path):
    """Masks and margins from URLs, LASSO on the first rows; with and without checksums; a wrong checksum is refused."""
    import hashlib

    contents = {f"/{key}": (source / "cifar" / key).read_bytes() for key in KEYS}
    digests = [hashlib.sha256(contents[f"/{key}"]).hexdigest() for key in KEYS]
    with http_server(contents) as (url, _):
        settings = [
            "source.kind=http", f"source.masks_url={url}/{KEYS[0]}", f"source.margins_url={url}/{KEYS[1]}?dl=1",
            "source.fit_rows=3000", "source.held_out_rows=1000", f"source.images={source}/cifar/images.npz",
            "test.target_class=dog", "test.repeats=5", "fit.n_lambdas=5",
        ]  # fmt: skip
        contents[f"/{KEYS[1]}?dl=1"] = contents[f"/{KEYS[1]}"]
        words = [word for s in settings for word in ("--set", s)]
        ok(tmp_path, "run", *words)
        checked = ["--set", f"source.masks_sha256={digests[0]}", "--set", f"source.margins_sha256={digests[1]}"]
        ok(tmp_path, "run", *words, *checked, "--set", "report.name=checked")
        assert table(tmp_path / "reports" / "checked" / "tests.csv") == table(
            tmp_path / "reports" / "digits" / "tests.csv"
        )
        done = call(tmp_path, "run", *words, "--set", f"source.masks_sha256={'0' * 64}")
        assert done.returncode == 2
        assert "has not the sha256" in done.stderr
        weights = ["--set", f"source.weights_url={url}/{KEYS[2]}", "--set", "fit.mode=load"]
        ok(tmp_path, "run", *words, *weights)
