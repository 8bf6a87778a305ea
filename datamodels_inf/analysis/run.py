"""`analyse`: fit, test and correct, in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from datamodels_inf.analysis.division import Division, divide
from datamodels_inf.analysis.fitting import Fitted, fit_here, use_scores, use_weights
from datamodels_inf.analysis.inputs import read_bias, read_masks, read_outcomes, read_theta
from datamodels_inf.analysis.items import Items
from datamodels_inf.analysis.premise import check_premise, refuse_if_untestable, testable_pairs
from datamodels_inf.analysis.result import Analysis
from datamodels_inf.analysis.settings import RowsUse, Settings, as_names
from datamodels_inf.analysis.testing import as_table, draw_top, read_pairs, run_tests
from datamodels_inf.findings import decide
from datamodels_inf.internal.checks import Ints, check_integer
from datamodels_inf.internal.column_names import column_names
from datamodels_inf.internal.comparison import Order
from datamodels_inf.pair_answers import PairAnswers

if TYPE_CHECKING:
    from datamodels_inf.masks import FloatArray, PackedMasks

Progress: TypeAlias = Callable[[str, float], object]
"""("fit" or "test", the share of it that is done, from 0 to 1)."""


def analyse(
    masks: Any,
    outcomes: ArrayLike,
    theta: ArrayLike | None = None,
    labels: Any = None,
    images: Any = None,
    *,
    names: Any = None,
    n_train: int | None = None,
    bias: ArrayLike | None = None,
    calibrate: bool = False,
    targets: Sequence[int | str] | None = None,
    pairs: Any = None,
    outcome: str = "outcome",
    higher_is_better: bool = True,
    method: str | Sequence[str] = "swap",
    alpha: float = 0.2,
    correction: str = "by",
    tau: float = 0.0,
    order: Order = "permuted",
    seed: int = 0,
    rows: RowsUse = "held-out",
    fit_rows: int | None = None,
    held_out_rows: int | None = None,
    first_rows: int | None = None,
    blocks: int | None = None,
    k: int = 5,
    versus: str | Sequence[str] = ("hurters", "helpers", "random"),
    random_partners: int = 5,
    allow_unexchangeable: bool = False,
    lasso: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Which training images influence a target more than which others? Fit, test and correct, in memory.

    The same rows, pairs and seed give the same numbers as `datamodels-inf run`.

    Parameters
    ----------
    masks : which of n_train images each of n_models models was trained on: (n_models, n_train) bool or 0/1,
        `PackedMasks`, a DataFrame, or with `n_train` a list of the images of each model.
    outcomes : (n_models,) or (n_models, n_targets), what each model gave on each target: margins, losses, any numbers.
    theta, bias : weights or scores (n_train, n_targets) of any attribution method, made without the tested rows, which
        are the last; None fits a LASSO on the first rows. calibrate: give scores the scale and bias that predict
        outcomes best on the first rows.
    labels, names, images : of the training images, or a tuple (of the training images, of the targets): classes as
        numbers or texts, names, pictures (n, H, W) or (n, H, W, 3). None is needed; a DataFrame of masks has names.
    targets : which columns of `outcomes` to look at, by number or name; all by default.
    pairs : what to test, rows of (i, j, target) by number or name, i and j two images or two groups of equal size,
        chosen without the tested rows. None: each target's strongest helpers by θ̂ against hurters, each other and
        random images (`top_pairs`, with k, versus, random_partners).
    outcome, higher_is_better : what the outcome is called, and whether helpers raise it.
    method : one or more of METHODS: "swap" (the paper's), "swap-exact", "paired", "contrast".
    alpha, correction : a test is a finding if its p-value, adjusted over the tests of its method, is at most alpha.
    tau, order, seed : of the tests; see `swap_test`. The seed also draws the random partners.
    rows : "held-out": the first `fit_rows` are fitted and the last `held_out_rows` tested, by the rule of
        `row_blocks` unless they are given. "progressive": all but `first_rows` are tested, in `blocks`, each with the
        fit of all rows before it.
    allow_unexchangeable : go on though the masks contradict the premise of the tests (`check_exchangeable`).
    lasso : options of `fit_lasso`, such as {"n_lambdas": 50}.
    threads : all cores by default; changes no result.
    progress : called as progress("fit" or "test", share done).

    Returns
    -------
    Analysis : `.findings()`, `.tests()`, `.influence(target)`, `.quality`, `.report(folder)`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((2000, 30)) < 0.5
    >>> outcomes = masks[:, 3] - masks[:, 8] + rng.standard_normal(2000)
    >>> result = analyse(masks, outcomes, method="contrast", k=2)
    >>> result.findings()[["i", "j", "finding"]].head(1).values.tolist()
    [[3, 8, True]]
    """
    settings = Settings(
        method=as_names(method),
        alpha=alpha,
        correction=correction,
        tau=tau,
        order=order,
        seed=seed,
        rows=rows,
        fit_rows=fit_rows,
        held_out_rows=held_out_rows,
        first_rows=first_rows,
        blocks=blocks,
        k=k,
        versus=as_names(versus),  # type: ignore[arg-type]
        random_partners=random_partners,
        calibrate=calibrate,
        allow_unexchangeable=allow_unexchangeable,
        outcome=outcome,
        higher_is_better=higher_is_better,
    )
    packed = read_masks(masks, n_train)
    y = read_outcomes(outcomes, packed.n_models)
    known = names if names is not None else (column_names(masks), column_names(outcomes))
    items = Items.of(packed.n_train, y.shape[1], labels=labels, names=known, images=images)
    listed = None if pairs is None else read_pairs(pairs, items)
    if theta is None and (calibrate or bias is not None):
        raise ValueError("`calibrate` and `bias` are for `theta`, which is not given: the LASSO finds its own.")
    if theta is not None and settings.progressive:
        raise ValueError(
            'rows = "progressive" fits a datamodel for each block of rows: `theta` is one, and may have seen any row.'
        )
    division = divide(settings, packed.n_models, packed.n_train, chosen_by_fit=listed is None)
    start, stop = division.tested
    premise = check_premise(packed.rows(start, stop), packed.rows(0, division.fit), items.train_labels, settings)
    wanted = _targets(targets, items, None if listed is None else np.unique(listed.target))
    n_threads = os.cpu_count() or 1 if threads is None else check_integer("threads", threads, 1)
    fitted = _fitted(packed, y, wanted, division, settings, theta, bias, {**(lasso or {}), "threads": threads}, progress)
    drawn = draw_top(fitted, settings) if listed is None else listed
    testable = testable_pairs(premise, items.train_labels, settings)
    refuse_if_untestable(drawn, testable)
    answers = PairAnswers(settings.method, testable, len(division.blocks), tau, order, seed, n_threads)
    columns = run_tests(drawn, answers, packed, y, division, fitted, _shares(progress, "test", len(drawn)))
    table = decide(
        as_table(drawn, columns, settings.method, items),
        settings,
        n_rows={name: division.rows_of(name) for name in settings.method},
    )
    growth = {name: columns[f"growth {name}"] for name in answers.growing}
    return Analysis(packed, y, items, settings, division, premise, fitted, drawn, table, growth, n_threads, theta is None)


def _fitted(
    masks: PackedMasks,
    y: FloatArray,
    targets: Ints,
    division: Division,
    settings: Settings,
    theta: ArrayLike | None,
    bias: ArrayLike | None,
    lasso: Mapping[str, Any],
    progress: Progress | None,
) -> Fitted:
    if theta is None:
        advance = _shares(progress, "fit", len(targets) * len(division.blocks))
        return fit_here(masks, y, targets, division, lasso, advance)
    weight, offset = read_theta(theta, masks.n_train, y.shape[1]), read_bias(bias, y.shape[1])
    use = use_scores if settings.calibrate else use_weights
    return use(weight, offset, targets, masks, y, division.fit)


def _targets(given: Sequence[int | str] | None, items: Items, listed: Ints | None) -> Ints:
    """The targets that get a datamodel: those that are named, those of the pairs, or all."""
    if given is None:
        return np.arange(items.n_targets) if listed is None else listed
    found = np.array([items.find("target", target) for target in given], np.int64)
    if not found.size or len(np.unique(found)) < found.size:
        raise ValueError("`targets` must name at least one target, and none twice.")
    missing = [] if listed is None else np.setdiff1d(listed, found).tolist()
    if missing:
        raise ValueError(f"`pairs` asks for target {missing[0]}, which is not among `targets`.")
    return found


def _shares(progress: Progress | None, what: str, total: int) -> Callable[[float], object]:
    """Steps that add up to `total`, told as a share that grows to 1."""
    done = 0.0

    def advance(step: float) -> None:
        nonlocal done
        done += step
        if progress is not None:
            progress(what, min(1.0, done / total))

    return advance
