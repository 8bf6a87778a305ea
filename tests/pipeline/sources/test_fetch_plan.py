"""Only what is needed and missing is fetched; real servers."""

import numpy as np
from command_here import ok
from header_only import HeaderOnly
from released_bucket import KEYS

from pipeline.config_files import load_config
from pipeline.sources.fetch_plan import Remotes, make_plan
from pipeline.sources.madrylab import USD_PER_GB


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


def test_what_every_released_model_costs(tmp_path):
    """`cifar10-all` promises 21.7 GB and 1.95 USD: what a dry run would say of arrays of the released shapes."""
    masks = HeaderOnly("masks.npy", (310_000, 50_000), np.bool_)
    margins = HeaderOnly("margins.npy", (310_000, 10_000), np.float16)
    plan = make_plan(load_config("cifar10-all", []), Remotes(masks, margins, usd_per_gb=USD_PER_GB), tmp_path)
    assert plan.missing_bytes == 310_000 * (50_000 + 2 * 10_000) == 21_700_000_000
    promised = "to fetch: 2 files (masks 15.5 GB, margins 6.2 GB), 21.7 GB in all, about 1.95 USD to the requester; "
    assert plan.sentence(tmp_path).startswith(promised)
    assert sum(need.stored_bytes for need in plan.needs) // 10**8 == 81  # Masks are kept as bits.
    assert (plan.rows.fit, plan.rows.held_out) == ((0, 6200), (6200, 310_000))
