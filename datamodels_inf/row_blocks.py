"""Which rows are fitted and which are tested, fixed by N models and d training images alone, before any data is seen.

The rule, found on simulated truths (benchmarks/row_blocks.py, docs/rows.md):

- held-out: fit √(dN/2) rows, but at most N/4; test the others;
- progressive: fit N/50 rows first; cut the others into 8 blocks, the square roots of whose ends are equally spaced;
- pairs that the fit chooses (the design "top") need a better one: fit N/2 rows first, either way.

There are at least `LEAST` rows before the first block and in each, so that a small N has fewer blocks. On blocks of n_k
rows with residual variances σ_k² the signed-rank Z moves with Σ n_k/σ_k / √Σn_k. The square of that, the information,
counts models. Of what the best split of each truth has, known only afterwards, the held-out rule loses 8 % on average
(at worst 47 %), the progressive one 3 % (12 %), for N/d from 3 to 60; the latter has 1.33 times the information.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TypeAlias

from datamodels_inf.internal.checks import check_integer

RowRange: TypeAlias = tuple[int, int]
"""Rows from the first to before the second."""
LEAST_TESTED = 3
"""Of fewer masks their law cannot be checked."""
LEAST = 20
"""Rows before the first tested block, and in each block, at least."""
MOST_BLOCKS = 8
"""Each block needs a fit: see the table of docs/rows.md for what more or fewer would do."""


def held_out_split(n_models: int, n_train: int, *, chosen_by_fit: bool = False) -> int:
    """How many of N = `n_models` rows to fit for d = `n_train` images, the others being tested.

    √(dN/2), but at most N/4; N/2 if the fit chooses the pairs (`chosen_by_fit`, the design "top").
    """
    _check(n_models, n_train)
    share = 0.5 if chosen_by_fit else min(sqrt(n_train / n_models / 2.0), 0.25)
    return _within(share * n_models, n_models)


def divide_rows(
    n_models: int, n_train: int, fit: int | None, tested: int | None, *, chosen_by_fit: bool = False
) -> tuple[int, int]:
    """(fit rows, tested rows): one that is not given is what the other leaves; where neither is, `held_out_split` says.

    What is given is not changed, so that together they may be more than there are: that is for the caller to refuse.

    >>> divide_rows(100, 10, None, 40), divide_rows(100, 10, 80, None), divide_rows(100, 10, None, None)
    ((60, 40), (80, 20), (22, 78))
    """
    if fit is None and tested is None:
        fit = held_out_split(n_models, n_train, chosen_by_fit=chosen_by_fit)
    elif fit is None:
        fit = max(1, n_models - (tested or 0))
    return fit, max(LEAST_TESTED, n_models - fit) if tested is None else tested


def first_rows(n_models: int, n_train: int, *, chosen_by_fit: bool = False) -> int:
    """How many of N = `n_models` rows a progressive run fits and never tests, whatever d = `n_train` is.

    N/50; N/2 if the first fit chooses the pairs (`chosen_by_fit`, the design "top").
    """
    _check(n_models, n_train)
    return _within((0.5 if chosen_by_fit else 0.02) * n_models, n_models)


def block_ends(n_models: int, first_rows: int, blocks: int | None = None) -> tuple[int, ...]:
    """The ends e_1 = `first_rows` < e_2 < … < e_K < N = `n_models` of the prefixes that are fitted.

    √e_k = √e_1 + (k − 1)·(√N − √e_1)/K, rounded. Block k is the rows e_k … e_{k+1} − 1, with e_{K+1} = N, and is tested
    with θ̂ of the e_k rows before it. K = `blocks`; by default ⌈9·(1 − √(e_1/N))⌉, at most `MOST_BLOCKS`, and as many
    fewer as it takes for each block to have `LEAST` rows. Several blocks that are asked for must have as many too.

    Examples
    --------
    >>> block_ends(12_000, first_rows(12_000, 400))
    (240, 742, 1521, 2577, 3909, 5517, 7401, 9562)
    """
    check_integer("n_models", n_models, 2)
    check_integer("first_rows", first_rows, 1)
    if first_rows >= n_models:
        raise ValueError(f"`first_rows` must be less than `n_models` = {n_models}, but it is {first_rows}.")
    if blocks is None:
        return _by_rule(n_models, first_rows)
    check_integer("blocks", blocks, 1)
    ends = _root_spaced(n_models, first_rows, min(blocks, n_models))  # More than rows there cannot be.
    if blocks > 1 and _smallest(ends, n_models) < LEAST:
        fewer = (_root_spaced(n_models, first_rows, k) for k in range(min(blocks, n_models // LEAST), 1, -1))
        most = next((len(some) for some in fewer if _smallest(some, n_models) >= LEAST), 1)
        raise ValueError(f"`blocks` must be at most {most}, so that each has {LEAST} rows, but it is {blocks}.")
    return ends


def _by_rule(n_models: int, first: int) -> tuple[int, ...]:
    most = min(ceil(9.0 * (1.0 - sqrt(first / n_models))), MOST_BLOCKS)
    choices = (_root_spaced(n_models, first, k) for k in range(most, 1, -1))
    return next((ends for ends in choices if _smallest(ends, n_models) >= LEAST), (first,))


def _root_spaced(n_models: int, first: int, blocks: int) -> tuple[int, ...]:
    low, high = sqrt(first), sqrt(n_models)
    return (first, *(round((low + (high - low) * k / blocks) ** 2) for k in range(1, blocks)))


def _smallest(ends: tuple[int, ...], n_models: int) -> int:
    """Rows of the smallest block."""
    return min(after - before for before, after in zip(ends, (*ends[1:], n_models), strict=True))


def _within(rows: float, n_models: int) -> int:
    return min(max(round(rows), LEAST), n_models - LEAST)


def _check(n_models: int, n_train: int) -> None:
    check_integer("n_models", n_models, 2 * LEAST)
    check_integer("n_train", n_train, 2)
