"""What is kept comes back to the last bit; what cannot be kept is no failure."""

import resource

import numpy as np
import pytest

from pipeline.stages.fit import sums_file
from pipeline.stages.fit.sums_file import SumsFile


def test_what_is_put_comes_back_and_nothing_else(tmp_path):
    sums = np.random.default_rng(0).standard_normal((5, 1000))
    with SumsFile(tmp_path / "new") as kept:
        for k, row in enumerate(sums):
            kept.put(bytes([k]), row)
        kept.put(b"\0", sums[1])  # The first stays.
        for k in (3, 0, 4, 1, 2):
            np.testing.assert_array_equal(kept.get(bytes([k])), sums[k])
        assert kept.get(b"9") is None
        assert list((tmp_path / "new").iterdir()) == []  # It has no name, so nobody has to remove it.


def test_without_room_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(sums_file, "FREE", 10**18)
    with SumsFile(tmp_path) as kept:
        kept.put(b"a", np.ones(10))
        assert kept.get(b"a") is None


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limits here")
def test_a_limit_on_files_is_no_failure(tmp_path):
    import signal

    limits, before = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with SumsFile(tmp_path) as kept:
        kept.put(b"a", np.ones(10))
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
            kept.put(b"b", np.ones(1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, before)
        assert kept.get(b"b") is None
        kept.put(b"c", np.full(7, 3.0))
        assert kept.get(b"a").tolist() == [1.0] * 10
        assert kept.get(b"c").tolist() == [3.0] * 7
