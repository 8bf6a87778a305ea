"""The check of masks: quiet on exchangeable masks of any law, loud on each way in which the premise fails."""

import numpy as np
import pytest
from long_runs import times

from datamodels_inf import PackedMasks, check_exchangeable

N, D, CLASSES = 600, 60, 6
DATA_SETS = times(150, 300)
LABELS = np.arange(D) % CLASSES


def fixed_size(rng, n=N, d=D, m=None):
    return rng.random((n, d)).argsort(axis=1) < (d // 2 if m is None else m)


def bernoulli(rng, n=N, d=D, p=0.5):
    return rng.random((n, d)) < p


def mixed(rng, n=N, d=D):
    """A size of its own for each mask: coins that share a bias."""
    return rng.random((n, d)) < rng.uniform(0.2, 0.8, (n, 1))


def stratified(rng, n=N):
    masks = np.empty((n, D), bool)
    for c in range(CLASSES):
        masks[:, c == LABELS] = fixed_size(rng, n, D // CLASSES)
    return masks


LAWS = {
    "half": fixed_size,
    "quarter": lambda rng: fixed_size(rng, m=D // 4),
    "coins": bernoulli,
    "rare": lambda rng: bernoulli(rng, p=0.1),
    "mixed": mixed,
    "few rows": lambda rng: fixed_size(rng, n=40),
    "few images": lambda rng: bernoulli(rng, d=8),
    "one image": lambda rng: fixed_size(rng, d=40, m=1),
    "all but one": lambda rng: fixed_size(rng, d=40, m=39),
    "hardly any": lambda rng: bernoulli(rng, n=200, d=100, p=0.01),
    "nearly all": lambda rng: bernoulli(rng, n=200, d=100, p=0.99),
    "any size": lambda rng: rng.random((N, 20)).argsort(axis=1) < rng.integers(0, 21, (N, 1)),
}


def found(report):
    return {check.name for check in report.checks if check.found}


def check_of(report, name):
    [check] = (check for check in report.checks if check.name == name)
    return check


def test_detects_the_law():
    rng = np.random.default_rng(0)
    fixed = check_exchangeable(fixed_size(rng))
    assert (fixed.law, fixed.smallest, fixed.largest, fixed.proportion) == ("fixed-size", D // 2, D // 2, 0.5)
    coins = check_exchangeable(bernoulli(rng, p=0.3))
    assert coins.law == "bernoulli"
    assert coins.proportion == pytest.approx(0.3, abs=0.02)
    for report in (fixed, coins):
        assert report.ok
        assert report.tau_x == 0.0
        assert report.reasons == ()


@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_are_rare(law):
    """At α = 0.05, of data sets with labels and fit rows; measured at the default 0.001: see docs/method.md."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(DATA_SETS):
        masks = LAWS[law](rng)
        labels = np.arange(masks.shape[1]) % 3
        fit = LAWS[law](rng)[:100]
        alarms += bool(found(check_exchangeable(masks, labels=labels, fit_masks=fit, alpha=0.05)))
    assert alarms <= DATA_SETS * 0.05 + 4 * np.sqrt(DATA_SETS * 0.05 * 0.95)


# Each way in which the premise fails.


def blocks(rng):
    return np.repeat(fixed_size(rng, d=D // 3), 3, axis=1)


def antithetic(rng):
    half = fixed_size(rng, N // 2)
    return np.concatenate([half, ~half])


def reseeded(rng):
    return np.repeat(fixed_size(rng, N // 2), 2, axis=0)[rng.permutation(N)]


def slow_chain(rng):
    """Each mask is the one before with two images exchanged."""
    masks = np.repeat(fixed_size(rng, 1), N, axis=0)
    for k in range(1, N):
        masks[k] = masks[k - 1]
        masks[k, [rng.choice(np.flatnonzero(masks[k])), rng.choice(np.flatnonzero(~masks[k]))]] ^= True
    return masks


def uneven(rng):
    return rng.random((N, D)) < np.linspace(0.4, 0.6, D)


def favoured(rng):
    masks = bernoulli(rng)
    masks[:, 17] = rng.random(N) < 0.7
    return masks


def orthogonal(rng):
    """Every image in exactly half of the masks: the rows are not independent."""
    return np.concatenate(
        [rng.permuted(np.repeat([True, False], N // 20)[:, None].repeat(D, 1), axis=0) for _ in range(10)]
    )


def untrained(rng):
    masks = fixed_size(rng)
    masks[[3, 100, 500]] = False
    return masks


@pytest.mark.parametrize(("law", "name"), [
    (blocks, "Pairs of images"),
    (antithetic, "Complements"),
    (reseeded, "Repeated masks"),
    (slow_chain, "Neighbouring rows"),
    (uneven, "Images"),
    (favoured, "Images"),
    (orthogonal, "Images"),
    (untrained, "Empty and full masks"),
])  # fmt: skip
def test_what_breaks_the_premise_is_found(law, name):
    report = check_exchangeable(law(np.random.default_rng(2)))
    assert not report.ok
    assert np.isnan(report.tau_x)
    assert name in found(report)
    assert check_of(report, name).found in report.reasons


def test_a_favoured_image_and_untrained_rows_are_named():
    report = check_exchangeable(favoured(np.random.default_rng(2)))
    assert "column 17 is in" in check_of(report, "Images").found
    report = check_exchangeable(untrained(np.random.default_rng(2)))
    assert (
        "3 of 600 masks hold no image (tested rows 3, 100, 500, from 0)"
        in check_of(report, "Empty and full masks").found
    )


def test_two_images_that_go_together_are_named():
    masks = fixed_size(np.random.default_rng(2), 100)
    masks[:, 41] = masks[:, 7]
    check = check_of(check_exchangeable(masks), "Pairs of images")
    assert "columns 7 and 41 are both in or both out in 100 of 100" in check.found


def test_stratified_masks_are_exchangeable_within_classes():
    rng = np.random.default_rng(3)
    report = check_exchangeable(stratified(rng), labels=LABELS, fit_masks=stratified(rng))
    assert (report.law, report.ok, report.tau_x) == ("stratified", True, 0.0)
    assert "every mask holds the same number of images of each class (of class 0: 5 of 10)" in report.checks[0].found
    pairs = np.array([[[0], [6]], [[0], [1]]])
    assert report.testable(pairs, LABELS).tolist() == [True, False]
    groups = np.array([[[0, 1], [6, 7]], [[0, 1], [7, 6]]])  # Swapped one by one: 0 with 6, then 0 with 7.
    assert report.testable(groups, LABELS).tolist() == [True, False]
    assert check_exchangeable(fixed_size(rng), labels=LABELS).testable(pairs, None).all()


def test_classes_of_one_image_say_nothing():
    """(x − ½)² does not vary: a law without variance must not be held against rounding."""
    rng = np.random.default_rng(3)
    labels = np.where(np.arange(D) < 3, np.arange(D), 3)
    for _ in range(20):
        assert check_exchangeable(fixed_size(rng), labels=labels).law == "fixed-size"


def test_classes_of_different_rates_are_strata_too():
    rng = np.random.default_rng(3)
    report = check_exchangeable(rng.random((N, D)) < np.where(LABELS < 3, 0.3, 0.6), labels=LABELS)
    assert (report.law, report.ok) == ("stratified", True)


def test_blocks_inside_classes_are_found_all_the_same():
    """Stratified by class, and within a class in blocks of two."""
    rng = np.random.default_rng(3)
    masks = np.empty((N, D), bool)
    for c in range(CLASSES):
        masks[:, np.flatnonzero(c == LABELS)] = np.repeat(fixed_size(rng, d=D // CLASSES // 2, m=2), 2, axis=1)
    report = check_exchangeable(masks, labels=LABELS)
    assert (report.law, report.ok) == ("stratified", False)
    assert "Pairs of images" in found(report)


def test_false_alarms_within_strata_are_rare():
    rng = np.random.default_rng(4)
    bad = sum(not check_exchangeable(stratified(rng, 200), labels=LABELS, alpha=0.05).ok for _ in range(DATA_SETS))
    assert bad <= DATA_SETS * 0.05 + 4 * np.sqrt(DATA_SETS * 0.05)


def test_masks_of_the_fit_rows():
    rng = np.random.default_rng(5)
    masks, fit = fixed_size(rng), fixed_size(rng)
    assert check_exchangeable(masks, fit_masks=fit).ok
    fit[7] = masks[3]
    report = check_exchangeable(masks, fit_masks=PackedMasks.from_bool(fit))
    assert "1 of 600 tested masks are also masks of fit rows" in check_of(report, "Masks of the fit rows").found
    fit[7] = ~masks[3]
    report = check_exchangeable(masks, fit_masks=fit)
    assert "1 of 600 tested masks are complements" in check_of(report, "Complements of fit rows").found


@pytest.mark.parametrize("exchanged", (1, 3, 6))
def test_tested_masks_that_are_near_copies_of_fit_rows_are_found(exchanged):
    """Some images of each fit mask exchanged for others: no mask is the same, and θ̂ has seen them all the same."""
    rng = np.random.default_rng(5)
    fit = fixed_size(rng, 500, 120)
    tested = fit.copy()
    for row in tested:
        inside, outside = np.flatnonzero(row), np.flatnonzero(~row)
        row[rng.choice(inside, exchanged, replace=False)] = False
        row[rng.choice(outside, exchanged, replace=False)] = True
    report = check_exchangeable(tested, fit_masks=fit)
    assert "Fit and tested rows" in found(report)
    assert not report.ok
    assert check_exchangeable(tested, fit_masks=fixed_size(rng, 500, 120)).ok


def test_a_drift_between_classes_spoils_the_given_order_too():
    """One class grows and the other shrinks along the rows; the size of the masks does not change."""
    rng = np.random.default_rng(6)
    many = np.linspace(8, 22, N).round().astype(int)
    sides = [np.stack([rng.permutation(30) < m for m in sizes]) for sizes in (many, 30 - many)]
    report = check_exchangeable(np.concatenate(sides, axis=1), labels=np.repeat([0, 1], 30))
    assert (report.law, report.ok, report.smallest == report.largest) == ("stratified", True, True)
    assert report.found("the given order")


def test_a_drift_of_the_size_spoils_only_the_given_order():
    rng = np.random.default_rng(6)
    report = check_exchangeable(rng.random((N, D)) < np.linspace(0.45, 0.55, N)[:, None])
    assert report.ok
    assert report.found("the given order") == (check_of(report, "Mask size along the rows").found,)
    step = rng.random((N, D)) < np.where(np.arange(N) % 200 < 100, 0.45, 0.55)[:, None]  # No trend.
    assert check_exchangeable(step).found("the given order")


def test_the_law_of_duplicates():
    """Masks of 2 of 40 images: 780 of them, so 100 rows repeat some; the check knows that, also for few repeats."""
    rng = np.random.default_rng(4)
    assert check_exchangeable(fixed_size(rng, 100, 40, 2)).ok
    large = fixed_size(rng, 100, 40, 20)
    large[1] = large[0]
    assert "1 of 100 masks repeat an earlier one" in check_exchangeable(large).reasons[0]
    assert check_exchangeable(bernoulli(rng, 1000, 6)).ok


def test_what_would_have_been_noticed_is_what_is_noticed():
    """The figures in `notices` are at even odds: twice the deviation is found, half of it as a rule not."""
    rng = np.random.default_rng(7)
    noticed = float(check_of(check_exchangeable(bernoulli(rng)), "Images").notices.rsplit(" ", 1)[1])
    assert 0.05 < noticed < 0.15
    for factor, expected in ((2.0, 20), (0.4, 0)):
        alarms = 0
        for _ in range(20):
            masks = bernoulli(rng)
            masks[:, 5] = rng.random(N) < 0.5 + factor * noticed
            alarms += not check_exchangeable(masks).ok
        assert abs(alarms - expected) <= 2


def test_few_rows_say_nothing():
    report = check_exchangeable(fixed_size(np.random.default_rng(0), 10), labels=LABELS)
    assert report.ok
    assert check_of(report, "Pairs of images").notices == "nothing: there are fewer than 20 rows"


def test_strata_show_in_few_rows_too():
    """By class sums that do not vary at all, or by the fit rows."""
    rng = np.random.default_rng(3)
    masks = stratified(rng)
    assert check_exchangeable(masks[:8], labels=LABELS).law == "stratified"
    assert check_exchangeable(masks[:2], labels=LABELS).law == "fixed-size"
    assert check_exchangeable(masks[:2], labels=LABELS, fit_masks=masks[100:]).law == "stratified"
    for n in (2, 5, 10, 19):
        alarms = sum(
            check_exchangeable(fixed_size(rng, n), labels=LABELS, alpha=0.05).law == "stratified" for _ in range(200)
        )
        assert alarms <= 4


def test_blocks_across_classes_are_found():
    """Two images of two classes that always go together: the class sums look like strata, but the rest tells."""
    rng = np.random.default_rng(3)
    pairs = np.repeat(fixed_size(rng, d=D // 2), 2, axis=1)
    report = check_exchangeable(pairs, labels=np.arange(D) % 2)
    assert not report.ok
    assert "Pairs of images" in found(report)
    copied = stratified(rng)
    copied[:, LABELS == 1] = copied[:, LABELS == 0]
    assert not check_exchangeable(copied, labels=LABELS).ok
    tied = stratified(rng)
    other = np.flatnonzero(LABELS == 1)[1:]
    for row in tied:  # Image 1 follows image 0, at the cost of another one of its class.
        if row[1] != row[0]:
            exchange = rng.choice(other[row[other] == row[0]])
            row[[1, exchange]] = row[[exchange, 1]]
    assert not check_exchangeable(tied, labels=LABELS).ok


def test_many_images_are_sampled_and_strata_then_need_labels():
    rng = np.random.default_rng(8)
    labels = np.arange(3000) % 10
    masks = np.empty((100, 3000), bool)
    for c in range(10):
        masks[:, c == labels] = fixed_size(rng, 100, 300)
    blind = check_exchangeable(masks)
    assert blind.ok
    assert "not ten strata, which only their labels show at this size" in check_of(blind, "Pairs of images").notices
    assert check_exchangeable(masks, labels=labels).law == "stratified"


@pytest.mark.parametrize("masks", (np.zeros(3), np.zeros((0, 3)), [[0, 2]], [[0.5, 1]]))
def test_bad_masks(masks):
    with pytest.raises(ValueError, match="`masks` must"):
        check_exchangeable(masks)


def test_bad_labels_and_fit_masks():
    masks = fixed_size(np.random.default_rng(0))
    for labels in (LABELS[:-1], LABELS.astype(float), "dog"):
        with pytest.raises(ValueError, match="`labels` must be 60 whole numbers"):
            check_exchangeable(masks, labels=labels)
    with pytest.raises(ValueError, match="`fit_masks` must have 60 columns"):
        check_exchangeable(masks, fit_masks=masks[:, :50])


def test_integer_masks_are_fine():
    assert check_exchangeable((np.random.default_rng(0).random((50, 20)) < 0.5).astype(int)).ok
