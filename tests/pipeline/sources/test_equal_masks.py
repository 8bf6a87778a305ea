"""Rows of equal masks are made one."""

import numpy as np
import pytest
from masks_of_people import IMAGES, TOP, make, run

from pipeline.sources.equal_masks import Groups, group_by_mask


def test_averaged_margins_are_the_means_of_equal_masks(tmp_path):
    masks = make(tmp_path / "0", "reseeded")
    margins = np.load(tmp_path / "0" / "margins.npy").astype(np.float64)
    said = []
    run(tmp_path / "0", *TOP, "source.group_by_mask=true", "source.fit_rows=150", "source.held_out_rows=400",
        "test.method=contrast", say=said.append)  # fmt: skip
    [folder] = (tmp_path / "0" / "store" / "download").glob("[0-9a-f]*")
    kept = np.unpackbits(np.load(folder / "masks.npy"), axis=1, count=IMAGES).astype(bool)
    means = np.load(folder / "margins.npy")
    assert len(kept) == len(np.unique(kept, axis=0)) == 550
    for row in (0, 7, 149, 150, 549):
        same = (masks == kept[row]).all(axis=1)
        assert same.sum() == 4
        np.testing.assert_allclose(means[row], margins[same].mean(axis=0), rtol=1e-5, atol=1e-6)
    first = [np.flatnonzero((masks == mask).all(axis=1))[0] for mask in kept]
    assert first == sorted(first)
    assert any("1,650 models repeat a mask" in line for line in said)


def naive_groups(masks, rows):
    """{mask: its rows}, in the order in which a mask is seen first."""
    groups = {}
    for row in rows.tolist():
        groups.setdefault(masks[row].tobytes(), []).append(row)
    return list(groups.values())


@pytest.mark.parametrize(("n", "d"), [(1, 5), (60, 3), (60, 40), (5000, 9)])
def test_rows_are_grouped_as_a_dictionary_would(n, d):
    rng = np.random.default_rng([n, d])
    masks = rng.random((n, d)) < 0.5
    bits = np.packbits(masks, axis=1)
    rows = np.flatnonzero(rng.random(n) < 0.8) if n > 1 else np.arange(1)
    values = rng.normal(size=(n, 2))
    groups, expected = group_by_mask(lambda some: bits[some], rows, d), naive_groups(masks, rows)
    every = np.arange(len(groups))
    assert len(groups) == len(expected)
    assert groups.first(every).tolist() == [some[0] for some in expected]
    assert groups.rows(every).tolist() == [row for some in expected for row in some]
    means = groups.averaged(every, values[groups.rows(every)])
    np.testing.assert_allclose(means, [values[some].mean(axis=0) for some in expected])
    back = every[::-1][:3]
    assert groups.rows(back).tolist() == [row for g in back for row in expected[g]]


def test_rows_that_stand_alone_keep_their_bits():
    rows = np.array([4, 7, 9])
    groups = Groups.single(rows)
    some = np.array([2, 0])
    assert (groups.first(some).tolist(), groups.rows(some).tolist()) == ([9, 4], [9, 4])
    values = np.array([[0.1], [65504.0]], np.float16)
    assert groups.averaged(some, values) is values


def test_a_mean_of_half_precision_does_not_overflow():
    groups = Groups(np.array([0, 2, 1]), np.array([0, 2, 3]))
    values = np.array([[60000.0], [65504.0], [1.0]], np.float16)
    np.testing.assert_array_equal(groups.averaged(np.arange(2), values), [[(60000 + 65504) / 2], [1.0]])
