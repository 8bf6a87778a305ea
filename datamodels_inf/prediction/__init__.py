"""What the fit rows expect of tests to come: weights and a shape for a step-up correction, and how many findings.

`evidence` and `sensitivity` say what the fit rows know and what a method will see of it, `family` counts tests by both,
`weights_and_shape` is the face: the law of effects (`mixture`) and of each test (`outlook`), the best weights
(`levels`) and the best ν (`shapes`, `forecast`).
"""

from datamodels_inf.prediction.evidence import ImageEvidence, PairEvidence
from datamodels_inf.prediction.family import CountedFamily
from datamodels_inf.prediction.weights_and_shape import Prediction, evidence_cells, predict, without_prediction

__all__ = [
    "CountedFamily",
    "ImageEvidence",
    "PairEvidence",
    "Prediction",
    "evidence_cells",
    "predict",
    "without_prediction",
]
