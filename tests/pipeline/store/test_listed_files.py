"""A list of files is trusted with nothing outside its folder."""

import pytest

from pipeline.store.listed_files import LISTED, blocked, listed_files, write_list


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "reports" / "x"
    (home / "images").mkdir(parents=True)
    for path in (home / "index.html", home / "images" / "1.png", tmp_path / "dear.txt", home.parent / "near.txt"):
        path.write_text("kept")
    return home


def test_files_inside_are_ours(home):
    write_list(home / LISTED, ["index.html", "images/1.png", "gone.csv"])
    assert listed_files(home) == ["index.html", "images/1.png"]
    (home / LISTED).unlink()
    assert listed_files(home) == []


def test_nothing_outside_is(home, tmp_path):
    (home / "out").symlink_to(tmp_path)
    (home / "link.txt").symlink_to(tmp_path / "dear.txt")
    hostile = [
        "../near.txt", "../../dear.txt", str(tmp_path / "dear.txt"), "images/../../near.txt", "out/dear.txt",
        "link.txt", "images", "./index.html", "index.html/", "images//1.png", ".", "..", "", "   ", "a\0b", "x" * 5000,
    ]  # fmt: skip
    write_list(home / LISTED, hostile)
    (home / LISTED).write_bytes((home / LISTED).read_bytes() + b"\xff\xfe\nindex.html")
    assert listed_files(home) == ["index.html"]


def test_it_does_not_matter_how_the_folder_is_reached(home, monkeypatch):
    write_list(home / LISTED, ["index.html"])
    monkeypatch.chdir(home.parent)
    assert listed_files(home.relative_to(home.parent)) == ["index.html"]
    (home.parent / "y").symlink_to(home)
    assert listed_files(home.parent / "y") == ["index.html"]


def test_what_is_in_the_way_is_named(home, tmp_path):
    assert blocked(home) == blocked(tmp_path / "new") == ""
    (tmp_path / "link").symlink_to("gone")
    assert blocked(tmp_path / "link").endswith("link is a link to nothing, so that no report can be put there")
    assert "dear.txt is a file, so that" in blocked(tmp_path / "dear.txt")
    (home / "panels").write_text("mine")
    assert blocked(home).endswith("panels is a file where a folder of the report goes")
    (home / "panels").unlink()
    (home / "tests.csv").mkdir()
    assert blocked(home).endswith("tests.csv is a folder where a file of the report goes")
