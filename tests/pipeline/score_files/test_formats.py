"""Files of scores as the tools themselves left them (made_by_tools/make_files.py), and hostile ones."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from pipeline.score_files.formats import chosen, read_content, records_beside

MADE = Path(__file__).parent / "made_by_tools"
with np.load(MADE / "plain.npz") as _file:
    PLAIN = dict(_file)
FILES = {
    "traker.mmap": PLAIN["traker"],
    "dattri.pt": PLAIN["dattri"],
    "kronfluence-all.safetensors": PLAIN["kronfluence"].T,
    "kronfluence-modules.safetensors": PLAIN["kronfluence"].T,
    "bergson-float32/scores.bin": PLAIN["bergson-float32"],
    "bergson-bfloat16/scores.bin": PLAIN["bergson-bfloat16"],
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_tool_wrote_reads_as_the_tool_itself_reads_it(name):
    content = read_content(MADE / name)
    assert list(content.arrays) == ["weight"]
    np.testing.assert_allclose(content.arrays["weight"], FILES[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in FILES if "bergson" not in name])
@pytest.mark.parametrize("other", ("scores.txt", "scores.npy", "scores.pt", "scores.safetensors", "scores"))
def test_the_first_bytes_decide_not_the_name(tmp_path, name, other):
    shutil.copyfile(MADE / name, tmp_path / other)
    np.testing.assert_allclose(read_content(tmp_path / other).arrays["weight"], FILES[name], rtol=1e-5, atol=1e-6)


def test_scores_of_modules_are_added_up_and_that_is_said():
    assert read_content(MADE / "kronfluence-modules.safetensors").notes == (
        "the scores of 2 modules (0, 2) are added up",
    )
    assert not read_content(MADE / "kronfluence-all.safetensors").notes


def test_a_part_of_the_modules_is_called_one(tmp_path):
    name = "pairwise_scores_data_partition0_module_partition1.safetensors"
    shutil.copyfile(MADE / "kronfluence-all.safetensors", tmp_path / name)
    (note,) = read_content(tmp_path / name).notes
    assert "may be a part of the modules' scores" in note


def test_several_tensors_of_anyone_else_are_not_added_up(tmp_path):
    save_file({"a": torch.ones(3, 2), "b": torch.ones(3, 2)}, tmp_path / "x")
    assert list(read_content(tmp_path / "x").arrays) == ["a", "b"]


def test_modules_of_different_shapes_are_refused(tmp_path):
    said = {"compute_per_module_scores": "True"}
    save_file({"a": torch.ones(3, 2), "b": torch.ones(2, 2)}, tmp_path / "x", metadata=said)
    with pytest.raises(ValueError, match=r"different shapes: \(2, 2\), \(3, 2\)"):
        read_content(tmp_path / "x")


@pytest.mark.parametrize("kind", (torch.float64, torch.float32, torch.float16, torch.bfloat16))
@pytest.mark.parametrize("save", (lambda t, path: torch.save(t, path), lambda t, path: save_file({"s": t}, path)))
def test_numbers_of_any_length_keep_their_values(tmp_path, kind, save):
    tensor = torch.tensor([[0.5, -3.0], [1e-3, 7.0]], dtype=kind)
    save(tensor, tmp_path / "x")
    (array,) = read_content(tmp_path / "x").arrays.values()
    assert array.dtype == (np.float64 if kind == torch.float64 else np.float32)
    np.testing.assert_array_equal(array, tensor.double().numpy())


def test_madrylabs_datamodels_have_weight_bias_and_lam(tmp_path):
    """As `datamodels.regression.compute_datamodels` saves them."""
    content = {"weight": torch.randn(6, 3), "bias": torch.randn(3), "lam": torch.rand(3)}
    torch.save(content, tmp_path / "datamodels.pt")
    arrays = read_content(tmp_path / "datamodels.pt").arrays
    assert list(arrays) == ["weight", "bias", "lam"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, content[name].numpy())


def test_torchs_older_format_is_read(tmp_path):
    torch.save(torch.ones(2, 3), tmp_path / "x", _use_new_zipfile_serialization=False)
    assert read_content(tmp_path / "x").arrays["weight"].shape == (2, 3)


def test_records_that_were_never_written_or_are_of_tokens_are_refused(tmp_path):
    shutil.copytree(MADE / "bergson-float32", tmp_path / "b")
    path, info = tmp_path / "b" / "scores.bin", tmp_path / "b" / "info.json"
    raw = bytearray(path.read_bytes())
    raw[4] = 0  # written_0 of the first item
    path.write_bytes(bytes(raw))
    with pytest.raises(ValueError, match="1 of its 60 scores were never written"):
        read_content(path)
    info.write_text(info.read_text().replace('"attribute_tokens": false', '"attribute_tokens": true'))
    with pytest.raises(ValueError, match="tokens, not items"):
        read_content(path)


@pytest.mark.parametrize(
    "text", ("", "[]", '{"dtype": 3}', '{"dtype": {"names": ["a"]}}', '{"dtype": {"names": 5}}', "[" * 99_999)
)
def test_another_info_json_describes_no_records(tmp_path, text):
    (tmp_path / "info.json").write_text(text)
    assert records_beside(tmp_path / "scores.bin") is None


@pytest.mark.parametrize("form", ("O", "|O8", "(3,)<f4", "U4", "complex64", 5, None))
def test_records_of_anything_but_numbers_are_refused_before_they_are_mapped(tmp_path, form):
    """Of objects, numpy would follow the addresses that the file holds: the process would end."""
    described = {"names": ["score_0", "written_0"], "formats": [form, "bool"], "offsets": [0, 15], "itemsize": 16}
    (tmp_path / "info.json").write_text(json.dumps({"dtype": described}))
    (tmp_path / "scores.bin").write_bytes(b"\x41" * 64)
    with pytest.raises(ValueError, match="as the format of score_0, not one of bfloat16"):
        read_content(tmp_path / "scores.bin")


def test_each_column_of_records_has_its_own_format(tmp_path):
    described = {
        "names": ["score_0", "written_0", "score_1", "written_1"],
        "formats": ["bfloat16", "bool", "float32", "bool"], "offsets": [0, 2, 4, 8], "itemsize": 12,
    }  # fmt: skip
    records = np.zeros(3, np.dtype({**described, "formats": ["<u2", "?", "<f4", "?"]}))
    records["written_0"] = records["written_1"] = True
    records["score_0"], records["score_1"] = [0x3F80, 0xC000, 0], [0.1, 0.2, 0.3]
    (tmp_path / "info.json").write_text(json.dumps({"dtype": described}))
    records.tofile(tmp_path / "scores.bin")
    found = read_content(tmp_path / "scores.bin").arrays["weight"]
    np.testing.assert_array_equal(found, np.array([[1, 0.1], [-2, 0.2], [0, 0.3]], np.float32))


@pytest.mark.parametrize(("tensor", "sentence"), [
    (torch.ones(3, 2, dtype=torch.complex64), "complex numbers"),
    (torch.ones(1).expand(10**6, 10**6), "only 4 bytes are stored"),
])  # fmt: skip
def test_tensors_that_are_no_table_of_real_numbers(tmp_path, tensor, sentence):
    torch.save(tensor, tmp_path / "x.pt")
    with pytest.raises(ValueError, match=sentence):
        read_content(tmp_path / "x.pt")


def test_chosen_names():
    assert chosen(["lam", "weight", "else", "bias"]) == ["weight", "bias", "lam"]
    assert chosen(["a", "b"]) == ["a", "b"]


class Hostile:
    def __reduce__(self):
        import os

        return os.system, ("touch pwned",)


@pytest.mark.parametrize("kind", ("npy", "npz", "pt", "pickle", "empty", "short safetensors"))
def test_nothing_is_unpickled(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    path, array = tmp_path / "scores.npz", np.array([Hostile()], object)
    if kind == "npy":
        np.save(path.with_suffix(".npy"), array, allow_pickle=True)
        path.with_suffix(".npy").rename(path)
    elif kind == "npz":
        np.savez(path, weight=array)
    elif kind == "pt":
        torch.save(Hostile(), path)
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Hostile()))
    else:
        path.write_bytes(b"" if kind == "empty" else (4).to_bytes(8, "little") + b"{...")
    with pytest.raises(Exception, match=r".+"):
        read_content(path)
    assert not (tmp_path / "pwned").exists()
