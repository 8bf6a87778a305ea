"""The three places of a test, and what is said of the images in them."""

import pytest
from report_content import make_row

from pipeline.report.drawing.slots import Slot, slots_of


def test_a_pair_is_target_i_and_j():
    row = make_row(target=7, i=3, j=4, class_target="cat", class_i="dog", class_j="")
    assert [slot.alt for slot in slots_of(row)] == [
        "target: cat, target 7",
        "image i: dog, train 3",
        "image j: image, train 4",
    ]


def test_a_group_says_how_many_it_has_and_names_the_first():
    row = make_row(target=7, class_i="dog", class_j="cat", members_i=(3, 1, 4, 15), members_j=(9, 2, 6, 5))
    _, left, right = slots_of(row)
    assert left.alt == "group i: dog, 4 images, train 3, 1, 4, …"
    assert (right.role, right.indices, right.shown) == ("group j", (9, 2, 6, 5), (9, 2, 6, 5))


@pytest.mark.parametrize(
    ("count", "shown", "columns"), [(1, 1, 1), (2, 2, 2), (4, 4, 2), (5, 5, 3), (9, 9, 3), (10, 9, 3), (400, 9, 3)]
)
def test_a_mosaic_is_the_smallest_square_and_has_an_end(count, shown, columns):
    slot = Slot("group i", "train", tuple(range(count)), "dog")
    assert (len(slot.shown), slot.columns) == (shown, columns)
    assert (columns - 1) ** 2 < shown <= columns**2
