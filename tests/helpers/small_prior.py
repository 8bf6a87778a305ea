"""The source of `small_atlas`, datamodels that are fitted on its fit rows, and what these rows say by a plain way."""

import shutil

import numpy as np
import small_atlas
from pyarrow import parquet
from small_atlas import FIT_ROWS

from datamodels_inf import influence
from datamodels_inf.prediction import evidence_cells

FITTED = (
    "fit.mode=lasso", "fit.n_lambdas=6", "test.repeats=15", 'test.method=["contrast", "paired"]',
    "test.correction=prior",
)  # fmt: skip
EVERY_MODEL = ("test.rows=progressive", f"source.first_rows={FIT_ROWS}", "test.blocks=3")
TOP = ("test.design=top", "test.targets=[1, 3, 8]", "test.repeats=20")
MARGINS = "data/test_margins_50pct.npy"


def pipeline(source, store, *more, lines=None):
    return small_atlas.pipeline(source, store, *FITTED, *more, lines=lines)


def words(source, *more):
    return small_atlas.words(source, *FITTED, *more)


def with_other_margins(source, folder, rows):
    """The same source, but these rows of all targets say something else, and are as large as they may be."""
    shutil.copytree(source, folder)
    margins = np.load(folder / MARGINS)
    masks = np.load(folder / "data" / "train_masks_50pct.npy")
    rng = np.random.default_rng(99)
    other = 40 * masks @ rng.standard_normal((masks.shape[1], margins.shape[1]))
    margins[rows] = other[rows]
    np.save(folder / MARGINS, margins)
    return folder


def weights_of(result, method):
    with np.load(result.folder / f"{method}.npz") as arrays:
        return arrays["weight"]


def content_of(result):
    """{name of a file: its bytes}."""
    return {path.name: path.read_bytes() for path in result.folder.iterdir() if path.name != "manifest.json"}


def rows_of(result, name="tests.parquet"):
    return parquet.read_table(result.folder / name).to_pylist()


def datamodel(store, name="datamodel.npz"):
    """target → (θ̂, b)."""
    (path,) = store.glob(f"fit/*/{name}")
    with np.load(path) as file:
        arrays = {key: file[key].astype(np.float64) for key in ("weight", "bias")} | {"targets": file["targets"]}
    columns = enumerate(arrays["targets"].tolist())
    return {target: (arrays["weight"][:, k], arrays["bias"][k]) for k, target in columns}


def evidence(source, theta, bias, target, *, fitted=True):
    """(Δ̂, SE) of all images on the fit rows, with residuals over 1 − ŝ/n, by `influence` of these very residuals."""
    masks = np.load(source / "data" / "train_masks_50pct.npy")[:FIT_ROWS]
    y = np.load(source / MARGINS)[:FIT_ROWS, target].astype(float)
    predicted = bias + masks @ theta
    residual = y - predicted
    factor = 1 / (1 - np.count_nonzero(theta) / FIT_ROWS) if fitted else 1.0
    found = influence(masks, predicted + factor * (residual - residual.mean()), theta=theta, bias=bias)
    return found.estimate, found.standard_error


def cells_of_images(estimate, error, n_test):
    """Of single images, from what a tile holds."""
    estimate, error = (values.astype(np.float32).astype(np.float64) for values in (estimate, error))
    return evidence_cells(estimate, error, error * np.sqrt(FIT_ROWS / n_test))
