"""Which rows are fitted and which are tested: the first and the last, by the rule of `row_blocks` or as given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from datamodels_inf.analysis.settings import Settings
from datamodels_inf.methods import METHODS
from datamodels_inf.row_blocks import LEAST_TESTED, block_ends, divide_rows, first_rows


@dataclass(frozen=True)
class Division:
    """fit: rows 0..fit−1 are never tested. blocks: (start, stop) of the tested rows, one after the other.

    Block 0 is tested with the datamodel of the fit rows, a later one with that of all rows before it.
    """

    fit: int
    blocks: tuple[tuple[int, int], ...]

    @property
    def tested(self) -> tuple[int, int]:
        """The first tested row, and where they end."""
        return self.blocks[0][0], self.blocks[-1][1]

    @property
    def n_tested(self) -> int:
        """Rows of all blocks."""
        return self.tested[1] - self.tested[0]

    @property
    def ends(self) -> tuple[int, ...]:
        """Of each block, the rows that its datamodel may be fitted on."""
        return (self.fit, *(start for start, _ in self.blocks[1:]))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each block."""
        return tuple(stop - start for start, stop in self.blocks)

    def rows_of(self, method: str) -> int:
        """How many rows test each pair: all, or those of the last block where a method does not combine blocks."""
        return self.n_tested if METHODS[method].every_model else self.sizes[-1]


def divide(settings: Settings, n_models: int, n_train: int, *, chosen_by_fit: bool) -> Division:
    """The rows by the settings, and by the rules of `row_blocks` where these do not give their numbers.

    chosen_by_fit: the pairs come from θ̂ of the fit rows, which is worth more rows then.

    >>> divide(Settings(fit_rows=60), 100, 10, chosen_by_fit=True).blocks
    ((60, 100),)
    """
    if settings.progressive:
        return _progressive(settings, n_models, n_train, chosen_by_fit)
    given = settings.fit_rows, settings.held_out_rows
    try:
        fit, tested = divide_rows(n_models, n_train, *given, chosen_by_fit=chosen_by_fit)
    except ValueError as error:
        raise ValueError(
            f"there are only {n_models:,} models, too few for a rule to divide them; give `fit_rows` and "
            "`held_out_rows`."
        ) from error
    if fit + tested > n_models:
        raise ValueError(
            f"`fit_rows` = {fit} and `held_out_rows` = {tested} overlap: there are only {n_models:,} models, and "
            "testing on rows that the fit has seen is leakage; lower one of them, or leave both to the rule."
        )
    return Division(fit, ((n_models - tested, n_models),))


def _progressive(settings: Settings, n_models: int, n_train: int, chosen_by_fit: bool) -> Division:
    try:
        first = settings.first_rows or first_rows(n_models, n_train, chosen_by_fit=chosen_by_fit)
    except ValueError as error:
        raise ValueError(
            f"there are only {n_models:,} models, too few for a rule to divide them; give `first_rows`."
        ) from error
    if n_models - first < LEAST_TESTED:
        raise ValueError(
            f"`first_rows` = {first} leaves {max(0, n_models - first):,} of {n_models:,} models to test, and "
            f"{LEAST_TESTED} are the least; lower it."
        )
    bounds = [*block_ends(n_models, first, settings.blocks), n_models]
    return Division(first, tuple(pairwise(bounds)))
