"""What `[test]` says about which pairs to test: which settings matter, the targets it needs, and the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from datamodels_inf.designs import DESIGNS, Request
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.internal.checks import Ints
from datamodels_inf.masks import FloatArray
from pipeline.config import Config, Test
from pipeline.errors import BadInputError
from pipeline.stages.inputs import Described, Fitted, chosen_targets, targets_of_class
from pipeline.stages.test.image_references import ImageFinder
from pipeline.stages.test.pair_list import find_targets, read_pairs, target_texts
from pipeline.store.identity import identity
from pipeline.summaries import DesignSummary


def left_out(test: Test) -> dict[str, str]:
    """Settings of `[test]` that this design does not draw by."""
    others = {name for design in DESIGNS.values() for name in design.settings} - set(DESIGNS[test.design].settings)
    unused = {f"test.{name}": "is for another design" for name in sorted(others)}
    if not _by_class(test):
        unused["test.target_class"] = "the targets are not chosen by class"
    return {**unused, "test.file": "its content enters instead"}


def content(test: Test) -> dict[str, Any]:
    """What the key holds of a list of pairs: the content of its file."""
    if test.file is None:
        return {}
    target_texts(test.file)  # Refuses what is no such file.
    return {"content of test.file": identity(test.file)}


WITHOUT_CLASSES = (
    "a design without classes (on the command line: --set test.design=top --set test.targets=all "
    "--set test.target_class= --set test.repeats=), or a configuration of the folder's own: datamodels-inf init FOLDER"
)


def settings_of_targets(test: Test) -> dict[str, Any]:
    """What the targets depend on that the design can ask for."""
    if _by_class(test):
        return {"test.target_class": test.target_class}
    if test.file is not None:
        return {"targets of test.file": target_texts(test.file)}
    return {"test.targets": test.targets}


def needed_targets(config: Config, data: Described) -> Ints:
    """The targets that the design can ask for."""
    test = config.test
    if _by_class(test):
        return targets_of_class(
            data, test.target_class, f'test.design "{test.design}"', "test.target_class", WITHOUT_CLASSES
        )
    if test.file is not None:
        return find_targets(test.file, ImageFinder.of_targets(data.n_targets, data.labels, data.names))
    return chosen_targets(data, test.targets, "test.targets")


def atlas_targets(config: Config, data: Described) -> Ints:
    """The targets of the atlas, which has none unless some are named."""
    wanted = config.atlas.targets
    if wanted is None:
        return np.zeros(0, np.int64)
    if wanted == "needed":
        return needed_targets(config, data)
    return chosen_targets(data, wanted, "atlas.targets")


def draw_design(config: Config, data: Described, fitted: Fitted) -> tuple[Pairs, DesignSummary]:
    """The tests to make, by target and without repetitions."""
    try:
        drawn = _draw(config.test, data, fitted, _fitted_targets(config, data, fitted))
    except ValueError as error:
        raise BadInputError(f'test.design "{config.test.design}" cannot be drawn: {error}') from error
    pairs = drawn.distinct()
    counts = np.bincount(pairs.kind, minlength=len(pairs.kinds)).tolist()
    return pairs, DesignSummary(
        design=config.test.design,
        seed=config.test.seed,
        n_repeated=len(drawn) - len(pairs),
        n_targets=len(np.unique(pairs.target)),
        n_of_kind=dict(zip(pairs.kinds, counts, strict=True)),
    )


def _draw(test: Test, data: Described, fitted: Fitted, targets: Ints) -> Pairs:
    design = DESIGNS[test.design]
    train = ImageFinder.of_train(data.n_train, data.labels, data.names)

    def listed() -> Pairs:
        assert test.file is not None  # The configuration asks for it.
        return read_pairs(test.file, train, ImageFinder.of_targets(data.n_targets, data.labels, data.names))

    request = Request(
        targets=targets,
        seed=test.seed,
        settings={name: getattr(test, name) for name in design.settings},
        labels=None if data.labels is None else data.labels.train_labels,
        weights=lambda: _helpfulness(data, fitted.first.weight[:, fitted.places(targets)]),
        images=lambda: np.array([train.find_one(str(image)) for image in test.images], np.int64),
        listed=listed,
    )
    return design.draw(request)


def _helpfulness(data: Described, weight: FloatArray) -> FloatArray:
    """θ̂ with the sign by which a helper has a positive weight: where a lower outcome is better, a helper lowers it."""
    return weight if data.higher_is_better else -weight


def _fitted_targets(config: Config, data: Described, fitted: Fitted) -> Ints:
    """Those of the needed targets that have a datamodel. Of targets that were named one by one, all must have one."""
    test = config.test
    needed = needed_targets(config, data)
    found = np.intersect1d(needed, fitted.targets)
    if _by_class(test) and found.size == 0:
        raise BadInputError(f"no fitted target is of test.target_class {test.target_class!r}; see fit.targets.")
    named = test.file is not None or isinstance(test.targets, list)
    if found.size == 0 or (named and found.size < needed.size):
        missing = np.setdiff1d(needed, fitted.targets)[0]
        raise BadInputError(
            f"target {missing} is to be tested but has no datamodel; "
            'add it to fit.targets, or set fit.targets = "needed".'
        )
    return found


def _by_class(test: Test) -> bool:
    """Whether the targets are those of test.target_class."""
    targets = DESIGNS[test.design].targets
    return targets == "class" or (targets == "chosen" and test.targets == "class")
