"""Stage 3, test: draw the pairs of the design and test each on the held-out rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datamodels_inf.masks import PackedMasks
from datamodels_inf.shift import check_exchangeable
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages import designs
from pipeline.stages.context import Data, Fitted

VERSION = 2


def settings(config: Config) -> dict[str, Any]:
    """What makes p-values. The level and the correction only decide which of them are findings: the report's part."""
    names = ("method", "tau", "allow_unexchangeable")
    return {**designs.settings(config.test), **{f"test.{name}": getattr(config.test, name) for name in names}}


def run(
    config: Config,
    data: Data,
    fitted: Fitted,
    out: Path,
    bench: Path,
    *,
    threads: int | None,
    quiet: bool,
    say: Callable[[str], object],
) -> dict[str, Any]:
    from pipeline.stages.pair_chunks import PairChunks
    from pipeline.stages.tests_table import write_design, write_tests

    exchangeable = _check_masks(config, data.held_out_masks)
    pairs, facts = designs.draw_design(config, data, fitted)
    write_design(out / "design.parquet", pairs)
    chunks = PairChunks(config, data, fitted, pairs, bench, threads or os.cpu_count() or 1, quiet, say).run()
    notes = write_tests(out / "tests.parquet", pairs, chunks, config.test.method, data.labels)
    return {
        "n_tests": len(pairs),
        "methods": list(config.test.method),
        "design": facts,
        "notes": notes,
        "tau_x": 0.0,
        **exchangeable,
    }


def _check_masks(config: Config, masks: PackedMasks) -> dict[str, Any]:
    report = check_exchangeable(masks)
    if not report.ok and not config.test.allow_unexchangeable:
        raise BadInputError(
            f"the held-out masks are not exchangeable, so no p-value would be valid: {'; '.join(report.reasons)}; "
            "set test.allow_unexchangeable = true to go on all the same."
        )
    return {
        "mask_law": report.law,
        "mask_proportion": report.proportion,
        "exchangeable": report.ok,
        "exchangeability_reasons": list(report.reasons),
    }
