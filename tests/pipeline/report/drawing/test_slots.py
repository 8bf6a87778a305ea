"""The three places of a test, and what is said of the images in them."""

import pytest
from report_content import EVIL, make_content, make_row

from pipeline.images.item_names import ItemNames
from pipeline.report.drawing.slots import Slot, slot_of, slots_of


def test_a_pair_is_target_i_and_j():
    row = make_row(target=7, i=3, j=4, class_target="cat", class_i="dog", class_j="")
    assert [slot.alt for slot in slots_of(row, make_content([]))] == [
        "target: cat, target 7",
        "image i: dog, train 3",
        "image j: image, train 4",
    ]


def test_a_group_says_how_many_it_has_of_each_class():
    row = make_row(target=7, class_i="dog", class_j="cat", members_i=(3, 1, 4, 15), members_j=(9, 2, 6, 5))
    content = make_content(
        [], train_classes=["dog", "dog", "cat", "cat", "dog", "cat", "cat", "", "", "cat", *["dog"] * 6]
    )
    _, left, right = slots_of(row, content)
    assert left.alt == "group i: 4 images (3 dog, 1 cat), train 3, 1, 4, …"
    assert left.in_sentence("this") == "these 4 images (3 dog, 1 cat; train 3, 1, 4, …)"
    assert (left.numbers, right.numbers) == ("3, 1, 4, …", "9, 2, 6, …")
    assert right.in_sentence("that") == "those 4 cat images (train 9, 2, 6, …)"
    assert slots_of(row, make_content([]))[1].name == "4 images"
    assert (right.role, right.indices, right.shown) == ("group j", (9, 2, 6, 5), (9, 2, 6, 5))


@pytest.mark.parametrize(
    ("count", "shown", "columns"), [(1, 1, 1), (2, 2, 2), (4, 4, 2), (5, 5, 3), (9, 9, 3), (10, 9, 3), (400, 9, 3)]
)
def test_a_mosaic_is_the_smallest_square_and_has_an_end(count, shown, columns):
    slot = Slot("group i", "train", tuple(range(count)), "dog")
    assert (len(slot.shown), slot.columns) == (shown, columns)
    assert (columns - 1) ** 2 < shown <= columns**2


def test_an_image_with_a_name_is_called_by_it_and_keeps_its_class_and_number():
    content = make_content([], names=ItemNames(train=("age", EVIL + "\n\u202e" + "x" * 99, "")), images=None)
    slot = slot_of(content, "item i", "train", (0,), "")
    assert (slot.name, slot.place, slot.in_sentence("this")) == ("age", "train 0", "age (train 0)")
    slot = slot_of(content, "item i", "train", (0,), "dog")
    assert (slot.name, slot.place, slot.in_sentence("this")) == ("age", "dog, train 0", "age (dog, train 0)")
    slot = slot_of(content, "item i", "train", (1,), "")
    assert slot.name.startswith(EVIL)
    assert len(slot.name) == 60
    slot = slot_of(content, "item i", "train", (2,), "")
    assert (slot.name, slot.in_sentence("that")) == ("item", "that item (train 2)")
    pair = slot_of(content, "group i", "train", (0, 2), "")
    assert (pair.name, pair.place) == ("age, train 2", "2 items, train 0, 2")
    assert pair.in_sentence("this") == "these 2 items (age, train 2; train 0, 2)"
    target = slot_of(content, "target", "target", (5,), "cat")
    assert target.alt == "target: cat, target 5"
