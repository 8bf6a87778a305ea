"""Which rows are for the fit and which for the test, and which rows are no models at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from datamodels_inf.designs import DESIGNS
from datamodels_inf.internal.checks import some_of
from datamodels_inf.row_blocks import LEAST_TESTED, RowRange, divide_rows, first_rows
from pipeline.errors import BadInputError

if TYPE_CHECKING:
    from pipeline.config import Config


def split_rows(config: Config, count: int, n_train: int, what: str = "models") -> tuple[RowRange, RowRange]:
    """Of `count` rows the first for the fit and the last for the test; rows for both would be leakage.

    Where every model tests, those for the fit are `first_rows`, and all others are tested.
    """
    try:
        return _split(config, count, n_train, what)
    except ValueError as error:
        given = "source.first_rows" if config.test.progressive else "source.fit_rows and source.held_out_rows"
        raise BadInputError(
            f"there are only {count:,} {what}, too few for a rule to divide them; give {given}."
        ) from error


def _split(config: Config, count: int, n_train: int, what: str) -> tuple[RowRange, RowRange]:
    if config.test.progressive:
        first = config.source.first_rows or first_rows(count, n_train, chosen_by_fit=_chosen_by_fit(config))
        if count - first < LEAST_TESTED:
            left = f"{max(0, count - first):,} of {count:,} {what} to test, and {LEAST_TESTED} are the least"
            raise BadInputError(f"source.first_rows = {first} leaves {left}; lower it.")
        return (0, first), (first, count)
    given = config.source.fit_rows, config.source.held_out_rows
    fit, held_out = divide_rows(count, n_train, *given, chosen_by_fit=_chosen_by_fit(config))
    if fit + held_out > count:
        raise BadInputError(
            f"source.fit_rows = {fit} and source.held_out_rows = {held_out} overlap: there are only {count:,} {what}, "
            "and testing on rows that the fit has seen is leakage; lower one of them, or leave both to the rule of "
            "docs/rows.md (on the command line: --set source.fit_rows= --set source.held_out_rows=)."
        )
    return (0, fit), (count - held_out, count)


def rule_of(config: Config) -> str:
    """Which rule of `row_blocks` divides the rows; empty where `[source]` gives their numbers."""
    source = config.source
    given = (source.first_rows,) if config.test.progressive else (source.fit_rows, source.held_out_rows)
    if any(number is not None for number in given):
        return ""
    return "pairs chosen by the fit" if _chosen_by_fit(config) else "any pairs"


def _chosen_by_fit(config: Config) -> bool:
    return DESIGNS[config.test.design].chosen_by_fit


def refuse_empty(name: str, rows: Sequence[int]) -> None:
    """A model that was trained on nothing is no model: its row was never filled."""
    if rows:
        raise BadInputError(
            f"{name} holds masks without any image, in row{'s' if len(rows) > 1 else ''} "
            f"{some_of(rows)}: were these models trained? Leave out the rows of "
            "models that were not; in a folder, a _completed.npy beside the masks, False in these rows, does that."
        )
