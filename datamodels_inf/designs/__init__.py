"""Which tests to make: the paper's draws, and designs of one's own. A design never looks at the tested rows.

DESIGNS: everything that is to be known of a design, in one entry of one table. A new one is a function that draws pairs
and an entry (docs/adding.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from datamodels_inf.designs.pairs import Pairs, grid_pairs, top_pairs
from datamodels_inf.designs.paper import draw_pairs
from datamodels_inf.internal.checks import Ints
from datamodels_inf.masks import FloatArray

Targets: TypeAlias = Literal["class", "chosen", "listed"]


@dataclass(frozen=True)
class Request:
    """What a design may draw from; nothing of the tested rows.

    targets: those that it can ask for and that have a datamodel. settings: its own. labels: classes of the training
    images, where they are known. weights(): (n_train, targets), θ̂. images(): those that were named. listed(): the tests
    of a list.
    """

    targets: Ints
    seed: int
    settings: Mapping[str, Any]
    labels: Ints | None
    weights: Callable[[], FloatArray]
    images: Callable[[], Ints]
    listed: Callable[[], Pairs]


def _no_problem(settings: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True)
class Design:
    """settings: what it takes, by name. targets: those of a class, those that are chosen, or those of its list.

    draw: the pairs. problem: what is wrong with its settings, by their names in `[test]`; empty if nothing is.
    chosen_by_fit: draws by the weights, so that a good first fit is worth more rows (`row_blocks`).
    """

    name: str
    title: str
    settings: tuple[str, ...]
    targets: Targets
    draw: Callable[[Request], Pairs]
    problem: Callable[[Mapping[str, Any]], str] = _no_problem
    chosen_by_fit: bool = False


def _paper(request: Request, name: Literal["paper", "paper-unordered"]) -> Pairs:
    assert request.labels is not None  # Targets of a class have been found by them.
    repeats = request.settings["repeats"]
    triples = draw_pairs(name, request.labels, request.targets, repeats=repeats, seed=request.seed)
    return Pairs.of_triples(triples, name)


def _top(request: Request) -> Pairs:
    names = ("k", "versus", "random_partners")
    options = {name: request.settings[name] for name in names}
    return top_pairs(request.weights(), request.targets, seed=request.seed, **options)


def _top_problem(settings: Mapping[str, Any]) -> str:
    if len(set(settings["versus"])) < len(settings["versus"]):
        return "test.versus must not name a comparison twice"
    if settings["versus"] == ["helpers"] and settings["k"] == 1:
        return "test.k must be at least 2 when test.versus is only 'helpers'"
    return ""


def _grid(request: Request) -> Pairs:
    return grid_pairs(request.images(), request.targets)


def _grid_problem(settings: Mapping[str, Any]) -> str:
    few = len(settings["images"]) < 2
    return "test.images must list at least two images when test.design is 'grid'" if few else ""


def _list_problem(settings: Mapping[str, Any]) -> str:
    missing = settings["file"] is None
    return "test.file must name a CSV file of i, j, target when test.design is 'list'" if missing else ""


DESIGNS: dict[str, Design] = {
    design.name: design
    for design in (
        Design("paper", "the paper's draws", ("repeats",), "class", partial(_paper, name="paper")),
        Design(
            "paper-unordered",
            "the paper's draws, of unordered classes",
            ("repeats",),
            "class",
            partial(_paper, name="paper-unordered"),
        ),
        Design(
            "top",
            "each target's strongest helpers and hurters",
            ("targets", "k", "versus", "random_partners"),
            "chosen",
            _top,
            _top_problem,
            chosen_by_fit=True,
        ),
        Design("list", "a list of tests", ("file",), "listed", lambda request: request.listed(), _list_problem),
        Design("grid", "given images × given targets", ("targets", "images"), "chosen", _grid, _grid_problem),
    )
}
