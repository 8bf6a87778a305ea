"""Stage 3, test: draw the pairs of the design and test each on the held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.base import Run, Stage
from pipeline.stages.test import designs
from pipeline.stages.test.premise import Testable, check_premise, summary_of, testable_pairs

VERSION = 3


def settings(config: Config) -> dict[str, Any]:
    """What makes p-values. The level and the correction only decide which of them are findings: the report's part."""
    names = ("method", "tau", "order", "allow_unexchangeable")
    return {**designs.settings(config.test), **{f"test.{name}": getattr(config.test, name) for name in names}}


def run(run: Run) -> dict[str, Any]:
    from pipeline.stages.test.pair_chunks import PairChunks
    from pipeline.stages.test.tests_table import write_design, write_tests

    config, data, fitted, out = run.config, run.data, run.fitted, run.out
    masks = check_premise(config, data)
    pairs, facts = designs.draw_design(config, data, fitted)
    testable = testable_pairs(config, masks, data.labels)
    n_untested = _count_untested(pairs, testable, run.say)
    write_design(out / "design.parquet", pairs)
    tests = PairChunks(config, data, fitted, pairs, testable, run.unfinished, run.n_threads, run.quiet, run.say)
    chunks = tests.run()
    notes = write_tests(out / "tests.parquet", pairs, chunks, config.test.method, data.labels)
    return {
        "n_tests": len(pairs),
        "n_untested": n_untested,
        "methods": list(config.test.method),
        "design": facts,
        "notes": notes,
        "tau_x": 0.0,
        "mask_law": masks.law,
        "mask_proportion": masks.proportion,
        "exchangeable": masks.ok,
        "exchangeability_reasons": list(masks.reasons),
        "masks": summary_of(masks),
    }


def _count_untested(pairs: Pairs, testable: Testable, say: Callable[[str], object]) -> int:
    """How many pairs the law of the masks does not allow; refused where that is all of them."""
    count = 0
    for size in np.unique(pairs.sizes).tolist():
        count += int((~testable(pairs.members(np.flatnonzero(pairs.sizes == size)))).sum())
    if count == len(pairs):
        raise BadInputError(
            "the masks are stratified by class, so only pairs within a class can be tested, but every pair of this "
            'design is of two classes; choose pairs within a class (test.design = "list"), or set '
            "test.allow_unexchangeable = true to go on all the same."
        )
    if count:
        say(f"the masks are stratified by class: {count:,} of {len(pairs):,} pairs are of two classes and not tested")
    return count


def describe(summary: Mapping[str, Any]) -> str:
    left_out = f", {summary['n_untested']:,} not tested" if summary["n_untested"] else ""
    made = summary["n_tests"] - summary["n_untested"]
    return f"{made:,} pairs by {', '.join(summary['methods'])}{left_out}"


STAGE = Stage("test", VERSION, ("download", "fit"), settings, run, describe)
