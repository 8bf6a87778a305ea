"""What is looked up in the atlas is what `influence` says of the masks, and which images and targets are taken."""

import numpy as np
import pytest
from influence_atlas import make_found, make_influences, make_models

from datamodels_inf import influence
from datamodels_inf.multiplicity import adjust_pvalues
from pipeline.report.evidence.galleries import galleries_of
from pipeline.report.evidence.influences import TOP, influences_on, shown_targets, strongest, with_influences


def anew(models, target, confidence=0.95):
    """From masks and margins, of all images."""
    theta, bias = models.datamodel.weight[:, target], float(models.datamodel.bias[target])
    return influence(models.masks, models.margins[:, target], theta=theta, bias=bias, confidence=confidence)


def harmonic(m):
    return sum(1 / k for k in range(1, m + 1))


def test_estimates_intervals_and_findings_are_those_of_the_masks():
    models = make_models()
    found = make_found(models)
    counted = 0
    for target in models.targets.tolist():
        shown, true = influences_on(found, target), anew(models, target)
        adjusted = adjust_pvalues(true.pvalue)
        assert {single.image for single in shown.findings} == set(np.flatnonzero(adjusted <= 0.2).tolist())
        for single in shown.listed:
            k = single.image
            low, high = true.interval
            numbers = (single.effect, single.effect_se, single.effect_low, single.effect_high, single.pvalue)
            expected = (true.estimate[k], true.standard_error[k], low[k], high[k], true.pvalue[k])
            assert numbers == pytest.approx(expected, rel=2e-5, abs=1e-6)
            assert single.finding == (adjusted[k] <= 0.2)
            assert single.theta == models.datamodel.weight[k, target]
            counted += 1
    assert counted > 40


@pytest.mark.parametrize("family", ["target", "all"])
def test_findings_have_the_interval_that_makes_up_for_the_selection_in_their_family(family):
    models = make_models()
    found = make_found(models, family=family)
    checked = 0
    for place, target in enumerate(models.targets.tolist()):
        shown = influences_on(found, target)
        m, count = (12, len(shown.findings)) if family == "target" else (60, int(found.n_found.sum()))
        if not count:
            assert np.isnan(found.level(place))
            continue
        assert shown.level == pytest.approx(1 - 0.2 * count / (m * harmonic(m)))
        low, high = anew(models, target, shown.level).interval
        for single in shown.listed:
            ends = (single.effect_low_selected, single.effect_high_selected)
            expected = (low[single.image], high[single.image]) if single.finding else (np.nan, np.nan)
            assert ends == pytest.approx(expected, rel=2e-5, abs=1e-6, nan_ok=True)
            checked += single.finding
    assert checked >= 7


def test_the_strongest_are_the_outermost_estimates_that_have_an_error():
    estimate = np.array([0.3, -0.1, np.nan, 5.0, 0.0, 0.2, -0.4, 9.0], np.float32)
    error = np.array([1, 1, 1, np.inf, 1, 1, 1, np.nan], np.float32)
    helpers, hurters = strongest(estimate, error)
    assert helpers.tolist() == [0, 5]
    assert hurters.tolist() == [6, 1]
    helpers, hurters = strongest(np.arange(-9, 10, dtype=np.float32), np.ones(19, np.float32))
    assert helpers.tolist() == [18, 17, 16, 15, 14][:TOP]
    assert hurters.tolist() == [0, 1, 2, 3, 4][:TOP]


def test_images_of_which_nothing_is_known_are_not_shown():
    models = make_models(always_in=(4, 8))
    influences = make_influences(models=models)
    assert influences.n_unknown == 2
    assert not {4, 8} & {single.image for target in influences.targets for single in target.listed}


def test_targets_with_panels_come_first_then_those_with_most_findings_and_not_too_many():
    found = make_found(make_models(targets=range(12)))
    assert found.n_found.tolist() == [2, 8, 3, 3, 2, 0, 2, 1, 1, 2, 2, 2]
    assert shown_targets(found, [7, 3, 7, 5]) == [7, 3, 5, 1, 2, 0, 4, 6]
    assert shown_targets(found, list(range(11, -1, -1))) == list(range(11, 3, -1))
    assert shown_targets(found, []) == [1, 2, 3, 0, 4, 6, 9, 10]
    few = make_found(make_models())
    assert shown_targets(few, [3, 7, 11]) == [7, 2, 0, 9]
    nothing = make_found(make_models(effect=0.0), alpha=0.001)
    assert shown_targets(nothing, [3, 11]) == [5, 2, 7, 0]
    assert shown_targets(nothing, [9]) == [9]


def test_strips_get_the_influences_of_their_own_images():
    models = make_models()
    held_out, found = models.held_out, make_found(models)
    before = galleries_of([5, 3], held_out, str)
    after = with_influences(before, found)
    assert after[3] == before[3]
    true = anew(models, 5)
    for image in (*after[5].helpers, *after[5].hurters):
        assert (image.single.image, image.single.target, image.single.theta) == (image.index, 5, image.theta)
        assert image.single.effect == pytest.approx(true.estimate[image.index], rel=1e-5)


def test_without_classes_there_are_no_names():
    influences = make_influences(names=())
    assert {single.class_image for target in influences.targets for single in target.listed} == {""}
    assert influences.doubtful == ()
    assert {image.own_lowered for image in influences.raising} == {None}
