"""Cores that a process may use, and BLAS that does not multiply them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from datamodels_inf.internal.cores import ONE_BLAS_THREAD, available_cores, blas_threads, group_quota
from datamodels_inf.internal.threads import in_threads


def blas():
    """Threads that each BLAS would use now."""
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("files", "own", "quota"),
    (
        ({"cpu.max": "150000 100000\n"}, "0::/\n", 1.5),
        ({"cpu.max": "max 100000\n"}, "0::/\n", None),
        ({"job/step/cpu.max": "max 100000\n", "job/cpu.max": "400000 100000\n"}, "0::/job/step\n", 4.0),
        ({"job/step/cpu.max": "200000 100000\n", "job/cpu.max": "400000 100000\n"}, "0::/job/step\n", 2.0),
        ({"other/cpu.max": "100000 100000\n"}, "0::/job\n", None),
        ({"cpu/cpu.cfs_quota_us": "250000\n", "cpu/cpu.cfs_period_us": "100000\n"}, "1:cpu:/\n", 2.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, "1:cpu:/\n", None),
        ({"cpu.max": "nonsense\n"}, "nonsense\n", None),
        ({}, None, None),
    ),
    ids=(
        "a quota",
        "no limit",
        "of a group above",
        "the least",
        "of another",
        "version 1",
        "no limit 1",
        "odd",
        "no files",
    ),
)
def test_the_quota_of_control_groups(tmp_path, files, own, quota):
    for name, text in files.items():
        write(tmp_path / "groups" / name, text)
    if own is not None:
        write(tmp_path / "own", own)
    assert group_quota(tmp_path / "groups", tmp_path / "own") == quota


def test_a_quota_is_a_limit_and_half_a_core_is_one(tmp_path, monkeypatch):
    from datamodels_inf.internal import cores

    monkeypatch.setattr(cores, "GROUPS", tmp_path)
    write(tmp_path / "cpu.max", "50000 100000")
    assert available_cores() == 1
    write(tmp_path / "cpu.max", f"{100_000 * (os.cpu_count() + 5)} 100000")
    assert available_cores() == len(os.sched_getaffinity(0))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_a_pinned_process_has_the_cores_that_it_is_pinned_to():
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "from datamodels_inf.internal.cores import available_cores; print(available_cores())"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "1\n"


def test_blas_keeps_to_its_limit_and_gets_it_back():
    np.ones((2, 2)) @ np.ones((2, 2))
    with blas_threads(2):
        assert set(blas()) == {2}
        with blas_threads(1):
            assert set(blas()) == {1}
        assert set(blas()) == {2}


def test_threads_of_ours_do_not_multiply_those_of_blas():
    """Inside, BLAS has one thread, until the last of several that overlap has ended."""
    seen = []
    with blas_threads(2):
        in_threads(lambda item: seen.append(set(blas())), range(4), threads=2)
        assert seen == [{1}] * 4
        with ONE_BLAS_THREAD:
            in_threads(lambda item: None, range(4), threads=2)
            assert set(blas()) == {1}
        assert set(blas()) == {2}


def test_one_thread_of_ours_leaves_blas_as_it_is():
    seen = []
    with blas_threads(2):
        in_threads(lambda item: seen.append(set(blas())), [0], threads=1)
    assert seen == [{2}]


def test_a_library_that_came_later_has_the_limit_too():
    code = (
        "import numpy, sys; from datamodels_inf.internal.cores import blas_threads\n"
        "with blas_threads(1): pass\n"
        "import scipy.linalg\n"
        "from threadpoolctl import threadpool_info\n"
        "with blas_threads(1): print({i['num_threads'] for i in threadpool_info() if i['user_api'] == 'blas'})"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=environment) == "{1}\n"
