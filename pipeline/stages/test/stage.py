"""Stage 3, test: draw the pairs of the design and test each on the held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from datamodels_inf.kernels import ahead
from datamodels_inf.methods import METHODS
from pipeline.config import Config
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.inputs import Data
from pipeline.stages.test import designs
from pipeline.stages.test.premise import STRATIFIED, check_premise, testable_pairs, tests_made
from pipeline.summaries import TestSummary
from pipeline.text.numbers import counted

VERSION = 7


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
    """Write design.parquet and tests.parquet; with several blocks of rows, growth.parquet too."""
    from pipeline.stages.test.pair_chunks import PairChunks
    from pipeline.stages.test.tests_table import write_design, write_growth, write_tests

    config, data, fitted, out = run.config, run.data, run.fitted, run.out
    masks = check_premise(config, data)
    pairs, design = designs.draw_design(config, data, fitted)
    testable = testable_pairs(config, masks, data)
    n_untested = len(pairs) - int(tests_made(pairs, testable).sum())
    if n_untested:
        run.say(f"{STRATIFIED}: {n_untested:,} of {counted(len(pairs), 'pair')} are of two classes and not tested")
    write_design(out / "design.parquet", pairs)
    if len(data.blocks) > 1:
        _say_last_block(config, data, run.say)
    tests = PairChunks(config, data, fitted, pairs, testable, run.unfinished, run.place, run.quiet, run.say)
    chunks = tests.run()
    notes = write_tests(out / "tests.parquet", pairs, chunks, config.test.method, data.labels)
    if tests.growing:
        write_growth(out / "growth.parquet", chunks, tests.growing)
    return TestSummary(
        n_tests=len(pairs),
        n_untested=n_untested,
        methods=tuple(config.test.method),
        n_rows={name: data.tested_rows(METHODS[name].every_model) for name in config.test.method},
        block_rows=tuple(block.rows[1] - block.rows[0] for block in data.blocks),
        design=design,
        notes=notes,
        tau_x=0.0,
        mask_law=masks.law,
        mask_proportion=masks.proportion,
        exchangeable=masks.ok,
        exchangeability_reasons=masks.reasons,
        masks=masks,
    )


def _say_last_block(config: Config, data: Data, say: Callable[[str], object]) -> None:
    """Which methods do not gain by testing every model."""
    alone = [name for name in config.test.method if not METHODS[name].every_model]
    if alone:
        others = " and ".join(name for name, method in METHODS.items() if method.every_model)
        say(
            f"{' and '.join(alone)}: tested on the last block alone, {data.tested_rows(False):,} of "
            f"{data.tested_rows(True):,} models; {others} combine all blocks"
        )


def kernels(config: Config) -> Sequence[str]:
    """All but the contrast compare scores; of all methods, contrasts give the effects."""
    swaps = any(not METHODS[name].needs_tau_zero for name in config.test.method)
    return (*ahead.PREDICTIONS, *ahead.CONTRAST, *(ahead.SWAP if swaps else ()))


STAGE = Stage(
    "test", VERSION, ("download", "fit"), TestSummary, run, left_out, instead, unread=PICTURES, kernels=kernels
)
