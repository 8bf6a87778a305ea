"""Summaries of the referee with the counts that a test asks about."""

from pipeline.summaries import Decided, Figure, MethodFigures, RefereeSummary


def method(name, confirmed, unproven, wrong, correlation=0.5):
    verdicts = {"confirmed": confirmed, "unproven": unproven, "reversed": wrong, "untested": 0}
    figure = Figure(value=-0.25, low=-0.5, high=0.125)
    return MethodFigures(
        name=name, source=f"{name}.npy", n_claims=confirmed + unproven + wrong, n_silent=2, verdicts=verdicts,
        kinds={}, lds=figure, r2=figure, fit_correlation=correlation,
    )  # fmt: skip


def summary(*methods, **more):
    given = {
        "methods": methods, "decided": (Decided(first="a", second="b", first_right=1, second_right=0),),
        "n_contradictions": 1, "n_models": 100, "n_fit": 50, "n_train": 20, "n_targets": 4, "n_predicted": 4,
        "n_blocks": 1, "k": 5, "alpha": 0.1, "correction": "by", "seed": 0, "resamples": 500, "outcome": "margin",
        "higher_is_better": True,
    }  # fmt: skip
    return RefereeSummary(**(given | more))
