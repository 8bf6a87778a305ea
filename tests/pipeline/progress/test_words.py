"""Progress as people read it."""

import pytest

from pipeline.progress.words import State, clock, line, pace, right_side, spoken


def test_bytes_are_told_with_their_unit():
    state = State("download", "B", 2e6, 5e9, 3.0, 1e6)
    assert right_side(state) == "2.0 MB/5.0 GB [00:03<1:23:18, 1.0 MB/s]"
    assert line(state) == "download: 2.0 MB of 5.0 GB (0 %) after 3 s, about 1 h 23 min left"


def test_thousands_are_apart():
    assert right_side(State("train", "model", 12_000, 310_000, 60.0, 200.0)).startswith("12,000/310,000 models [")


@pytest.mark.parametrize(
    ("rate", "text"),
    ((None, ""), (0.25, "4.0 s/fit"), (1 / 5000, "1 h 23 min/fit"), (7.0, "7.0 fit/s"), (12_345.6, "12,346 fit/s")),
)
def test_paces(rate, text):
    assert pace(State("fit", "fit", 1, 9, 8.0, rate)) == text


def test_what_is_more_than_all_leaves_nothing():
    assert State("fit", "fit", 12, 9, 8.0, 1.0).left == 0.0


def test_a_share_is_not_rounded_up_to_all():
    assert "(99 %)" in line(State("test", "pair", 99_999, 100_000, 8.0, 1.0))


@pytest.mark.parametrize(("seconds", "text"), ((0.4, "0 s"), (59.6, "1 min 00 s"), (3599.7, "1 h 00 min")))
def test_times_that_round_up(seconds, text):
    assert spoken(seconds) == text


def test_clock_rounds_up_as_well():
    assert (clock(59.7), clock(3599.7)) == ("01:00", "1:00:00")


def test_work_of_several_kinds_is_told_as_a_share():
    state = State("report", "%", 40.4, 100, 8.0, 2.0)
    assert right_side(state) == "[00:08<00:30]"
    assert line(state) == "report: 40 % after 8 s, about 30 s left"


def test_what_is_not_done_is_not_told_as_done():
    assert right_side(State("fit", "fit", 11.97, 12, 8.0, None)) == "11/12 fits [00:08]"
    assert right_side(State("fit", "fit", 12 - 1e-9, 12, 8.0, None)) == "12/12 fits [00:08]"
