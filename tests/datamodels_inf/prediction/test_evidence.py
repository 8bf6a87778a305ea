import numpy as np
import pytest

from datamodels_inf import Datamodel, PackedMasks, contrast, fit_lasso
from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.influence import MaskLaw
from datamodels_inf.prediction import ImageEvidence, PairEvidence
from datamodels_inf.prediction.evidence import informative_share

D, TARGETS = 120, 16


def masks_of(rng, n, held=D // 2):
    return rng.permuted(np.tile(np.arange(D) < held, (n, 1)), axis=1)


def evidence_of(masks, margins, datamodel, *, fitted):
    maker = AtlasMaker(PackedMasks.from_bool(masks), tails=False)
    tile = maker.tile(range(datamodel.n_targets), margins, [datamodel])
    return ImageEvidence.of(tile, datamodel, maker.law, fitted=fitted)


@pytest.fixture(scope="module", params=(90, 200, 1200), ids=lambda n: f"{n} rows")
def study(request):
    """(θ*, masks, margins, a LASSO of them): dense effects, from fewer rows than images on."""
    rng = np.random.default_rng(request.param)
    masks, theta = masks_of(rng, request.param), 0.2 * rng.standard_normal((D, TARGETS))
    margins = masks @ theta + rng.standard_normal((len(masks), TARGETS))
    return theta, masks, margins, fit_lasso(masks, margins, threads=1)


def standardised(theta, evidence):
    """(Δ̂ − Δ)/SE of pairs of neighbours."""
    pairs = np.arange(D).reshape(-1, 2)
    rows = [PairEvidence.of(evidence, target, pairs, 100) for target in range(TARGETS)]
    truth = [(theta[pairs[:, 0], target] - theta[pairs[:, 1], target]) for target in range(TARGETS)]
    return np.array([(row.difference[:, 0] - true) / row.error for row, true in zip(rows, truth, strict=True)])


def test_on_the_rows_of_the_fit_errors_are_as_large_as_they_say(study):
    theta, masks, margins, datamodel = study
    z = standardised(theta, evidence_of(masks, margins, datamodel, fitted=True))
    assert np.std(z) == pytest.approx(1.0, abs=0.09)  # four standard errors of an sd of 960, and targets share noise
    assert abs(np.mean(z * np.sign(theta[0::2] - theta[1::2]).T)) < 0.15


def test_without_degrees_of_freedom_they_are_larger_than_they_say(study):
    """The broken variant that the check above must catch, where a fit spends much of its rows."""
    theta, masks, margins, datamodel = study
    corrected, plain = (
        np.std(standardised(theta, evidence_of(masks, margins, datamodel, fitted=fitted))) for fitted in (True, False)
    )
    assert plain > corrected
    assert plain > 1.09 or len(masks) != 200


def test_scores_from_elsewhere_have_the_contrast_of_these_rows():
    rng = np.random.default_rng(1)
    masks, theta = masks_of(rng, 4000), 0.2 * rng.standard_normal((D, 1))
    margins = masks @ theta + rng.standard_normal((4000, 1))
    scores = Datamodel(theta + 0.1 * rng.standard_normal((D, 1)), np.zeros(1), np.full(1, np.nan))
    row = PairEvidence.of(evidence_of(masks, margins, scores, fitted=False), 0, np.array([[3, 7], [8, 2]]), 1000)
    for k, (i, j) in enumerate(((3, 7), (8, 2))):
        plain = contrast(masks, margins[:, 0], i, j, theta=scores.weight[:, 0])
        half = (plain.interval[1] - plain.interval[0]) / 2 / 1.96
        assert row.difference[k, 0] == pytest.approx(plain.estimate, abs=0.3 * half)
        assert row.error[k] == pytest.approx(half, rel=0.06)
        assert row.test_error[k] == pytest.approx(2.0 * row.error[k])
    assert row.noise == pytest.approx(np.std(margins - masks @ scores.weight), rel=0.05)


def test_groups_are_matched_member_by_member(study):
    _, masks, margins, datamodel = study
    evidence = evidence_of(masks, margins, datamodel, fitted=True)
    single = PairEvidence.of(evidence, 0, np.array([[1, 5], [2, 9]]), 50)
    group = PairEvidence.of(evidence, 0, np.array([[[1, 2], [5, 9]]]), 50)
    assert group.difference[0] == pytest.approx(single.difference[:, 0])
    assert group.error[0] ** 2 == pytest.approx(np.mean(single.error**2))


def test_a_fit_that_spent_its_rows_knows_nothing():
    rng = np.random.default_rng(2)
    masks, margins = masks_of(rng, 100), rng.standard_normal((100, 1))
    full = Datamodel(np.ones((D, 1)), np.zeros(1), np.zeros(1))
    evidence = evidence_of(masks, margins, full, fitted=True)
    assert np.isinf(evidence.standard_error).all() and np.isfinite(evidence.estimate).all()


@pytest.mark.parametrize("g", (1, 2, 3))
@pytest.mark.parametrize("held", (30, 60))
def test_informative_masks_are_as_many_as_counted(g, held):
    masks = masks_of(np.random.default_rng(3), 20_000, held)
    law = MaskLaw.of(PackedMasks.from_bool(masks))
    left, right = masks[:, :g], masks[:, g : 2 * g]
    counted = np.mean((left.all(1) & ~right.any(1)) | (right.all(1) & ~left.any(1)))
    assert informative_share(law, g) == pytest.approx(counted, abs=4 * np.sqrt(counted / 20_000))


def test_of_a_fit_that_spent_its_rows_on_weights_nothing_is_known_even_if_nothing_is_left_to_explain():
    masks = masks_of(np.random.default_rng(5), 100)
    theta = np.ones((D, 1))
    found = evidence_of(masks, masks @ theta, Datamodel(theta, np.zeros(1), np.zeros(1)), fitted=True)
    assert np.isinf(found.standard_error).all()
    assert np.isfinite(found.estimate).all()
