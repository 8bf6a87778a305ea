"""A shell's background job (`make test &`) ignores SIGINT, one of nohup's SIGHUP, and so would the processes that the
tests interrupt.

Kernels are compiled once, before the workers of xdist start, which would each compile them. There are three workers for
two cores: many tests wait, for processes, servers and clocks.

The longest files come first, so that no worker is left alone with one of them at the end (with xdist's
--no-loadscope-reorder, as in the Makefile).
"""

import os
import signal
from pathlib import Path

import long_runs
import pytest

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.kernels.ahead import EVERYTHING, Ahead, load

HERE = Path(__file__).parent

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest.register_assert_rewrite(
    "command_here", "contrast_cases", "faulty_mirror", "gram_checks", "lasso_problems", "python2_batches",
    "ranged_download", "real_command", "report_content", "small_cifar10", "warm",
)  # fmt: skip


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="Monte-Carlo tests with their full number of repetitions")


def pytest_xdist_auto_num_workers():
    return available_cores() * 3 // 2


def pytest_configure(config):
    long_runs.LONG = config.getoption("--long")
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        compiling = Ahead(EVERYTHING, os.cpu_count() or 1)
        compiling.wait(EVERYTHING)
        load(compiling.missing)
        compiling.close()


def pytest_collection_modifyitems(items):
    places = {HERE / name: place for place, name in enumerate(long_runs.LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
