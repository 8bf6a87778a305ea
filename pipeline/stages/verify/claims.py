"""Which claims are verified: findings by number, the first of them, or a pair that the user names."""

from __future__ import annotations

from typing import Any

import numpy as np

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.findings import Family, finding_order
from datamodels_inf.internal.checks import Ints, some_of
from pipeline.config import Method
from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.stages.base import Run
from pipeline.stages.prior.files import prior_in_use
from pipeline.stages.test.image_references import ImageFinder
from pipeline.stages.test.pair_chunks import PairChunks
from pipeline.stages.test.premise import check_premise, testable_pairs
from pipeline.stages.test.tests_file import MethodTests
from pipeline.store.unfinished_steps import read_again
from pipeline.text.numbers import are_counted
from pipeline.verified import Claim

EFFECTS = ("effect", "effect_se", "effect_low", "effect_high")
CLASSES = ("class_i", "class_j", "class_target")
READ = ("target", "effect_df", *EFFECTS, *CLASSES, "members_i", "members_j")


def method_of(run: Run) -> Method:
    """Whose findings they are: `verify.method`, or the first of `test.method`."""
    return run.config.verify.method or run.config.test.method[0]


def claims_of(run: Run) -> list[Claim]:
    """What `[verify]` asks for; none where nothing was found."""
    if run.config.verify.pair:
        return [_named_pair(run)]
    return _findings(run)


def _findings(run: Run) -> list[Claim]:
    """Findings of the test stage, numbered within their method as everywhere."""
    config, method = run.config, method_of(run)
    tests = MethodTests.of_result(run.inputs["test"], method)
    prior = prior_in_use(config.test, run.inputs.get("prior"), method)
    family = Family(tests.column("pvalue"), config.test, prior)
    found = np.flatnonzero(family.found)
    columns = (tests.column(name)[found] for name in ("pvalue", "effect", "target", "i", "j"))
    order = found[finding_order(*columns)]
    numbers = _numbers(config.verify.findings, config.verify.top, len(order))
    chosen = order[np.array(numbers, np.int64) - 1]
    part = tests.take(chosen, READ)
    low, high = family.selected_intervals(chosen, *(part[n].to_numpy() for n in ("effect", "effect_se", "effect_df")))
    ends = zip(numbers, part.to_pylist(), low.tolist(), high.tolist(), strict=True)
    return [_claim(row, number, method, *selected) for number, row, *selected in ends]


def _numbers(named: tuple[int, ...], top: int, n_found: int) -> list[int]:
    """The numbers of the findings that are asked for, each once; none where nothing was found at all."""
    if not n_found:
        return []
    if named and max(named) > n_found:
        raise BadInputError(f"verify.findings names finding {max(named)}, but there {are_counted(n_found, 'finding')}.")
    return list(dict.fromkeys(named)) or list(range(1, min(top, n_found) + 1))


def _claim(row: dict[str, Any], number: int, method: str, low: float, high: float) -> Claim:
    kept = {name: row[name] for name in (*EFFECTS, *CLASSES, "target")}
    return Claim(
        finding=number,
        method=method,
        members_i=tuple(row["members_i"]),
        members_j=tuple(row["members_j"]),
        **kept,
        effect_low_selected=low,
        effect_high_selected=high,
    )


def _named_pair(run: Run) -> Claim:
    """Its effect is estimated on the held-out rows, as that of every test."""
    data, method = run.data, method_of(run)
    left, right, target = _images(run)
    of_method = run.config.model_copy(update={"test": run.config.test.model_copy(update={"method": [method]})})
    testable = testable_pairs(run.config, check_premise(of_method, data), data)
    pairs = Pairs(left, right, np.array([0, len(left)]), np.array([target]), np.zeros(1, np.int8), ("named",))
    folder = run.unfinished / "test"
    chunks = PairChunks(of_method, data, run.fitted, pairs, testable, folder, run.place, run.quiet, run.say)
    (path,) = chunks.run()
    found = read_again(path)
    values: dict[str, Any] = {name: float(found[name][0]) for name in EFFECTS}
    values |= _classes(data.labels, int(left[0]), int(right[0]), target)
    return Claim(
        finding=None,
        method="",
        members_i=tuple(left.tolist()),
        members_j=tuple(right.tolist()),
        target=target,
        **values,
    )


def _images(run: Run) -> tuple[Ints, Ints, int]:
    """(I, J, target) of `verify.pair` and `verify.target`."""
    verify, data = run.config.verify, run.data
    finder = ImageFinder.of_train(data.n_train, data.labels, data.names)
    try:
        left, right = (finder.find(str(image)) for image in verify.pair)
        target = ImageFinder.of_targets(data.n_targets, data.labels, data.names).find_one(str(verify.target))
    except ValueError as error:
        raise BadInputError(f"verify.pair or verify.target: {error}.") from error
    if len(left) != len(right) or len({*left, *right}) < 2 * len(left):
        raise BadInputError("verify.pair must be two different images, or groups of as many different images.")
    if target not in run.fitted.targets:
        raise BadInputError(
            f"verify.target {target} has no datamodel, because fit.targets = {run.config.fit.targets!r} fits only "
            f"{some_of(run.fitted.targets.tolist())}; say --set fit.targets=all, or name a list with it."
        )
    return np.array(left, np.int64), np.array(right, np.int64), target


def _classes(labels: Labels | None, i: int, j: int, target: int) -> dict[str, str]:
    if labels is None:
        return dict.fromkeys(CLASSES, "")
    of = {"i": labels.train_labels[i], "j": labels.train_labels[j], "target": labels.target_labels[target]}
    return {f"class_{name}": labels.class_names[label] for name, label in of.items()}
