"""dattri's folders, made by dattri itself: committed ones, and where a registry can be reached, made anew here."""

import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import torch
from other_tools import FILES, N_TRAIN, outcomes

from pipeline.errors import BadInputError
from pipeline.sources.imports.base import Given, with_given, write_folder
from pipeline.sources.imports.dattri import IMPORTER

RETRAINED = FILES / "dattri" / "retrain"
VERSION = "0.3.0"


def listed(folder):
    """By number, as dattri reads them itself."""
    count = len(list(folder.glob("*/indices.txt")))
    return [[int(i) for i in (folder / str(k) / "indices.txt").read_text().splitlines()] for k in range(count)]


def test_a_retrained_folder(tmp_path):
    assert IMPORTER.found(RETRAINED)
    found = IMPORTER.read(RETRAINED)
    assert [images.tolist() for images in found.lists] == listed(RETRAINED)
    assert (found.n_train, found.outcomes, found.excluded) == (N_TRAIN, None, False)
    opened = write_folder(tmp_path / "out", with_given(found, Given(outcomes(tmp_path, 6)), RETRAINED))
    assert (opened.masks.n_models, opened.n_train, opened.n_targets) == (6, N_TRAIN, 2)


def test_without_metadata_and_in_the_order_of_numbers(tmp_path):
    """As a folder of shards is, where 10 comes after 9."""
    for k in range(12):
        (tmp_path / str(k)).mkdir()
        (tmp_path / str(k) / "indices.txt").write_text(f"{k}\n{k + 1}")
    found = IMPORTER.read(tmp_path)
    assert [images.tolist() for images in found.lists] == [[k, k + 1] for k in range(12)] and found.n_train is None


@pytest.mark.parametrize(("names", "sentence"), [
    (("0", "1", "2", "9"), "4 folders up to 9, but 3, 4, 5, 6, 7, … are missing or without indices.txt"),
    (("1", "2"), "2 folders up to 2, but 0 is missing"),
    (("0", "00", "1"), "has a folder 00, but retrain_lds numbers its folders 0, 1, 2"),
])  # fmt: skip
def test_a_gap_in_the_numbers_is_refused(tmp_path, names, sentence):
    """Rows of outcomes would belong to other models than they seem to."""
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "indices.txt").write_text("0\n1")
    with pytest.raises(BadInputError, match=sentence):
        IMPORTER.read(tmp_path)


def test_a_number_that_no_image_has(tmp_path):
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "indices.txt").write_text(f"0\n{10**30}")
    with pytest.raises(BadInputError, match=r"indices\.txt must hold one whole number a line"):
        IMPORTER.read(tmp_path)


def test_benchmark_files_are_turned_back(tmp_path):
    found = IMPORTER.read(FILES / "dattri")
    values = torch.load(FILES / "dattri" / "target_values_lds.pt").numpy()
    np.testing.assert_array_equal(found.outcomes, -values)
    opened = write_folder(tmp_path / "out", with_given(found, Given(n_train=20), FILES))
    assert (opened.n_train, opened.outcome, opened.higher_is_better) == (20, "target function", False)
    np.testing.assert_array_equal(opened.outcomes.values(np.arange(60)), -values)


def test_what_is_none_of_dattri(tmp_path):
    assert not IMPORTER.found(tmp_path)
    with pytest.raises(BadInputError, match=r"holds neither folders 0, 1, … with indices\.txt"):
        IMPORTER.read(tmp_path)
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "indices.txt").write_text("1\ntwo")
    with pytest.raises(BadInputError, match=r"indices\.txt must hold one whole number a line"):
        IMPORTER.read(tmp_path)
    shutil.copy(FILES / "dattri" / "target_values_lds.pt", tmp_path / "indices_lds.pt")
    shutil.copy(FILES / "dattri" / "target_values_lds.pt", tmp_path)
    shutil.rmtree(tmp_path / "0")
    with pytest.raises(BadInputError, match=r"indices_lds\.pt must hold whole numbers, one row a model"):
        IMPORTER.read(tmp_path)


@pytest.fixture(scope="module")
def dattri(tmp_path_factory):
    """A folder with dattri's wheel, unpacked; it is pure Python, and the torch of these tests does."""
    folder = tmp_path_factory.mktemp("dattri")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=0", "--timeout=5"]
    try:
        done = subprocess.run(
            [*pip, "--dest", str(folder), f"dattri=={VERSION}"], capture_output=True, text=True, timeout=30, check=False
        )
        reason = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    except subprocess.TimeoutExpired:
        reason = ["pip did not answer in 30 s"]
    if reason:
        pytest.skip(f"no registry gives dattri {VERSION}: {reason[0]}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "wheel")
    return folder / "wheel"


def test_dattri_itself(dattri, tmp_path):
    """The script that made the committed files makes them again, from the wheel of today's registry."""
    code = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[1:3]; import make; "
        "out = Path(sys.argv[3]); make.dattri(out)"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(dattri), str(FILES), str(tmp_path)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    again, committed = IMPORTER.read(tmp_path / "retrain"), IMPORTER.read(RETRAINED)
    assert [images.tolist() for images in again.lists] == [images.tolist() for images in committed.lists]
    np.testing.assert_allclose(
        IMPORTER.read(tmp_path).outcomes, IMPORTER.read(FILES / "dattri").outcomes, rtol=1e-4, atol=1e-5
    )
