"""Columns of a terminal."""

from pipeline.commands.aligned import aligned, called, named


def test_columns_are_as_wide_as_what_is_seen():
    cells = [["", "θ̂", "next"], ["12", "0.5", "a"], ["7", "−0.25", "bb"]]
    assert aligned(cells) == ["    θ̂      next", "12  0.5    a", "7   −0.25  bb"]
    assert aligned(cells, right=True) == ["        θ̂  next", "12    0.5     a", "7   −0.25    bb"]


def test_an_image_has_its_class_where_one_is_known():
    assert (named(12, "dog"), named(12, "")) == ("12 (dog)", "12")


def test_an_image_with_a_name_is_called_by_it():
    assert called("dog", "train", 3, article="this ") == "this dog (train 3)"
    assert called("", "train", 3) == "image (train 3)"
    assert called("dog", "train", 3, "rex.png", "this ") == "rex.png (dog, train 3)"
    assert called("", "target", 3, "bmi") == "bmi (target 3)"
