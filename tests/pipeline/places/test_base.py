"""The place that makes units here: lazily, with one opening of a work, and with its memory given back."""

import gc
import weakref

import numpy as np
import pytest

from pipeline.places.base import InProcess


class Opened:
    def __init__(self, threads):
        self.threads = threads

    def __call__(self, unit, advance):
        advance(0.5)
        advance(unit - 0.5)
        return {"square": np.array(unit**2), "threads": np.array(self.threads)}


class Squares:
    """Counts how often it is opened, and by whom it is held."""

    def __init__(self):
        self.opened = []

    def size(self, unit):
        return unit

    def open(self, threads):
        maker = Opened(threads)
        self.opened.append(weakref.ref(maker))
        return maker


@pytest.fixture
def steps():
    return []


def test_units_are_made_one_by_one_as_they_are_asked_for(steps):
    asked = []

    def units():
        for unit in (1, 2, 3):
            asked.append(unit)
            yield unit

    results = InProcess(3).done(Squares(), units(), steps.append)
    assert asked == []
    unit, arrays = next(results)
    assert (unit, arrays["square"], arrays["threads"], asked) == (1, 1, 3, [1])
    assert [(unit, int(arrays["square"])) for unit, arrays in results] == [(2, 4), (3, 9)]
    assert sum(steps) == 6


def test_a_work_stays_open_until_another_comes_or_it_is_forgotten(steps):
    place, work, other = InProcess(1), Squares(), Squares()
    assert list(place.done(work, [], steps.append)) == []
    assert work.opened == []
    for _ in range(2):
        list(place.done(work, [1], steps.append))
    assert len(work.opened) == 1
    list(place.done(other, [1], steps.append))
    gc.collect()
    assert work.opened[0]() is None
    place.forget()
    gc.collect()
    assert other.opened[0]() is None
    list(place.done(other, [1], steps.append))
    assert len(other.opened) == 2


def test_a_file_is_visible_where_it_is(tmp_path):
    assert InProcess(1).visible(tmp_path / "a", tmp_path / "b") == tmp_path / "a"
