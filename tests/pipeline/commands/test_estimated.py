"""Influences as commands read them: numbers of the library, findings of adjusted p-values, ranks, words."""

import numpy as np
import pytest
from scipy.stats import t
from small_atlas import ALL, FIT_ROWS, TARGETS, D, by_library, pipeline, theta_of

from datamodels_inf import adjust_pvalues
from datamodels_inf.influence_ranks import rank_intervals
from pipeline.commands.estimated import Estimated, Single
from pipeline.errors import BadInputError

HARMONIC = {m: np.sum(1 / np.arange(1, m + 1)) for m in (D, D * TARGETS)}


@pytest.fixture(params=("target", "all"))
def estimated(request, estimated_source, estimated_run):
    made = pipeline(estimated_source, estimated_run / "data", ALL, f"atlas.family={request.param}")
    return Estimated.of(made, "the command")


@pytest.fixture
def library(estimated_source, estimated_run):
    return [by_library(estimated_source, estimated_run / "data", target) for target in range(TARGETS)]


def found_by(estimated, library):
    """(targets, images): adjusted p-values of the rounded estimates held against 0.2."""
    p = np.stack([estimated.atlas.pvalue(k, *estimated.atlas.of_target(k)) for k in range(TARGETS)])
    np.testing.assert_allclose(p, [one.pvalue for one in library], rtol=1e-3)
    if estimated.summary.family == "all":
        return adjust_pvalues(p.ravel(), "by").reshape(p.shape) <= 0.2
    return np.stack([adjust_pvalues(row, "by") <= 0.2 for row in p])


@pytest.mark.parametrize("place", (0, 17))
def test_every_number_is_that_of_the_library(estimated, library, estimated_run, place):
    found = found_by(estimated, library)
    size = D * TARGETS if estimated.summary.family == "all" else D
    n_found = found.sum() if estimated.summary.family == "all" else found[place].sum()
    level = max(0.95, 1 - 0.2 * n_found / (size * HARMONIC[size]))
    expected = library[place]
    theta, _ = theta_of(estimated_run / "data", place)
    singles = list(estimated.singles(place, np.arange(D)))
    assert {s.finding for s in singles} == {True, False}
    for image, single in enumerate(singles):
        assert (single.image, single.target, single.n_found) == (image, place, n_found)
        assert (single.class_image, single.class_target) == (("cat", "dog")[image % 2], ("cat", "dog")[place % 2])
        assert single.finding == found[place, image]
        assert single.theta == theta[image]
        assert single.estimate == pytest.approx(expected.estimate[image], rel=1e-6)
        assert (single.low, single.high) == pytest.approx([end[image] for end in expected.interval], abs=1e-6)
        half = t.isf((1 - level) / 2, expected.n - 1) * expected.standard_error[image]
        longer = single.estimate - half, single.estimate + half
        assert (single.low_selected, single.high_selected) == pytest.approx(
            longer if single.finding else (np.nan, np.nan), abs=1e-6, nan_ok=True
        )


def test_ranks_are_those_of_the_library_for_the_images_that_are_shown(estimated, estimated_source, estimated_run):
    images = np.array([3, 9, 4])
    masks = np.load(estimated_source / "data" / "train_masks_50pct.npy")[FIT_ROWS:]
    margins = np.load(estimated_source / "data" / "test_margins_50pct.npy")[FIT_ROWS:, 20]
    theta, bias = theta_of(estimated_run / "data", 20)
    for confidence in (0.95, 0.999):
        ranks = rank_intervals(masks, margins, theta=theta, bias=bias, images=images, confidence=confidence)
        for k, single in enumerate(estimated.singles(20, images, confidence)):
            assert (single.rank, single.rank_low, single.rank_high) == (ranks.rank[k], ranks.low[k], ranks.high[k])
            assert single.rank_words == ranks.in_words(k)


def test_the_strongest_of_a_target_and_of_an_image(estimated, library):
    estimates = np.stack([one.estimate for one in library])
    helping, hurting = estimated.strongest_images(5, 3)
    assert helping.tolist() == np.argsort(-estimates[5])[:3].tolist()
    assert hurting.tolist() == np.argsort(estimates[5])[:3].tolist()
    helped, hurt = estimated.strongest_places(7, 2)
    assert helped.tolist() == np.argsort(-estimates[:, 7])[:2].tolist()
    assert hurt.tolist() == np.argsort(estimates[:, 7])[:2].tolist()
    helping, hurting = estimated.strongest_images(5, 1000)
    assert sorted([*helping, *hurting]) == list(range(D))
    assert (estimates[5][helping] > 0).all() and (estimates[5][hurting] < 0).all()


def test_counts_of_weights_of_an_image(estimated, library, estimated_run):
    found = found_by(estimated, library)
    theta = np.stack([theta_of(estimated_run / "data", target)[0] for target in range(TARGETS)])
    stand = found & (theta * np.stack([one.estimate for one in library]) > 0)
    for image in (0, 7, 23):
        expected = (theta[:, image] != 0).sum(), stand[:, image].sum()
        assert estimated.weights_of_image(image) == expected


def test_images_are_found_by_number_or_class(estimated):
    assert (estimated.find_image("5"), estimated.find_image("dog:2"), estimated.find_place("cat:3")) == (5, 5, 6)
    with pytest.raises(BadInputError, match=r"^--image dog:12: class dog has 12 training images"):
        estimated.find_image("dog:12")


def single(**changed):
    values = dict(
        image=12, target=84, class_image="5", class_target="3", estimate=-0.38, standard_error=0.04, low=-0.45,
        high=-0.31, low_selected=-0.48, high_selected=-0.28, pvalue=1e-9, finding=True, n_found=87, theta=-0.4,
        rank=400, rank_low=397, rank_high=400, rank_words="",
    )  # fmt: skip
    return Single(**{**values, **changed})


def test_words():
    who = "training on this 5 (train 12) instead of an average other image"
    start = f"{who} lowers the margin on this 3 (target 84) by 0.38"
    assert single().words == f"{start}, 95 % interval 0.31 to 0.45; 0.28 to 0.48 as one of 87 findings"
    assert single(low_selected=-0.45, high_selected=-0.31).words == f"{start}, 95 % interval 0.31 to 0.45"
    assert single(finding=False).words == f"{start}, 95 % interval 0.31 to 0.45; not a finding"
    unsure = single(finding=False, low=-0.8, high=0.04).words
    assert unsure == f"{start}, 95 % interval -0.04 to 0.8, which holds zero; not a finding"
    raised = single(estimate=0.38, low=0.31, high=0.45, low_selected=0.3, high_selected=0.5, n_found=1).words
    assert raised.endswith("raises the margin on this 3 (target 84) by 0.38, 95 % interval 0.31 to 0.45; "
                           "0.3 to 0.5 as the only finding")  # fmt: skip
    unknown = single(standard_error=np.inf, low=-np.inf, high=np.inf, finding=False, class_image="", class_target="")
    assert unknown.words == (
        "the influence of image 12 on target 84 is not known: every held-out model saw the image, or none did"
    )
