"""Which rows of a table are mislabelled? scikit-learn models on scikit-learn's breast cancer data.

    python examples/train_own_function.py [MODELS]

The tool is not only for our three networks: `train_one` below trains any model on the rows that a mask keeps, and says
how good it is. Of 200 training rows, 8 have their label flipped. 2,000 models are trained on random halves of these
rows, and the influence of every row on the models' margin over 369 other rows is estimated, with an interval. Rows that
lower it are those to look at.

What it runs, in a new folder `mislabelled`:

    datamodels-inf train --function train_own_function:train_one --train 200 --targets 3 --models 2000 \\
        --outcome margin --labels names.json --out models
    datamodels-inf init models
    datamodels-inf run --config models.toml
    datamodels-inf influence --config models.toml --target all --csv

It prints the eight rows that lower the margin most, each with its influence and interval, and whether its label was one
of the flipped ones. MODELS is 2,000 by default: half a minute on two cores.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

N_TRAIN, N_FLIPPED = 200, 8
TARGETS = ["all", "malignant", "benign"]


@cache
def table() -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """(features, labels, which training rows have a flipped label); the first rows are for training."""
    features, labels = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(labels))
    features, labels = StandardScaler().fit_transform(features)[rows], labels[rows]
    flipped = np.sort(rng.choice(N_TRAIN, N_FLIPPED, replace=False))
    labels[flipped] = 1 - labels[flipped]
    return features, labels, flipped


def train_one(mask: NDArray[np.bool_], seed: int) -> list[float]:
    """The mean margin of a model that is trained on the rows of `mask`, over all other rows and over those of each
    class: the higher, the better."""
    features, labels, _ = table()
    model = LogisticRegression(C=0.1, solver="liblinear", random_state=seed)
    model.fit(features[:N_TRAIN][mask], labels[:N_TRAIN][mask])
    truth = labels[N_TRAIN:]
    margins = (2 * truth - 1) * model.decision_function(features[N_TRAIN:])
    return [margins.mean(), margins[truth == 0].mean(), margins[truth == 1].mean()]


def datamodels_inf(folder: Path, *words: str) -> str:
    """What a command prints, in `folder`, from where this file can be imported."""
    here = os.pathsep.join(filter(None, (str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH"))))
    print("$ datamodels-inf", *words, flush=True)
    command = [sys.executable, "-m", "pipeline.cli", *words]
    environment = {**os.environ, "PYTHONPATH": here}
    return subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(arguments: Sequence[str]) -> None:
    """Train, run, and hold the rows that lower the margin most against those whose labels were flipped."""
    n_models = arguments[0] if arguments else "2000"
    folder = Path("mislabelled")
    if folder.exists():
        sys.exit(f"{folder} is there already: remove it, or run this in another folder.")
    folder.mkdir()
    (folder / "names.json").write_text(json.dumps({"target_names": TARGETS}), encoding="utf-8")
    function = ("--function", "train_own_function:train_one", "--train", str(N_TRAIN), "--targets", str(len(TARGETS)))
    says = ("--outcome", "margin", "--labels", "names.json")
    datamodels_inf(folder, "train", *function, "--models", n_models, *says, "--out", "models")
    datamodels_inf(folder, "init", "models")
    datamodels_inf(folder, "run", "--config", "models.toml")
    found = datamodels_inf(folder, "influence", "--config", "models.toml", "--target", "all", "--csv")
    rows = sorted(csv.DictReader(found.splitlines()), key=lambda row: float(row["estimate"]))
    _, _, flipped = table()
    print(f"the {N_FLIPPED} rows that lower the margin most, of {N_TRAIN}:")
    print("row  influence  95 % interval      finding  label")
    for row in rows[:N_FLIPPED]:
        low, high, estimate = (f"{float(row[name]):.3f}" for name in ("low", "high", "estimate"))
        label = "flipped" if int(row["image"]) in flipped else "as it was"
        print(f"{row['image']:>3}  {estimate:>9}  {low} to {high}  {row['finding']:>7}  {label}")


if __name__ == "__main__":
    main(sys.argv[1:])
