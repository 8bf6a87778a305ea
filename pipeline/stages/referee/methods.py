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
from pipeline.score_files import read_arrays, read_scores, score_content
from pipeline.settings.referee import LASSO
from pipeline.stages.fit.stage import targets_to_fit
from pipeline.stages.inputs import Data, Fitted
from pipeline.text.referee_words import OWN

KEY = "referee.scores"
TARGETS_AT_ONCE = 256


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
        check_finite(values, columns, self.source)
        return values


def check_finite(values: NDArray[Any], targets: Ints, source: str) -> None:
    """Scores (n_train, targets) must be."""
    if not np.isfinite(values).all():
        bad = int(targets[~np.isfinite(values).all(axis=0)][0])
        raise BadInputError(f"{KEY} {source} holds NaN or infinity (on target {bad}); scores must be finite.")


def check_files(config: Config, data: Data | None) -> None:
    """Before the fit: that files can be read; with `data`, that they have its shape and are finite on its targets."""
    check_lasso(config)
    targets = None if data is None else targets_to_fit(config, data)
    for path in (method.path for method in config.referee.methods if method.path is not None):
        if data is None or targets is None:
            read_arrays(path, KEY)
            continue
        weight = read_scores(path, data.n_train, data.n_targets, KEY).weight
        for start in range(0, len(targets), TARGETS_AT_ONCE):
            some = targets[start : start + TARGETS_AT_ONCE]
            check_finite(np.asarray(weight[:, some]), some, str(path))


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
