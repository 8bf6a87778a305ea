"""The images that move most targets, counted anew, and what is said of their own class."""

from dataclasses import replace

import numpy as np
from influence_atlas import make_found, make_influences, make_models
from report_content import NAMES

from datamodels_inf import adjust_pvalues
from datamodels_inf.influence import influence_pvalue
from pipeline.report.evidence.influential_images import MOST, STRONGEST, OwnClass, overall


def table_of(found):
    """(targets, images): estimates, and which are findings."""
    pairs = [found.of_target(place) for place in range(len(found.targets))]
    estimate, error = (np.array(values) for values in zip(*pairs, strict=True))
    pvalue = influence_pvalue(estimate, error, found.n_models)
    return estimate, np.stack([adjust_pvalues(row) <= 0.2 for row in pvalue])


def test_counts_and_strongest_targets_are_those_of_the_table():
    models = make_models(n=1000, targets=range(12))
    found, influences = make_found(models), make_influences(models=models)
    estimate, finding = table_of(found)
    assert influences.n_found == finding.sum()
    assert influences.n_moving == finding.any(axis=0).sum()
    assert len(influences.raising) == len(influences.lowering) == MOST
    for image in (*influences.raising, *influences.lowering, *influences.doubtful):
        k = image.image
        assert image.raised == np.count_nonzero(finding[:, k] & (estimate[:, k] > 0))
        assert image.lowered == np.count_nonzero(finding[:, k] & (estimate[:, k] < 0))
        sizes = np.where(finding[:, k], np.abs(estimate[:, k]), 0.0)
        order = [int(found.targets[place]) for place in np.argsort(-sizes) if sizes[place]]
        assert [single.target for single in image.strongest] == order[:STRONGEST]
        assert all(single.finding for single in image.strongest)


def test_lists_begin_with_the_largest_counts_and_hold_no_image_without_one():
    influences = make_influences(models=make_models(n=1000, targets=range(12)))
    raised, lowered = ([image.raised for image in influences.raising], [image.lowered for image in influences.lowering])
    assert raised == sorted(raised, reverse=True)
    assert lowered == sorted(lowered, reverse=True)
    assert min(*raised, *lowered) > 0
    nothing = make_influences(models=make_models(effect=0.0), alpha=0.001)
    assert (nothing.n_found, nothing.raising, nothing.lowering, nothing.doubtful) == (0, (), (), ())


def test_own_class_counts_targets_of_the_same_class():
    found = make_found(make_models(n=1000, targets=range(12)))
    own, (estimate, finding) = OwnClass.of(found), table_of(found)
    same = np.array([[NAMES[t % 3] == NAMES[k % 3] for k in range(12)] for t in range(12)])
    assert own.raised.tolist() == (finding & same & (estimate > 0)).sum(axis=0).tolist()
    assert own.lowered.tolist() == (finding & same & (estimate < 0)).sum(axis=0).tolist()
    assert own.lowered.sum() > 0
    doubtful = {image.image for image in overall(found, ()).doubtful}
    hurting = set(np.flatnonzero(own.lowered > own.raised).tolist())
    assert doubtful <= hurting
    turned = {image.image for image in overall(replace(found, higher_is_better=False), ()).doubtful}
    helping = set(np.flatnonzero(own.raised > own.lowered).tolist())
    assert turned <= helping
    assert (len(doubtful), len(turned)) == (min(MOST, len(hurting)), min(MOST, len(helping)))
    assert turned


def test_nothing_is_said_of_its_own_class_where_no_target_is_of_it():
    models = make_models(n=1000, targets=(0, 3, 6, 9))
    influences = make_influences(models=models)
    images = (*influences.raising, *influences.lowering, *influences.doubtful)
    assert {image.class_image for image in images} == set(NAMES[:3])
    for image in images:
        assert (image.own_raised is None) == (image.own_lowered is None) == (image.class_image != NAMES[0])


def test_a_mislabelled_image_surfaces():
    """Image 0 is of class 0 by its label, but lowers every target of that class."""
    models = make_models(n=2000, targets=range(12))
    margins = models.margins.copy()
    margins[:, ::3] -= (2.0 * models.masks[:, :1]).astype(np.float16)
    mislabelled = type(models)(models.masks, margins, models.datamodel, models.targets)
    first, *_ = make_influences(models=mislabelled).doubtful
    assert (first.image, first.own_lowered, first.own_raised) == (0, 4, 0)
