"""What the test stage left, and the same by the library on dense masks."""

import numpy as np
from pyarrow import parquet

from datamodels_inf import paired_swap_test, swap_test

METHODS = ("swap", "swap-exact", "paired", "contrast")
FOUR = f"test.method={list(METHODS)}"


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
