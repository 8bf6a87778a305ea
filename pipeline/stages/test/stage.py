"""Stage 3, test: draw the pairs of the design and test each on the held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.base import Run, Stage
from pipeline.stages.test import designs
from pipeline.stages.test.premise import Testable, check_premise, testable_pairs
from pipeline.summaries import TestSummary

VERSION = 4


def left_out(config: Config) -> dict[str, str]:
    """What makes no difference to p-values."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        **dict.fromkeys(("atlas", "robustness", "report"), "a test does not depend on it"),
        **dict.fromkeys(("test.alpha", "test.correction"), "decides what is a finding, in the report"),
        "test.chunk_pairs": "how many pairs are tested between two savings, each the same",
        **designs.left_out(config.test),
    }


def instead(config: Config) -> dict[str, Any]:
    """The content of a list of pairs."""
    return designs.content(config.test)


def run(run: Run) -> TestSummary:
    """Write design.parquet and tests.parquet."""
    from pipeline.stages.test.pair_chunks import PairChunks
    from pipeline.stages.test.tests_table import write_design, write_tests

    config, data, fitted, out = run.config, run.data, run.fitted, run.out
    masks = check_premise(config, data)
    pairs, design = designs.draw_design(config, data, fitted)
    testable = testable_pairs(config, masks, data.labels)
    n_untested = _count_untested(pairs, testable, run.say)
    write_design(out / "design.parquet", pairs)
    tests = PairChunks(config, data, fitted, pairs, testable, run.unfinished, run.n_threads, run.quiet, run.say)
    chunks = tests.run()
    notes = write_tests(out / "tests.parquet", pairs, chunks, config.test.method, data.labels)
    return TestSummary(
        n_tests=len(pairs),
        n_untested=n_untested,
        methods=tuple(config.test.method),
        design=design,
        notes=notes,
        tau_x=0.0,
        mask_law=masks.law,
        mask_proportion=masks.proportion,
        exchangeable=masks.ok,
        exchangeability_reasons=masks.reasons,
        masks=masks,
    )


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


STAGE = Stage("test", VERSION, ("download", "fit"), TestSummary, run, left_out, instead)
