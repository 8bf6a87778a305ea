"""What could have been found."""

import dataclasses
import math

import numpy as np
import pytest
from report_content import (
    groups_of,
    make_blocks,
    make_content,
    make_masks,
    make_quality,
    make_row,
    make_rows,
    make_weighted,
)

from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import threshold
from datamodels_inf.planning import detectable_effect, plan
from pipeline.report.evidence.detectable_effects import POWER, detectable_of


def test_limits_are_those_of_the_planner():
    quality = make_quality([0.3, 0.5, 0.4], targets=np.array([0, 1, 2]), mse=np.array([0.04, 0.09, 4.0]))
    rows = [make_row(k, finding=False, target=k % 2) for k in range(40)]
    content = make_content(rows, quality=quality, masks=make_masks())
    [group] = groups_of(rows)
    limits = detectable_of(group, content)
    assert limits.noise == pytest.approx(math.sqrt(0.065))
    assert limits.level == pytest.approx(0.2 / (40 * sum(1 / k for k in range(1, 41))))
    assert limits.of_miss
    assert limits.effect == pytest.approx(abs(group.misses[0].row.effect))
    share = make_masks().report.proportion
    found = detectable_effect(1000, alpha=limits.level, power=POWER, noise=limits.noise, proportion=share)
    needed = plan(effect=limits.effect, alpha=limits.level, power=POWER, noise=limits.noise, proportion=share)
    assert [r.method for r in limits.reaches] == list(METHODS)
    assert [r.effect for r in limits.reaches] == [found[name] for name in METHODS]
    assert [r.models for r in limits.reaches] == [needed[name] for name in METHODS]


def test_limits_with_findings_tiny_effects_and_unknown_noise():
    rows = make_rows(40, 5)
    quality, masks = make_quality([0.3] * 12), make_masks()
    [group] = groups_of(rows)
    limits = detectable_of(group, make_content(rows, quality=quality, masks=masks))
    assert not limits.of_miss
    assert limits.effect == min(abs(item.row.effect) for item in group.kept)
    assert limits.level == pytest.approx(threshold("by", 0.2, 40, 5))
    tiny = [dataclasses.replace(row, effect=1e-5) for row in make_rows(9, 0)]
    limits = detectable_of(groups_of(tiny)[0], make_content(tiny, quality=quality, masks=masks))
    assert not limits.planned
    assert {reach.models for reach in limits.reaches} == {None}
    unknown = [dataclasses.replace(row, effect=math.nan) for row in make_rows(9, 0)]
    assert math.isnan(detectable_of(groups_of(unknown)[0], make_content(unknown, quality=quality, masks=masks)).effect)
    assert detectable_of(group, make_content(rows, masks=masks)) is None
    assert detectable_of(group, make_content(rows, quality=quality)) is None
    assert detectable_of(group, make_content(rows, quality=make_quality([0.3], mse=np.zeros(1)), masks=masks)) is None


def test_in_blocks_methods_reach_as_far_as_their_own_models():
    rows = make_rows(40, 5)
    content = make_content(rows, quality=make_quality([0.3] * 12), masks=make_masks(), blocks=make_blocks())
    [group] = groups_of(rows)
    limits = detectable_of(group, dataclasses.replace(content, n_models_test=900))
    assert (limits.n_models, limits.n_on_last, limits.on_last) == (900, 300, ["swap", "swap-exact"])
    for reach in limits.reaches:
        n = 300 if reach.method.startswith("swap") else 900
        share = make_masks().report.proportion
        found = detectable_effect(n, alpha=limits.level, power=POWER, noise=limits.noise, proportion=share)
        assert reach.effect == found[reach.method]
    assert detectable_of(group, make_content(rows, quality=content.quality, masks=content.masks)).on_last == []


def test_with_weights_the_level_is_that_of_weight_one():
    rows, expectations = make_weighted(make_rows(60, 24))
    changes = {"quality": make_quality([0.3] * 12), "masks": make_masks()}
    [group] = groups_of(rows)
    limits = detectable_of(group, make_content(rows, correction="prior", expectations=expectations, **changes))
    assert limits.level == pytest.approx(0.2 * float(expectations["paired"].prior.shape.beta(24)) / 60)
    assert limits.weighted
