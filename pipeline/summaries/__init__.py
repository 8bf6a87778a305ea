"""What each stage says of its result: written into its manifest, and read by the stages after it and by commands."""

from pipeline.summaries.base import (
    Facts,
    Summary,
    read_summary,
)
from pipeline.summaries.fresh import (
    FreshAgreementSummary,
    FreshSummary,
    HeldFamily,
)
from pipeline.summaries.influence import (
    AtlasSummary,
    EvidenceSummary,
    InfluenceSummary,
    PredictionSummary,
    PriorSummary,
    TiledSummary,
)
from pipeline.summaries.pairs import (
    AgreementSummary,
    CalibrationSummary,
    CaseSummary,
    DesignSummary,
    DownloadSummary,
    FeaturesSummary,
    FitOrigin,
    FitSummary,
    LookAlikesSummary,
    ReportSummary,
    RobustnessSummary,
    TargetQuality,
    TestSummary,
    VerifySummary,
)
from pipeline.summaries.referee import (
    Decided,
    Figure,
    MethodFigures,
    RefereePageSummary,
    RefereeSummary,
)

__all__ = [
    "AgreementSummary",
    "AtlasSummary",
    "CalibrationSummary",
    "CaseSummary",
    "Decided",
    "DesignSummary",
    "DownloadSummary",
    "EvidenceSummary",
    "Facts",
    "FeaturesSummary",
    "Figure",
    "FitOrigin",
    "FitSummary",
    "FreshAgreementSummary",
    "FreshSummary",
    "HeldFamily",
    "InfluenceSummary",
    "LookAlikesSummary",
    "MethodFigures",
    "PredictionSummary",
    "PriorSummary",
    "RefereePageSummary",
    "RefereeSummary",
    "ReportSummary",
    "RobustnessSummary",
    "Summary",
    "TargetQuality",
    "TestSummary",
    "TiledSummary",
    "VerifySummary",
    "read_summary",
]
