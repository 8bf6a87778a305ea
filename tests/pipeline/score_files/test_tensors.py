"""Tensors that are no larger than their files."""

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline.score_files import tensors
from pipeline.score_files.tensors import as_array, check_tensor, load


def test_a_tensor_with_a_gradient_is_read():
    """As dattri's scores may be."""
    np.testing.assert_array_equal(as_array(torch.ones(2, 2, requires_grad=True) * 3), np.full((2, 2), 3.0))


def test_what_is_no_tensor_is_said_in_our_own_words(tmp_path):
    torch.save({"a": Path}, tmp_path / "x")
    (tmp_path / "y").write_bytes(b"nothing of torch's")
    for name in "xy":
        with pytest.raises(ValueError, match="it holds other things than tensors, or is damaged; nothing"):
            load(tmp_path / name)
    torch.save([torch.ones(2)], tmp_path / "z", pickle_protocol=3)
    assert load(tmp_path / "z")[0].tolist() == [1, 1]  # Of which torch would warn.


def test_a_part_of_a_tensor_and_its_transpose_are_read():
    whole = torch.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(as_array(whole[1:, ::2].T), whole.numpy()[1:, ::2].T)


@pytest.mark.parametrize(("tensor", "sentence"), [
    (torch.ones(1).expand(2**30, 2**30), r"shape \(1073741824, 1073741824\) of which only 4 bytes are stored"),
    (torch.ones(2, dtype=torch.complex128), r"complex numbers \(complex128\)"),
    (torch.ones(2, 2).to_sparse(), "sparse"),
    (torch.ones(2, 2, device="meta"), "without values"),
])  # fmt: skip
def test_others_are_refused_before_they_are_copied(tensor, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_tensor(tensor)


def test_a_large_file_is_mapped_and_says_the_same(tmp_path, monkeypatch):
    """One whose parts are compressed is not: its bytes are no numbers."""
    weight = torch.arange(3000.0).reshape(1000, 3)
    plain, packed, named = (tmp_path / name for name in ("w.pt", "packed.pt", "w.safetensors"))
    torch.save({"weight": weight}, plain)
    named.write_bytes(plain.read_bytes())
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    for least, mapped in ((1, [plain]), (2**30, [])):
        monkeypatch.setattr(tensors, "MAPPED_BYTES", least)
        found = {path: load(path)["weight"] for path in (plain, packed, named)}
        maps = Path("/proc/self/maps").read_text() if sys.platform == "linux" else ""
        assert [path for path in found if str(path) in maps] == mapped
        for tensor in found.values():
            np.testing.assert_array_equal(as_array(tensor), weight.numpy())
