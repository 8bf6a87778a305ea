"""How many tested models a study needs, and what a given number can find, for every method of METHODS.

Margins are taken as y = b + xᵀθ* + N(0, noise²), a share `proportion` of the training set in each mask, and θ̂ = θ*: a
bound on what a good fit reaches. With c = |Δ|/noise and q = 2·proportion·(1 − proportion), the chance that a mask holds
just one of the two images, the power of each method is in `datamodels_inf.power`. How many models that is in all, with
those that are fitted: `datamodels_inf.row_planning`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from scipy.special import ndtr

from datamodels_inf.internal.checks import check_alpha, check_fraction, check_integer, check_number
from datamodels_inf.methods import METHODS

Figure = TypeVar("Figure")
TINIEST, SMALLEST_SHARE = 1e-300, 1e-9
"""Beyond, floating point has no numbers for the answers."""
MOST_MODELS = 100_000_000
"""More are not asked about: the exact power of so many takes a minute."""


class ByMethod(Generic[Figure]):
    """A figure for each method, as [name] and as an attribute: answer["swap-exact"] is answer.swap_exact."""

    figures: Mapping[str, Figure | None]

    def __getitem__(self, method: str) -> Figure | None:
        return self.figures[method]

    def __getattr__(self, name: str) -> Figure | None:
        try:
            return self.__dict__["figures"][name.replace("_", "-")]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None


@dataclass(frozen=True)
class Plan(ByMethod[int]):
    """Numbers of tested models that give the wanted power, by method; None where 10¹² are not enough. See `plan`.

    >>> plan(effect=0.3, alpha=1e-4, power=0.8).figures
    {'swap': 281280, 'swap-exact': 225270, 'paired': 3174, 'contrast': 2116}
    """

    effect: float
    alpha: float
    power: float
    noise: float
    proportion: float
    figures: Mapping[str, int | None]


@dataclass(frozen=True)
class Detectable(ByMethod[float]):
    """The smallest effects that n tested models find with the wanted power, by method; None where none is found.

    See `detectable_effect`.

    >>> found = detectable_effect(2116, alpha=1e-4, power=0.8)
    >>> {name: round(effect, 2) for name, effect in found.figures.items()}
    {'swap': 1.12, 'swap-exact': 1.04, 'paired': 0.37, 'contrast': 0.3}
    """

    figures: Mapping[str, float | None]


def plan(*, effect: float, alpha: float, power: float, noise: float = 1.0, proportion: float = 0.5) -> Plan:
    """How many tested models are needed to find an effect Δ = θ*_i − θ*_j at level α with the given power.

    For swap tests the smallest number by bisection on the exact power; for the contrast by Noether's formula.

    >>> plan(effect=0.3, alpha=1e-4, power=0.8).contrast
    2116
    """
    if check_number("effect", effect) == 0.0:
        raise ValueError(f"`effect` must be a finite number other than 0, but it is {effect}.")
    q = _check(alpha, power, noise, proportion)
    c = abs(effect) / noise
    if float(ndtr(c / 2.0**0.5)) - 0.5 < 1e-8:
        raise ValueError("`effect` is too small: more than 10^12 models would be needed.")
    figures = {name: method.planner.models(c, q, alpha, power) for name, method in METHODS.items()}
    return Plan(effect, alpha, power, noise, proportion, figures)


def detectable_effect(
    n: int | Mapping[str, int], *, alpha: float, power: float, noise: float = 1.0, proportion: float = 0.5
) -> Detectable:
    """The inverse of `plan`, under the same assumptions: the smallest |Δ| that n models find at level α.

    n: the tested models, of all methods or by method.

    >>> effect = detectable_effect(2000, alpha=1e-4, power=0.8, noise=0.5).paired
    >>> abs(plan(effect=effect, alpha=1e-4, power=0.8, noise=0.5).paired - 2000) <= 4
    True
    """
    rows = n if isinstance(n, Mapping) else dict.fromkeys(METHODS, n)
    for count in rows.values():
        if check_integer("n", count, 2) > MOST_MODELS:
            raise ValueError(f"`n` must be at most {MOST_MODELS:,}, but it is {count:.6g}.")
    q = _check(alpha, power, noise, proportion)
    found = {name: METHODS[name].planner.effect(count, q, alpha, power) for name, count in rows.items()}
    return Detectable({name: None if c is None else c * noise for name, c in found.items()})


def _check(alpha: float, power: float, noise: float, proportion: float) -> float:
    """q = 2·proportion·(1 − proportion), of settings that make sense."""
    if check_alpha(alpha) < TINIEST:
        raise ValueError(f"`alpha` must be at least {TINIEST:g}, but it is {alpha}.")
    if not alpha < check_fraction("power", power):
        raise ValueError(f"`power` must be larger than `alpha`, but they are {power} and {alpha}.")
    if check_number("noise", noise) <= 0.0:
        raise ValueError(f"`noise` must be a finite number above 0, but it is {noise}.")
    if not TINIEST <= noise <= 1.0 / TINIEST:
        raise ValueError(f"`noise` must lie between {TINIEST:g} and {1.0 / TINIEST:g}, but it is {noise}.")
    if not SMALLEST_SHARE <= check_fraction("proportion", proportion) <= 1.0 - SMALLEST_SHARE:
        raise ValueError(f"`proportion` must lie between {SMALLEST_SHARE:g} and 1 less that, but it is {proportion}.")
    return 2.0 * proportion * (1.0 - proportion)
