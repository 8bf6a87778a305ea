"""What the report shows of the agreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.stages.fresh.agreement import CELLS, PAIRS
from pipeline.store.cache import Result
from pipeline.summaries import FreshAgreementSummary, HeldFamily, read_summary

if TYPE_CHECKING:
    from pipeline.report.content.fresh import FreshCheck, FreshFamily, Points

MOST_DRAWN = 1000
COLUMNS = ["finding", "effect", "fresh"]


def fresh_check(inputs: Mapping[str, Result]) -> FreshCheck | None:
    """From the result of the agreement stage, where there is one."""
    from pyarrow import compute, parquet

    from pipeline.report.content.fresh import FreshCheck

    if "agreement" not in inputs:
        return None
    result = inputs["agreement"]
    summary = read_summary(result, FreshAgreementSummary)
    families = []
    for method, family in summary.methods.items():
        of_method = compute.field("method") == method
        table = parquet.read_table(result.folder / PAIRS, columns=COLUMNS, filters=of_method)
        families.append(_family(method, family, table))
    if summary.atlas is not None:
        families.append(_family("atlas", summary.atlas, parquet.read_table(result.folder / CELLS, columns=COLUMNS)))
    return FreshCheck(summary.n_models, tuple(families), summary.sampled)


def _family(name: str, family: HeldFamily, table: Any) -> FreshFamily:
    from pipeline.report.content.fresh import FreshFamily, Points

    found = table["finding"].to_numpy()
    effect, fresh = (table[column].to_numpy() for column in ("effect", "fresh"))

    def points(kind: NDArray[np.bool_]) -> Points:
        some = np.flatnonzero(kind & np.isfinite(effect) & np.isfinite(fresh))
        drawn = some[np.linspace(0, len(some) - 1, min(len(some), MOST_DRAWN)).astype(np.int64)]
        return Points(effect[drawn], fresh[drawn])

    return FreshFamily(
        name, family.n_tests, family.n_found, family.findings, family.others, points(found), points(~found)
    )
