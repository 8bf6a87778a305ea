"""Pages of mapped files that are given back, and arrays that must stay as they are."""

import sys
from pathlib import Path

import numpy as np
import pytest

from datamodels_inf.internal.mapped import forget_pages


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
