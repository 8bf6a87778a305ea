"""`referee`: the claims of several methods, tested on the same held-out models, in one call and in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.analysis.inputs import read_masks, read_outcomes, read_theta
from datamodels_inf.analysis.premise import refuse_unexchangeable
from datamodels_inf.datamodel import Datamodel, Masks
from datamodels_inf.exchangeability import check_exchangeable
from datamodels_inf.internal.checks import Floats, Ints, as_array
from datamodels_inf.refereeing.claims import claims_on
from datamodels_inf.refereeing.contradictions import Contradictions, contradictions, decided
from datamodels_inf.refereeing.verdicts import Ruling, directions, rule
from datamodels_inf.targets import prepare_targets


@dataclass(frozen=True, eq=False)
class Refereed:
    """All pairs on which any method claims something: (P,) `target`, (P, 2) `pairs`, and what the models say of them.

    effect: Δ = E[y | i in, j out] − E[y | i out, j in] of the outcome y, with its 95 % interval low, high. direction: 1
    where that means that i helps more. claim, gap: (P, M) as in `Claims`. rulings: one a method.
    """

    methods: tuple[str, ...]
    target: Ints
    pairs: Ints
    effect: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    direction: NDArray[np.int8]
    claim: NDArray[np.int8]
    gap: NDArray[np.float32]
    rulings: tuple[Ruling, ...]

    def counts(self) -> dict[str, Mapping[str, int]]:
        """Method → verdict → number of claims."""
        return {name: ruling.counts() for name, ruling in zip(self.methods, self.rulings, strict=True)}

    def contradictions(self) -> Contradictions:
        """Confirmed claims of one method that another orders the other way round."""
        return contradictions(self.claim, self.gap, self.rulings)

    def decided(self, a: str, b: str) -> tuple[int, int]:
        """(how often a is right, how often b is) where the two disagree and the models decide."""
        first, second = map(self.methods.index, (a, b))
        return decided(self.claim, self.gap, self.rulings, first, second)


def referee(
    masks: Masks,
    outcomes: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    theta: ArrayLike,
    bias: ArrayLike,
    k: int = 5,
    alpha: float = 0.1,
    correction: str = "by",
    higher_is_better: bool = True,
    seed: int = 0,
    labels: ArrayLike | None = None,
    allow_unexchangeable: bool = False,
    threads: int = 1,
) -> Refereed:
    """Test the top claims of attribution methods on models that no score, and no `theta`, has seen.

    Parameters
    ----------
    masks, outcomes : (n, d) 0/1 and (n, T): held-out models, what each was trained on and its outcome on each target.
    scores : name → (d, T); a positive score says that an image helps the target.
    theta, bias : (d, T) and (T,), a datamodel of other rows. It takes noise out, the same for all methods; the verdicts
        are valid whatever it is.
    labels : (d,), classes of the training images: with masks that hold so many of each class, claims across classes
        cannot be tested, and are counted so.
    allow_unexchangeable : go on though the masks contradict the premise of the tests (`check_exchangeable`).

    Examples
    --------
    A method that is right, and the same with its sign turned:

    >>> rng = np.random.default_rng(0)
    >>> masks, truth = rng.random((600, 30)) < 0.5, rng.standard_normal((30, 2))
    >>> outcomes = masks @ truth + rng.standard_normal((600, 2))
    >>> result = referee(masks, outcomes, {"good": truth, "turned": -truth}, theta=truth, bias=np.zeros(2))
    >>> {name: (counts["confirmed"], counts["reversed"]) for name, counts in result.counts().items()}
    {'good': (27, 0), 'turned': (0, 27)}
    """
    names = tuple(scores)
    packed, classes = read_masks(masks), None if labels is None else np.asarray(labels)
    y = read_outcomes(outcomes, packed.n_models).astype(np.float64)
    weight = read_theta(theta, packed.n_train, y.shape[1]).astype(np.float64)
    premise = check_exchangeable(packed, labels=classes)
    if not allow_unexchangeable:
        refuse_unexchangeable(premise, classes)
    given = np.stack([_scores(name, value, weight.shape) for name, value in scores.items()])
    datamodel = Datamodel(weight, np.asarray(bias, np.float64), np.full(weight.shape[1], np.nan))
    parts: list[tuple[NDArray[np.generic], ...]] = []
    for t, target in enumerate(prepare_targets(packed, y, datamodel, threads=threads)):
        asked = claims_on(given[:, :, t], k=k, seed=seed, target=t)
        found = target.contrast(asked.pairs, threads=threads)
        tested = found.n_informative > 0
        if classes is not None and not allow_unexchangeable:
            tested &= premise.testable(asked.pairs[:, :, None], classes)
        pvalue = np.where(tested, found.pvalue, np.nan)
        where = np.full(len(asked.pairs), t, np.int64)
        parts.append((where, asked.pairs, found.estimate, found.low, found.high, pvalue,
                      directions(found, higher_is_better), asked.claim, asked.gap))  # fmt: skip
    where, pairs, effect, low, high, pvalue, direction, claim, gap = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    rulings = tuple(
        rule(said, pvalue, direction, alpha=alpha, correction=correction) for said in np.ascontiguousarray(claim.T)
    )
    return Refereed(names, where, pairs, effect, low, high, pvalue, direction, claim, gap, rulings)


def _scores(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    found = as_array(f"scores[{name!r}]", values).astype(np.float64)
    found = found[:, None] if found.ndim == 1 and shape[1] == 1 else found
    if found.shape != shape:
        raise ValueError(f"`scores[{name!r}]` must have shape {shape}, as `theta`, but it is {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(f"`scores[{name!r}]` must be finite, but it holds NaN or infinity.")
    return found
