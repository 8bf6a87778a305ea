"""STAGES: the stages in their order. A new one is a module with a `Stage`, and a line here (docs/adding.md)."""

from pipeline.stages import download, report
from pipeline.stages.base import Run, Stage
from pipeline.stages.fit import stage as fit
from pipeline.stages.robustness import features
from pipeline.stages.robustness import stage as robustness
from pipeline.stages.test import stage as test

__all__ = ["STAGES", "Run", "Stage"]

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (download.STAGE, fit.STAGE, test.STAGE, features.STAGE, robustness.STAGE, report.STAGE)
}
