"""Stages and trainings by two real workers of a real scheduler: the same bytes under the same keys as without them."""

import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest
import small_trained
from command_here import ok
from dask_processes import dask_processes, wait_until
from noted_work import Noted
from same_results import contents
from small_fresh import batches_of
from stopped_fit import fit_stopped_when

from pipeline.places.cluster import Cluster
from pipeline.places.settings import ClusterSettings
from pipeline.stages.atlas import tiles
from pipeline.stages.fresh import stage as fresh
from pipeline.training import parts as of_training

RUN = (
    "report.name=digits", "fit.targets=all", "fit.n_lambdas=5", "test.repeats=4", "test.chunk_pairs=100",
    "atlas.targets=all", "robustness.top=1", "robustness.n_targets=2", "report.max_panels=1",
)  # fmt: skip
PROGRESSIVE = (
    "test.rows=progressive", "test.blocks=3", "source.fit_rows=", "source.held_out_rows=", "source.first_rows=300",
    "fit.targets=all",
)  # fmt: skip
FIT = ("fit", "--set", "fit.targets=all", "--set", "fit.n_lambdas=40")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("cluster"), 2) as processes:
        yield processes


@pytest.fixture(scope="module")
def together(cluster):
    return "--cluster", cluster.address


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return small_trained.make_set(tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    ok(folder, *FIT)
    return folder


def words(settings):
    return [word for setting in settings for word in ("--set", setting)]


def same(one, other):
    a, b = contents(one), contents(other)
    assert a.keys() == b.keys()
    assert [name for name in a if a[name] != b[name]] == []


def test_a_run_leaves_the_same_files_under_the_same_keys(together, tmp_path, monkeypatch):
    monkeypatch.setattr(tiles, "TILE_BYTES", 8 * 400 * 48)  # Three tiles of 48 targets.
    output = []
    for name, place in (("alone", ()), ("together", together)):
        there = ("--store", name, "--reports", f"reports-{name}")
        output.append(ok(tmp_path, "run", *words(RUN), *place, *there))
    assert output[1].count("2 workers with 2 threads of a cluster") == 1
    assert "worker" not in output[0]
    assert len(list(tmp_path.glob("together/atlas/*/tile-*.npy"))) == 3
    same(tmp_path / "alone", tmp_path / "together")
    same(tmp_path / "reports-alone", tmp_path / "reports-together")


def test_blocks_of_rows_and_fresh_models(trained, together, tmp_path):
    """Each block's fits begin with those before; what fresh models see is a file outside of the store."""
    for name, place in (("alone", ()), ("together", together)):
        there = (*words((*small_trained.settings(trained), *PROGRESSIVE)), *place, "--store", name, "--threads", 1)
        with batches_of(fresh, 64):
            ok(tmp_path, "verify", "--fresh", 128, *there)
        ok(tmp_path, "verify", "--top", 2, "--models", 140, *there)
    assert len(list(tmp_path.glob("together/fit/*/datamodel*.npz"))) == 3
    assert {path.parent.parent.name for path in tmp_path.glob("together/*/*/manifest.json")} > {"verify", "fresh"}
    same(tmp_path / "alone", tmp_path / "together")


def test_a_training_leaves_the_same_set(trained, together, tmp_path):
    ok(tmp_path, "train", "--out", "set", *small_trained.ANYWHERE, *together)
    same(trained / "set", tmp_path / "set")


@contextmanager
def a_worker_killed(cluster, folder, pattern, end):
    """As soon as there is a file like `pattern`, which must be before there is one like `end`."""
    before = [cluster.log(worker).count("Restarting worker") for worker in cluster.workers]
    missed = []

    def kill():
        wait_until(lambda: list(folder.glob(pattern)), every=0.002)
        cluster.kill_worker()
        missed.extend(folder.glob(end))

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()
    assert not missed
    wait_until(lambda: cluster.log(cluster.workers[0]).count("Restarting worker") == before[0] + 1)


def test_a_worker_killed_in_the_middle_of_a_training(trained, cluster, together, tmp_path, monkeypatch):
    monkeypatch.setattr(of_training, "CHUNK", 16)
    with a_worker_killed(cluster, tmp_path, "set/.parts/0*.npz", "set/manifest.json"):
        ok(tmp_path, "train", "--out", "set", *small_trained.ANYWHERE, *together)
    same(trained / "set", tmp_path / "set")


def test_a_worker_killed_in_the_middle_of_a_fit(fitted, cluster, together, tmp_path):
    with a_worker_killed(cluster, tmp_path, "data/fit/.work-*/chosen-0-*.npz", "data/fit/*/manifest.json"):
        ok(tmp_path, *FIT, *together)
    same(fitted / "data", tmp_path / "data")


@pytest.mark.parametrize("first", ("alone", "together"))
def test_either_goes_on_where_the_other_was_killed(fitted, together, tmp_path, first):
    places = {"alone": (), "together": together}
    unfinished = fit_stopped_when(tmp_path, "fitted-0-*.npz", *FIT, *places.pop(first))
    (tmp_path / "data" / ".cluster-0123456789abcdef").touch()  # Where the kill came earlier, or later.
    before = {path: path.stat().st_mtime_ns for path in unfinished.glob("chosen-*.npz")}
    assert len(before) == 4
    output = ok(tmp_path, *FIT, *places.popitem()[1])
    assert "going on with a fit that was stopped" in output
    same(fitted / "data", tmp_path / "data")


def place(cluster, folder, said=None, **settings):
    say = (lambda line: None) if said is None else said.append
    return Cluster(ClusterSettings(address=cluster.address, **settings), folder, say, quiet=True)


def test_few_units_are_under_way_and_none_is_kept(cluster, tmp_path):
    """1 MB each, of which neither this process nor a worker has many at a time."""
    work, units, most = Noted(tmp_path, n_bytes=2**20), 200, []
    taken, steps = 0, []

    def given():
        for number in range(units):
            most.append(number - taken)
            yield number

    with place(cluster, tmp_path, in_flight=3) as together:
        for unit, arrays in together.done(work, given(), steps.append):
            assert arrays["number"].tolist() == [unit % 256] * 2**20 if unit < 2 else arrays["number"][0] == unit % 256
            taken += 1
            if taken == 20:
                early = psutil.Process().memory_info().rss
            assert len(work.begun) <= taken + 2 * 3
        late = psutil.Process().memory_info().rss
    assert taken == units
    assert steps == [1.0] * units
    assert max(most) <= 2 * 3
    assert late - early < 60 * 2**20
    assert len(work.opened) == 2  # Once in each process, whatever the number of units.
    assert not list(tmp_path.glob(".cluster-*"))


def test_whoever_stops_early_cancels_what_waits(cluster, tmp_path):
    work = Noted(tmp_path, seconds=0.1)
    with place(cluster, tmp_path, in_flight=4) as together:
        done = together.done(work, iter(range(100)), lambda step: None)
        next(done)
        done.close()
        begun = len(work.begun)
        assert begun < 8
        np.testing.assert_array_equal(
            sorted(unit for unit, _ in together.done(work, range(200, 205), lambda step: None)), range(200, 205)
        )
        assert len(work.begun) <= begun + 2 + 5


def test_nobody_is_connected_for_nothing(tmp_path):
    settings = ClusterSettings(address="tcp://127.0.0.1:1")
    with Cluster(settings, tmp_path, lambda line: None, quiet=True) as nobody:
        assert list(nobody.done(Noted(tmp_path), (), lambda step: None)) == []
        nobody.forget()


def test_a_file_that_workers_may_not_see_is_copied_once(tmp_path):
    (tmp_path / "store").mkdir()
    here, there = tmp_path / "here.npz", tmp_path / "store" / "there.npz"
    here.write_bytes(b"x")
    there.write_bytes(b"y")
    cluster = Cluster(ClusterSettings(), tmp_path / "store", lambda line: None)
    folder = tmp_path / "store" / "work"
    assert cluster.visible(there, folder) == there
    copy = cluster.visible(here, folder)
    assert (copy.parent, copy.read_bytes()) == (folder, b"x")
    made = copy.stat().st_mtime_ns
    assert cluster.visible(here, folder) == copy
    assert copy.stat().st_mtime_ns == made
    copy.write_bytes(b"!")  # Damaged, or another one's.
    assert cluster.visible(here, folder).read_bytes() == b"x"
    here.write_bytes(b"z")
    assert cluster.visible(here, folder) != copy
    assert isinstance(copy, Path)
