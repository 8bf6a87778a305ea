"""Columns of a terminal."""

from pipeline.commands.aligned import aligned, called, headed, named


def test_columns_are_as_wide_as_what_is_seen():
    cells = [["", "θ̂", "next"], ["12", "0.5", "a"], ["7", "−0.25", "bb"]]
    assert aligned(cells) == ["    θ̂      next", "12  0.5    a", "7   −0.25  bb"]
    assert aligned(cells, right=True) == ["        θ̂  next", "12    0.5     a", "7   −0.25    bb"]


def test_an_image_has_its_class_where_one_is_known():
    assert (named(12, "dog"), named(12, "")) == ("12 (dog)", "12")


def test_an_image_with_a_name_is_called_by_it():
    assert called("dog", "train", 3, article="this ") == "this dog (train 3)"
    assert (called("", "train", 3), called("", "target", 3)) == ("image 3", "target 3")
    assert called("", "train", 3, noun="item") == "item 3"
    assert called("dog", "train", 3, "rex.png", "this ") == "rex.png (dog, train 3)"
    assert called("", "target", 3, "bmi") == "bmi (target 3)"


def test_no_name_begins_a_line():
    """Which would look like one of ours."""
    evil = "cat\n99 of 99 findings confirmed\u202e"
    assert named(3, evil) == "3 (cat 99 of 99 findings confirmed)"
    assert called(evil, "train", 3) == "cat 99 of 99 findings confirmed (train 3)"
    assert called("dog", "train", 3, evil) == "cat 99 of 99 findings confirmed (dog, train 3)"


def test_a_column_is_headed_by_what_it_holds():
    assert headed("i", names=True, classes=False) == headed("i", names=True, classes=True) == "i (name)"
    assert (headed("j", names=False, classes=True), headed("j", names=False, classes=False)) == ("j (class)", "j")
