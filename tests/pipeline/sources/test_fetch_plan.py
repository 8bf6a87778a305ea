"""Only what is needed and missing is fetched; real servers."""

import numpy as np
from command_here import ok
from released_bucket import KEYS


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
