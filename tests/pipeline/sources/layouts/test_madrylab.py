"""MadryLab's trainer: rows that were never filled, and its regression's weights."""

import numpy as np
import pytest
from own_folders import law, write

from pipeline.config import Source
from pipeline.errors import BadInputError
from pipeline.sources.layouts.madrylab import RELEASED, TRAINER

MASKS, MARGINS = law()


def source(folder, **more):
    return Source(kind="files", folder=folder, **more)


def trainer(folder, margins=MARGINS, **arrays):
    return write(folder, None, margins=margins.astype(np.float32), masks=MASKS, **arrays)


def test_rows_that_are_not_completed_or_hold_no_margin_are_left_out(tmp_path):
    margins, completed = MARGINS.copy(), np.ones(600, bool)
    margins[11], completed[5] = np.nan, False
    opened = TRAINER.open(source(trainer(tmp_path / "x", margins, _completed=completed)))
    assert np.setdiff1d(np.arange(600), opened.finished).tolist() == [5, 11]
    assert len(opened.left_out) == 2 and opened.outcome == "margin" and not opened.assumed


def test_its_regression_is_found_and_no_part_of_the_key(tmp_path):
    folder = trainer(tmp_path / "x")
    before = TRAINER.content(source(folder))
    (folder / "reg_results").mkdir()
    (folder / "reg_results" / "datamodels.pt").write_bytes(b"weights")
    assert TRAINER.open(source(folder)).weights == folder / "reg_results" / "datamodels.pt"
    assert TRAINER.content(source(folder)) == before == {**before} and list(before) == [
        "content of masks",
        "content of margins",
    ]


def test_arrays_may_lie_in_a_folder_of_data(tmp_path):
    write(tmp_path / "cifar" / "data", None, train_masks_10pct=MASKS, test_margins_10pct=MARGINS)
    assert RELEASED.found(source(tmp_path, percent=10)) and not RELEASED.found(source(tmp_path))
    assert not TRAINER.found(source(tmp_path))


def test_some_nan_in_a_row_is_refused(tmp_path):
    margins = MARGINS.copy()
    margins[4, 2] = np.nan
    opened = TRAINER.open(source(trainer(tmp_path / "x", margins)))
    with pytest.raises(BadInputError, match=r"margins\.npy holds NaN or infinity in row 4 \(row 4: column 2\)"):
        opened.outcomes.values(np.arange(10))
