"""When the interval of a finding is another one than its 95 % interval."""

import math

import pytest
from influence_atlas import make_influences
from report_content import make_row


@pytest.mark.parametrize(
    ("ends", "longer"),
    [((-0.2, 0.9), True), ((0.1, 0.5), False), ((math.nan, math.nan), False), ((-math.inf, math.inf), True)],
)
def test_the_longer_interval_is_known_and_another_one(ends, longer):
    row = make_row(
        effect=0.3, effect_low=0.1, effect_high=0.5, effect_low_selected=ends[0], effect_high_selected=ends[1]
    )
    assert row.is_longer is longer


def test_of_single_images_only_findings_have_it():
    singles = [single for target in make_influences().targets for single in target.shown]
    assert {single.is_longer for single in singles if single.finding} == {True}
    assert {single.is_longer for single in singles if not single.finding} == {False}
