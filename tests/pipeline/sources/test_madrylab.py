"""The released data, in a requester-pays bucket on a real server."""

import json
import re
from itertools import pairwise

import numpy as np
from command_here import call, ok
from real_command import states, table
from released_bucket import KEYS

from datamodels_inf.row_blocks import block_ends, first_rows
from pipeline.config_files import load_config
from pipeline.sources.madrylab import SOURCE
from pipeline.text.numbers import human_bytes


def test_the_whole_flow_with_the_released_weights(bucket, tmp_path):
    output = ok(tmp_path, "run", *bucket.arguments())
    assert "to fetch: 3 files (masks 500.0 kB, margins 100.0 kB, weights" in output
    assert "USD to the requester" in output
    # 1,000 rows of 63 bytes of bits and 100 of margins, and the weights, are kept where later runs find them.
    weights = (bucket.folder / "cifar" / KEYS[2]).stat().st_size
    kept = human_bytes(1000 * (63 + 100) + weights)
    assert f"fetched {human_bytes(1000 * 600 + weights)}, kept as {kept} in data/objects\n" in output
    line = next(line for line in output.splitlines() if "1,000 of 4,000 models × 500 images, 50 targets; " in line)
    assert f"kB here and {kept} in objects/, " in line
    assert f"kB here and {kept} in objects/" in ok(tmp_path, "status", *bucket.arguments())
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


def test_every_model_tests(bucket, tmp_path):
    """All rows are fetched, each byte once, and the blocks are tested as they are from files."""
    arguments = bucket.config("cifar10-all", "fit.n_lambdas=5", "fit.targets=[1,3]", "report.max_panels=0")
    output = ok(tmp_path, "run", *arguments)
    assert "to fetch: 2 files (masks 2.0 MB, margins 400.0 kB), 2.4 MB in all" in output
    assert re.search(r"  4,000 models × 500 images, 50 targets; [\d.]+ kB here and 268.0 kB in objects/", output)
    for part, width in (("masks", 500), ("margins", 100)):
        fetched = sorted((r.start, r.stop) for r in bucket.data_requests(part))
        assert (fetched[0][0], fetched[-1][1]) == (128, 128 + 4000 * width)
        assert all(before == after for (_, before), (after, _) in pairwise(fetched))
    (manifest,) = (tmp_path / "data" / "test").glob("*/manifest.json")
    summary = json.loads(manifest.read_text())["summary"]
    ends = block_ends(4000, first_rows(4000, 500))
    assert summary["block_rows"] == np.diff((*ends, 4000)).tolist()
    assert summary["n_rows"] == {"paired": 3920, "contrast": 3920}
    rows = table(tmp_path / "reports" / "cifar10-all" / "tests.csv")
    assert [r["method"] for r in rows] == ["paired"] * 20 + ["contrast"] * 20
    assert table(tmp_path / "reports" / "cifar10-all" / "findings.csv")
    ok(tmp_path, "test", *arguments, "--set", "source.kind=files", "--set", f"source.folder={bucket.folder}/cifar")
    one, other = (tmp_path / "data" / "test").glob("*/tests.parquet")
    assert one.read_bytes() == other.read_bytes()


def test_an_object_that_is_not_there_is_named_with_those_that_may_be(bucket, tmp_path):
    done = call(tmp_path, "download", *bucket.arguments("source.percent=10"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cifar/data/train_masks_10pct.npy" in done.stderr
    assert "known keys are cifar/data/train_masks_{10,20,50,75}pct.npy, cifar/data/test_margins_" in done.stderr


def test_weights_of_ones_own_are_fetched_from_nowhere(bucket, tmp_path):
    """With a file of weights, the bucket is asked for masks and margins alone."""
    own = f"fit.file={bucket.folder}/cifar/{KEYS[2]}"
    output = ok(tmp_path, "download", *bucket.arguments(own))
    assert "to fetch: 2 files (masks 500.0 kB, margins 100.0 kB), 600.0 kB in all, about 0.00 USD" in output
    assert not [request for request in bucket.log.requests if KEYS[2] in request.path]


def test_the_released_weights_come_with_it():
    assert SOURCE.brings_weights(load_config("cifar10", ()).source)
