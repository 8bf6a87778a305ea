"""A few of the faults of `make faults`, each kind; and that its checks notice what they are there for."""

import random

import begun_steps
import concurrency
import corruption
import coverage_guided
import disk
import kills
import power_loss
import pytest
import table
import tries
from crashed_disk import MODES, Disk
from damages import damages
from kill_places import BETWEEN, CLUSTERED, IN_HAND, STAGES, place_of, undisturbed
from recorded_writes import Operation
from scenes import Ground
from settled import difference, settled
from tries import Outcome, Row, Try, Work, spread, survey

from pipeline.stages import STAGES as PIPELINE


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    with Ground(tmp_path_factory.mktemp("faults")) as made:
        yield made


def check(rows, count):
    assert not [failure for row in rows for failure in row.failures]
    assert sum(row.survived for row in rows) == count


def test_kills(ground):
    check(kills.run(4, 0, ground, stages=("fit", "train")), 4)


def test_every_stage_is_killed():
    assert set(PIPELINE) | {"train", "train --shard", "merge"} == set(STAGES)
    assert set(IN_HAND) <= {*STAGES, *CLUSTERED}


def test_a_stage_that_forgets_a_finished_step_is_seen(ground):
    """Two steps of a fit that was killed are there; one of them is lost before the next run, and so made again."""
    place = place_of(ground, "fit")
    folder = place.prepare(ground.work)
    notes, numbers = ground.folder / "noted", undisturbed(place, ground).moments[BETWEEN]
    notes.unlink(missing_ok=True)
    ground.forks.run(folder, *place.words, kill_at=numbers[4], environment={begun_steps.NAME: str(notes)})
    found = sorted(place.steps(folder))
    assert len(found) >= 4
    for name in found[:2]:
        (folder / name).unlink()
    outcome = kills.run_again(place, folder, ground, BETWEEN, notes, ())
    assert outcome.why.startswith("made twice, though not in hand")
    assert outcome.work.twice >= 2


def test_what_a_killed_run_had_begun_and_the_next_one_began_again_is_counted():
    rows = [f"rows\tmasks\t{first}\t{first + 50}" for first in (0, 50, 100)]
    again = ["rows\tmasks\t120\t170", "rows\tmargins\t0\t50"]
    assert begun_steps.made_twice(rows, again) == {rows[2]}
    assert begun_steps.made_twice(["a", "b"], ["b", "c"]) == {"b"}
    assert begun_steps.n_rows(rows) == 150


def test_parts_of_a_row_are_put_together(tmp_path):
    parts = [Row("kill -9", "fit", works=[Work(10, 6, 1)]), Row("kill -9", "fit", works=[Work(10, 0, 0)])]
    for row in parts:
        row.count("one", Outcome("went on", moment="in a step"))
        tries.write_rows([("kills", row)], tmp_path / "rows.json")
    read = [one for _ in parts for one in tries.read_rows(tmp_path / "rows.json")]
    ((kind, row),) = tries.joined([("kills", parts[0]), read[1]])
    assert (kind, row.tries, row.moments["in a step"]) == ("kills", 2, 2)
    assert "of 20 steps 14 were kept and 6 made by the next runs, 1 of them" in table.markdown([row])


def test_without_atheris_the_table_says_so(ground, monkeypatch):
    monkeypatch.setattr(coverage_guided, "find_spec", lambda name: None)
    (row,) = coverage_guided.run(10, 0, ground)
    assert (row.tries, row.where) == (0, "could not be tried: atheris is not installed")


@pytest.mark.skipif(coverage_guided.find_spec("atheris") is None, reason="atheris is not installed")
def test_coverage_guides_input_and_a_reader_that_fails_is_seen(ground):
    check(coverage_guided.run(400, 0, ground, readers=["names"]), 400)
    (row,) = coverage_guided.run(50, 0, ground, readers=["broken on purpose: fail"])
    assert row.lost
    assert "KeyError" in row.failures[0][1]


def test_corruption(ground):
    check(corruption.run(12, 0, ground, names=("embedded", "unfinished train")), 12)


def test_bad_disks(ground):
    rows = disk.run(4, 0, ground, stages=("fit",))
    assert not [failure for row in rows for failure in row.failures]
    assert sum(row.tries for row in rows)


@pytest.mark.skipif(not power_loss.can_record(), reason="strace is not there, or may not be used")
def test_power_loss(ground):
    check(power_loss.run(3, 0, ground, runs=("embedded",)), 3)


def test_many_processes_at_once(ground):
    check(concurrency.run(2, 0, ground), 2)


def test_wrong_bytes_and_leftovers_are_noticed(tmp_path):
    file = tmp_path / "data" / "fit" / "0123" / "datamodel.npz"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"abc")
    expected = settled(tmp_path)
    assert difference(tmp_path, expected) == ""
    file.write_bytes(b"abd")
    assert difference(tmp_path, expected) == "other bytes: data/fit/0123/datamodel.npz"
    file.rename(file.with_name(".part-1.npz"))
    assert difference(tmp_path, expected).startswith("missing: data/fit/0123/datamodel.npz; left behind: ")


def test_a_try_that_fails_or_breaks_is_a_row_and_the_next_one_is_tried(tmp_path):
    class Place:
        work, part, parts = tmp_path / "try", 0, 1

    def breaks(folder):
        raise KeyError("no such thing")

    tries = [
        Try("here", "one", lambda folder: Outcome("wrong", "a figure")),
        Try("here", "two", breaks),
        Try("here", "three", lambda folder: Outcome("went on")),
    ]
    (row,) = survey("fault", tries, Place, lambda fault, some: some)
    assert (row.tries, row.survived, row.lost) == (3, 1, 2)
    assert row.failures[0] == ("one", "a figure")
    assert "no such thing" in row.failures[1][1]
    assert "| fault | here | 3 | 1 | 2 |" in table.markdown([row])


@pytest.mark.parametrize("synced", (False, True))
def test_what_is_not_synced_may_be_gone(synced):
    """The usual way to replace a file, without and with fsync of the file and of its folder."""
    disk_ = Disk("/home")
    steps = [Operation("make", "/home/part"), Operation("write", "/home/part", at=0, data=b"new")]
    steps += [Operation("sync", "/home/part")] * synced + [Operation("move", "/home/part", "/home/file")]
    steps += [Operation("sync", "/home")] * synced
    for step in steps:
        disk_.do(step)
    assert disk_.now() == {"file": b"new"}
    found = [disk_.after_power_loss(mode, random.Random(k)) for mode in MODES for k in range(20)]
    assert ({"file": b"new"} in found) and (all(one == {"file": b"new"} for one in found) == synced)
    if not synced:
        assert {} in found
        assert {"file": b"\0\0\0"} in found
        assert {"file": b""} in found


def test_every_damage_is_one():
    content = b'{"seed": 10, "name": "x", "files": [1, 2]}'
    found = damages(content)
    assert content not in found.values()
    assert {"deleted", "empty", "half", "a byte short", "header: a figure, first", "header: a name, last"} <= set(found)


def test_tries_are_spread_over_all_groups():
    groups = {name: [(name, k) for k in range(50)] for name in "abcd"}
    chosen = spread(groups, 10, random.Random(0))
    assert {sum(name == one for one, _ in chosen) for name in "abcd"} <= {2, 3}
    assert chosen == spread(groups, 10, random.Random(0))


def test_the_table_replaces_the_rows_of_the_faults_that_were_tried(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(table, "PAGE", page)
    table.write([Row("kill -9", "fit", 2, 2, 0), Row("disk", "full", 1, 1, 0)], "made yesterday")
    table.write([Row("kill -9", "fit", 3, 2, 1)], "made today")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    found = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1:4] for line in found[1:]] == [[" disk ", " full ", " 1 "], [" kill -9 ", " fit ", " 3 "]]
    assert "old" not in text
    assert "made today Of an earlier run are: disk. (made yesterday)" in text
    table.write([Row("kill -9", "fit", 3, 3, 0), Row("disk", "full", 1, 1, 0)], "made at last")
    assert "made yesterday" not in page.read_text(encoding="utf-8")
