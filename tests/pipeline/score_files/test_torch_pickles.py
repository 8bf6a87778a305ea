"""What a .pt file claims is held against what it holds, before torch believes it."""

import io
import pickle
import zipfile

import pytest
import torch

from pipeline.score_files.tensors import load
from pipeline.score_files.torch_pickles import check_pickles

TENSORS = {
    "one": torch.arange(6.0).reshape(2, 3),
    "a view": torch.arange(60.0)[10:40:3],
    "a table": {"weight": torch.ones(3, 2).half(), "bias": torch.zeros(2, dtype=torch.float64)},
    "a parameter": torch.nn.Parameter(torch.ones(4).bfloat16()),
    "whole numbers": torch.arange(5),
}


@pytest.mark.parametrize("case", TENSORS)
@pytest.mark.parametrize("new", (True, False))
def test_what_torch_saves_is_let_in(tmp_path, case, new):
    torch.save(TENSORS[case], tmp_path / "a.pt", _use_new_zipfile_serialization=new)
    check_pickles(tmp_path / "a.pt")
    load(tmp_path / "a.pt")


def changed(path, change, kind=zipfile.ZIP_STORED):
    """The archive with another data.pkl."""
    stream = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(stream, "w", kind) as new:
        for entry in old.infolist():
            content = old.read(entry)
            new.writestr(entry.filename, change(content) if entry.filename.endswith("data.pkl") else content)
    path.write_bytes(stream.getvalue())


def test_more_numbers_than_there_are_bytes_are_refused(tmp_path):
    torch.save(torch.zeros(100), tmp_path / "a.pt")
    changed(tmp_path / "a.pt", lambda content: content.replace(b"Kd", b"K\xff"))
    with pytest.raises(ValueError, match="claims"):
        check_pickles(tmp_path / "a.pt")


def test_packed_parts_are_let_in_unless_they_would_fill_the_memory(tmp_path, monkeypatch):
    torch.save(torch.zeros(10**6), tmp_path / "a.pt")
    changed(tmp_path / "a.pt", lambda content: content, zipfile.ZIP_DEFLATED)
    check_pickles(tmp_path / "a.pt")
    monkeypatch.setattr("pipeline.arrays.npz.FREE_BYTES", 10**6)
    with pytest.raises(ValueError, match="without compression"):
        check_pickles(tmp_path / "a.pt")


@pytest.mark.parametrize(
    "pickled",
    (
        b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        pickle.dumps(bytearray(9), protocol=2),
        b"\x80\x02}K\x01K\x02\x86q\x010" + b"h\x01h\x01\x86q\x010" * 60 + b"h\x01Ns.",
    ),
    ids=("memory", "bytes", "keys that hold each other"),
)
def test_what_would_take_memory_or_time_is_refused(tmp_path, pickled):
    torch.save(torch.zeros(3), tmp_path / "a.pt")
    changed(tmp_path / "a.pt", lambda content: pickled)
    with pytest.raises(ValueError):
        load(tmp_path / "a.pt")
    (tmp_path / "old.pt").write_bytes(pickled * 4)
    with pytest.raises(ValueError):
        load(tmp_path / "old.pt")


def test_the_list_of_storages_of_an_old_file_is_looked_at_too(tmp_path):
    """It follows what was saved; a length in it would be believed."""
    torch.save(torch.zeros(3), tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    content = (tmp_path / "a.pt").read_bytes()
    place = content.rindex(b"\x80\x02]")
    (tmp_path / "a.pt").write_bytes(content[:place] + b"\x80\x02]X\xff\xff\xff\x7f")
    with pytest.raises(ValueError, match="damaged"):
        check_pickles(tmp_path / "a.pt")
