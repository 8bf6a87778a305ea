"""Agreement: all findings, as many other tests, and the atlas, held against fresh models."""

from __future__ import annotations

import numpy as np

from pipeline.config import Config
from pipeline.progress import share_bar
from pipeline.stages.atlas.found import Found
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.fresh.cells import cell_effects, choose_cells
from pipeline.stages.fresh.compared import Estimates, signs_of_halves
from pipeline.stages.fresh.models import FreshModels
from pipeline.stages.fresh.pairs import pair_effects, read_chosen
from pipeline.stages.fresh.stage import wanted
from pipeline.store.tables import write_columns
from pipeline.summaries import FreshAgreementSummary, HeldFamily

VERSION = 1
SPLITS = 20
PASSES = 2 * SPLITS + 1
"""All fresh models, and each half."""
PAIRS, CELLS = "agreement.parquet", "atlas_agreement.parquet"
READ = ("alpha", "correction", "method", "tau")
"""Settings of `[test]` that decide what a finding is and what it claims."""


def left_out(config: Config) -> dict[str, str]:
    """Of `[test]`, what decides about findings enters."""
    others = [name for name in type(config.test).model_fields if name not in READ]
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        **{f"test.{name}": "the key of the test stage holds it, or it changes no result" for name in others},
        "atlas": "the keys of the stages atlas and influence hold it",
        **dict.fromkeys(("robustness", "report"), "nothing here depends on it"),
    }


def run(run: Run) -> FreshAgreementSummary:
    """Write agreement.parquet and, of an atlas, atlas_agreement.parquet, a row for each test that is compared."""
    fresh = FreshModels.of(run.inputs["fresh"])
    atlas = {"atlas": made} if "influence" in run.inputs and (made := _atlas(run, fresh)) is not None else {}
    return FreshAgreementSummary(n_models=len(fresh), n_splits=SPLITS, methods=_methods(run, fresh), **atlas)


def _methods(run: Run, fresh: FreshModels) -> dict[str, HeldFamily]:
    """A pair that several methods compare is estimated once."""
    design, chosen = read_chosen(run)
    places = np.unique(np.concatenate([one.place for one in chosen.values()]))
    pairs = design.take(places)
    splits = fresh.splits(SPLITS, run.config.verify.seed)
    with share_bar(PASSES * len(pairs), "agreement", run.quiet) as advance:

        def estimate(models: FreshModels) -> Estimates:
            return pair_effects(models, run.fitted, pairs, run.n_threads, advance)

        whole, signs = estimate(fresh), signs_of_halves(splits, estimate)
    families, parts = {}, []
    for method, one in chosen.items():
        own = np.searchsorted(places, one.place)
        said, some = whole.take(own), pairs.take(own)
        families[method] = one.tests.family(
            said, signs[:, :, own], one.n_tests, one.n_found, count_false=run.config.test.tau == 0.0
        )
        names = {"method": np.full(len(own), method), "i": some.i, "j": some.j, "target": some.target}
        parts.append({**names, **one.tests.columns(said)})
    write_columns(run.out / PAIRS, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    return families


def _atlas(run: Run, fresh: FreshModels) -> HeldFamily | None:
    """None for an atlas without targets."""
    found = Found.read(run.inputs)
    targets = found.atlas.targets
    if not len(targets):
        return None
    splits = fresh.splits(SPLITS, run.config.verify.seed)
    with share_bar((PASSES + 1) * len(targets), "agreement: atlas", run.quiet) as advance:
        cells = choose_cells(found, run.config.verify.seed, advance)

        def estimate(models: FreshModels) -> Estimates:
            return cell_effects(models, run.fitted, targets, cells, run.n_threads, advance)

        whole, signs = estimate(fresh), signs_of_halves(splits, estimate)
    names = {"image": cells.image, "target": targets[cells.place]}
    write_columns(run.out / CELLS, {**names, **cells.tests.columns(whole)})
    return cells.tests.family(whole, signs, cells.n_tests, cells.n_found, count_false=True)


INPUTS = ("download", "fit", "test", "evidence", "prior", "atlas", "influence", "fresh")
STAGE = Stage("agreement", VERSION, INPUTS, FreshAgreementSummary, run, left_out, wanted=wanted, unread=PICTURES)
