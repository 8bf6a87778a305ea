"""A small content, made by hand: two methods, two targets, four pairs."""

import numpy as np
import pytest

from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames
from pipeline.report.content import Images
from pipeline.report.referee.content import RefereeContent
from pipeline.summaries import Decided, Figure, MethodFigures, RefereeSummary

NAN = float("nan")


def method(name, verdicts, **more):
    figure = Figure(value=0.5, low=0.4, high=0.6)
    counts = dict(zip(("confirmed", "unproven", "reversed", "untested"), verdicts, strict=True))
    return MethodFigures(name=name, source=f"{name}.npy", n_claims=sum(verdicts), n_silent=1, verdicts=counts, kinds={},
                         lds=figure, r2=figure, **({"fit_correlation": 0.5} | more))  # fmt: skip


@pytest.fixture
def content():
    summary = RefereeSummary(
        methods=(method("A & <b>", (1, 1, 0, 1)), method("second", (1, 0, 1, 0), fit_correlation=-0.5)),
        decided=(Decided(first="A & <b>", second="second", first_right=1, second_right=0),), n_contradictions=2,
        n_models=1234, n_fit=500, n_train=50, n_targets=2, n_predicted=2, n_blocks=1, k=5, alpha=0.1, correction="by",
        seed=0, resamples=500, outcome="margin", higher_is_better=True,
    )  # fmt: skip
    pairs = {
        "target": [0, 0, 1, 1], "i": [0, 1, 2, 0], "j": [3, 2, 4, 1], "effect": [0.5, -0.25, 0.125, 0.75],
        "low": [0.25, -0.5, -0.5, 0.5], "high": [0.75, -0.125, 0.75, 1.0], "pvalue": [1e-9, 1e-8, 0.5, NAN],
        "direction": [1, -1, 1, 1], "n_informative": [60, 61, 62, 63],
        "claim_0": [1, 0, -1, 1], "kind_0": [0, -1, 1, 2], "rank_0": [1, 0, 2, 3], "gap_0": [1.0, 0.5, -0.5, 0.25],
        "adjusted_0": [3e-9, NAN, 0.5, NAN], "verdict_0": [1, 0, 0, 0],
        "claim_1": [-1, -1, 0, 0], "kind_1": [0, 1, -1, -1], "rank_1": [1, 1, 0, 0], "gap_1": [-0.75, -0.5, 0.1, 0.1],
        "adjusted_1": [2e-9, 2e-8, NAN, NAN], "verdict_1": [-1, 1, 0, 0],
    }  # fmt: skip
    found = {"pair": [0, 1], "right": [0, 1], "wrong": [1, 0], "disagreement": [0.75, 0.5]}
    rng = np.random.default_rng(0)
    images = Images(rng.integers(0, 255, (5, 4, 4)).astype(np.uint8), rng.integers(0, 255, (2, 4, 4)).astype(np.uint8))
    labels = Labels(np.array([0, 1, 0, 1, 0]), np.array([1, 0]), ("cat", "dog"))
    arrays = [{name: np.array(values) for name, values in table.items()} for table in (pairs, found)]
    return RefereeContent("Digits", summary, *arrays, images, labels, ItemNames(), False, {"Command": "run it"})
