"""dattri's benchmark files, made by dattri itself (tests/fixtures/other_tools)."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline.config import Source
from pipeline.errors import BadInputError
from pipeline.sources.folder import layout_of
from pipeline.sources.layouts.dattri import LAYOUT, read_tensor, turned_back

FILES = Path(__file__).parents[3] / "fixtures" / "other_tools" / "dattri"


def source(folder):
    return Source(kind="files", folder=folder)


@pytest.fixture
def folder(tmp_path):
    for name in ("indices_lds.pt", "target_values_lds.pt"):
        shutil.copy(FILES / name, tmp_path)
    return tmp_path


def test_it_is_read_as_it_is_with_its_sign_turned_back(folder):
    assert layout_of(source(folder)) is LAYOUT
    opened = LAYOUT.open(source(folder))
    indices, values = (torch.load(FILES / name) for name in ("indices_lds.pt", "target_values_lds.pt"))
    assert (opened.masks.n_models, opened.n_train, opened.n_targets) == (60, 16, 3)
    masks = np.unpackbits(opened.masks.bits(np.arange(60)), axis=1, count=16)
    assert [np.flatnonzero(mask).tolist() for mask in masks] == [sorted(row) for row in indices.tolist()]
    outcomes = opened.outcomes.values(np.arange(60))
    np.testing.assert_array_equal(outcomes, -values.numpy())
    assert (outcomes >= 0).all()  # Losses they were.
    assert (opened.outcome, opened.higher_is_better) == ("target function", False)
    assert any("n_train 16: the largest index is 15" in line for line in opened.assumed)


def test_a_subsets_file_may_say_more_and_is_part_of_the_content(folder):
    before = LAYOUT.content(source(folder))
    (folder / "subsets.json").write_text(json.dumps({"n_train": 20, "outcome": "margin", "lists": "included"}))
    opened = LAYOUT.open(source(folder))
    assert (opened.n_train, opened.outcome, opened.higher_is_better) == (20, "margin", True)
    more = {"content of subsets", "higher_is_better by name"}
    assert LAYOUT.content(source(folder)).keys() - before.keys() == more


def test_nothing_is_unpickled(tmp_path):
    torch.save({"a": Path}, tmp_path / "x.pt")
    with pytest.raises(BadInputError, match=r"x\.pt is not a \.pt file of one tensor \(.*other things than tensors"):
        read_tensor(tmp_path / "x.pt")
    torch.save({"a": torch.ones(2)}, tmp_path / "y.pt")
    with pytest.raises(BadInputError, match="it holds a dict"):
        read_tensor(tmp_path / "y.pt")


def test_gradients_and_short_floats_do_not_matter(tmp_path):
    torch.save(torch.ones(2, 2, requires_grad=True), tmp_path / "x.pt")
    torch.save(torch.ones(2, 2, dtype=torch.bfloat16), tmp_path / "y.pt")
    assert read_tensor(tmp_path / "x.pt").tolist() == read_tensor(tmp_path / "y.pt").tolist() == [[1, 1], [1, 1]]
    torch.save(torch.ones(2, 2, 2), tmp_path / "z.pt")
    with pytest.raises(BadInputError, match="one row a model and one column a target"):
        turned_back(tmp_path / "z.pt")


@pytest.mark.parametrize(("tensor", "sentence"), [
    (torch.ones(1).expand(10**6, 10**6), "only 4 bytes are stored"),
    (torch.ones(2, 2, dtype=torch.complex64), "complex numbers"),
])  # fmt: skip
def test_tensors_larger_than_their_file_or_complex_are_refused(tmp_path, tensor, sentence):
    torch.save(tensor, tmp_path / "x.pt")
    with pytest.raises(BadInputError, match=sentence):
        read_tensor(tmp_path / "x.pt")
