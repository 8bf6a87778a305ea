"""How many models must I train? A plan from a pilot, and whether it kept what it promised.

    python examples/plan_study.py

The question of the study: which training digits move the margin on one target by 0.1, asked of 2,000 pairs, at a false
discovery rate of 0.2 and with a power of 0.8? The first 1,000 of the embedded models are the pilot: the residuals of
its datamodel give the noise, and the noise gives the number of models that each test needs. But the study will fit its
own datamodel, on fewer models, which leaves more noise. The careful plan takes the noise of a fit of just that size.

Then both are held against the world: so many other models are asked about pairs whose effect is about 0.1, as 6,000
models say that neither the pilot nor the study has seen. Printed are the plans, and the share of the pairs that each
study told apart: 0.8 was promised. All are pairs of one target, and share their images, so that this share scatters.
"""

from __future__ import annotations

from importlib.resources import files
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf import PackedMasks, analyse, contrast_many, fit_lasso, models_to_train, plan, rows_by_method

TARGET, N_TRAIN = 84, 400
EFFECT, POWER = 0.1, 0.8
QUESTIONS, FINDINGS, FDR = 2_000, 200, 0.2
PILOT, PILOT_FITS, TRUTH = 1_000, 800, 6_000
"""Models of the pilot, how many of them its fit may see, and where those begin that say what is true."""

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]


def embedded_digits() -> tuple[PackedMasks, Floats]:
    """(masks of 12,000 models on 400 images, their margins on the target)."""
    folder = Path(str(files("pipeline"))) / "embedded" / "digits"
    masks = PackedMasks(np.load(folder / "masks.npy"), N_TRAIN)
    return masks, np.load(folder / "margins.npy")[:, TARGET].astype(float)


def noise_of_fit(masks: PackedMasks, margins: Floats, rows: int) -> float:
    """The residual sd that a datamodel of the pilot's first rows leaves on the pilot's last models."""
    datamodel = fit_lasso(masks.rows(0, rows), margins[:rows, None])
    return float((margins[PILOT_FITS:PILOT] - datamodel.predict(masks.rows(PILOT_FITS, PILOT))[:, 0]).std())


def careful_plan(masks: PackedMasks, margins: Floats, method: str, level: float) -> int:
    """The fewest models, in steps of 50, of which enough test for the noise that a fit of the others leaves."""
    for n in count(600, 50):
        tested = rows_by_method("held-out", n, N_TRAIN)[method]
        noise = noise_of_fit(masks, margins, min(n - tested, PILOT_FITS))
        needed = plan(effect=EFFECT, noise=noise, alpha=level, power=POWER)[method]
        if needed is not None and needed <= tested:
            return n
    raise AssertionError("numbers have no end")


def pairs_of_that_effect(masks: PackedMasks, margins: Floats) -> Pairs:
    """Random pairs whose effect the last models put within 0.005 of the planned one."""
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(N_TRAIN, 2, replace=False) for _ in range(20_000)])
    datamodel = fit_lasso(masks.rows(0, PILOT), margins[:PILOT, None])
    last = masks.rows(TRUTH, masks.n_models), margins[TRUTH:]
    effect = contrast_many(*last, pairs, theta=datamodel.weight[:, 0], bias=float(datamodel.bias[0])).estimate
    return pairs[np.abs(np.abs(effect) - EFFECT) < 0.005]


def told_apart(masks: PackedMasks, margins: Floats, n: int, pairs: Pairs, method: str, level: float) -> float:
    """The share of the pairs whose p-value, in a study of n models after the pilot, is at most the level."""
    study = masks.rows(PILOT, PILOT + n), margins[PILOT : PILOT + n]
    result = analyse(*study, pairs=[(i, j, 0) for i, j in pairs.tolist()], method=method)
    return float((result.tests()["pvalue"] <= level).mean())


def main() -> None:
    """The plans, then the studies."""
    masks, margins = embedded_digits()
    noise = noise_of_fit(masks, margins, PILOT_FITS)
    level = float(FDR * FINDINGS / (QUESTIONS * (1.0 / np.arange(1, QUESTIONS + 1)).sum()))
    print(f"pilot of {PILOT:,} models: sd {margins[:PILOT].std():.2f} of the margins, {noise:.2f} of the residuals")
    print(f"level of one test, for {FINDINGS} findings among {QUESTIONS:,} at a rate of {FDR} (BY): {level:.2g}")
    plain = models_to_train("held-out", plan(effect=EFFECT, noise=noise, alpha=level, power=POWER), N_TRAIN)
    pairs = pairs_of_that_effect(masks, margins)
    print(f"models to train for an effect of {EFFECT} and power {POWER}; power on {len(pairs)} pairs of that effect")
    print("test        plain plan  power   careful plan  power")
    for method, n in plain.figures.items():
        if n is None or n > TRUTH - PILOT:
            print(f"{method:<10} {n:11,d}      –              –      –   not tried: more models than there are")
            continue
        numbers = n, careful_plan(masks, margins, method, level)
        power = [told_apart(masks, margins, k, pairs, method, level) for k in numbers]
        print(f"{method:<10} {numbers[0]:11,d} {power[0]:6.2f} {numbers[1]:14,d} {power[1]:6.2f}")


if __name__ == "__main__":
    main()
