"""Contents of whole reports, with curves, galleries and all diagnostics, for tests that look at the page."""

import dataclasses

import numpy as np
from influence_atlas import make_found, make_models
from one_block import blocks_of
from report_content import (
    EVIL,
    make_blocks,
    make_content,
    make_counts,
    make_images,
    make_masks,
    make_quality,
    make_robustness,
    make_row,
    make_rows,
    make_weighted,
)
from small_trained import make_verified

from datamodels_inf import PackedMasks
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.pair_answers import UNSEEN
from pipeline.images.item_names import ItemNames
from pipeline.report.content import Coding, Growth, TrainedAgain
from pipeline.report.evidence.curves import HeldOut, curves_of
from pipeline.report.evidence.galleries import galleries_of
from pipeline.report.evidence.influences import influences_on, shown_targets, with_influences
from pipeline.report.evidence.influential_images import overall

NAMES = (EVIL, "x" * 200, "\u05e2\u05d1\u05e8\u05d9\u05ea\u202e \N{DOG FACE}", "a name of many words " * 9, "")


def full_content(rows, **changes):
    """With curves, galleries and all diagnostics."""
    rng = np.random.default_rng(0)
    masks = PackedMasks.from_bool(rng.random((200, 12)) < 0.5)
    margins = rng.normal(size=(200, 12)).astype(np.float16)
    weights = Datamodel(rng.normal(0, 0.2, (12, 12)), np.zeros(12), np.full(12, np.nan))
    held_out = HeldOut(
        masks,
        lambda targets: blocks_of(masks, margins[:, targets], weights.subset(targets)),
        weights,
        np.arange(12),
        "permuted",
        0,
    )
    content = make_content(
        rows,
        quality=make_quality(np.linspace(0.2, 0.8, 12)),
        masks=make_masks(500),
        coding=Coding("signed", 0.5, 0.3, 0.9),
        curves=curves_of(rows, held_out),
        galleries=galleries_of(range(12), held_out, lambda k: ("dog", "truck", "cat")[k % 3]),
    )
    return dataclasses.replace(content, **changes)


def two_methods():
    more = [dataclasses.replace(row, method="swap") for row in make_rows(40, 9)]
    return [*make_rows(60, 24), *more, *make_rows(30, 0, method="contrast")]


def hostile_rows():
    return [
        make_row(k, class_i=NAMES[k % 5], class_j=NAMES[(k + 1) % 5], class_target=NAMES[k % 4], note=EVIL)
        for k in range(12)
    ]


def atlas_content(rows, names=("dog", "truck", "cat"), higher_is_better=True, **changes):
    models = make_models(targets=range(12))
    found = dataclasses.replace(make_found(models, names=names), higher_is_better=higher_is_better)
    strips = galleries_of(
        range(12), models.held_out, lambda k: names[k % len(names)] if names else "", higher_is_better=higher_is_better
    )
    shown = shown_targets(found, [row.target for row in rows])
    changes |= {"influences": overall(found, tuple(influences_on(found, target) for target in shown))}
    changes |= {"galleries": with_influences(strips, found), "higher_is_better": higher_is_better}
    return full_content(rows, **changes)


def in_blocks(**changes):
    """Two methods on all blocks, one on the last alone."""
    rows = [dataclasses.replace(row, n_rows=900, n_informative=451) for row in make_rows(60, 24)]
    rows += [dataclasses.replace(row, method="contrast") for row in rows[20:]]
    rows += [dataclasses.replace(row, method="swap", n_rows=300) for row in rows[:9]]
    found = {"paired": (2, 9, 24), "contrast": (0, 20, 24)}
    growth = {name: Growth((200, 600, 900), counts) for name, counts in found.items()}
    changes = {"blocks": make_blocks(), "n_models_fit": 100, "n_models_test": 900, "growth": growth} | changes
    return full_content(rows, counts={"paired": make_counts(), "swap": make_counts()}, **changes)


def with_prior(**changes):
    """The correction that needs a prior, in use."""
    rows, expectations = make_weighted(make_rows(60, 24))
    changes = {"correction": "prior", "counts": {"paired": make_counts(prior=24)}} | changes
    return full_content(rows, expectations=expectations, **changes)


def trained_again():
    """A claim of each verdict, one of groups that was not estimated, and one whose interval has no end."""
    classes = {"class_i": NAMES[0], "class_j": NAMES[1], "class_target": NAMES[2]}
    open_ended = {"effect_se": np.inf, "effect_low": -np.inf, "effect_high": np.inf, "effect_low_selected": np.nan}
    rows = [make_verified(found, **classes) for found in (0.5, -0.5, 0.05)]
    rows.append(make_verified(0.3, members_i=(0, 1, 2), members_j=(5, 6, 7), effect=np.nan, effect_low=np.nan))
    rows.append(make_verified(0.3, finding=None, **open_ended))
    return TrainedAgain("paired", 1000, 100, tuple(rows))


def named_items():
    """Columns of a table: names, no images, no classes, and a loss, of which less is better."""
    names = ItemNames(("age", "sex", "bmi", "bp", *(f"s{k}" for k in range(8))), ("patient <1>", *["patient"] * 11))
    rows = [replace_classes(row) for row in two_methods()]
    content = atlas_content(rows, names=(), max_panels=8, images=None, unit="loss", higher_is_better=False)
    return dataclasses.replace(content, names=names, quality=make_quality(np.linspace(0.2, 0.8, 12), classes=[""] * 12))


def replace_classes(row):
    return dataclasses.replace(row, class_i="", class_j="", class_target="")


CONTENTS = {
    "methods": lambda: full_content(two_methods(), max_panels=20),
    "nothing": lambda: full_content(make_rows(50, 0)),
    "one": lambda: full_content(make_rows(50, 1), images=make_images((32, 32, 3))),
    "hostile": lambda: full_content(hostile_rows(), title=NAMES[1] + EVIL, images=None),
    "reruns": lambda: full_content(make_rows(50, 3), robustness=make_robustness(NAMES)),
    "reruns without images": lambda: full_content(make_rows(9, 2), robustness=make_robustness(), images=None),
    "trained again": lambda: full_content(make_rows(50, 3), trained_again=trained_again()),
    "groups": lambda: full_content([make_row(k, members_i=(0, 1, 2), members_j=(5, 6, 7), i=0, j=5) for k in range(3)]),
    "atlas": lambda: atlas_content(two_methods(), max_panels=20),
    "hostile atlas": lambda: atlas_content(hostile_rows(), NAMES[:4], images=None),
    "blocks": lambda: in_blocks(max_panels=8),
    "prior": lambda: with_prior(max_panels=8),
    "named": named_items,
    "many": lambda: full_content(make_rows(2000, 2000), images=make_images((32, 32, 3))),
    "blind": lambda: make_content(
        [*make_rows(20, 5), *(make_row(k, finding=False, pvalue=1.0, note=UNSEEN[0]) for k in range(9))]
    ),
    "cut": lambda: make_content(make_rows(2100, 2100), max_panels=3),
}
