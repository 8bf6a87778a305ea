"""Referee: the top claims of attribution methods, tested on models that no score has seen (docs/referee.md).

All methods are tested with the same residuals, those of the configuration's own datamodels, and so with the same power.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.kernels import ahead
from datamodels_inf.refereeing.claims import KINDS
from datamodels_inf.refereeing.contradictions import Contradictions, contradictions, decided
from datamodels_inf.refereeing.prediction import Interval
from datamodels_inf.refereeing.verdicts import VERDICTS, Ruling, rule
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.referee.methods import Scored, check_files, contents, scored_methods
from pipeline.stages.referee.target_parts import Part, TargetParts, joined_pairs, joined_predictions
from pipeline.stages.test.premise import check_premise, spoiled_influences, testable_pairs
from pipeline.store.tables import write_columns
from pipeline.summaries import Decided, Figure, MethodFigures, RefereeSummary
from pipeline.text.own_paths import in_report

VERSION = 1
PAIRS, CONTRADICTIONS = "pairs.parquet", "contradictions.parquet"
MOST_CONTRADICTIONS = 10_000
READ = ("k", "alpha", "correction", "seed", "resamples")


def left_out(config: Config) -> dict[str, str]:
    """Everything but `[referee]`, of which what is read enters below."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        "test": "only the blocks of rows, which the key of the fit stage holds, and which masks are allowed: below",
        **dict.fromkeys(("atlas", "robustness", "report"), "no claim depends on it"),
    }


def instead(config: Config) -> dict[str, Any]:
    """What is read of `[referee]`, with the contents of its files and not their places."""
    if not config.referee.wanted:
        return {}
    asked = config.referee.model_dump(mode="json")
    return {
        **{f"referee.{name}": asked[name] for name in READ},
        "content of referee.scores": contents(config),
        "test.allow_unexchangeable": config.test.allow_unexchangeable,
    }


def run(run: Run) -> RefereeSummary:
    """Write pairs.parquet, every pair that a method claims something of, and contradictions.parquet."""
    config, data, fitted = run.config, run.data, run.fitted
    settings = config.referee
    report = check_premise(config, data)
    if data.n_train < 3:
        raise BadInputError(f"the referee needs at least 3 training images, but there are {data.n_train:,}.")
    methods = scored_methods(config, data, fitted, run.say)
    parts = TargetParts(run, methods, testable_pairs(config, report, data))
    made = parts.make()
    pairs = joined_pairs(made, len(methods))
    rulings = [
        rule(said, pairs["pvalue"], pairs["direction"], alpha=settings.alpha, correction=settings.correction)
        for said in np.ascontiguousarray(pairs["claim"].T)
    ]
    names = [method.name for method in methods]
    _write_pairs(run, pairs, rulings)
    found = contradictions(pairs["claim"], pairs["gap"], rulings)
    kept = found.first(MOST_CONTRADICTIONS)
    write_columns(run.out / CONTRADICTIONS, {name: getattr(kept, name) for name in Contradictions.__annotations__})
    return RefereeSummary(
        methods=tuple(_figures(method, m, made, pairs, rulings[m]) for m, method in enumerate(methods)),
        decided=tuple(_decided(names, pairs, rulings, a, b) for a, b in combinations(range(len(names)), 2)),
        n_contradictions=len(found),
        n_models=data.held_out_masks.n_models,
        n_fit=data.coding_rows(fitted.targets[:1])[0].n_models,
        n_train=data.n_train,
        n_targets=len(fitted.targets),
        n_predicted=int(parts.predicted.sum()),
        n_blocks=len(data.blocks),
        k=settings.k,
        alpha=settings.alpha,
        correction=settings.correction,
        seed=settings.seed,
        resamples=settings.resamples,
        outcome=data.rows.outcome,
        higher_is_better=data.rows.higher_is_better,
        spoiled=spoiled_influences(config, report),
    )


def _write_pairs(run: Run, pairs: Part, rulings: Sequence[Ruling]) -> None:
    columns: dict[str, NDArray[Any]] = {
        "target": pairs["target"], "i": pairs["pairs"][:, 0], "j": pairs["pairs"][:, 1],
        **{name: pairs[name] for name in ("effect", "low", "high", "pvalue", "direction", "n_informative")},
    }  # fmt: skip
    for m, ruling in enumerate(rulings):
        columns |= {f"{name}_{m}": pairs[name][:, m] for name in ("claim", "kind", "rank", "gap")}
        columns |= {f"adjusted_{m}": ruling.adjusted, f"verdict_{m}": ruling.verdict}
    write_columns(run.out / PAIRS, columns)


def _figures(method: Scored, m: int, parts: Sequence[Part], pairs: Part, ruling: Ruling) -> MethodFigures:
    lds, r2 = joined_predictions(parts, m).intervals()
    correlation = np.concatenate([part["correlation"][m] for part in parts])
    known = correlation[np.isfinite(correlation)]
    kinds = {}
    for number, kind in enumerate(KINDS):
        own = np.asarray(pairs["kind"][:, m] == number)
        kinds[kind] = dict(Ruling(ruling.adjusted[own], ruling.verdict[own], ruling.claimed[own]).counts())
    return MethodFigures(
        name=method.name,
        source=in_report(method.source),
        negated=method.negated,
        notes=method.notes,
        n_claims=int(ruling.claimed.sum()),
        n_silent=int(sum(part["silent"][m] for part in parts)),
        verdicts={name: ruling.counts()[name] for name in VERDICTS},
        kinds=kinds,
        lds=_figure(lds),
        r2=_figure(r2),
        fit_correlation=round(float(known.mean()), 6) if known.size else None,
        n_constant=int(sum(part["constant"][m].sum() for part in parts)),
    )


def _figure(interval: Interval) -> Figure:
    values = (
        round(value, 6) if np.isfinite(value) else None for value in (interval.value, interval.low, interval.high)
    )
    value, low, high = values
    return Figure(value=value, low=low, high=high)


def _decided(names: Sequence[str], pairs: Part, rulings: Sequence[Ruling], a: int, b: int) -> Decided:
    first, second = decided(pairs["claim"], pairs["gap"], rulings, a, b)
    return Decided(first=names[a], second=names[b], first_right=first, second_right=second)


def wanted(config: Config) -> bool:
    """Where `[referee]` names any scores."""
    return config.referee.wanted


def kernels(config: Config) -> Sequence[str]:
    """Contrasts of pairs, sums over images, and resampled models."""
    return (*ahead.SUMS, *ahead.CONTRAST, *ahead.RESAMPLED)


STAGE = Stage(
    "referee", VERSION, ("download", "fit"), RefereeSummary, run, left_out, instead, wanted, unread=PICTURES,
    ahead=check_files, kernels=kernels,
)  # fmt: skip
