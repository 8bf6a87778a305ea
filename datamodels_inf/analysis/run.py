"""`analyse`: fit, test and correct, in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from datamodels_inf.analysis.division import divide
from datamodels_inf.analysis.fitting import fit_here, use_scores, use_weights
from datamodels_inf.analysis.inputs import Data, read_bias, read_theta
from datamodels_inf.analysis.items import Items
from datamodels_inf.analysis.premise import check_premise, refuse_if_untestable, testable_pairs
from datamodels_inf.analysis.result import Analysis
from datamodels_inf.analysis.settings import RowsUse, Settings, as_names
from datamodels_inf.analysis.testing import as_table, draw_top, read_pairs, run_tests
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.findings import decide
from datamodels_inf.internal.checks import Floats, Ints, check_integer, check_iterable
from datamodels_inf.internal.comparison import Order
from datamodels_inf.internal.cores import available_cores
from datamodels_inf.masks import FloatArray
from datamodels_inf.pair_answers import PairAnswers

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
    higher_is_better: bool | None = None,
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
    outcome, higher_is_better : what the outcome is called, and whether helpers raise it; None goes by that name
        (`datamodels_inf.outcomes`: "test_loss" is better when it is lower, "margin" when it is higher).
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
    >>> outcomes = 1.0 * masks[:, 3] - masks[:, 8] + rng.standard_normal(2000)
    >>> result = analyse(masks, outcomes, method="contrast", k=2)
    >>> result.findings()[["i", "j", "finding"]].head(1).values.tolist()
    [[3, 8, True]]
    """
    settings = Settings(
        method=as_names("method", method),
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
        versus=as_names("versus", versus),  # type: ignore[arg-type]
        random_partners=random_partners,
        calibrate=calibrate,
        allow_unexchangeable=allow_unexchangeable,
        outcome=outcome,
        higher_is_better=higher_is_better,
    )
    data = Data.of(masks, outcomes, n_train=n_train, labels=labels, names=names, images=images)
    if lasso is not None and not isinstance(lasso, Mapping):
        raise ValueError(f"`lasso` must be a dictionary of options of `fit_lasso`, but it is {lasso!r}.")
    if progress is not None and not callable(progress):
        raise ValueError(f"`progress` must be a function, but it is {progress!r}.")
    work = Work({**(lasso or {}), "threads": threads}, _count_threads(threads), progress)
    listed = None if pairs is None else read_pairs(pairs, data.items)
    weights = _read_weights(theta, bias, data, settings)
    return _analysis(data, settings, weights, _targets(targets, data.items, listed), listed, work)


@dataclass(frozen=True)
class Work:
    """lasso: options of the fit. threads: of the tests."""

    lasso: Mapping[str, Any]
    threads: int
    progress: Progress | None

    def advance(self, what: str, total: int) -> Callable[[float], object]:
        """Takes steps that add up to `total`, and tells them as a share that grows to 1."""
        done = 0.0

        def advance(step: float) -> None:
            nonlocal done
            done += step
            if self.progress is not None:
                self.progress(what, min(1.0, done / total))

        return advance


Weights: TypeAlias = tuple[FloatArray, Floats]
"""θ̂ as given, and its bias."""


def _analysis(
    data: Data, settings: Settings, weights: Weights | None, targets: Ints, listed: Pairs | None, work: Work
) -> Analysis:
    """The premise first, then the fit; pairs are drawn by it before any tested outcome is looked at."""
    n_models, labels = data.masks.n_models, data.items.train_labels
    division = divide(settings, n_models, data.masks.n_train, chosen_by_fit=listed is None)
    tested, fit = data.masks.rows(*division.tested), data.masks.rows(0, division.fit)
    premise = check_premise(tested, fit, labels, settings)
    if weights is None:
        advance = work.advance("fit", len(targets) * len(division.blocks))
        fitted = fit_here(data, targets, division, work.lasso, advance)
    else:
        fitted = (use_scores if settings.calibrate else use_weights)(*weights, targets, data, division.fit)
    pairs = draw_top(fitted, settings) if listed is None else listed
    testable = testable_pairs(premise, labels, settings)
    refuse_if_untestable(pairs, testable)
    methods, asked = settings.method, (settings.tau, settings.order, settings.seed)
    answers = PairAnswers(methods, testable, len(division.blocks), *asked, work.threads)
    columns = run_tests(pairs, answers, data, division, fitted, work.advance("test", len(pairs)))
    n_rows = {name: division.rows_of(name) for name in methods}
    return Analysis(
        data=data,
        settings=settings,
        division=division,
        premise=premise,
        fitted=fitted,
        pairs=pairs,
        table=decide(as_table(pairs, columns, methods, data.items), settings, n_rows=n_rows),
        growth={name: columns[f"growth {name}"] for name in answers.growing},
        threads=work.threads,
        fitted_here=weights is None,
    )


def _read_weights(theta: ArrayLike | None, bias: ArrayLike | None, data: Data, settings: Settings) -> Weights | None:
    if theta is None:
        if settings.calibrate or bias is not None:
            raise ValueError("`calibrate` and `bias` are for `theta`, which is not given: the LASSO finds its own.")
        return None
    if settings.progressive:
        raise ValueError(
            'rows = "progressive" fits a datamodel for each block of rows: `theta` is one, and may have seen any row.'
        )
    n_targets = data.items.n_targets
    return read_theta(theta, data.masks.n_train, n_targets), read_bias(bias, n_targets)


def _targets(given: Sequence[int | str] | None, items: Items, listed: Pairs | None) -> Ints:
    """The targets that get a datamodel: those that are named, those of the pairs, or all."""
    if given is None:
        return np.arange(items.n_targets) if listed is None else np.unique(listed.target)
    listing = check_iterable("targets", given, "a list of targets, by number or name")
    found = np.array([items.find("target", target) for target in listing], np.int64)
    if not found.size or len(np.unique(found)) < found.size:
        raise ValueError("`targets` must name at least one target, and none twice.")
    missing = [] if listed is None else np.setdiff1d(listed.target, found).tolist()
    if missing:
        raise ValueError(f"`pairs` asks for target {missing[0]}, which is not among `targets`.")
    return found


def _count_threads(threads: int | None) -> int:
    return available_cores() if threads is None else check_integer("threads", threads, 1)
