"""STAGES: the stages in their order. A new one is a module with a `Stage`, and a line here (docs/adding.md)."""

from typing import Any

from pipeline.stages import download
from pipeline.stages.atlas import influence as influence_stage
from pipeline.stages.atlas import stage as atlas_stage
from pipeline.stages.base import Run, Stage
from pipeline.stages.fit import stage as fit_stage
from pipeline.stages.fresh import agreement
from pipeline.stages.fresh import stage as fresh_stage
from pipeline.stages.prior import evidence
from pipeline.stages.prior import stage as prior_stage
from pipeline.stages.referee import page as referee_page
from pipeline.stages.referee import stage as referee_stage
from pipeline.stages.report import stage as report_stage
from pipeline.stages.robustness import features
from pipeline.stages.robustness import stage as robustness_stage
from pipeline.stages.test import stage as test_stage
from pipeline.stages.verify import stage as verify_stage

__all__ = ["STAGES", "Run", "Stage"]

STAGES: dict[str, Stage[Any]] = {
    stage.name: stage
    for stage in (
        download.STAGE,
        fit_stage.STAGE,
        test_stage.STAGE,
        evidence.STAGE,
        prior_stage.STAGE,
        atlas_stage.STAGE,
        influence_stage.STAGE,
        features.STAGE,
        robustness_stage.STAGE,
        verify_stage.STAGE,
        fresh_stage.STAGE,
        agreement.STAGE,
        referee_stage.STAGE,
        referee_page.STAGE,
        report_stage.STAGE,
    )
}
