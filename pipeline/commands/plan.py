"""`plan`: how many models a study needs, and what a given number finds, held-out and progressive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from datamodels_inf.methods import METHODS
from datamodels_inf.planning import MOST_MODELS, detectable_effect, plan
from datamodels_inf.row_blocks import first_rows, held_out_split
from datamodels_inf.row_planning import WAYS, models_to_train, rows_by_method
from pipeline.commands.aligned import aligned
from pipeline.errors import BadInputError

OPTIONS = {"n_models": "models", "n_train": "images"}
"""Names of the library that are others on the command line."""
LAST_BLOCK = " and ".join(name for name, method in METHODS.items() if not method.every_model)
BLIND = ", ".join(name for name, method in METHODS.items() if not method.sees_equal_weights)
ASSUMPTIONS = (
    f"Progressive, all models but the first test; by {LAST_BLOCK}, the last block alone.",
    "Noise is taken as that of a fit of all models, but fits that test have seen fewer. In simulations with 3 to 60",
    "models an image, by these rules, the contrast's effects must be 1.24 to 1.06 times as large held-out, 1.14 to",
    f"1.02 times progressive. {BLIND} lose more: they are blind where θ̂_i = θ̂_j (docs/planning.md).",
)


@dataclass(frozen=True)
class Question:
    """The options of `plan`."""

    effect: float | None
    alpha: float
    power: float
    noise: float
    proportion: float
    n_models: int | None
    n_train: int | None
    fit_rows: int | None
    held_out_rows: int | None

    @property
    def settings(self) -> dict[str, float]:
        """What every answer depends on."""
        return {"alpha": self.alpha, "power": self.power, "noise": self.noise, "proportion": self.proportion}

    @property
    def words(self) -> str:
        """The same in words."""
        return f"noise {self.noise:g}, level {self.alpha:g}, power {self.power:g}"


def plan_lines(question: Question) -> list[str]:
    """The answer, line by line; bad options are refused in the words of the command line."""
    if question.effect is None and question.n_models is None:
        raise BadInputError("give --effect, to learn how many models find it, or --models, to learn what they find.")
    if question.n_models is not None and question.n_train is None:
        raise BadInputError("--models needs --images, the number of training images.")
    if question.n_models is None and (question.fit_rows, question.held_out_rows) != (None, None):
        raise BadInputError("--fit-rows and --held-out-rows need --models, which they divide.")
    try:
        return list(_lines(question))
    except ValueError as error:
        raise BadInputError(re.sub(r"`(\w+)`", _option, str(error))) from error


def _option(name: re.Match[str]) -> str:
    return f"--{OPTIONS.get(name[1], name[1])}"


def _lines(question: Question) -> Iterator[str]:
    if question.effect is not None:
        yield from _needed(question, question.effect)
    if question.n_models is not None and question.n_train is not None:
        yield from _found(question, question.n_models, question.n_train)
    if question.n_train is not None:
        yield from ASSUMPTIONS


def _needed(question: Question, effect: float) -> Iterator[str]:
    """How many models find the effect."""
    planned = plan(effect=effect, **question.settings)
    cells = [[name, _count(rows)] for name, rows in planned.figures.items()]
    if question.n_train is None:
        yield f"Held-out models needed for effect {effect:g}, {question.words}:"
    else:
        yield f"Models of {question.n_train:,} images needed for effect {effect:g}, {question.words}:"
        ways = [models_to_train(way, planned, question.n_train) for way in WAYS]
        cells = [["", "tested", *(f"to train, {way}" for way in WAYS)],
                 *([name, rows, *(_count(way[name]) for way in ways)] for name, rows in cells)]  # fmt: skip
    yield from _table(cells)


def _found(question: Question, n_models: int, n_train: int) -> Iterator[str]:
    """The smallest effects that the models find."""
    if n_models > MOST_MODELS:
        raise BadInputError(f"--models must be at most {MOST_MODELS:,}.")
    fit_rows, held_out_rows = _split(question, n_models, n_train)
    tested = dict.fromkeys(METHODS, held_out_rows), rows_by_method("progressive", n_models, n_train)
    held_out, progressive = (detectable_effect(rows, **question.settings) for rows in tested)
    yield f"Smallest effects that {n_models:,} models of {n_train:,} images find, {question.words}, and their ratio;"
    yield (
        f"held-out: {fit_rows:,} fitted and {held_out_rows:,} tested; progressive: the first "
        f"{first_rows(n_models, n_train):,} never tested:"
    )
    cells = [["", "tested held-out", "effect", "tested progressive", "effect", "gain"]]
    for name in METHODS:
        effects = held_out[name], progressive[name]
        pairs = zip(tested, effects, strict=True)
        cells.append([name, *(cell for rows, size in pairs for cell in (_count(rows[name]), _effect(size)))])
        cells[-1].append(_ratio(*effects))
    yield from _table(cells)


def _split(question: Question, n_models: int, n_train: int) -> tuple[int, int]:
    """(rows of the fit, held-out rows): what is not given is what the other leaves, or by the rule for both."""
    fit, held_out = question.fit_rows, question.held_out_rows
    if fit is None:
        fit = held_out_split(n_models, n_train) if held_out is None else n_models - held_out
    if held_out is None:
        held_out = n_models - fit
    if fit < 1 or held_out < 2 or fit + held_out > n_models:
        raise BadInputError(
            f"--models {n_models} cannot be divided into {fit} for the fit and {held_out} held out; change --fit-rows "
            "or --held-out-rows."
        )
    return fit, held_out


def _count(rows: int | None) -> str:
    return "more than 10¹²" if rows is None else f"{rows:,}"


def _effect(size: float | None) -> str:
    return "none" if size is None else f"{size:.3g}"


def _ratio(held_out: float | None, progressive: float | None) -> str:
    return "" if held_out is None or progressive is None else f"{held_out / progressive:.2f}"


def _table(cells: list[list[str]]) -> Iterator[str]:
    return (f"  {line}" for line in aligned(cells, right=True))
