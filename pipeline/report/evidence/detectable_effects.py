"""What this many models can see: the smallest effect that each test finds, and the models that a given one needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from datamodels_inf.methods import METHODS
from datamodels_inf.planning import Plan, detectable_effect, plan
from pipeline.report.content import Content
from pipeline.report.groups import Group

POWER = 0.8
SMALLEST = 0.02  # effects smaller than this share of the noise are not planned for: hundreds of thousands of models


@dataclass(frozen=True)
class Reach:
    """One test: the smallest effect it finds here (None if it finds none), and the models for the planned effect."""

    method: str
    effect: float | None
    models: int | None


@dataclass(frozen=True)
class DetectableEffects:
    """level: of one test after the correction, of weight 1 where tests are `weighted`. noise: sd of the datamodels'
    residuals, median over the tested targets. n_models: those that tested; n_on_last: of the last block, on which some
    methods are tested alone; None where there are no blocks.

    effect: the one that the numbers of models are for, NaN if there is none; of_miss: it is that of the closest miss,
    and else the smallest of a finding. planned: it is large enough to be planned for.
    """

    level: float
    noise: float
    proportion: float
    n_models: int
    n_on_last: int | None
    weighted: bool
    effect: float
    of_miss: bool
    planned: bool
    reaches: list[Reach]

    @property
    def power(self) -> float:
        """The chance to find such an effect."""
        return POWER

    @property
    def on_last(self) -> list[str]:
        """The tests that are made on the last block alone, where there are several."""
        return [] if self.n_on_last is None else [name for name, one in METHODS.items() if not one.every_model]

    @property
    def power_notes(self) -> list[str]:
        """Of the tests whose power is no sum over the binomial law."""
        return [method.power_note for method in METHODS.values() if method.power_note]


def detectable_of(group: Group, content: Content) -> DetectableEffects | None:
    """For the level at which this method found what it found; None if the noise or the masks are not known."""
    noise = _noise(group, content)
    m = group.n_tests
    if content.masks is None or not noise > 0.0 or m == 0 or content.n_models_judged < 2:
        return None
    proportion = content.masks.report.proportion
    if not 0.0 < proportion < 1.0:
        return None
    shape = content.shape_of(group.method)
    level = group.threshold(content.correction, content.alpha, shape)
    if not 0.0 < level < POWER:
        return None
    found = {
        every: detectable_effect(n, alpha=level, power=POWER, noise=noise, proportion=proportion)
        for every, n in ((True, content.n_models_test), (False, content.n_models_judged))
    }
    effect = group.least_effect
    needed = _plan(effect, level, noise, proportion)
    reaches = [
        Reach(name, found[METHODS[name].every_model][name], None if needed is None else needed[name])
        for name in METHODS
    ]
    return DetectableEffects(
        level=level,
        noise=noise,
        proportion=proportion,
        n_models=content.n_models_test,
        n_on_last=None if content.blocks is None else content.n_models_judged,
        weighted=shape is not None,
        effect=effect,
        of_miss=not group.n_found,
        planned=needed is not None,
        reaches=reaches,
    )


def _noise(group: Group, content: Content) -> float:
    """The root of the median MSE on held-out models, of the datamodels of the tested targets."""
    if content.quality is None:
        return math.nan
    tested = np.isin(content.quality.targets, group.targets)
    mse = content.quality.mse[tested]
    mse = mse[~np.isnan(mse)]
    return math.sqrt(float(np.median(mse))) if mse.size else math.nan


def _plan(effect: float, level: float, noise: float, proportion: float) -> Plan | None:
    """None for an effect that no practical number of models finds."""
    if not math.isfinite(effect) or effect < SMALLEST * noise:
        return None
    return plan(effect=effect, alpha=level, power=POWER, noise=noise, proportion=proportion)
