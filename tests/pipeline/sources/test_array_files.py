"""Arrays on this disk: their rows and their precision."""

import numpy as np
import pytest
from command_here import ok
from masks_of_people import IMAGES, ROWS, TARGETS, make, pairs_of, run
from released_layout import FILES, released

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.sources.array_files import Files, open_array, open_files
from pipeline.sources.opened import copy_rows


def test_wide_margins_keep_their_precision(tmp_path):
    released(tmp_path / "cifar")
    margins = np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy").astype(np.float32) + np.float32(3000.3)
    np.save(tmp_path / "cifar" / "data" / "test_margins_50pct.npy", margins)
    ok(tmp_path, "run", *FILES)
    np.testing.assert_array_equal(np.load(next((tmp_path / "data" / "download").glob("*/margins.npy"))), margins)


def test_rows_that_are_not_completed_are_left_out(tmp_path):
    """The same result as without them, whatever stands in them."""
    masks = make(tmp_path / "0", "uniform")
    margins = np.load(tmp_path / "0" / "margins.npy")
    design = pairs_of(tmp_path / "0", "across")
    expected, _ = run(tmp_path / "0", *design)
    places = np.sort(np.random.default_rng(0).choice(ROWS + 40, 40, replace=False))
    completed = np.ones(ROWS + 40, bool)
    completed[places] = False
    whole = np.zeros((ROWS + 40, IMAGES), bool), np.full((ROWS + 40, TARGETS), np.nan, np.float32)
    for array, values in zip(whole, (masks, margins), strict=True):
        array[completed] = values
    np.save(tmp_path / "0" / "masks.npy", whole[0])
    np.save(tmp_path / "0" / "margins.npy", whole[1])
    np.save(tmp_path / "0" / "_completed.npy", completed)
    said = []
    found, _ = run(tmp_path / "0", *design, say=said.append)
    assert any("40 models are not completed" in line for line in said)
    np.testing.assert_array_equal(found["pvalue"], expected["pvalue"])


@pytest.mark.parametrize("completed", (np.ones(3, bool), np.full(ROWS, 0.5), np.full(ROWS, 2)))
def test_a_bad_vector_of_completed_rows(tmp_path, completed):
    make(tmp_path / "0", "uniform")
    np.save(tmp_path / "0" / "_completed.npy", completed)
    with pytest.raises(BadInputError, match=f"_completed.npy must hold {ROWS:,} booleans, one per mask"):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "across"))


def test_margins_in_steps_are_averaged_as_margins(tmp_path):
    """One mask trained twice: its margin is the mean of both, in the unit of margins."""
    masks = np.packbits(np.random.default_rng(2).random((40, 16)) < 0.5, axis=1)
    codes = np.random.default_rng(3).integers(-128, 128, (80, 3)).astype(np.int8)
    np.save(tmp_path / "masks.npy", np.repeat(masks, 2, axis=0))
    np.save(tmp_path / "margins.npy", codes)
    (tmp_path / "out").mkdir()
    files = Files(tmp_path / "masks.npy", tmp_path / "margins.npy", 16, None, margin_step=0.25)
    settings = ("source.group_by_mask=true", "source.fit_rows=20", "source.held_out_rows=20")
    rows = copy_rows(load_config("digits", settings), open_files(files), tmp_path / "out", True)
    margins = np.load(tmp_path / "out" / "margins.npy")
    assert (rows.n_repeated, margins.dtype) == (40, np.float32)
    np.testing.assert_allclose(margins, codes.reshape(40, 2, 3).mean(axis=1) * 0.25, rtol=1e-6)


def npy(header):
    """An .npy file of any header."""
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64)


def described(shape, kind="'<f4'"):
    return npy(f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}")


@pytest.mark.parametrize("content", (
    b"", b"\x93NUMPY",
    b"PK\x03\x04" + bytes(64), described(f"({10**30},)"), described("(2**70,)"), described("(-1, 4)"),
    described("(1,)", "'O'"), described("(1,)", "5"), described("(" * 4000), npy("(" * 900), npy("{"), npy("'" * 3),
    npy("[]"), described("(1000000,)"), described("'4'"), described(f"({10**9}, {10**9})"),
))  # fmt: skip
def test_whatever_is_wrong_with_a_header_is_one_sentence(tmp_path, content):
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(
        BadInputError,
        match=r"x\.npy (is not a whole \.npy array of numbers \(.{4,130}\); get it again|holds Python objects, .*)\.$",
    ):
        open_array(tmp_path / "x.npy")


def test_an_archive_by_the_name_of_an_array_is_none(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    with pytest.raises(BadInputError, match="it does not begin as one"):
        open_array(tmp_path / "x.npy")
