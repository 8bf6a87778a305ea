"""Summaries go through a manifest on the disk and back, whatever they hold."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from datamodels_inf import check_exchangeable
from datamodels_inf.replication import Replication
from pipeline.errors import BadInputError
from pipeline.stages import STAGES
from pipeline.store.cache import Result, Spec, Store
from pipeline.summaries import (
    AgreementSummary,
    AtlasSummary,
    CalibrationSummary,
    CaseSummary,
    Decided,
    DesignSummary,
    DownloadSummary,
    EvidenceSummary,
    FeaturesSummary,
    Figure,
    FitSummary,
    FreshAgreementSummary,
    FreshSummary,
    HeldFamily,
    InfluenceSummary,
    LookAlikesSummary,
    MethodFigures,
    PredictionSummary,
    PriorSummary,
    RefereePageSummary,
    RefereeSummary,
    ReportSummary,
    RobustnessSummary,
    TargetQuality,
    TestSummary,
    VerifySummary,
    read_summary,
)

MASKS = check_exchangeable(np.random.default_rng(0).random((200, 12)) < 0.5)
HELD = HeldFamily(
    n_tests=80, n_found=9, others=None, findings=Replication(9, 8 / 9, 0.5, 1.0, 0.9, None, 7, 1, 1.0, 2 / 9, 0.7)
)
UNKNOWN = replace(MASKS, checks=(replace(MASKS.checks[0], pvalue=math.nan), *MASKS.checks[1:]))


def of_tests(masks):
    return TestSummary(
        n_tests=2000, n_untested=30, methods=("swap", "paired"), n_rows={"swap": 100, "paired": 170},
        block_rows=(70, 100), notes={"swap": {"θ̂_i = θ̂_j": 7}}, tau_x=masks.tau_x,
        design=DesignSummary(design="paper", seed=0, n_repeated=1, n_targets=12, n_of_kind={"raises": 3}),
        mask_law=masks.law, mask_proportion=masks.proportion, exchangeable=masks.ok,
        exchangeability_reasons=masks.reasons, masks=masks,
    )  # fmt: skip


NEAR = LookAlikesSummary(images=(4, 9), distances=(0.1, 1 / 3), near_copies=(4,), typical=2.5)
CASES = (
    CaseSummary(
        finding=None, i=3, j=7, targets=(1,), near={"i": NEAR, "target 1": NEAR},
        agreement={"random": AgreementSummary(n=0, same_sign=None, effects=None, pvalues=None)},
    ),
)  # fmt: skip
REFEREED = MethodFigures(
    name="a", source="a.npy", n_claims=3, n_silent=0, verdicts={"confirmed": 2, "reversed": 1}, kinds={},
    lds=Figure(value=1 / 3, low=None, high=0.5), r2=Figure(value=None, low=None, high=None), fit_correlation=None,
    negated=True, notes=("turned",),
)  # fmt: skip
SUMMARIES = {
    "download": DownloadSummary(
        n_models=300, n_train=24, n_targets=8, masks_file="../../a/array.npy", margins_file="margins.npy", fit=(0, 0),
        coding=(200, 210), held_out=(210, 300), columns=(1, 5), outside={"../../a/array.npy": [[128, 30, "abc"]]},
    ),
    "fit": FitSummary(
        coding="signed", n_targets=2, r2_median=None, spearman_median=0.1, n_nonzero_median=4.5, mse_mask=1 / 3,
        quality=TargetQuality(targets=(1, 5), r2=(None, 0.25), spearman=(None, 1e-17)),
        calibration=CalibrationSummary(targets=(1,), scale=(None,), bias=(0.5,), r2_before=(-3.0,), r2_after=(None,)),
    ),
    "test": of_tests(MASKS),
    "evidence": EvidenceSummary(targets=(2, 7), n_train=1024, n_models=300, tile_targets=16),
    "prior": PriorSummary(
        methods={
            "swap": PredictionSummary(n_tests=1970, alpha=0.2, reason="nothing is known"),
            "paired": PredictionSummary(
                n_tests=1970, alpha=0.2, reason="", expected=1234.0, interval=(900.0, 1500.0), expected_by=1000.0,
                centre=1100, spread=0.1, weight_range=(0.8, 3.5), effect_scale=(0.0, 2.0), effect_share=(0.4, 0.6),
            ),
        },
    ),
    "atlas": AtlasSummary(targets=(7, 2), n_train=1024, n_models=500, tile_targets=16, masks=MASKS),
    "influence": InfluenceSummary(
        family="all", alpha=0.2, correction="by", n_targets=2, n_tests=2048, n_found=9, n_nonzero=1300, n_stand=4
    ),
    "features": FeaturesSummary(n_train=24, n_features=128, steps=10),
    "robustness": RobustnessSummary(
        method="contrast", metric="pixels", split=True, n_held_out=45, n_tests=99, cases=CASES
    ),
    "verify": VerifySummary(
        method=None, n_claims=4, n_pairs=3, n_couples=500, n_models=3000,
        verdicts={"confirmed": 3, "open": 1, "reversed": 0},
    ),
    "fresh": FreshSummary(n_models=10_000, n_train=400, n_targets=120, seed=2**63),
    "agreement": FreshAgreementSummary(
        n_models=10_000, n_splits=20, methods={"paired": HELD}, atlas=HeldFamily(**vars(HELD) | {"findings": None})
    ),
    "referee": RefereeSummary(
        methods=(REFEREED,), decided=(Decided(first="a", second="b", first_right=1, second_right=0),),
        n_contradictions=1, n_models=100, n_fit=50, n_train=20, n_targets=4, n_predicted=4, n_blocks=1, k=5, alpha=0.1,
        correction="by", seed=0, resamples=500, outcome="loss", higher_is_better=False, spoiled="drift",
    ),
    "referee-page": RefereePageSummary(headline="Of a, 2 of 3 claims (67 %) are confirmed and 1 reversed."),
    "report": ReportSummary(n_tests=2000, n_findings={"swap": 0, "paired": 39}),
}  # fmt: skip
WORDS = {
    "download": "100 of 300 models × 24 images, 8 targets",
    "fit": "2 targets, median held-out R² unknown",
    "test": "1,970 pairs by swap, paired, 30 not tested",
    "evidence": "300 fit rows on 1,024 images × 2 targets",
    "prior": "swap no prediction, paired 1,234 expected",
    "atlas": "1,024 images × 2 targets",
    "influence": "9 influences of 2,048; 4 of 1,300 weights stand",
    "features": "128 features of 24 images",
    "robustness": "1 pair made again by contrast, 99 tests",
    "verify": "3 confirmed, 1 open of 4 on 3,000 fresh models",
    "fresh": "10,000 fresh models, 120 targets",
    "agreement": "paired 88.9 % same sign, atlas no finding",
    "referee": "a 2 confirmed and 1 reversed of 3",
    "referee-page": "Of a, 2 of 3 claims (67 %) are confirmed and 1 reversed.",
    "report": "0 findings by swap, 39 findings by paired",
}


@pytest.fixture
def kept(tmp_path):
    """A summary as a later process reads it from the store."""

    def make(summary):
        spec = Spec("toy", 1, {})
        Store(tmp_path).make(spec, {}, lambda out: summary.as_json())
        found, reason = Store(tmp_path).look_up(spec, {})
        assert found is not None, reason
        return found

    # `outside` names files that are not here, which the store would look at.
    return lambda summary: make(summary) if not getattr(summary, "outside", {}) else through_json(tmp_path, summary)


def through_json(folder, summary):
    return Result(folder, {"summary": json.loads(json.dumps(summary.as_json()))})


def test_every_stage_has_a_summary_here():
    assert {stage.summary for stage in STAGES.values()} == {type(summary) for summary in SUMMARIES.values()}


@pytest.mark.parametrize("stage", SUMMARIES)
def test_what_is_read_back_is_what_was_said(kept, stage):
    summary = SUMMARIES[stage]
    back = read_summary(kept(summary), type(summary))
    assert back == summary
    assert back.describe() == summary.describe() == WORDS[stage]
    assert back.as_json() == summary.as_json()


def test_a_check_whose_pvalue_is_not_known_is_read_back_as_such(kept):
    back = read_summary(kept(of_tests(UNKNOWN)), TestSummary).masks
    assert math.isnan(back.checks[0].pvalue)
    assert replace(back, checks=back.checks[1:]) == replace(UNKNOWN, checks=UNKNOWN.checks[1:])
    assert replace(back.checks[0], pvalue=0.5) == replace(UNKNOWN.checks[0], pvalue=0.5)


def test_masks_that_fail_the_check_have_no_tau_and_keep_their_reasons(kept):
    dense = np.random.default_rng(0).random((400, 12)) < 0.5
    dense[:, 5] = True
    failed = check_exchangeable(dense)
    back = read_summary(kept(of_tests(failed)), TestSummary)
    assert math.isnan(back.tau_x)
    assert (back.exchangeable, back.masks.ok) == (False, False)
    assert back.exchangeability_reasons == back.masks.reasons == failed.reasons != ()


def test_what_is_not_said_is_not_in_the_manifest_and_the_default_when_read(kept):
    said = FitSummary(
        coding="mask", n_targets=1, r2_median=0.5, spearman_median=0.5, n_nonzero_median=1.0,
        quality=TargetQuality(targets=(0,), r2=(0.5,), spearman=(0.5,)),
    )  # fmt: skip
    assert "calibration" not in said.as_json()
    assert read_summary(kept(said), FitSummary).calibration is None


@pytest.mark.parametrize(
    "harm",
    (
        lambda summary: {},
        lambda summary: {**summary, "another": 1},
        lambda summary: {name: value for name, value in summary.items() if name != "masks"},
        lambda summary: {**summary, "n_tests": "many"},
        lambda summary: {**summary, "masks": {**summary["masks"], "checks": [{"name": "sizes"}]}},
    ),
    ids=("empty", "one more", "one less", "no number", "half a check"),
)
def test_a_manifest_that_is_wrong_is_one_sentence(tmp_path, harm):
    result = Result(tmp_path / "test" / "0123", {"summary": harm(SUMMARIES["test"].as_json())})
    with pytest.raises(BadInputError) as caught:
        read_summary(result, TestSummary)
    assert str(caught.value) == (
        f"{tmp_path}/test/0123/manifest.json does not say what it should; remove this folder and run again."
    )
