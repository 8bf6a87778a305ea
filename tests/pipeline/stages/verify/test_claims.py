"""Which claims are verified: findings by the numbers that `findings` prints, or a pair with the library's effect."""

import csv

import numpy as np
import pytest
from command_here import ok
from small_trained import claims, settings

from datamodels_inf import contrast
from pipeline.errors import BadInputError


def printed_findings(folder):
    words = [word for setting in settings(folder) for word in ("--set", setting)]
    lines = ok(folder, "findings", *words, "--store", "store", "--csv").splitlines()
    return list(csv.DictReader(lines))


def test_findings_are_those_that_are_printed_by_number_and_with_both_intervals(small_set):
    first = claims(small_set, "verify.top=20")
    printed = printed_findings(small_set)
    assert [row.finding for row in first] == [int(row["number"]) for row in printed]
    assert len(first) >= 3
    for row, line in zip(first, printed, strict=True):
        assert (" ".join(map(str, row.members_i)), " ".join(map(str, row.members_j))) == (line["i"], line["j"])
        assert (row.method, row.target, row.class_target) == ("contrast", int(line["target"]), line["class_target"])
        for name in ("effect", "effect_low", "effect_high", "effect_low_selected", "effect_high_selected"):
            assert getattr(row, name) == pytest.approx(float(line[name]))
    assert claims(small_set, "verify.findings=[3,1]") == [first[2], first[0]]


@pytest.mark.parametrize("pair", ("[3, 9]", "['3 7', '12 20']"))
def test_a_named_pair_has_the_effect_of_the_library_and_no_number(small_set, pair):
    (row,) = claims(small_set, f"verify.pair={pair}", "verify.target=1")
    masks = np.unpackbits(np.load(small_set / "set" / "masks.npy"), axis=1, count=40)[600:]
    margins = np.load(small_set / "set" / "margins.npy")[600:, 1].astype(float)
    (path,) = (small_set / "store" / "fit").glob("*/datamodel.npz")
    with np.load(path) as fit:
        place = fit["targets"].tolist().index(1)
        theta, bias = fit["weight"][:, place].astype(float), fit["bias"][place]
    effect = contrast(masks, margins, list(row.members_i), list(row.members_j), theta=theta, bias=bias)
    assert (row.effect, row.effect_low) == pytest.approx((effect.estimate, effect.interval[0]), rel=1e-6)
    assert (row.finding, row.method) == (None, "")
    assert np.isnan(row.effect_low_selected)
    assert len(row.members_i) == len(row.members_j) == (1 if pair == "[3, 9]" else 2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["verify.findings=[77]"], "names finding 77, but there are"),
        (["verify.top=1", "verify.method=swap"], "verify.method 'swap' was not run"),
        (["verify.pair=[3, 99]", "verify.target=1"], "there is no training image 99"),
        (["verify.pair=[3, 3]", "verify.target=1"], "two different images"),
        (["verify.pair=['3 4', '5']", "verify.target=1"], "groups of as many"),
        (
            ["verify.pair=[3, 9]", "verify.target=19"],
            "19 has no datamodel, because fit.targets = 'needed' fits only 1, 2, 4, 8; say --set fit.targets=all",
        ),
        (["verify.pair=[3, 9]", "verify.target=20"], "there is no target 20"),
    ],
)
def test_what_cannot_be_verified_is_said_in_a_sentence(small_set, settings, words):
    with pytest.raises(BadInputError, match=words):
        claims(small_set, *settings)


def test_nothing_found_means_nothing_to_verify(small_set):
    assert claims(small_set, "verify.findings=[2]", "test.alpha=1e-200") == []
