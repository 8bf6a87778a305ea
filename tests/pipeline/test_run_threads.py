"""Around every stage: as many threads for BLAS as for the stage itself, and a word on the screen."""

from dataclasses import replace

import pytest
from command_here import ok
from threadpoolctl import threadpool_info

from pipeline import run as module
from pipeline.progress import SCREEN


@pytest.mark.parametrize("threads", (1, 2))
def test_a_stage_has_its_threads_and_is_not_silent(tmp_path, monkeypatch, threads):
    seen = []

    def looked(run):
        blas = {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}
        seen.append((run.n_threads, blas, [work.what for work in SCREEN._open]))
        return stage.run(run)

    stage = module.STAGES["download"]
    monkeypatch.setitem(module.STAGES, "download", replace(stage, run=looked))
    ok(tmp_path, "download", "--threads", str(threads))
    assert seen == [(threads, {threads}, ["download", "download"])]  # The command, and its stage.


def test_quiet_is_quiet(tmp_path, monkeypatch):
    seen = []
    stage = module.STAGES["download"]
    monkeypatch.setitem(
        module.STAGES, "download", replace(stage, run=lambda run: seen.append(list(SCREEN._open)) or stage.run(run))
    )
    ok(tmp_path, "download", "--quiet")
    assert seen == [[]]
