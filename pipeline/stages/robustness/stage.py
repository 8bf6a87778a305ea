"""Robustness: tests of findings made again with look-alikes of their images, beside controls (the paper's Table 2).

A finding was selected on the same held-out rows, so its re-runs there are a follow-up and no confirmation. With
`robustness.split` the design is tested on the first half of the held-out rows, and the findings of that half are made
again on the second half, which nothing was selected on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.exchangeability import ExchangeabilityReport
from datamodels_inf.findings import Family, finding_order
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.multiplicity import adjust_pvalues
from datamodels_inf.neighbours.agreement import agreement
from datamodels_inf.pair_answers import Columns, Testable
from pipeline.config import Config, Method
from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.stages.base import Run, Stage
from pipeline.stages.inputs import Data
from pipeline.stages.prior.files import prior_in_use
from pipeline.stages.robustness.look_alikes import metric_of
from pipeline.stages.robustness.rerun_design import ORIGINAL, ROLES, Case, Reruns, draw_reruns
from pipeline.stages.test import designs
from pipeline.stages.test.image_references import ImageFinder
from pipeline.stages.test.pair_chunks import PairChunks
from pipeline.stages.test.premise import check_premise, testable_pairs
from pipeline.stages.test.tests_file import MethodTests
from pipeline.store.cache import Result
from pipeline.store.identity import identity
from pipeline.store.tables import write_columns
from pipeline.store.unfinished_steps import read_again
from pipeline.summaries import AgreementSummary, RobustnessSummary
from pipeline.text.numbers import are_counted

VERSION = 5
FIGURES = ("theta_i", "theta_j", "effect", "effect_low", "effect_high", "n_informative", "statistic", "pvalue")


def left_out(config: Config) -> dict[str, str]:
    """Which tests are findings is decided here too, so the level and the correction enter."""
    return {
        "source": "the key of the download stage holds it",
        "fit": "the key of the fit stage holds it",
        "test.file": "the key of the test stage holds its content",
        "test.chunk_pairs": "how many pairs are tested between two savings, each the same",
        "robustness.embeddings": "their content enters instead",
        "atlas": "is about single images",
        "report": "what is shown, not what is tested",
    }


def instead(config: Config) -> dict[str, Any]:
    """The content of a user's embeddings."""
    path = config.robustness.embeddings
    if path is None:
        return {}
    if not path.is_file():
        raise BadInputError(f"robustness.embeddings {path} does not exist.")
    return {"content of robustness.embeddings": identity(path)}


def run(run: Run) -> RobustnessSummary:
    """Write reruns.parquet, one row per re-run; answer with what agrees, by case and role."""
    config, data, fitted = run.config, run.data, run.fitted
    method: Method = config.robustness.method or config.test.method[0]
    of_method = config.model_copy(update={"test": config.test.model_copy(update={"method": [method]})})
    testable = testable_pairs(config, _checked_masks(of_method, data), data)

    def test(rows: Data, pairs: Pairs, folder: str) -> Columns:
        unfinished = run.unfinished / folder
        chunks = PairChunks(of_method, rows, fitted, pairs, testable, unfinished, run.place, run.quiet, run.say)
        parts = [read_again(file) for file in chunks.run()]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    discovery, confirmation = _halves(data) if config.robustness.split else (data, data)
    cases = _cases(run, method, testable, lambda pairs: test(discovery, pairs, "discover"))
    reruns = _drawn(run, cases)
    figures = _tested(reruns, method, lambda pairs: test(confirmation, pairs, "rerun"))
    _write(run.out / "reruns.parquet", reruns, figures)
    return RobustnessSummary(
        method=method,
        metric=config.robustness.metric,
        split=config.robustness.split,
        n_held_out=confirmation.held_out_masks.n_models,
        n_tests=len(np.unique(figures["test"])) if reruns else 0,
        cases=tuple(again.summary(_agreements(again, figures, k)) for k, again in enumerate(reruns)),
    )


def _checked_masks(config: Config, data: Data) -> ExchangeabilityReport:
    """The check of the premise; look-alikes of any class need masks that treat all images alike."""
    masks = check_premise(config, data)
    if masks.law == "stratified" and not config.robustness.same_class and not config.test.allow_unexchangeable:
        raise BadInputError(
            "robustness.same_class = false needs pairs across classes, but the masks are stratified by class, so only "
            "pairs within a class can be tested."
        )
    return masks


def _cases(run: Run, method: Method, testable: Testable, discover: Callable[[Pairs], Columns]) -> list[Case]:
    """The user's own pair, findings of the test stage, or with `robustness.split` those that `discover` finds."""
    config, prior = run.config, run.inputs.get("prior")
    if config.robustness.pair:
        return [_own_pair(config, run.data, testable)]
    if not config.robustness.split:
        return _of_table(config, run.inputs["test"], prior, method)
    pairs, _ = designs.draw_design(config, run.data, run.fitted)
    found = discover(pairs)
    triples = np.stack([pairs.i, pairs.j, pairs.target], axis=1)
    family = Family(found[f"pvalue {method}"], config.test, prior_in_use(config.test, prior, method))
    return _findings(config, triples, pairs.sizes, family, found["effect"])


def _drawn(run: Run, cases: Sequence[Case]) -> list[Reruns]:
    """The re-runs of each case, by the look-alikes of its images."""
    settings, features = run.config.robustness, run.inputs.get("features")
    metric = metric_of(settings, run.data, run.fitted, None if features is None else features.folder)
    reruns = []
    with progress_bar(len(cases), "case", "look-alikes", run.quiet) as advance:
        for case in cases:
            reruns.append(draw_reruns(case, settings, run.data, run.fitted, metric))
            advance(1)
    return reruns


def _halves(data: Data) -> tuple[Data, Data]:
    count = data.held_out_masks.n_models
    if count < 4:
        raise BadInputError(f"robustness.split needs at least 4 held-out rows, but there are {count:,}.")
    return data.halves()


def _own_pair(config: Config, data: Data, testable: Testable) -> Case:
    finder = ImageFinder.of_train(data.n_train, data.labels, data.names)
    try:
        i, j = (finder.find(str(image))[0] for image in config.robustness.pair)
    except ValueError as error:
        raise BadInputError(f"robustness.pair: {error}.") from error
    if i == j:
        raise BadInputError(f"robustness.pair must be two different images, but both are image {i}.")
    if not testable(np.array([[[i], [j]]])).all():
        raise BadInputError(
            f"robustness.pair: images {i} and {j} are of two classes, but the masks are stratified by class, so only "
            "pairs within a class can be tested."
        )
    return Case(0, i, j)


def _of_table(config: Config, tests: Result, prior: Result | None, method: Method) -> list[Case]:
    """The findings of the test stage."""
    if method not in config.test.method:
        raise BadInputError(
            f"robustness.method {method!r} was not run, so it has no findings; add it to test.method "
            f"({', '.join(config.test.method)}), or give robustness.pair."
        )
    own = MethodTests.of_result(tests, method)
    triples = np.stack([own.column(name) for name in ("i", "j", "target")], axis=1)
    family = Family(own.column("pvalue"), config.test, prior_in_use(config.test, prior, method))
    return _findings(config, triples, own.sizes(), family, own.column("effect"))


def _findings(config: Config, triples: Ints, sizes: Ints, family: Family, effect: Floats) -> list[Case]:
    """The findings that are asked for, by their number."""
    i, j, target = triples.T
    order = finding_order(family.pvalue, effect, target, i, j)
    order = order[family.found[order]]
    wanted = config.robustness.findings
    if wanted and max(wanted) > len(order):
        raise BadInputError(
            f"robustness.findings names finding {max(wanted)}, but there {are_counted(len(order), 'finding')}"
            f"{' on the first half of the held-out rows' if config.robustness.split else ''}."
        )
    for number in wanted:
        if sizes[order[number - 1]] > 1:
            raise BadInputError(f"finding {number} compares groups; look-alikes are looked for of single images only.")
    numbers = wanted or (np.flatnonzero(sizes[order] == 1)[: config.robustness.top] + 1).tolist()
    places = [order[number - 1] for number in numbers]
    return [Case(n, int(i[p]), int(j[p]), int(target[p])) for n, p in zip(numbers, places, strict=True)]


def _tested(reruns: Sequence[Reruns], method: str, test: Callable[[Pairs], Columns]) -> Columns:
    """The figures of each re-run of each case, one after the other; a test that several need is made once.

    All tests together are one family: `adjusted` is Benjamini–Yekutieli's over them.
    """
    if not reruns:
        return {name: np.zeros(0) for name in (*FIGURES, "adjusted", "case", "test")}
    triples = np.concatenate([np.stack([again.target, again.i, again.j], axis=1) for again in reruns])
    distinct, place = np.unique(triples, axis=0, return_inverse=True)  # Sorted by target, as the chunks want it.
    found = test(Pairs.of_triples(distinct[:, [1, 2, 0]], "re-run"))
    found |= {name: found[f"{name} {method}"] for name in ("statistic", "pvalue")}
    found["adjusted"] = adjust_pvalues(found["pvalue"], "by")
    figures = {name: found[name][place.ravel()] for name in (*FIGURES, "adjusted")}
    case = np.repeat(np.arange(len(reruns)), [len(again.role) for again in reruns])
    return {**figures, "case": case, "test": place.ravel()}


def _agreements(again: Reruns, figures: Columns, k: int) -> dict[str, AgreementSummary]:
    """How far the re-runs of each role agree with the original on the same target."""
    own = {name: values[figures["case"] == k] for name, values in figures.items()}
    original = {int(t): p for p, t in enumerate(again.of.tolist()) if again.role[p] == ORIGINAL}
    base = np.array([original[t] for t in again.of.tolist()])
    answers = {}
    for role, name in enumerate(ROLES[1:], start=1):
        some = np.flatnonzero(again.role == role)
        first = base[some]
        made = agreement(own["effect"][first], own["pvalue"][first], own["effect"][some], own["pvalue"][some])
        figures_of_role = {key: None if value != value else value for key, value in asdict(made).items()}
        answers[name] = AgreementSummary.model_validate(figures_of_role)
    return answers


def _write(path: Path, reruns: Sequence[Reruns], figures: Columns) -> None:
    """One row per re-run: the case (from 0), its role, its images, the target it is compared on, and its figures."""
    import pyarrow as pa

    def joined(name: str) -> Ints:
        return np.concatenate([getattr(again, name) for again in reruns] or [np.zeros(0, np.int64)])

    columns: dict[str, Any] = {"case": figures["case"].astype(np.int64)}
    columns["role"] = pa.array([ROLES[role] for role in joined("role").tolist()], pa.string())
    columns |= {name: joined(name) for name in ("i", "j", "target", "of")}
    columns |= {name: figures[name] for name in (*FIGURES, "adjusted")}
    write_columns(path, columns)


def wanted(config: Config) -> bool:
    """Where `[robustness]` names any finding or pair."""
    return config.robustness.wanted


INPUTS = ("download", "fit", "test", "prior", "features")
STAGE = Stage("robustness", VERSION, INPUTS, RobustnessSummary, run, left_out, instead, wanted)
