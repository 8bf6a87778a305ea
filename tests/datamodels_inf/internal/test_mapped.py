"""Pages of mapped files that are given back, and arrays that must stay as they are."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from datamodels_inf.internal.mapped import RowMemory, forget_pages


def resident(path):
    """Kilobytes of the file that count as memory of this process."""
    inside, total = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        fields = line.split()
        if "-" in fields[0]:
            inside = line.endswith(str(path))
        elif inside and fields[0] == "Rss:":
            total += int(fields[1])
    return total


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is resident")
@pytest.mark.parametrize("part", (slice(None), slice(100, 2000)))
def test_what_was_read_is_given_back_and_can_be_read_again(tmp_path, part):
    path = tmp_path / "numbers.npy"
    np.save(path, np.arange(4_000_000).reshape(4000, 1000))
    numbers = np.load(path, mmap_mode="r")
    expected = numbers.sum()
    assert resident(path) > 30_000
    forget_pages(np.asarray(numbers)[part][:, 3:])
    assert resident(path) < 100
    assert numbers.sum() == expected


@pytest.mark.parametrize("mode", (None, "c", "r+"))
def test_what_may_have_been_written_to_stays(tmp_path, mode):
    path = tmp_path / "numbers.npy"
    np.save(path, np.zeros((2000, 1000)))
    numbers = np.load(path, mmap_mode=mode)
    numbers[:] = 7.0
    forget_pages(numbers[5:])
    assert (numbers == 7.0).all()


@pytest.mark.parametrize(("rows", "columns"), [(40, 5000), (40, 7), (3, 2048)])
def test_rows_that_are_forgotten_are_0_or_as_they_were_and_all_others_stay(rows, columns):
    """Of a page that two rows share, nothing is given back while one of them is there."""
    memory = RowMemory(rows, columns, np.int16)
    memory.array[:] = np.arange(rows)[:, None] + 1
    gone = np.array([2, 1] if rows == 3 else [39, 3, 4, 5, 30, 0])
    memory.forget(gone)
    memory.forget(np.zeros(0, np.int64))
    kept = np.setdiff1d(np.arange(rows), gone)
    np.testing.assert_array_equal(memory.array[kept], np.repeat(kept[:, None] + 1, columns, axis=1))
    assert (memory.array[gone] == 0).any() == (columns > 7)
    memory.array[gone] = 9
    assert (memory.array[gone] == 9).all()


def test_memory_of_forgotten_rows_is_the_systems_again():
    def own():
        return int(re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024

    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory a process has")
    memory = RowMemory(1000, 50_000, np.int16)
    memory.array[:] = 1
    full = own()
    memory.forget(np.arange(100, 900))
    assert full - own() > 0.75 * memory.array.nbytes
