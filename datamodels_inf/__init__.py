"""Closeness-of-influence tests for datamodels: is training image i more influential than training image j?

`fit_lasso`, `fit_lasso_prefixes` and `lasso_path` are here too; they are imported when they are first asked for, since
they bring Numba; `analyse` and what it gives, `Analysis`, and `referee` and `Refereed`, too.
"""

from typing import TYPE_CHECKING, Any

from datamodels_inf.atlas import AtlasTile, influence_atlas
from datamodels_inf.contrast import Contrast, ContrastResults, contrast, contrast_many
from datamodels_inf.datamodel import Datamodel, Quality, detect_coding
from datamodels_inf.exchangeability import ExchangeabilityReport, check_exchangeable
from datamodels_inf.influence import Influence, influence
from datamodels_inf.influence_ranks import RankIntervals, rank_intervals
from datamodels_inf.masks import PackedMasks
from datamodels_inf.multiplicity import adjust_pvalues, selected_confidence
from datamodels_inf.paired_test import paired_swap_test, paired_swap_test_many
from datamodels_inf.planning import Detectable, Plan, detectable_effect, plan
from datamodels_inf.power import (
    dominance_area,
    linear_gap,
    mixture_gap,
    paired_power,
    sufficient_gap,
    swap_power,
)
from datamodels_inf.prior import Prior
from datamodels_inf.results import SwapTestResult, SwapTestResults
from datamodels_inf.row_planning import ToTrain, models_to_train, rows_by_method
from datamodels_inf.scores import AbsoluteResidual, SignedMargin, SquaredResidual
from datamodels_inf.shape import Shape
from datamodels_inf.swap_test import swap_test, swap_test_many
from datamodels_inf.targets import Target, prepare_targets
from datamodels_inf.tau_x import tau_x_gaussian

if TYPE_CHECKING:
    from datamodels_inf.analysis.result import Analysis
    from datamodels_inf.analysis.run import analyse
    from datamodels_inf.lasso.prefixes import fit_lasso, fit_lasso_prefixes
    from datamodels_inf.lasso.solver import lasso_path
    from datamodels_inf.refereeing.judge import Refereed, referee

LATE = {
    "Analysis": "datamodels_inf.analysis.result",
    "Refereed": "datamodels_inf.refereeing.judge",
    "analyse": "datamodels_inf.analysis.run",
    "fit_lasso": "datamodels_inf.lasso.prefixes",
    "fit_lasso_prefixes": "datamodels_inf.lasso.prefixes",
    "lasso_path": "datamodels_inf.lasso.solver",
    "referee": "datamodels_inf.refereeing.judge",
}
"""What is imported when it is first asked for, and where it is."""


def __getattr__(name: str) -> Any:
    if name in LATE:
        from importlib import import_module

        return getattr(import_module(LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AbsoluteResidual",
    "Analysis",
    "AtlasTile",
    "Contrast",
    "ContrastResults",
    "Datamodel",
    "Detectable",
    "ExchangeabilityReport",
    "Influence",
    "PackedMasks",
    "Plan",
    "Prior",
    "Quality",
    "RankIntervals",
    "Refereed",
    "Shape",
    "SignedMargin",
    "SquaredResidual",
    "SwapTestResult",
    "SwapTestResults",
    "Target",
    "ToTrain",
    "adjust_pvalues",
    "analyse",
    "check_exchangeable",
    "contrast",
    "contrast_many",
    "detect_coding",
    "detectable_effect",
    "dominance_area",
    "fit_lasso",
    "fit_lasso_prefixes",
    "influence",
    "influence_atlas",
    "lasso_path",
    "linear_gap",
    "mixture_gap",
    "models_to_train",
    "paired_power",
    "paired_swap_test",
    "paired_swap_test_many",
    "plan",
    "prepare_targets",
    "rank_intervals",
    "referee",
    "rows_by_method",
    "selected_confidence",
    "sufficient_gap",
    "swap_power",
    "swap_test",
    "swap_test_many",
    "tau_x_gaussian",
]
