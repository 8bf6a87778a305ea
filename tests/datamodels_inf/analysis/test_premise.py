"""Masks that contradict the premise are refused as a run refuses them, with remedies in the words of Python."""

import numpy as np
import pytest
from simulated_models import simulated

from datamodels_inf import analyse, check_exchangeable
from datamodels_inf.analysis.premise import spoils_of_influences, spoils_of_tests, trusts_order

LABELS = np.arange(30) // 10


def stratified(n, seed=0):
    """Five of each ten."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, 3, 10)).argsort(axis=2) < 5).reshape(n, 30)


def outcomes_of(masks, seed=1):
    return masks[:, 3] + np.random.default_rng(seed).standard_normal(len(masks))


@pytest.mark.parametrize(
    ("change", "words"),
    (
        (lambda masks: np.concatenate([masks[:400], masks[:200]]), "average the outcomes of equal masks"),
        (lambda masks: np.concatenate([masks[:400], ~masks[200:400]]), "keep one model of each couple"),
        (
            lambda masks: masks[:, np.arange(30) // 2 * 2],
            "if every mask holds so many images of each class, give `labels`",
        ),
    ),
)
def test_what_would_make_no_pvalue_valid_is_refused(change, words):
    masks = change(simulated()[0])
    with pytest.raises(ValueError, match=f"(?s)not independent and exchangeable.*{words}.*allow_unexchangeable=True"):
        analyse(masks, outcomes_of(masks), k=2)
    result = analyse(masks, outcomes_of(masks), k=2, allow_unexchangeable=True)
    assert result.warning and "Warning" in repr(result)


def test_stratified_masks_are_tested_within_classes():
    masks = stratified(1200)
    result = analyse(masks, outcomes_of(masks), labels=LABELS, k=3, method="contrast")
    tests = result.tests()
    across = tests["class_i"] != tests["class_j"]
    assert across.any() and not across.all()
    assert tests["pvalue"].isna().equals(across) and tests.loc[across, "note"].str.startswith("not tested").all()
    assert (tests.loc[across, "n_rows"] == 0).all() and not tests.loc[across, "finding"].any()
    with pytest.raises(ValueError, match="stratified by class, so that an image can only be compared with others"):
        result.influence(0)
    with pytest.raises(ValueError, match="every pair is of two classes"):
        analyse(masks, outcomes_of(masks), labels=LABELS, pairs=[(0, 29, 0)])
    assert (
        "pairs across classes"
        in analyse(masks, outcomes_of(masks), labels=LABELS, pairs=[(0, 29, 0)], allow_unexchangeable=True).warning
    )


def test_a_drift_is_refused_only_where_the_order_is_trusted():
    rng = np.random.default_rng(0)
    share = np.concatenate([np.full(400, 0.5), np.linspace(0.2, 0.8, 400)])
    masks = rng.random((800, 30)) < share[:, None]
    options = {"fit_rows": 400, "k": 2}
    with pytest.raises(ValueError, match='order = "given" needs rows of one law'):
        analyse(masks, outcomes_of(masks), order="given", **options)
    analyse(masks, outcomes_of(masks), **options)
    analyse(masks, outcomes_of(masks), order="given", method="contrast", **options)


def test_words_about_what_is_spoiled():
    report = check_exchangeable(stratified(400), labels=LABELS)
    assert "same number of images of each class" in spoils_of_influences(report)
    assert spoils_of_tests(report, "permuted", ["swap"]).endswith("(pairs across classes)")
    assert (trusts_order("given", ["swap"]), trusts_order("given", ["paired"]), trusts_order("permuted", ["swap"])) == (
        True, False, False,
    )  # fmt: skip
