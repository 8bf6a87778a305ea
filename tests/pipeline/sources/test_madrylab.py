"""The released data, in a requester-pays bucket on a real server."""

from command_here import ok
from real_command import states, table
from released_bucket import KEYS


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
