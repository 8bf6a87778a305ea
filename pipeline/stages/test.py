"""Stage 3, test: draw the pairs of the design and test each on the held-out rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import contrast_many
from datamodels_inf.masks import PackedMasks
from datamodels_inf.paired_test import paired_swap_test_many
from datamodels_inf.pairs import draw_pairs
from datamodels_inf.scores import SquaredResidual
from datamodels_inf.shift import check_exchangeable
from datamodels_inf.swap_test import swap_test_many
from pipeline.config import Config, Method
from pipeline.datasets import Labels
from pipeline.errors import BadInputError
from pipeline.stages.context import Data, Fitted, progress_bar, targets_of_class

VERSION = 1
BLIND = "θ̂_i = θ̂_j: the squared residual cannot see this pair"


def settings(config: Config) -> dict[str, Any]:
    """What makes p-values. The level and the correction only decide which of them are findings: the report's part."""
    names = ("design", "target_class", "repeats", "seed", "method", "tau", "allow_unexchangeable")
    return {f"test.{name}": getattr(config.test, name) for name in names}


def run(config: Config, data: Data, fitted: Fitted, out: Path, quiet: bool, threads: int | None) -> dict[str, Any]:
    exchangeable = _check_masks(config, data.held_out_masks)
    of_class = targets_of_class(
        data, config.test.target_class, f'test.design "{config.test.design}"', "test.target_class"
    )
    labels = data.labels
    assert labels is not None
    triples = _draw(config, labels, np.intersect1d(fitted.targets, of_class))
    columns: dict[str, list[Any]] = {name: [] for name in TABLE}
    with progress_bar(len(triples), "pair", "test", quiet) as advance:
        targets = np.unique(triples[:, 2])
        margins = data.held_out_margins(targets)  # Once for all: columns of a matrix that lies in rows.
        for target, y in zip(targets, margins.T.astype(np.float64), strict=True):
            pairs = triples[triples[:, 2] == target, :2]
            _test_target(
                config, data.held_out_masks, y, fitted, int(target), pairs, threads or os.cpu_count() or 1, columns
            )
            advance(len(pairs))
    _write(columns, triples, config.test.method, labels, out / "tests.parquet")
    return {"n_tests": len(triples), "methods": list(config.test.method), **exchangeable}


TABLE = (
    "method",
    "i",
    "j",
    "target",
    "statistic",
    "pvalue",
    "theta_i",
    "theta_j",
    "effect",
    "effect_low",
    "effect_high",
)


def _check_masks(config: Config, masks: PackedMasks) -> dict[str, Any]:
    report = check_exchangeable(masks)
    if not report.ok and not config.test.allow_unexchangeable:
        raise BadInputError(
            f"the held-out masks are not exchangeable, so no p-value would be valid: {'; '.join(report.reasons)}; "
            "set test.allow_unexchangeable = true to go on all the same."
        )
    return {
        "mask_law": report.law,
        "mask_proportion": report.proportion,
        "exchangeable": report.ok,
        "exchangeability_reasons": list(report.reasons),
    }


def _draw(config: Config, labels: Labels, targets: NDArray[np.int64]) -> NDArray[np.int64]:
    test = config.test
    if targets.size == 0:
        raise BadInputError(f"no fitted target is of test.target_class {test.target_class!r}; see fit.targets.")
    try:
        return draw_pairs(test.design, labels.train_labels, targets, repeats=test.repeats, seed=test.seed)
    except ValueError as error:
        raise BadInputError(f"test.design {test.design!r} cannot be drawn: {error}") from error


def _test_target(
    config: Config,
    masks: PackedMasks,
    y: NDArray[np.float64],
    fitted: Fitted,
    target: int,
    pairs: NDArray[np.int64],
    threads: int,
    columns: dict[str, list[Any]],
) -> None:
    """All methods on the pairs of one target; the contrast gives every row its effect."""
    k = int(np.flatnonzero(fitted.targets == target)[0])
    score = SquaredResidual(fitted.datamodel.weight[:, k], float(fitted.datamodel.bias[k]))
    contrasts = contrast_many(masks, y, pairs, theta=score.theta, bias=score.bias)
    for method in config.test.method:
        if method == "contrast":
            statistic, pvalue = [c.statistic for c in contrasts], [c.pvalue for c in contrasts]
        else:
            statistic, pvalue = _swap(method, masks, y, pairs, score, config, threads)
        for row, effect in enumerate(contrasts):
            i, j = pairs[row].tolist()
            weights = float(score.theta[i]), float(score.theta[j])
            values = (method, i, j, target, statistic[row], pvalue[row], *weights, effect.estimate, *effect.interval)
            for name, value in zip(TABLE, values, strict=True):
                columns[name].append(value)


def _swap(
    method: Method,
    masks: PackedMasks,
    y: NDArray[np.float64],
    pairs: NDArray[np.int64],
    score: SquaredResidual,
    config: Config,
    threads: int,
) -> tuple[list[float], list[float]]:
    """τ_X = 0: the masks have passed the check of exchangeability."""
    tau, seed = config.test.tau, config.test.seed
    if method == "paired":
        result = paired_swap_test_many(masks, y, pairs, score=score, tau=tau, rng=seed, threads=threads)
    else:
        pvalue: Any = "exact" if method == "swap-exact" else "hoeffding"
        result = swap_test_many(masks, y, pairs, score=score, tau=tau, rng=seed, threads=threads, pvalue=pvalue)
    return result.statistic.tolist(), result.pvalue.tolist()


def _write(
    columns: dict[str, list[Any]], triples: NDArray[np.int64], methods: Sequence[str], labels: Labels, path: Path
) -> None:
    """One row per method and test, in the order of the design, with class names and notes."""
    import pyarrow as pa
    from pyarrow import parquet

    place = {(*map(int, triple),): n for n, triple in enumerate(triples)}
    keys = zip(columns["method"], columns["i"], columns["j"], columns["target"], strict=True)
    ranks = [methods.index(m) * len(triples) + place[i, j, t] for m, i, j, t in keys]
    table = pa.table(columns).take(np.argsort(ranks))
    classes = np.array(labels.class_names, dtype=object)
    for name, of in (("i", labels.train_labels), ("j", labels.train_labels), ("target", labels.target_labels)):
        table = table.append_column(f"class_{name}", pa.array(classes[of[table[name].to_numpy()]], pa.string()))
    blind = (table["theta_i"].to_numpy() == table["theta_j"].to_numpy()) & np.array(
        [m != "contrast" for m in table["method"].to_pylist()]
    )
    table = table.append_column("note", pa.array(np.where(blind, BLIND, ""), pa.string()))
    parquet.write_table(table, path)
