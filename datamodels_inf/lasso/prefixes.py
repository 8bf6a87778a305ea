"""LASSO datamodels of all rows, or of every prefix of rows, for tests of each model by what was fitted before it.

Prefix k is the rows before end e_k. The first is fitted as by `fit_lasso`. Each longer one chooses its λ on the rows
that it has beyond the one before, from a fit of that one's rows which begins with its solution; then all its n rows are
fitted, at λ·√(n'/n), n' being the rows of the one before. So θ̂ of a prefix depends on no row after it; and a Gram
matrix of more rows is the sum of those of the blocks, so no row is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.lasso.meter import MOMENTS, PATH, REFIT, TRANSPOSING, Progress, metered
from datamodels_inf.lasso.solver import Fit, Lasso, Margins, Masks, as_datamodel, count_validation_rows
from datamodels_inf.lasso.walk import Choice
from datamodels_inf.masks import PackedMasks


def fit_lasso(
    masks: Masks,
    margins: Margins,
    *,
    n_lambdas: int = 100,
    lambda_ratio: float = 0.001,
    validation_rows: int | None = None,
    patience: int = 3,
    tolerance: float = 1e-6,
    memory_gb: float = 7.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Datamodel:
    """Fit a datamodel for every column of `margins`, (n_models, n_targets), by the LASSO:

        minimise  P(w) = (1/2n)·‖y − b − Zw‖² + λ‖w‖₁,    Z the standardised columns of the masks,

    with the λ that predicts the last rows best. The weights are given back for the 0/1 masks themselves.

    Parameters
    ----------
    n_lambdas, lambda_ratio : length of the path, and its end as a share of λ_max.
    validation_rows : the last rows, which choose λ; by default a fifth of all rows, and at most 20,000.
    patience : a path ends when the validation error has not improved for so many λ.
    tolerance : the largest duality gap, as a share of P(0).
    memory_gb : memory to use, in 10⁹ bytes, besides that of masks, margins and weights.
    threads : all cores by default.
    progress : called with steps that add up to the number of targets, from one thread at a time.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((400, 20)) < 0.5
    >>> margins = 2.0 * masks[:, [3]] + 0.3 * rng.standard_normal((400, 1))
    >>> datamodel = fit_lasso(masks, margins)
    >>> int(np.abs(datamodel.weight[:, 0]).argmax()), round(float(datamodel.weight[3, 0]), 1)
    (3, 1.9)
    """
    (datamodel,) = fit_lasso_prefixes(
        masks,
        margins,
        (len(margins),),
        n_lambdas=n_lambdas,
        lambda_ratio=lambda_ratio,
        validation_rows=validation_rows,
        patience=patience,
        tolerance=tolerance,
        memory_gb=memory_gb,
        threads=threads,
        progress=progress,
    )
    return datamodel


def fit_lasso_prefixes(
    masks: Masks,
    margins: Margins,
    ends: Sequence[int],
    *,
    n_lambdas: int = 100,
    lambda_ratio: float = 0.001,
    validation_rows: int | None = None,
    patience: int = 3,
    tolerance: float = 1e-6,
    memory_gb: float = 7.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Datamodel]:
    """For each end e of `ends`, which rise, the datamodels of the first e rows; later rows are not looked at.

    Parameters
    ----------
    ends : such as those of `block_ends`.
    validation_rows : of the first prefix; by default a fifth of it, and at most 20,000.
    progress : called with steps that add up to the number of targets times that of prefixes.

    The others are those of `fit_lasso`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((400, 20)) < 0.5
    >>> margins = 2.0 * masks[:, [3]] + 0.3 * rng.standard_normal((400, 1))
    >>> [round(float(datamodel.weight[3, 0]), 1) for datamodel in fit_lasso_prefixes(masks, margins, (100, 400))]
    [2.0, 1.9]
    """
    options = {
        "n_lambdas": n_lambdas,
        "lambda_ratio": lambda_ratio,
        "patience": patience,
        "tolerance": tolerance,
        "memory_gb": memory_gb,
        "threads": threads,
    }
    prefixes = lasso_prefixes(masks, margins, ends, validation_rows=validation_rows, progress=progress, **options)
    return [as_datamodel(fits, int(masks.shape[1])) for fits, _ in prefixes]


def lasso_prefixes(
    masks: Masks,
    margins: Margins,
    ends: Sequence[int],
    *,
    validation_rows: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[tuple[list[Fit], list[Choice]]]:
    """Of each prefix (fits, how λ was chosen), in the order of the targets; for the parameters see above."""
    packed = PackedMasks.of(masks)
    if len(margins) != packed.n_models:
        raise ValueError(
            f"`margins` must have shape ({packed.n_models}, n_targets), one row per mask, but it is {margins.shape}."
        )
    if len(ends) == 0 or not 0 < ends[-1] <= packed.n_models:
        raise ValueError(f"`ends` must rise to at most {packed.n_models}, the number of rows, but it is {list(ends)}.")
    n_validation = count_validation_rows(ends[0], validation_rows)
    targets, d = margins[0].size, packed.n_train
    fits_in_all = targets * len(ends)
    paths = fits_in_all * (2 * MOMENTS + PATH + REFIT)
    with metered(progress, fits_in_all, targets=targets, columns=d, paths=paths, masks=TRANSPOSING) as meter:
        lasso = Lasso(packed.rows(0, ends[-1]), ends=ends, validation_rows=n_validation, meter=meter, **options)
        fits: list[Fit] | None = None
        for k, end in enumerate(lasso.ends):
            choices = lasso.choose(margins[:end], meter, prefix=k, before=fits)
            fits = lasso.refit(margins[:end], [choice.best for choice in choices], meter, prefix=k)
            yield fits, choices
