"""What `prior` gains, and what a wrong prediction costs, on simulated families of tests; and its time for millions.

    python benchmarks/prior.py [--tests 2000] [--repeats 4] [--parts mix wrong time]

A test's effect is μ standard errors of the fit rows, its z-score there N(μ, 1), and on the tested rows N(gain·μ, 1).
mix: findings against BY's for some floors of β and least weights. wrong: those of the mix in use where weights are
dealt out at random, where ν is made for a tenth, a third, three and ten times the right number, and where all is wrong.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from datamodels_inf.prediction import CountedFamily, evidence_cells, predict
from datamodels_inf.prediction.shapes import expected_shape
from datamodels_inf.prediction.weights_and_shape import FLOOR, LEAST_WEIGHT
from datamodels_inf.shape import Shape

Floats = NDArray[np.float64]
ALPHA = 0.2
GAINS = (0.7, 1.4, 2.6)
WRONG = (0.1, 1 / 3, 3, 10)


def sparse(rng: np.random.Generator, m: int, share: float, scale: float, rest: float) -> Floats:
    """A share of effects of one scale, the others of another."""
    return np.where(rng.random(m) < share, scale, rest) * rng.standard_normal(m)


TRUTHS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "all, sd 1.5": lambda rng, m: 1.5 * rng.standard_normal(m),
    "all, sd 4": lambda rng, m: 4.0 * rng.standard_normal(m),
    "t3": lambda rng, m: rng.standard_t(3, m),
    "Laplace": lambda rng, m: 1.2 * rng.laplace(size=m),
    "20 %, sd 4": lambda rng, m: sparse(rng, m, 0.2, 4.0, 0.5),
    "2 %, sd 5": lambda rng, m: sparse(rng, m, 0.02, 5.0, 0.0),
    "0.5 %, sd 7": lambda rng, m: sparse(rng, m, 0.005, 7.0, 0.3),
    "5 %, ±4": lambda rng, m: np.where(rng.random(m) < 0.05, 4.0, 0.0),
}


def step_up(p: Floats, weight: Floats | float, shape: Shape) -> int:
    """The number of rejections."""
    k = np.arange(1, len(p) + 1)
    enough = np.flatnonzero(np.sort(p / weight) <= ALPHA * shape.beta(k) / len(p))
    return int(enough[-1]) + 1 if enough.size else 0


def findings(effect: Floats, gain: float, rng: np.random.Generator, floor: float, least: float) -> list[float]:
    """Of BY, as expected, of prior, of its ν, of its weights, and where the prediction is wrong."""
    m = len(effect)
    cells = evidence_cells(effect + rng.standard_normal(m), np.ones(m), np.full(m, 1.0 / gain))
    p = 2.0 * ndtr(-np.abs(gain * effect + rng.standard_normal(m)))
    found = predict(CountedFamily.of(cells), alpha=ALPHA, floor=floor, least_weight=least)
    by = Shape.benjamini_yekutieli(m)
    weight = found.weights(cells)
    centre = found.shape.support[np.argmax(found.shape.support * found.shape.mass)] if not found.reason else 1
    shapes = [by if found.reason else expected_shape(m, np.array([factor * centre]), floor) for factor in WRONG]
    dealt = rng.permutation(weight)
    low, high = found.interval or (0.0, float(m))
    realised = step_up(p, weight, found.shape)
    return [
        step_up(p, 1.0, by),
        found.expected or 0.0,
        realised,
        step_up(p, 1.0, found.shape),
        step_up(p, weight, by),
        step_up(p, dealt, by),
        *(step_up(p, 1.0, shape) for shape in shapes),
        step_up(p, dealt, shapes[-1]),
        float(low <= realised <= high),
    ]


def family_means(m: int, repeats: int, floor: float, least: float) -> dict[tuple[str, float], Floats]:
    """Means of `findings` by truth and gain."""
    means = {}
    for name, truth in TRUTHS.items():
        for gain in GAINS:
            rng = np.random.default_rng(5)
            rows = [findings(truth(rng, m), gain, rng, floor, least) for _ in range(repeats)]
            means[name, gain] = np.mean(rows, axis=0)
    return means


COLUMNS = "expected", "prior", "ν alone", "w alone", "w dealt", "ν ÷10", "ν ÷3", "ν ×3", "ν ×10", "all wrong"


def against_by(row: Floats) -> str:
    """Percents."""
    return " | ".join(f"{100 * (value / max(row[0], 0.5) - 1):+.0f}" for value in row[1:-1])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--parts", nargs="+", default=["mix", "wrong", "time"])
    settings = parser.parse_args()
    if "mix" in settings.parts:
        print(f"| floor | least w | {' | '.join(COLUMNS)} | in interval |")
        for floor, least in ((0.5, 0.8), (0.7, 0.8), (0.8, 0.5), (0.8, 0.8), (0.85, 0.8), (0.9, 0.8)):
            rows = np.array(list(family_means(settings.tests, settings.repeats, floor, least).values()))
            large = rows[rows[:, 0] > 5.0]
            mean = np.exp(np.log(np.maximum(large, 0.1) / large[:, :1]).mean(axis=0))
            print(f"| {floor} | {least} | {against_by(mean)} | {rows[:, -1].mean():.2f} |", flush=True)
    if "wrong" in settings.parts:
        print(f"| effects | gain | BY | {' | '.join(COLUMNS)} | in interval |")
        means = family_means(settings.tests, settings.repeats, FLOOR, LEAST_WEIGHT)
        for (name, gain), row in means.items():
            print(f"| {name} | {gain} | {row[0]:.0f} | {against_by(row)} | {row[-1]:.2f} |")
    if "time" in settings.parts:
        rng = np.random.default_rng(0)
        for many in (10**6, 10**7):
            effect, gain = TRUTHS["t3"](rng, many), rng.uniform(0.1, 3.0, many)
            start = time.perf_counter()
            cells = evidence_cells(effect + rng.standard_normal(many), np.ones(many), 1.0 / gain)
            found = predict(family := CountedFamily.of(cells), alpha=ALPHA)
            found.weights(cells)
            print(f"{many} tests of all gains, {len(family.cells)} cells: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
