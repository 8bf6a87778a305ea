"""The laws of masks: their moments against all masks that there are, their tails against scipy."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, chi2, hypergeom, norm

from datamodels_inf import PackedMasks
from datamodels_inf.internal import mask_laws
from datamodels_inf.internal.mask_laws import Rows, class_pvalue, column_pvalue, is_outlier, pair_law, two_sided


def all_masks(d, s):
    """Each mask that holds s of d images, once."""
    masks = np.zeros((len(list(itertools.combinations(range(d), s))), d), bool)
    for mask, inside in zip(masks, itertools.combinations(range(d), s), strict=True):
        mask[list(inside)] = True
    return masks


def rows_of(masks, labels=None):
    labels = np.zeros(masks.shape[1], int) if labels is None else labels
    return Rows.of(PackedMasks.from_bool(masks), labels)


def drawn(rng, n, d, s):
    return rng.random((n, d)).argsort(axis=1) < s


def test_sums_by_class_are_those_of_the_masks():
    rng = np.random.default_rng(0)
    masks, labels = rng.random((50, 23)) < 0.3, rng.choice([2, 7, 11], 23)
    rows = rows_of(masks, labels)
    expected = np.stack([masks[:, labels == c].sum(axis=1) for c in (2, 7, 11)], axis=1)
    np.testing.assert_array_equal(rows.sums, expected)
    np.testing.assert_array_equal(rows.sizes, masks.sum(axis=1))
    assert (rows.n, rows.d, rows.n_classes) == (50, 23, 3)
    share = expected / [(labels == c).sum() for c in (2, 7, 11)]
    np.testing.assert_allclose(rows.kappa, share * (1 - share))
    more = rows.with_rows(rows_of(~masks, labels))
    assert (more.sums[:50] + more.sums[50:] == rows.class_sizes).all()


def test_beyond_the_most_classes_the_smallest_count_as_one(monkeypatch):
    monkeypatch.setattr(mask_laws, "MOST_CLASSES", 3)
    labels = np.repeat([5, 1, 9, 4, 8], [4, 1, 6, 2, 3])
    rows = rows_of(np.ones((1, 16), bool), labels)
    assert sorted(rows.class_sizes) == [4, 6, 6]
    assert len(set(rows.classes[np.isin(labels, [1, 4, 8])])) == 1


@pytest.mark.parametrize(("size", "s"), [(2, 1), (5, 0), (5, 1), (6, 3), (7, 5), (8, 8)])
def test_moments_of_a_product_are_those_over_all_masks(size, s):
    """z_i·z_j of two images of a class, every mask of that size being as likely."""
    z = all_masks(size, s) - s / size
    product = z[:, 0] * z[:, 1]
    mean, variance = mask_laws._product_moments(size, np.array([float(s)]))
    assert mean == pytest.approx(product.mean(), abs=1e-15)
    assert variance == pytest.approx(product.var(), abs=1e-15)


def test_moments_of_pairs_add_up_over_rows_and_classes():
    """Rows of different sizes; images of two classes are independent given the sums of their classes."""
    sizes, sums = np.array([4, 5]), np.array([[2, 1], [3, 4], [1, 0]])
    means, variances, chances = (np.zeros((2, 2)) for _ in range(3))
    for row in sums:
        sides = [all_masks(size, s) for size, s in zip(sizes, row, strict=True)]
        couples = {(c, c): side[:, :2] for c, side in enumerate(sides)}
        couples[0, 1] = np.array([(a[0], b[0]) for a in sides[0] for b in sides[1]])
        couples[1, 0] = couples[0, 1][:, ::-1]
        for (c, other), x in couples.items():
            product = (x[:, 0] - row[c] / sizes[c]) * (x[:, 1] - row[other] / sizes[other])
            means[c, other] += product.mean()
            variances[c, other] += product.var()
            chances[c, other] += (x[:, 0] == x[:, 1]).mean() / len(sums)
    found = mask_laws._pair_moments(sizes, sums)
    for values, expected in zip(found, (means, variances, chances), strict=True):
        np.testing.assert_allclose(values, expected, atol=1e-14)


@pytest.mark.parametrize(("d", "k", "s"), [(12, 4, 6), (20, 7, 3), (60, 10, 30)])
def test_kurtosis_of_class_sums_is_the_hypergeometric_one(d, k, s):
    law, values = hypergeom(d, k, s), np.arange(k + 1)
    deviation, chance = values - s * k / d, law.pmf(values)
    expected = (chance @ deviation**4) / (chance @ deviation**2) ** 2
    v = np.full(9, s * (d - s) / (d * (d - 1.0)))
    assert mask_laws._mean_kurtosis(d, np.array([k]), np.full(9, s), v)[0] == pytest.approx(expected)


def test_the_tail_of_a_sum_of_squares_is_the_larger_of_two():
    """With the moments of χ², its gamma law is χ² itself."""
    for value, freedom in ((3.0, 10), (25.0, 10), (80.0, 100), (140.0, 100)):
        z = (value - freedom) / np.sqrt(2 * freedom)
        upper = max(chi2.sf(value, freedom), norm.sf(z))
        lower = max(chi2.cdf(value, freedom), norm.cdf(z))
        assert two_sided(value, freedom, 2.0 * freedom) == pytest.approx(2 * min(upper, lower))
    assert two_sided(10.0, 10.0, 20.0) == 1.0
    assert two_sided(7.0, 3.0, 0.0) == 1.0  # What does not vary says nothing.


def test_columns_are_held_against_the_binomial_law():
    rng = np.random.default_rng(1)
    masks = drawn(rng, 200, 30, 12)
    masks[:, 4] = rng.random(200) < 0.75
    rows, columns = rows_of(masks), masks.sum(axis=0)
    share = rows.sizes.mean() / 30
    tails = 2 * np.minimum(binom.sf(columns - 1, 200, share), binom.cdf(columns, 200, share))
    p, worst, expected, _ = column_pvalue(columns, rows)
    assert (worst, expected) == (4, pytest.approx(share))
    assert p == pytest.approx(min(1.0, 2 * 30 * tails[4]), rel=1e-6)
    assert is_outlier(columns, rows, 4, 1e-3)
    assert not is_outlier(columns, rows, 5, 1e-3)


LAWS = {
    "classes": lambda masks, rows: class_pvalue(rows)[0],
    "columns": lambda masks, rows: column_pvalue(masks.sum(axis=0), rows)[0],
    "pairs": lambda masks, rows: pair_law(PackedMasks.from_bool(masks), rows).pvalue,
}


@pytest.mark.parametrize("law", LAWS)
def test_pvalues_of_masks_at_random_keep_their_level_and_use_it(law):
    """Alone; what `check_exchangeable` makes of them is in its own tests."""
    rng, small = np.random.default_rng(2), 0
    labels = np.arange(24) % 3
    for _ in range(300):
        masks = drawn(rng, 60, 24, 12)
        rows = rows_of(masks, labels if law == "classes" else None)
        small += LAWS[law](masks, rows) <= 0.2
    assert 2 <= small <= 300 * 0.2 + 4 * np.sqrt(300 * 0.2 * 0.8)


def test_each_law_finds_what_it_is_for():
    rng = np.random.default_rng(3)
    masks = drawn(rng, 200, 24, 12)
    strata = np.concatenate([drawn(rng, 200, 8, 4) for _ in range(3)], axis=1)
    assert class_pvalue(rows_of(strata, np.arange(24) // 8))[0] < 1e-6
    twins = masks.copy()
    twins[:, 9] = twins[:, 2]
    law = pair_law(PackedMasks.from_bool(twins), rows_of(twins))
    assert (law.pair, law.together, law.n_rows) == ((2, 9), 200, 200)
    assert law.pair_pvalue < 1e-6
    assert pair_law(PackedMasks.from_bool(masks), rows_of(masks)).pair_pvalue > 1e-3
