"""Which rows are for the fit and which for the test, and which rows are no models at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from datamodels_inf.internal.checks import some_of
from pipeline.errors import BadInputError
from pipeline.summaries import Interval

if TYPE_CHECKING:
    from pipeline.config import Source


def split_rows(source: Source, count: int, what: str = "models") -> tuple[Interval, Interval]:
    """Of `count` rows the first for the fit and the last for the test; rows for both would be leakage."""
    if source.fit_rows + source.held_out_rows > count:
        raise BadInputError(
            f"source.fit_rows = {source.fit_rows} and source.held_out_rows = {source.held_out_rows} overlap: there are "
            f"only {count} {what}, and testing on rows that the fit has seen is leakage; lower one of them."
        )
    return (0, source.fit_rows), (count - source.held_out_rows, count)


def refuse_empty(name: str, rows: Sequence[int]) -> None:
    """A model that was trained on nothing is no model: its row was never filled."""
    if rows:
        raise BadInputError(
            f"{name} holds masks without any image, in row{'s' if len(rows) > 1 else ''} "
            f"{some_of(rows)}: were these models trained? Leave out the rows of "
            "models that were not; in a folder, a _completed.npy beside the masks, False in these rows, does that."
        )
