"""The journal of a mirror: what is not as it was written is forgotten, and the file is mended."""

import json

import pytest

from pipeline.remote.journal import Journal

A, B, C = ("a" * 64, "b" * 64, "c" * 64)


@pytest.fixture
def folder(tmp_path):
    journal = Journal(tmp_path, 100)
    for start, stop, digest in ((0, 10, A), (10, 20, B), (50, 60, C), (10, 20, None)):
        journal.note(start, stop, digest)
    assert journal.done == {(0, 10): A, (50, 60): C}
    return tmp_path


def test_what_was_noted_is_read_again(folder):
    assert Journal(folder, 100).done == {(0, 10): A, (50, 60): C}
    assert Journal(folder, 100).problem == ""


def test_every_changed_byte_of_a_line_is_noticed(folder):
    file = folder / "rows.jsonl"
    whole = file.read_bytes()
    line = whole.index(b"[50")
    for place in range(line, whole.index(b"\n", line)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        journal = Journal(folder, 100)
        assert journal.done == {(0, 10): A}, place
        assert "1 of its 4 lines are not as they were written; rows that only they" in journal.problem
        assert Journal(folder, 100).problem == ""  # It was mended.


@pytest.mark.parametrize("line", (
    [50, 60], {}, 7, "x", [50, 60, C, "00000000"], [50.0, 60, C], [True, 60, C], ["50", 60, C], [-1, 60, C],
    [60, 50, C], [50, 50, C], [50, 101, C], [50, 60, "c"], [50, 60, 7], [None, None, None], [[50], 60, C],
))  # fmt: skip
def test_lines_that_cannot_be_ours_are_forgotten(tmp_path, line):
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps([0, 10, A])}\n{json.dumps(line)}\n")
    assert Journal(tmp_path, 100).done == {(0, 10): A}


def test_of_runs_that_share_rows_neither_is_believed(tmp_path):
    lines = ([0, 30, A], [5, 10, B], [20, 40, C], [40, 50, A], [60, 70, B])
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    journal = Journal(tmp_path, 100)
    assert journal.done == {(40, 50): A, (60, 70): B}
    assert journal.problem.startswith("3 of its 5 lines")


def test_a_line_of_another_mirror_is_none_of_this_one(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "rows.jsonl").write_bytes((folder / "rows.jsonl").read_bytes())
    assert Journal(other, 100).done == {}


def test_lines_of_earlier_versions_and_one_without_an_end_are_no_damage(tmp_path):
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps([0, 10, A])}\n[10, 2")
    journal = Journal(tmp_path, 100)
    assert (journal.done, journal.problem) == ({(0, 10): A}, "")
    journal.note(10, 20, B)
    assert Journal(tmp_path, 100).done == {(0, 10): A, (10, 20): B}


def test_whoever_only_looks_changes_nothing(folder):
    file = folder / "rows.jsonl"
    file.write_bytes(file.read_bytes()[:-5] + b"\n")
    before = file.read_bytes()
    assert Journal(folder, 100, mend=False).problem
    assert file.read_bytes() == before
