"""Descriptions of records: those that Bergson writes, and hostile ones."""

import numpy as np
import pytest

from pipeline.score_files.records import record_type, widened

GOOD = {
    "names": ["score_0", "written_0", "score_1", "written_1"],
    "formats": ["bfloat16", "bool", "float64", "uint8"],
    "offsets": [0, 2, 8, 16],
    "itemsize": 24,
}


def test_each_score_has_its_own_kind():
    kind, halves = record_type(GOOD)
    assert (kind.itemsize, [kind[k].str for k in range(4)], halves) == (24, ["<u2", "|b1", "<f8", "|u1"], [True, False])


@pytest.mark.parametrize(("change", "sentence"), [
    ({"formats": ["O", "bool", "float64", "bool"]}, "'O' as the format of score_0"),
    ({"formats": ["float32", "O", "float64", "bool"]}, "'O' as the format of written_0"),
    ({"formats": ["float32"]}, "and no other"),
    ({"offsets": [0, 1, 8, 16]}, "overlap"),
    ({"offsets": [-4, 2, 8, 16]}, "overlap"),
    ({"offsets": [0, 2.5, 8, 16]}, "whole numbers as offsets"),
    ({"itemsize": 16}, "records of 16 bytes, but their fields end at 17"),
    ({"itemsize": 2**40}, "fields end at 17"),
    ({"itemsize": "24"}, "by names, formats, offsets and itemsize"),
    ({"names": 5}, "by names, formats, offsets and itemsize"),
    ({"names": ["score_0", "written_0", "score_0", "written_0"]}, "and no other"),
    ({"names": ["score_0", "written_0", "score_2", "written_2"]}, "and no other"),
    ({"names": []}, "and no other"),
])  # fmt: skip
def test_any_other_is_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        record_type({**GOOD, **change})
    with pytest.raises(ValueError, match="describes no records"):
        record_type([])


def test_widened_numbers():
    assert np.isnan(widened(np.array([0x7FC0], np.uint16)))[0]
