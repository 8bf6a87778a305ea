"""Findings among pairs, and as many other pairs, with their effects by the set and by fresh models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.findings import Family
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.targets import prepare_targets
from pipeline.stages.base import Run
from pipeline.stages.fresh.compared import Compared, Estimates, n_others
from pipeline.stages.fresh.models import FreshModels
from pipeline.stages.inputs import Fitted
from pipeline.stages.prior.files import prior_in_use

FIGURES = ("effect", "effect_se", "effect_low", "effect_high", "effect_df", "pvalue")


@dataclass(frozen=True, eq=False)
class ChosenPairs:
    """Of one method. place: where the tests stand in the design, ascending. n_tests: the size of its family."""

    place: Ints
    tests: Compared
    n_tests: int
    n_found: int


def read_chosen(run: Run) -> tuple[Pairs, dict[str, ChosenPairs]]:
    """The design, sorted by target, and of each method the tests that are compared."""
    from pyarrow import compute, parquet

    path, test, chosen = run.inputs["test"].folder / "tests.parquet", run.config.test, {}
    for number, method in enumerate(test.method):
        table = parquet.read_table(path, columns=["method", *FIGURES], filters=compute.field("method") == method)
        family = Family(table["pvalue"].to_numpy(), test, prior_in_use(test, run.inputs.get("prior"), method))
        figures = {name: table[name].to_numpy() for name in FIGURES}
        chosen[method] = choose(family, figures, np.random.default_rng([run.config.verify.seed, number]))
    return _read_pairs(run), chosen


def choose(family: Family, figures: dict[str, Floats], rng: np.random.Generator) -> ChosenPairs:
    """All findings of a method, and as many other tests that were made."""
    left = np.flatnonzero(~np.isnan(family.pvalue) & ~family.found)
    others = rng.choice(left, n_others(family.n_found, len(left)), replace=False)
    place = np.sort(np.concatenate([np.flatnonzero(family.found), others]))
    found = family.found[place]
    effect, error, low, high, freedom = (figures[name][place] for name in FIGURES[:5])
    low_selected, high_selected = np.full((2, len(place)), np.nan)
    ends = family.selected_intervals(place[found], effect[found], error[found], freedom[found])
    low_selected[found], high_selected[found] = ends
    tests = Compared(found, effect, error, low, high, low_selected, high_selected)
    return ChosenPairs(place, tests, family.n_tests, family.n_found)


def _read_pairs(run: Run) -> Pairs:
    from pyarrow import parquet

    table = parquet.read_table(run.inputs["test"].folder / "design.parquet").combine_chunks()
    left, right = (table[name].combine_chunks() for name in ("members_i", "members_j"))
    bounds = left.offsets.to_numpy().astype(np.int64)
    kind = np.zeros(len(table), np.int8)
    members_i, members_j = (side.values.to_numpy() for side in (left, right))
    return Pairs(members_i, members_j, bounds, table["target"].to_numpy(), kind, ("",))


def pair_effects(
    models: FreshModels, fitted: Fitted, pairs: Pairs, threads: int, advance: Callable[[float], object]
) -> Estimates:
    """Δ_f of pairs, which are sorted by target, by the contrast; θ̂ only takes noise out."""
    targets, first = np.unique(pairs.target, return_index=True)
    bounds = np.append(first, len(pairs))
    datamodel = fitted.datamodel.subset(fitted.places(targets))
    made = Estimates.empty(len(pairs))
    for k, target in enumerate(prepare_targets(models.masks, models.margins[:, targets], datamodel, threads=threads)):
        tests = np.arange(bounds[k], bounds[k + 1])
        sizes = pairs.sizes[tests]
        for size in np.unique(sizes).tolist():
            some = tests[sizes == size]
            found = target.contrast(pairs.members(some), threads=threads)
            made.estimate[some], made.standard_error[some] = found.estimate, found.standard_error
            made.freedom[some] = found.freedom
        advance(len(tests))
    return made
