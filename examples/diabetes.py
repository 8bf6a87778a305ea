"""Is one measurement more influential than another? scikit-learn's diabetes data, with a τ_X that is not 0.

    python examples/diabetes.py

442 patients, of whom age, body mass index and blood pressure are known, and how their disease progressed. The question
of each pair (i, j): does the progression depend on i and j in the same way, so that exchanging the two values of a
patient would change nothing about the law of Y given X? Features are real numbers here, and not masks that somebody
drew: exchanging two columns changes the law of X itself, by a total variation of at most τ_X. A test with τ_X = 0 would
call that change an influence.

τ_X is computed from the data, as that of a normal law with their mean and covariance (`tau_x_gaussian`), and as the
95 % quantile of the same over resamples of the patients, since the covariance is an estimate. Printed are, for each
pair, the p-values of the paired test with τ_X = 0, with τ_X and with its quantile, what is a finding with each of them,
and what the paper's own test, `swap_test`, says of the same patients. docs/python.md says what is assumed.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PowerTransformer

from datamodels_inf import AbsoluteResidual, adjust_pvalues, paired_swap_test, swap_test, tau_x_gaussian

FEATURES = ["age", "bmi", "bp"]
FIT_ROWS = 142
RESAMPLES = 500


def split() -> tuple[pd.DataFrame, pd.Series, slice, slice]:
    """(features, progression, rows of the fit, rows of the test), in random order.

    Each feature is made normal by a power transform of the fit rows, so that all have about one law, N(0, 1).
    """
    features, progression = load_diabetes(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(features))
    features, progression = features[FEATURES].iloc[order], progression.iloc[order]
    fit, test = slice(0, FIT_ROWS), slice(FIT_ROWS, None)
    normal = PowerTransformer().set_output(transform="pandas").fit(features.iloc[fit])
    return normal.transform(features), progression, fit, test


def likely_tau_x(x: pd.DataFrame, i: str, j: str) -> tuple[float, float]:
    """τ_X of normal features with the mean and covariance of `x`: as they are, and the 95 % quantile over resamples."""
    rng = np.random.default_rng(1)
    samples = (x.iloc[rng.integers(0, len(x), len(x))] for _ in range(RESAMPLES))
    upper = np.quantile([tau_x_gaussian(one.mean(), one.cov(), i, j) for one in samples], 0.95)
    return tau_x_gaussian(x.mean(), x.cov(), i, j), float(upper)


def main() -> None:
    """One line for each pair of features."""
    x, y, fit, test = split()
    model = LinearRegression().fit(x.iloc[fit], y.iloc[fit])
    score = AbsoluteResidual(model.coef_, model.intercept_)
    rows, paper = [], []
    for i, j in combinations(FEATURES, 2):
        shift, upper = likely_tau_x(x, i, j)
        p = [paired_swap_test(x.iloc[test], y.iloc[test], i, j, score=score, tau_x=t) for t in (0.0, shift, upper)]
        rows.append((f"{i} against {j}", p[0].statistic, shift, upper, *(one.pvalue for one in p)))
        printed = [swap_test(x.iloc[test], y.iloc[test], i, j, score=score, tau_x=t) for t in (0.0, shift)]
        paper.append(f"U = {printed[0].statistic:.2f}, p = {printed[0].pvalue:.2g} and {printed[1].pvalue:.2g}")
    print(f"{FIT_ROWS} patients fit a linear model, {len(y) - FIT_ROWS} others test it")
    print("                     U    τ_X  (95 %)     p, τ_X = 0   p, τ_X   p, 95 %")
    for name, u, shift, upper, *p in rows:
        print(f"{name:<16} {u:5.2f}  {shift:5.2f}  {upper:5.2f}   {p[0]:11.2g} {p[1]:9.2g} {p[2]:9.2g}")
    for k, words in ((4, "τ_X = 0, which is wrong here"), (5, "τ_X"), (6, "its 95 % quantile")):
        found = adjust_pvalues([row[k] for row in rows], "holm") <= 0.1
        names = ", ".join(row[0] for row, is_found in zip(rows, found, strict=True) if is_found)
        print(f"findings at 0.1 (Holm) with {words}: {names or 'none'}")
    print("the paper's test, swap_test, compares each patient with another one; p with τ_X = 0 and with τ_X:")
    print("; ".join(paper))


if __name__ == "__main__":
    main()
