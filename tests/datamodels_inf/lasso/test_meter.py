"""What a fit tells of its progress: it adds up, it moves with each piece of work, and its time to go is honest."""

import numpy as np
import pytest
from lasso_problems import problem

from datamodels_inf.lasso import meter as meter_module
from datamodels_inf.lasso.meter import MOMENTS, PATH, REFIT, TRANSPOSING, Meter, metered
from datamodels_inf.lasso.prefixes import fit_lasso


class Clock:
    """Work takes the time that it is said to take."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(meter_module, "monotonic", lambda: self.now)

    def spend(self, seconds):
        self.now += seconds


def simulated(monkeypatch, targets, near, d=50_000, row=0.02, path=0.02, again=0.0):
    """(time, share done, time to go as the meter sees it, as it is) after each piece of a fit.

    Its targets come near a share of the images; `again` rows are counted anew for each target, because memory does not
    hold them. Rows and paths take the time that they take at true size, on two cores.
    """
    clock, told, seen = Clock(monkeypatch), [], []
    meter = Meter(
        told.append, 1.0, targets=targets, columns=d, paths=targets * (2 * MOMENTS + PATH + REFIT), masks=TRANSPOSING
    )

    def did(seconds, tell, work):
        clock.spend(seconds)
        tell(work)
        seen.append((clock.now, sum(told), meter.seconds_left()))

    for _ in range(10):
        did(0.8, meter.transposed, 0.1)
    rows = d * (1 - (1 - near) ** targets)
    for k in range(100):  # Fewer and fewer are left to count, since the matrix is symmetric.
        work = rows / 100 * (1 - (k + 0.5) / 100 * rows / d)
        did(work * row, meter.counted, work)
    for work in [MOMENTS + PATH] * targets + [MOMENTS + REFIT] * targets:
        if again:
            did(again * row * work, meter.counted, again * work)
        did(path * work, meter.walked, work)
        if work == MOMENTS + PATH:
            meter.ended(int(near * d / 1.2))
    meter.finish()
    assert sum(told) == pytest.approx(1.0)
    time, share, left = np.array(seen).T
    return time, share, left, time[-1] - time


@pytest.mark.parametrize("targets", (1, 8, 32, 1000))
def test_the_time_to_go_is_right_where_targets_are_as_was_thought(monkeypatch, targets):
    """Up to a tenth of the whole; so it falls all the while."""
    time, share, left, truth = simulated(monkeypatch, targets, near=0.15)
    assert left[10:] == pytest.approx(truth[10:], abs=0.1 * time[-1])
    assert (np.diff(share) > 0).all()


@pytest.mark.parametrize("path", (0.004, 0.1))
def test_paths_that_take_otherwise_than_was_thought_are_believed(monkeypatch, path):
    """As soon as some of them have been gone down."""
    time, _, left, truth = simulated(monkeypatch, 500, near=0.15, path=path)
    assert left[115:] == pytest.approx(truth[115:], abs=0.1 * time[-1])


@pytest.mark.parametrize("near", (0.01, 0.05, 0.4))
def test_targets_that_are_otherwise_than_was_thought_do_not_stop_the_bar(monkeypatch, near):
    """It is never ten times as slow as it should be."""
    time, share, _, _ = simulated(monkeypatch, 8, near)
    assert (np.diff(share) / np.diff(time) > 0.1 / time[-1]).all()


def test_rows_that_are_counted_again_are_expected_for_the_paths_to_come(monkeypatch):
    time, _, left, truth = simulated(monkeypatch, 500, 0.15, again=20.0)
    assert left[130:] == pytest.approx(truth[130:], abs=0.1 * time[-1])


@pytest.mark.parametrize("kept", (20_000, 30_000))
def test_rows_that_memory_does_not_hold_are_expected_before_the_first_is_counted_again(monkeypatch, kept):
    """So the bar has room left for the refits, which count them once more."""
    targets, near, d = 8, 0.15, 50_000
    clock, told = Clock(monkeypatch), []
    meter = Meter(told.append, 1.0, targets=targets, columns=d, paths=targets * (2 * MOMENTS + PATH + REFIT))
    meter.keeps(kept)
    needed = d * (1 - (1 - near) ** targets)
    first = [k / d for k in range(int(needed))]
    lost = int(targets * near * d * (1 - kept / needed))
    choose = [1 - min(share, kept / d) for share in first] + [1 - kept / d] * lost
    refit = [1 - kept / d] * lost
    whole, seen = sum(choose) + sum(refit), []
    for name, rows in (("choose", choose), ("refit", refit)):
        for start in range(0, len(rows), 500):
            work = sum(rows[start : start + 500])
            clock.spend(0.02 * work)
            meter.counted(work)
            seen.append((clock.now, sum(told), meter.seconds_left()))
        if name == "choose":
            before_refits = sum(told)
    time, _, left = np.array(seen).T
    assert left[5:] == pytest.approx(0.02 * whole - time[5:], abs=0.1 * 0.02 * whole + left[-1])
    assert before_refits < sum(choose) / whole + 0.05


def test_what_is_awaited_is_part_of_the_time_to_go(monkeypatch):
    clock = Clock(monkeypatch)
    meter = Meter(lambda step: None, 1.0, targets=0, columns=100, paths=0.0)
    for _ in range(2):
        clock.spend(1.0)
        meter.counted(1.0)
    meter.awaits(30.0)
    assert meter.seconds_left() == pytest.approx(30.0)
    clock.spend(10.0)
    meter.counted(10.0)
    assert meter.seconds_left() == pytest.approx(20.0)


def test_a_path_that_is_spared_shortens_the_time_to_go(monkeypatch):
    clock = Clock(monkeypatch)
    meter = Meter(lambda step: None, 1.0, targets=0, columns=10, paths=10 * PATH)
    for _ in range(2):
        clock.spend(1.0)
        meter.walked(PATH)
    assert meter.seconds_left() == pytest.approx(8.0)
    meter.spared(4 * PATH)
    assert meter.seconds_left() == pytest.approx(4.0)


def test_time_that_goes_to_compiling_is_not_taken_for_the_time_of_work(monkeypatch):
    """It is spent before the first piece is done; so that one says nothing of those to come, and the bar waits."""
    clock, told = Clock(monkeypatch), []
    meter = Meter(told.append, 1.0, targets=0, columns=10, paths=10 * PATH)
    clock.spend(40.0)
    meter.walked(PATH)
    assert told == []
    clock.spend(1.0)
    meter.walked(PATH)
    assert meter.seconds_left() == pytest.approx(8.0)
    assert sum(told) == pytest.approx(1 / 9)


def test_a_meter_of_more_is_not_finished_by_a_part():
    told = []
    with metered(told.append, 3, targets=3, columns=10, paths=9.0) as meter:
        with metered(meter, 3, targets=3, columns=10, paths=9.0) as inner:
            assert inner is meter
        assert sum(told) < 3
    assert sum(told) == pytest.approx(3)
    with metered(None, 3, targets=3, columns=10, paths=9.0) as nothing:
        assert nothing is None


def test_a_fit_of_one_target_tells_of_its_work_many_times(monkeypatch):
    """Of masks transposed, rows counted and λ gone down, so more often than there are λ."""
    masks, margins, _ = problem(5, 5000, 300, 1)
    kinds = {}
    for kind in ("transposed", "counted", "walked"):
        tell = getattr(Meter, kind)

        def noted(self, work, kind=kind, tell=tell):
            kinds[kind] = kinds.get(kind, 0.0) + work
            tell(self, work)

        monkeypatch.setattr(Meter, kind, noted)
    steps = []
    fit_lasso(masks, margins, n_lambdas=12, progress=steps.append)
    assert len(steps) > 16
    assert sum(steps) == pytest.approx(1.0)
    assert kinds["transposed"] == pytest.approx(1.0)
    assert 1.0 < kinds["counted"] <= 300.0
    assert MOMENTS < kinds["walked"] <= 2 * MOMENTS + PATH + REFIT


def test_a_fit_tells_what_memory_holds_and_what_its_refits_will_count(monkeypatch):
    """At the refit, rows that are there lack the validation rows: some work, known before the first is completed."""
    masks, margins, _ = problem(5, 5000, 300, 2)
    kept, awaited = [], []
    monkeypatch.setattr(Meter, "keeps", lambda self, rows: kept.append(rows))
    monkeypatch.setattr(Meter, "awaits", lambda self, rows: awaited.append(rows))
    fit_lasso(masks, margins, n_lambdas=12, progress=lambda step: None)
    assert kept == [300]
    assert len(awaited) == 1
    assert 0.0 < awaited[0] < 300.0
