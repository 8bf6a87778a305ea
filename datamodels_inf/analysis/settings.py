"""How `analyse` is asked to work: names and defaults are those of `[fit]` and `[test]` of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from datamodels_inf.designs.pairs import Versus
from datamodels_inf.internal.checks import (
    check_choice,
    check_flag,
    check_fraction,
    check_integer,
    check_iterable,
    check_nonnegative,
)
from datamodels_inf.internal.comparison import Order
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.outcomes import higher_is_better_by_name

RowsUse: TypeAlias = Literal["held-out", "progressive"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """For the meaning of each see `analyse`. What cannot be is refused here, before anything long runs."""

    method: tuple[str, ...] = ("swap",)
    alpha: float = 0.2
    correction: str = "by"
    tau: float = 0.0
    order: Order = "permuted"
    seed: int = 0
    rows: RowsUse = "held-out"
    fit_rows: int | None = None
    held_out_rows: int | None = None
    first_rows: int | None = None
    blocks: int | None = None
    k: int = 5
    versus: tuple[Versus, ...] = ("hurters", "helpers", "random")
    random_partners: int = 5
    calibrate: bool = False
    allow_unexchangeable: bool = False
    outcome: str = "outcome"
    higher_is_better: bool | None = None

    def __post_init__(self) -> None:
        self._check_types()
        for name in self.method:
            check_choice("method", name, tuple(METHODS))
        if not self.method or len(set(self.method)) < len(self.method):
            raise ValueError("`method` must name at least one method, and none twice.")
        check_fraction("alpha", self.alpha)
        check_choice("correction", self.correction, tuple(CORRECTIONS))
        if CORRECTIONS[self.correction].needs_prior:
            raise ValueError(
                f"`correction` {self.correction!r} needs a prior, which only `datamodels-inf run` makes; choose "
                f"{', '.join(repr(name) for name, rule in CORRECTIONS.items() if not rule.needs_prior)}."
            )
        self._check_tests()
        self._check_rows()

    def _check_types(self) -> None:
        for name in ("calibrate", "allow_unexchangeable"):
            check_flag(name, getattr(self, name))
        if self.higher_is_better is not None:
            check_flag("higher_is_better", self.higher_is_better)
        if not isinstance(self.outcome, str):
            raise ValueError(f"`outcome` must be a text, but it is {self.outcome!r}.")
        for name in ("k", "random_partners"):
            check_integer(name, getattr(self, name), 1)

    def _check_tests(self) -> None:
        check_nonnegative("tau", self.tau)
        for name in self.method:
            if self.tau > 0 and METHODS[name].needs_tau_zero:
                raise ValueError(f"`method` {name!r} needs tau = 0: its test is valid only there.")
        check_choice("order", self.order, ("permuted", "given"))
        check_integer("seed", self.seed, 0)
        if len(set(self.versus)) < len(self.versus):
            raise ValueError("`versus` must not name a comparison twice.")
        if self.versus == ("helpers",) and self.k == 1:
            raise ValueError("`k` must be at least 2 when `versus` is only 'helpers'.")

    def _check_rows(self) -> None:
        check_choice("rows", self.rows, ("held-out", "progressive"))
        for name, least in (("fit_rows", 1), ("held_out_rows", 3), ("first_rows", 1), ("blocks", 1)):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), least)
        others = ("fit_rows", "held_out_rows") if self.progressive else ("first_rows", "blocks")
        for name in others:
            if getattr(self, name) is not None:
                raise ValueError(f"`{name}` is not for rows = {self.rows!r}.")

    @property
    def progressive(self) -> bool:
        """Whether every row but the first is tested, each with the fit of the rows before its block."""
        return self.rows == "progressive"

    @property
    def more_is_better(self) -> bool:
        """`higher_is_better`, where it was not said by the name of the outcome.

        >>> Settings(outcome="test_loss").more_is_better
        False
        """
        return higher_is_better_by_name(self.outcome) if self.higher_is_better is None else self.higher_is_better

    def as_text(self) -> str:
        """What was given that is not a default, as Python writes it; empty for nothing.

        >>> Settings(alpha=0.1, method=("contrast",)).as_text()
        "method=('contrast',), alpha=0.1"
        """
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        defaults = {field.name: field.default for field in fields(self)}
        return ", ".join(f"{name}={value!r}" for name, value in given if value != defaults[name])


def as_names(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several, of the argument `name`."""
    names = (value,) if isinstance(value, str) else tuple(check_iterable(name, value, "a name, or several"))
    for one in names:
        if not isinstance(one, str):
            raise ValueError(f"`{name}` must be a name, or several, but it has {one!r}.")
    return names
