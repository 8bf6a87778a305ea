"""The methods that are refereed: their scores on the fitted targets, a positive score meaning help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.referee_settings import LASSO
from pipeline.refereed import OWN
from pipeline.score_files import read_scores, score_content
from pipeline.stages.inputs import Data, Fitted

KEY = "referee.scores"


@dataclass(frozen=True, eq=False)
class Scored:
    """One method. columns: which column of `weight` belongs to each fitted target. sign: what makes help positive.

    negated: whether the user asked for that.
    """

    name: str
    source: str
    weight: NDArray[Any]
    columns: Ints
    sign: float
    negated: bool
    notes: tuple[str, ...] = ()

    def of(self, places: slice) -> Floats:
        """(n_train, targets): the scores on some of the fitted targets, by their places."""
        columns = self.columns[places]
        values = self.sign * np.asarray(self.weight[:, columns], np.float64)
        if not np.isfinite(values).all():
            bad = int(columns[~np.isfinite(values).all(axis=0)][0])
            raise BadInputError(f"{KEY} {self.source} holds NaN or infinity (on target {bad}); scores must be finite.")
        return values


def scored_methods(config: Config, data: Data, fitted: Fitted, say: Callable[[str], object]) -> list[Scored]:
    """All that the configuration names. The datamodel is that of rows that are never tested, as for a design."""
    check_lasso(config)
    made = []
    for method in config.referee.methods:
        negated = method.name in config.referee.negate
        sign = -1.0 if negated else 1.0
        if method.path is None:
            sign = sign if data.rows.higher_is_better else -sign  # An image that raises a loss hurts.
            columns = np.arange(len(fitted.targets))
            made.append(Scored(method.name, OWN, fitted.first.weight, columns, sign, negated))
            continue
        scores = read_scores(method.path, data.n_train, data.n_targets, KEY)
        for note in scores.notes:
            say(note)
        made.append(Scored(method.name, str(method.path), scores.weight, fitted.targets, sign, negated, scores.notes))
    return made


def check_lasso(config: Config) -> None:
    """`lasso` needs one."""
    if LASSO in config.referee.scores and config.fit.mode == "load":
        raise BadInputError(
            f"{KEY} {LASSO!r} is the LASSO of this configuration, but fit.mode is 'load'; name its file of weights."
        )


def contents(config: Config) -> list[list[Any]]:
    """For the key: of each method its name, the content of its file and whether it is negated."""
    check_lasso(config)
    return [
        [one.name, "the fit" if one.path is None else score_content(one.path, KEY), one.name in config.referee.negate]
        for one in config.referee.methods
    ]
