"""How many of N models test, and how many to train in all, by the rules of `row_blocks`: held-out and progressive.

Of N models of d images each method tests

- held-out: all that are not fitted, N − √(dN/2), and at least 3N/4;
- progressive: all but the first, N − N/50, where it combines blocks (`Method.every_model`); else the last block alone.

For pairs that the fit does not choose: of the design "top" the rules fit half of the models first.

`planning` takes the noise to be the same in all tested rows, the residual sd of a fit of all N. Fits of fewer rows
leave more: docs/planning.md says how much larger effects must really be, as measured on simulated truths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Literal, TypeAlias, get_args

from datamodels_inf.internal.checks import check_choice, check_integer
from datamodels_inf.methods import METHODS, Method
from datamodels_inf.planning import ByMethod, Plan
from datamodels_inf.row_blocks import LEAST, block_ends, first_rows, held_out_split

Way: TypeAlias = Literal["held-out", "progressive"]
WAYS: tuple[Way, ...] = get_args(Way)
DIP = LEAST
"""More models never test fewer rows by more than this: where they make a block more, the last one shrinks."""


@dataclass(frozen=True)
class ToTrain(ByMethod[int]):
    """Numbers of models in all, by method: the smallest of which as many test as a plan needs; None where it has none.

    See `models_to_train`.

    >>> from datamodels_inf.planning import plan
    >>> models_to_train("held-out", plan(effect=0.3, alpha=1e-4, power=0.8), 400).figures
    {'swap': 288881, 'swap-exact': 232083, 'paired': 4077, 'contrast': 2821}
    """

    way: Way
    n_train: int
    figures: Mapping[str, int | None]


def rows_by_method(way: Way, n_models: int, n_train: int) -> dict[str, int]:
    """How many of N = `n_models` models of d = `n_train` images each method tests.

    >>> rows_by_method("progressive", 310_000, 50_000)
    {'swap': 62969, 'swap-exact': 62969, 'paired': 303800, 'contrast': 303800}
    """
    check_choice("way", way, WAYS)
    return {name: _tested(way, method, n_train, n_models) for name, method in METHODS.items()}


def models_to_train(way: Way, needed: Plan, n_train: int) -> ToTrain:
    """The smallest N of which as many test as the plan needs, of d = `n_train` images.

    >>> from datamodels_inf.planning import plan
    >>> needed = plan(effect=0.3, alpha=1e-4, power=0.8)
    >>> needed.contrast, models_to_train("progressive", needed, 400).contrast
    (2116, 2159)
    """
    check_choice("way", way, WAYS)
    check_integer("n_train", n_train, 2)
    figures = {
        name: None if rows is None else _fewest(partial(_tested, way, METHODS[name], n_train), rows)
        for name, rows in needed.figures.items()
    }
    return ToTrain(way, n_train, figures)


def _tested(way: Way, method: Method, n_train: int, n_models: int) -> int:
    if way == "held-out":
        return n_models - held_out_split(n_models, n_train)
    first = first_rows(n_models, n_train)
    return n_models - (first if method.every_model else block_ends(n_models, first)[-1])


def _fewest(tested: Callable[[int], int], wanted: int) -> int:
    """The smallest N with tested(N) ≥ wanted, though tested(N) need not rise at each step.

    If tested(L) < wanted − DIP, no N ≤ L is enough. Bisection brings such an L up to where it cannot say so any more,
    and from there on each N is looked at.
    """
    low, high = 2 * LEAST - 1, 2 * LEAST  # The rules begin at 2·LEAST.
    while tested(high) < wanted - DIP:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tested(middle) < wanted - DIP else (low, middle)
    return next(n for n in count(high) if tested(n) >= wanted)
