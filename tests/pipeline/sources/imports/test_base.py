"""What was read becomes a folder: whole or not at all, never over another, and what the user says goes first."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from other_tools import FILES

from pipeline.errors import BadInputError
from pipeline.sources.imports import IMPORTERS
from pipeline.sources.imports.base import Converted, Given, as_lists, read_outcomes, with_given, write_folder
from pipeline.sources.layouts.own_folder import OwnFolder

LISTS = [np.array([0, 3, 1]), np.array([2, 4, 0]), np.array([4, 1, 3])]
VALUES = np.arange(6.0).reshape(3, 2)


def masks(opened):
    return np.unpackbits(opened.masks.bits(np.arange(opened.masks.n_models)), axis=1, count=opened.n_train)


def test_lists_of_one_length_and_of_several(tmp_path):
    opened = write_folder(tmp_path / "a" / "b", Converted(LISTS, outcomes=VALUES))
    assert masks(opened).tolist() == [[1, 1, 0, 1, 0], [1, 0, 1, 0, 1], [0, 1, 0, 1, 1]]
    assert not (tmp_path / "a" / "b" / "indptr.npy").exists()
    ragged = write_folder(tmp_path / "c", Converted([*LISTS[:2], LISTS[2][:1]], True, VALUES, 6, "loss", False))
    assert masks(ragged)[2].tolist() == [1, 1, 1, 1, 0, 1]
    said = json.loads((tmp_path / "c" / "subsets.json").read_text())
    assert said == {"n_train": 6, "lists": "excluded", "outcome": "loss", "higher_is_better": False}
    assert (ragged.outcome, ragged.higher_is_better, ragged.assumed) == ("loss", False, ())


def test_nothing_is_written_over_and_nothing_is_left_half_made(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write_folder(out, Converted(LISTS, outcomes=VALUES))  # An empty folder is free.
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(BadInputError, match="out is there already; name a folder that is not, or an empty one"):
        write_folder(out, Converted(LISTS, outcomes=VALUES + 1))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    twice = [*LISTS[:2], np.array([1, 1, 2])]
    with pytest.raises(BadInputError, match=r"/bad/indices\.npy lists an image twice in row 2"):
        write_folder(tmp_path / "bad", Converted(twice, outcomes=VALUES))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_link_to_an_empty_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", Converted(LISTS, outcomes=VALUES))
    assert (tmp_path / "real" / "indices.npy").is_file() and (tmp_path / "link").is_symlink()


def test_outcomes_there_must_be_and_as_many_as_lists(tmp_path):
    with pytest.raises(BadInputError, match=r"src holds no outcomes; .*--outcomes FILE\.npy"):
        with_given(Converted(LISTS), Given(), tmp_path / "src")
    np.save(tmp_path / "y.npy", VALUES[:2])
    with pytest.raises(BadInputError, match=r"y\.npy has outcomes of 2 models, but .*src lists the images of 3"):
        with_given(Converted(LISTS), Given(tmp_path / "y.npy"), tmp_path / "src")


def test_what_the_user_says_goes_first(tmp_path):
    np.save(tmp_path / "y.npy", VALUES)
    found = Converted(LISTS, outcomes=VALUES + 9, n_train=5, outcome="target function", higher_is_better=False)
    same = with_given(found, Given(), tmp_path)
    assert (same.n_train, same.outcome, same.higher_is_better) == (5, "target function", False)
    given = with_given(found, Given(tmp_path / "y.npy", True, 7, "margin"), tmp_path)
    np.testing.assert_array_equal(given.outcomes, -VALUES)
    assert (given.n_train, given.outcome, given.higher_is_better) == (7, "margin", None)  # By its name, then.
    assert with_given(found, Given(higher_is_better=True), tmp_path).higher_is_better
    other = with_given(found, Given(tmp_path / "y.npy"), tmp_path)
    assert (other.outcome, other.higher_is_better) == (None, None)  # Other outcomes have another name.


def test_outcomes_from_numpy_and_torch(tmp_path):
    torch.save(torch.tensor(VALUES), tmp_path / "y.pt")
    np.save(tmp_path / "y.npy", VALUES.astype(np.int64))
    for name in ("y.pt", "y.npy"):
        np.testing.assert_array_equal(read_outcomes(tmp_path / name), VALUES)
    with pytest.raises(BadInputError, match=r"--outcomes .*none\.npy does not exist"):
        read_outcomes(tmp_path / "none.npy")
    np.save(tmp_path / "z.npy", VALUES[None])
    with pytest.raises(BadInputError, match=r"must hold real numbers, .* shape \(1, 3, 2\)"):
        read_outcomes(tmp_path / "z.npy")


@pytest.mark.parametrize("found", ({}, [], [1, 2], [[1], 2], [[1.5]], [[True]], [["1"]]))
def test_what_is_no_list_of_lists(tmp_path, found):
    with pytest.raises(BadInputError, match="must hold a list of lists of whole numbers, one list a model"):
        as_lists(tmp_path / "x", found)


def test_the_folder_is_one_of_ones_own(tmp_path):
    write_folder(tmp_path / "x", Converted(LISTS, outcomes=VALUES))
    assert OwnFolder(tmp_path / "x").open().n_train == 5


def test_the_command_asks_for_outcomes_where_the_files_have_none():
    commands = {name: one.command(FILES / name) for name, one in IMPORTERS.items() if name != "bergson"}
    assert commands["quanda"].endswith("quanda OUT --outcomes FILE.npy")
    assert commands["dattri"].endswith("dattri OUT")  # The benchmark's, with its values.
    dattri, bergson = IMPORTERS["dattri"], IMPORTERS["bergson"]
    assert dattri.command(FILES / "dattri" / "retrain").endswith("retrain OUT --outcomes FILE.npy")
    assert bergson.command(FILES / "bergson" / "overlapping").endswith("overlapping OUT")
    assert bergson.command(Path("my run")) == "datamodels-inf import --from bergson 'my run' OUT --outcomes FILE.npy"
