"""A worker that does not see the files, or would make other bytes of them, is named before any work starts."""

import shutil
import signal
import subprocess
import time

import pytest
import small_trained
from command_here import call
from dask_processes import HELPERS, dask_processes, wait_until
from noted_work import Noted
from places import ROOT

from pipeline.errors import WorkStoppedError
from pipeline.places import fitness
from pipeline.places.cluster import Cluster, _refuse_unfit
from pipeline.places.fitness import OWN, UnfitWorkerError, noted, remove_notes, versions
from pipeline.places.settings import ClusterSettings

TRAIN = ("train", "--out", "set", *small_trained.ANYWHERE[:-1])
WITHOUT_OURS = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pipeline", "datamodels_inf"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Nothing())
"""


def other_numpy(folder):
    """A folder where numpy says that it is another version."""
    place = folder / "numpy-1.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    return f"{folder}:{ROOT}:{HELPERS}"


def other_code(folder):
    """A copy of ours, with one change."""
    for package in ("pipeline", "datamodels_inf"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "embedded"))
    with (folder / "pipeline" / "errors.py").open("a") as file:
        file.write("# Changed.\n")
    return f"{folder}:{HELPERS}"


def no_code(folder):
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_OURS)
    return str(folder)


def blind(folder):
    """Words before a command, which then does not see what is in a folder."""
    before = ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs none "{folder}" && exec "$@"', "sh")
    if shutil.which("unshare") is None or subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody hide a folder from a process")
    return before


def test_every_unfit_worker_is_named_with_what_it_lacks(tmp_path):
    with dask_processes(tmp_path, 0) as processes:
        unfit = {
            "numpy 1.0 where the client has ": {"PYTHONPATH": other_numpy(tmp_path / "numpy")},
            f"{OWN} ": {"PYTHONPATH": other_code(tmp_path / "code")},
            "No module named 'pipeline'": {"PYTHONPATH": no_code(tmp_path / "none")},
        }
        workers = {said: processes.worker(wait=False, **options) for said, options in unfit.items()}
        wait_until(lambda: all("Registered to" in processes.log(worker) for worker in workers.values()))
        done = call(tmp_path, *TRAIN, "--cluster", processes.address)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        for said, worker in workers.items():
            log = processes.log(worker)
            address = log[log.index("Start worker at:") :].split()[3]
            assert f"worker {address}: " in done.stderr
            assert said in done.stderr.split(f"worker {address}: ")[1].split("; ")[0]
        assert "install the same, then run the command again" in done.stderr
        assert not list(tmp_path.glob("set/.parts/0*.npz"))
        assert not list(tmp_path.glob("set/.parts/.cluster-*"))


def test_a_worker_that_does_not_see_the_store_is_named_with_the_path(tmp_path):
    store = tmp_path / "the store"
    store.mkdir()
    before = blind(store)
    with dask_processes(tmp_path, 0) as processes:
        processes.worker(before=before)
        done = call(tmp_path, "fit", "--store", store.name, "--cluster", processes.address)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f": it does not see the folder {store} of this command; start workers where that folder has" in done.stderr
    assert "worker tcp://127.0.0.1:" in done.stderr


def test_an_unfit_worker_that_comes_later_is_named_too(tmp_path):
    """One that cannot even import ours goes of itself when it is given work, and others make it."""
    store = tmp_path / "store"
    store.mkdir()
    with dask_processes(tmp_path) as processes:
        settings = ClusterSettings(address=processes.address)
        with Cluster(settings, store, lambda line: None, quiet=True) as cluster:
            work = Noted(store, seconds=0.1)
            done = cluster.done(work, range(500), lambda step: None)
            next(done)
            processes.worker(PYTHONPATH=no_code(tmp_path / "none"))
            processes.worker(PYTHONPATH=other_code(tmp_path / "code"))
            began = time.monotonic()
            with pytest.raises(UnfitWorkerError, match=rf"worker tcp://\S+: it has {OWN} .*; install the same"):
                list(done)
            assert time.monotonic() - began < 20


def test_a_worker_that_does_not_answer_is_named_in_time(tmp_path):
    """And not called unfit: it may go on later."""
    with dask_processes(tmp_path, 1, "--no-nanny") as processes:
        frozen = processes.worker("--no-nanny")
        log = processes.log(frozen)
        address = log[log.index("Start worker at:") :].split()[3]
        settings = ClusterSettings(address=processes.address, patience=2.0)
        with Cluster(settings, tmp_path, lambda line: None, quiet=True) as cluster:
            frozen.send_signal(signal.SIGSTOP)
            try:
                said = rf"worker {address} has not answered for 2 s \(cluster.patience\); .*: what was finished is kept"
                with pytest.raises(WorkStoppedError, match=said):
                    next(cluster.done(Noted(tmp_path), range(3), lambda step: None))
            finally:
                frozen.send_signal(signal.SIGCONT)


def test_a_worker_that_goes_while_it_is_asked_is_not_unfit(tmp_path, monkeypatch):
    """Dask knows that it has gone, and others make its units."""
    answers = {"tcp://a:1": "", "tcp://b:1": ConnectionResetError("gone")}
    monkeypatch.setattr("pipeline.places.cluster.asked", lambda *_, **__: answers)
    with noted(tmp_path) as expected:
        _refuse_unfit(None, expected, 1.0)
        answers["tcp://c:1"] = ModuleNotFoundError("No module named 'pipeline'")
        with pytest.raises(UnfitWorkerError, match=r"^worker tcp://c:1: it cannot use our code \(No module"):
            _refuse_unfit(None, expected, 1.0)


def test_a_note_is_there_while_it_lasts_and_old_ones_go(tmp_path):
    old = tmp_path / ".cluster-0123456789abcdef"
    old.touch()
    with noted(tmp_path) as expected:
        assert not old.exists()
        assert expected.note.parent == tmp_path
        assert expected.problem() == ""
        expected.note.write_text("another", encoding="ascii")
        assert f"does not see the folder {tmp_path} " in expected.problem()
    assert list(tmp_path.iterdir()) == []
    old.touch()
    remove_notes(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_all_that_results_depend_on_is_compared(tmp_path, monkeypatch):
    with noted(tmp_path) as expected:
        assert dict(expected.versions) == versions()
        assert {"python", OWN, "torch", "numba"} < versions().keys()
        monkeypatch.setattr(fitness, "versions", lambda: {**dict(expected.versions), "torch": "none", "scipy": "0.1"})
        assert "torch none where the client has " in expected.problem()
        assert "scipy 0.1 where the client has " in expected.problem()


def test_many_workers_with_one_problem_are_one_clause():
    problems = {f"tcp://{k}:1": "it does not see the folder /x of this command" for k in range(1200)}
    said = str(UnfitWorkerError.of(problems))
    assert said.startswith("workers tcp://0:1, tcp://1:1, tcp://2:1 and 1,197 more: it does not see the folder /x")
    assert said.endswith("start workers where that folder has the same path, then run the command again.")
