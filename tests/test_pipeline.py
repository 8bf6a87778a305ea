"""The real command, end to end: stages, cache, reasons, kills, bad input."""

import csv
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from datamodels_inf import PackedMasks, SquaredResidual, adjust_pvalues, contrast, paired_swap_test, swap_test
from datamodels_inf.lasso.solver import fit_lasso
from pipeline.sources.embedded import FOLDER as EMBEDDED

COMMAND = [sys.executable, "-c", "from pipeline.cli import main; main()"]
STAGES = ("download", "fit", "test", "report")
# Small enough to run often: the embedded set with 12 targets of one class, 100 pairs and a short path.
SMALL = ("--set", "fit.targets=[0,3,13,20,30]", "--set", "test.repeats=1", "--set", "fit.n_lambdas=10")


def call(folder, *arguments, **options):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder, **options
    )


def ok(folder, *arguments):
    done = call(folder, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def states(output):
    """{"download": "cached", …} of a run's lines."""
    words = [line.split() for line in output.splitlines() if not line.startswith(" ")]
    return {w[0]: w[1] for w in words if w and w[0] in STAGES}


def table(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder in which the default configuration has been run, and what it said."""
    folder = tmp_path_factory.mktemp("run")
    return folder, ok(folder, "run")


@pytest.fixture
def small(first, tmp_path):
    """A folder with the small configuration run in it; its store may be harmed."""
    ok(tmp_path, "run", *SMALL)
    return tmp_path


def test_the_default_run_gives_findings_and_a_report(first):
    folder, output = first
    assert states(output) == dict.fromkeys(STAGES, "running")
    assert output.count("not run before") == 4
    home = folder / "reports" / "digits"
    tests, findings = table(home / "tests.csv"), table(home / "findings.csv")
    assert len(tests) == 2000
    assert 10 <= len(findings) <= 200  # The same order as METHOD's prototype.
    columns = "method i j target class_i class_j class_target statistic pvalue pvalue_adjusted finding theta_i theta_j"
    assert list(tests[0])[:16] == [*columns.split(), "effect", "effect_low", "effect_high"]
    assert len(list((home / "panels").glob("*.png"))) == min(50, len(findings))
    blind = [r for r in tests if r["theta_i"] == r["theta_j"]]
    assert blind
    assert all(("cannot see" in r["note"]) == (r in blind) for r in tests)
    page = (home / "index.html").read_text(encoding="utf-8")
    assert f"{len(findings)} of 2000 pairs" in page.replace(",", "")


def test_every_number_of_the_table_can_be_recomputed_from_the_source(first):
    """From masks and margins alone: fit, test and correct by hand, and get the rows of tests.csv."""
    rows = table(first[0] / "reports" / "digits" / "tests.csv")
    masks = PackedMasks(np.load(EMBEDDED / "masks.npy"), 400)
    margins = np.load(EMBEDDED / "margins.npy").astype(float)
    adjusted = adjust_pvalues([float(r["pvalue"]) for r in rows])
    held_out = masks[8000:].to_bool()
    fits = {}
    for number in range(0, 2000, 97):
        row = rows[number]
        i, j, target = int(row["i"]), int(row["j"]), int(row["target"])
        if target not in fits:
            fits[target] = fit_lasso(masks[:8000], margins[:8000, [target]])
        theta, bias, y = fits[target].weight[:, 0], fits[target].bias[0], margins[8000:, target]
        result = swap_test(held_out, y, i, j, score=SquaredResidual(theta, bias), rng=0)
        effect = contrast(held_out, y, i, j, theta=theta, bias=bias)
        for name, value in (
            ("statistic", result.statistic),
            ("pvalue", result.pvalue),
            ("pvalue_adjusted", adjusted[number]),
            ("theta_i", theta[i]),
            ("theta_j", theta[j]),
            ("effect", effect.estimate),
            ("effect_low", effect.interval[0]),
            ("effect_high", effect.interval[1]),
        ):
            assert float(row[name]) == pytest.approx(value, rel=1e-6, abs=1e-9), (number, name)
        assert (row["finding"] == "true") == (adjusted[number] <= 0.2)


def test_a_second_run_does_no_work_and_says_so_quickly(first):
    folder, _ = first
    before = {p: p.stat().st_mtime_ns for p in (folder / "data").rglob("*") if p.is_file() and ".lock" not in p.name}
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = ok(folder, "run")
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime < 3
    assert states(output) == dict.fromkeys(STAGES, "cached")
    after = {p: p.stat().st_mtime_ns for p in (folder / "data").rglob("*") if p.is_file() and ".lock" not in p.name}
    assert before == after


def test_changing_alpha_runs_only_the_report(first):
    folder, _ = first
    output = ok(folder, "run", "--set", "test.alpha=0.1", "--set", "report.name=stricter")
    assert states(output) == {"download": "cached", "fit": "cached", "test": "cached", "report": "running"}
    assert "test.alpha: 0.2 → 0.1" in output
    loose, strict = (table(folder / "reports" / name / "findings.csv") for name in ("digits", "stricter"))
    assert 0 < len(strict) <= len(loose)
    assert all(float(row["pvalue_adjusted"]) <= 0.1 for row in strict)


def test_changing_the_design_keeps_the_fit(first):
    folder, _ = first
    output = ok(folder, "test", "--set", "test.repeats=2")
    assert states(output) == {"download": "cached", "fit": "cached", "test": "running"}
    assert "test.repeats: 20 → 2" in output


def test_status_says_what_is_there_and_what_would_run_and_why(first):
    folder, _ = first
    output = ok(folder, "status")
    assert output.count("cached, ") == 4
    output = ok(folder, "status", "--set", "fit.n_lambdas=7")
    assert "fit.n_lambdas: 100 → 7" in output
    assert output.count("would run") == 3
    assert "would run: not run before" in ok(folder, "status", "--store", "elsewhere")
    assert "fit" in ok(folder, "status", "--force", "fit").partition("forced")[0].splitlines()[-1]
    assert "nothing can run" in ok(folder, "status", "--set", "fit.mode=load", "--set", "fit.file=none.pt")
    assert not (folder / "elsewhere").exists()


def test_several_methods_stand_side_by_side_and_agree_with_the_library(tmp_path):
    ok(tmp_path, "run", *SMALL, "--set", "test.method=['swap','swap-exact','paired','contrast']")
    rows = table(tmp_path / "reports" / "digits" / "tests.csv")
    assert [r["method"] for r in rows] == [m for m in ("swap", "swap-exact", "paired", "contrast") for _ in range(100)]
    by_method = {m: [r for r in rows if r["method"] == m] for m in ("swap", "swap-exact", "paired", "contrast")}
    for name in ("i", "j", "target", "effect"):
        assert len({tuple(r[name] for r in part) for part in by_method.values()}) == 1
    with np.load(next((tmp_path / "data" / "fit").glob("*/datamodel.npz"))) as fitted:
        row = by_method["paired"][42]
        k = fitted["targets"].tolist().index(int(row["target"]))
        theta, bias = fitted["weight"][:, k], fitted["bias"][k]
    x = np.unpackbits(np.load(EMBEDDED / "masks.npy"), axis=1)[8000:, :400].astype(bool)
    y = np.load(EMBEDDED / "margins.npy")[8000:, int(row["target"])].astype(float)
    pair = int(row["i"]), int(row["j"])
    assert float(row["pvalue"]) == pytest.approx(
        paired_swap_test(x, y, *pair, score=SquaredResidual(theta, bias)).pvalue
    )
    assert float(by_method["contrast"][42]["pvalue"]) == pytest.approx(
        contrast(x, y, *pair, theta=theta, bias=bias).pvalue
    )


def test_threads_change_no_finding(tmp_path):
    results = []
    for threads in (1, 2):
        ok(
            tmp_path,
            "run",
            *SMALL,
            "--store",
            f"store{threads}",
            "--reports",
            f"reports{threads}",
            "--threads",
            threads,
        )
        results.append((tmp_path / f"reports{threads}" / "digits" / "tests.csv").read_bytes())
    assert results[0] == results[1]


@pytest.mark.parametrize(("stage", "name"), [
    ("download", "masks.npy"),
    ("download", "margins.npy"),
    ("fit", "datamodel.npz"),
    ("test", "tests.parquet"),
    ("report", "index.html"),
])  # fmt: skip
def test_a_changed_byte_in_the_store_is_noticed_named_and_mended(small, stage, name):
    expected = (small / "reports" / "digits" / "tests.csv").read_bytes()
    (path,) = (small / "data" / stage).glob(f"*/{name}")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    output = ok(small, "run", *SMALL)
    assert states(output)[stage] == "running"
    assert f"{name} is damaged: its checksum has changed" in output
    assert [s for s, state in states(output).items() if state == "running"] == [stage]
    assert (small / "reports" / "digits" / "tests.csv").read_bytes() == expected


def test_a_truncated_or_missing_file_is_noticed(small):
    (path,) = (small / "data" / "download").glob("*/margins.npy")
    os.truncate(path, 1000)
    assert "margins.npy is damaged: 1000 bytes" in ok(small, "run", *SMALL)
    (path,) = (small / "data" / "fit").glob("*/datamodel.npz")
    path.unlink()
    assert "datamodel.npz is missing" in ok(small, "run", *SMALL)


def test_a_harmed_report_is_put_back_and_foreign_files_are_left(small):
    home = small / "reports" / "digits"
    page = (home / "index.html").read_bytes()
    (home / "index.html").write_text("gone")
    (home / "notes.txt").write_text("mine")
    (home / "findings.csv").unlink()
    ok(small, "run", *SMALL)
    assert (home / "index.html").read_bytes() == page
    assert (home / "findings.csv").exists()
    assert (home / "notes.txt").read_text() == "mine"


def test_panels_of_an_older_report_go(first, tmp_path):
    shutil.copytree(first[0] / "data", tmp_path / "data")
    ok(tmp_path, "run")
    many = len(list((tmp_path / "reports" / "digits" / "panels").iterdir()))
    ok(tmp_path, "run", "--set", "report.max_panels=3")
    assert len(list((tmp_path / "reports" / "digits" / "panels").iterdir())) == 3 < many


def test_force_runs_a_cached_stage(small):
    output = ok(small, "run", *SMALL, "--force", "test")
    assert states(output) == {"download": "cached", "fit": "cached", "test": "running", "report": "cached"}
    assert "forced" in output
    assert ok(small, "run", *SMALL, "--quiet") == ""


def test_killed_at_any_moment_the_next_run_goes_on(small, tmp_path_factory):
    """SIGKILL at random points of a run; whatever is left, the next run ends with the same tables."""
    folder = tmp_path_factory.mktemp("killed")
    expected = (small / "reports" / "digits" / "tests.csv").read_bytes()
    rng = random.Random(0)
    for _ in range(8):
        process = subprocess.Popen(
            [*COMMAND, "run", *SMALL], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(rng.uniform(0.3, 4.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        for manifest in (folder / "data").glob("*/*/manifest.json"):
            json.loads(manifest.read_text())
        if rng.random() < 0.3:
            shutil.rmtree(folder / "data" / "test", ignore_errors=True)
    output = ok(folder, "run", *SMALL)
    assert (folder / "reports" / "digits" / "tests.csv").read_bytes() == expected
    assert not list((folder / "data").glob("*/.tmp-*")), output


def test_interrupt_leaves_nothing_half_written(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "fit"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not list(tmp_path.glob("data/fit/.tmp-*")):
        time.sleep(0.05)
        assert process.poll() is None
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert [path for path in (tmp_path / "data" / "fit").iterdir() if not path.name.startswith(".work-")] == []


def test_two_processes_on_one_store(tmp_path):
    both = [
        subprocess.Popen(
            [*COMMAND, "run", *SMALL], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    waited = next(out for out, _ in outputs if "waiting for process" in out)
    assert states(waited.partition("\n")[2]) == dict.fromkeys(STAGES, "cached")


# Other sources.


def released(folder, n=300, d=24, targets=8, coding="signed", seed=0):
    """A folder in MadryLab's layout, with weights and labelled images, from a planted linear law."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    weight = rng.standard_normal((d, targets)) / 2
    margins = masks @ weight + 0.5 * rng.standard_normal((n, targets)) + 2
    (folder / "data").mkdir(parents=True)
    (folder / "datamodels").mkdir()
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    saved = (weight / 2, 2 + weight.sum(0) / 2) if coding == "signed" else (weight, np.full(targets, 2.0))
    content = {
        "weight": torch.tensor(saved[0]).float(),
        "bias": torch.tensor(saved[1]).float(),
        "lam": torch.ones(targets),
    }
    torch.save(content, folder / "datamodels" / "test_50pct.pt")
    from pipeline.images.image_set import ImageSet

    images = rng.integers(0, 256, (d, 6, 6, 3)).astype(np.uint8), np.arange(d) % 2
    shown = rng.integers(0, 256, (targets, 6, 6, 3)).astype(np.uint8), np.arange(targets) % 2
    ImageSet(*images, *shown, ("cat", "dog")).save(folder / "images.npz")
    return weight


FILES = (
    "--set", "source.kind=files", "--set", "source.folder=cifar", "--set", "source.images=cifar/images.npz",
    "--set", "source.fit_rows=200", "--set", "source.held_out_rows=100",
    "--set", "test.target_class=dog", "--set", "test.repeats=3",
)  # fmt: skip
LOAD = ("--set", "fit.mode=load", "--set", "fit.file=cifar/datamodels/test_50pct.pt")


@pytest.mark.parametrize("coding", ("mask", "signed"))
def test_released_layout_with_loaded_weights(tmp_path, coding):
    weight = released(tmp_path / "cifar", coding=coding)
    ok(tmp_path, "run", *FILES, *LOAD, "--set", "fit.targets=all")
    with np.load(next((tmp_path / "data" / "fit").glob("*/datamodel.npz"))) as fitted:
        np.testing.assert_allclose(fitted["weight"], weight, atol=1e-6)
    (manifest,) = (tmp_path / "data" / "fit").glob("*/manifest.json")
    assert json.loads(manifest.read_text())["summary"]["coding"] == coding
    assert "Coding of the weights" in (tmp_path / "reports" / "digits" / "index.html").read_text()
    masks = np.load(next((tmp_path / "data" / "download").glob("*/masks.npy")))
    expected = np.load(tmp_path / "cifar" / "data" / "train_masks_50pct.npy")
    np.testing.assert_array_equal(np.unpackbits(masks, axis=1)[:, :24].astype(bool), expected)


def test_released_layout_with_lasso_and_fewer_rows(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES, "--set", "source.fit_rows=150", "--set", "source.held_out_rows=50")
    margins = np.load(next((tmp_path / "data" / "download").glob("*/margins.npy")))
    expected = np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy")
    np.testing.assert_array_equal(margins, np.concatenate([expected[:150], expected[-50:]]))


def test_the_key_is_of_the_content_not_of_its_place(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "download", *FILES)
    (tmp_path / "cifar").rename(tmp_path / "moved")
    moved = [word.replace("cifar", "moved") for word in FILES]
    assert states(ok(tmp_path, "download", *moved))["download"] == "cached"
    images = tmp_path / "moved" / "images.npz"
    from pipeline.images.image_set import ImageSet

    old = ImageSet.load(images)
    ImageSet(255 - old.train, old.train_labels, old.targets, old.target_labels, old.class_names).save(images)
    output = ok(tmp_path, "download", *moved)
    assert states(output)["download"] == "running"
    assert "content of images" in output


def test_a_changed_file_in_an_image_folder_is_noticed(tmp_path):
    from pipeline.store.files import identity

    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "data_batch_1").write_bytes(b"abc")
    stat = (tmp_path / "batches" / "data_batch_1").stat()
    before = identity(tmp_path / "batches")
    (tmp_path / "batches" / "data_batch_1").write_bytes(b"abd")
    os.utime(tmp_path / "batches" / "data_batch_1", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert identity(tmp_path / "batches") != before


def test_labels_without_images_give_a_report_with_grey_tiles(tmp_path):
    from pipeline.images.image_set import ImageSet

    released(tmp_path / "cifar")
    ImageSet.load(tmp_path / "cifar" / "images.npz").labels.save(tmp_path / "labels.npz")
    without = [word for word in FILES if not word.startswith("source.images")]
    del without[without.index("--set", 4)]
    ok(tmp_path, "run", *without, "--set", "source.labels=labels.npz")
    page = (tmp_path / "reports" / "digits" / "index.html").read_text()
    assert "source.images" in page
    assert table(tmp_path / "reports" / "digits" / "tests.csv")[0]["class_target"] == "dog"


def test_only_the_needed_targets_are_fitted(tmp_path):
    released(tmp_path / "cifar")
    output = ok(tmp_path, "run", *FILES, "--set", "fit.targets=needed")
    assert "4 targets, median held-out R²" in output
    everything = ok(tmp_path, "run", *FILES, "--set", "fit.targets=all", "--set", "report.name=all")
    assert "8 targets, median held-out R²" in everything
    for name in ("tests.csv", "findings.csv"):
        assert (tmp_path / "reports" / "digits" / name).read_text() == (tmp_path / "reports" / "all" / name).read_text()
    assert "test.target_class" in ok(
        tmp_path, "fit", *FILES, "--set", "fit.targets=needed", "--set", "test.target_class=cat"
    )


def test_wide_margins_keep_their_precision(tmp_path):
    released(tmp_path / "cifar")
    margins = np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy").astype(np.float32) + np.float32(3000.3)
    np.save(tmp_path / "cifar" / "data" / "test_margins_50pct.npy", margins)
    ok(tmp_path, "run", *FILES)
    np.testing.assert_array_equal(np.load(next((tmp_path / "data" / "download").glob("*/margins.npy"))), margins)


def test_a_full_disk_is_one_sentence(tmp_path):
    """A file-size limit stands for the full disk: the write fails, and the process must not die of it."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = call(tmp_path, "run", *SMALL, preexec_fn=limit)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
    assert not list(tmp_path.glob("data/*/.tmp-*"))


def test_a_changed_source_file_is_noticed(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES)
    time.sleep(0.02)
    np.save(
        tmp_path / "cifar" / "data" / "test_margins_50pct.npy",
        np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy") + 1,
    )
    assert states(ok(tmp_path, "run", *FILES))["download"] == "running"


def test_a_wide_open_family_without_findings_still_gives_a_report(tmp_path):
    released(tmp_path / "cifar")
    rng = np.random.default_rng(1)
    np.save(tmp_path / "cifar" / "data" / "test_margins_50pct.npy", rng.standard_normal((300, 8)).astype(np.float16))
    ok(tmp_path, "run", *FILES)
    assert table(tmp_path / "reports" / "digits" / "findings.csv") == []
    assert (tmp_path / "reports" / "digits" / "index.html").exists()


def harm_masks(folder):
    masks = np.load(folder / "data" / "train_masks_50pct.npy")
    masks[:, 5] = True
    np.save(folder / "data" / "train_masks_50pct.npy", masks)


def hostile_weights(folder):
    class Hostile:
        def __reduce__(self):
            return os.system, ("touch pwned",)

    torch.save({"weight": Hostile()}, folder / "datamodels" / "test_50pct.pt")


def lam_of_other_length(folder):
    content = torch.load(folder / "datamodels" / "test_50pct.pt")
    torch.save({**content, "lam": torch.ones(9)}, folder / "datamodels" / "test_50pct.pt")


def masks_are(array):
    return lambda folder: np.save(folder / "data" / "train_masks_50pct.npy", array)


def margins_are(array):
    return lambda folder: np.save(folder / "data" / "test_margins_50pct.npy", array)


def weights_are(weight, bias):
    return lambda folder: torch.save({"weight": weight, "bias": bias}, folder / "datamodels" / "test_50pct.pt")


NAN = np.full((300, 8), np.nan)
BAD = {
    "overlap": ((), ("--set", "source.fit_rows=250"), "overlap: there are only 300 models"),
    "no folder": ((), ("--set", "source.folder=nowhere"), "source.folder nowhere is not a folder"),
    "no masks": ((lambda f: (f / "data" / "train_masks_50pct.npy").unlink(),), (), "holds no train_masks_50pct.npy"),
    "other percent": ((), ("--set", "source.percent=10"), "holds no train_masks_10pct.npy"),
    "float masks": ((masks_are(np.ones((300, 24))),), (), "must hold bool"),
    "pickled masks": ((masks_are(np.array([{}], object)),), (), "is not a whole .npy"),
    "truncated masks": ((lambda f: os.truncate(f / "data" / "train_masks_50pct.npy", 500),), (), "is not a whole .npy"),
    "short margins": ((margins_are(np.ones((10, 8))),), (), "must hold floats of shape (300"),
    "NaN margins": ((margins_are(NAN),), (), "holds a margin that is NaN"),
    "biased masks": ((harm_masks,), (), "not independent and exchangeable"),
    "no images": ((lambda f: (f / "images.npz").unlink(),), (), "images.npz does not exist"),
    "unknown class": ((), ("--set", "test.target_class=yak"), "there are cat, dog"),
    "no such target": ((), ("--set", "fit.targets=[99]"), "fit.targets must be different numbers from 0 to 7"),
    "images of the embedded set": ((), ("--set", "source.kind=embedded"), "are not for source.kind 'embedded'"),
    "bad lam": ((lam_of_other_length,), LOAD, "must hold lam of shape (8,)"),
    "target of other class": ((), ("--set", "fit.targets=[0]"), "no fitted target is of test.target_class 'dog'"),
    "too many repeats": ((), ("--set", "test.repeats=5000"), "`repeats` must be at most"),
    "validation too long": ((), ("--set", "fit.validation_rows=200"), "`validation_rows` must lie between"),
    "no weights": ((), (*LOAD, "--set", "fit.file=none.pt"), "fit.file none.pt does not exist"),
    "hostile weights": ((hostile_weights,), LOAD, "is not a file of weights"),
    "wrong weights": ((weights_are(torch.ones(3, 3), torch.ones(3)),), LOAD, "must hold weight of shape (24, 8)"),
    "useless weights": ((weights_are(torch.ones(24, 8) * 9, torch.ones(8)),), LOAD, "against"),
    "unknown setting": ((), ("--set", "test.alfa=1"), "test.alfa is not a setting"),
    "unknown config": ((), ("--config", "cifar11"), "no configuration of that name"),
    "store is a file": ((), ("--store", "cifar/images.npz"), "cannot be made a folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_exit_code_two_and_nothing_overwritten(tmp_path, case):
    changes, arguments, part = BAD[case]
    released(tmp_path / "cifar")
    for change in changes:
        change(tmp_path / "cifar")
    home = tmp_path / "reports" / "digits"
    home.mkdir(parents=True)
    (home / "index.html").write_text("older")
    done = call(tmp_path, "run", *FILES, *arguments)
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert (home / "index.html").read_text() == "older"
    assert not (tmp_path / "pwned").exists()
    assert not list(tmp_path.glob("data/*/.tmp-*"))


def test_unexchangeable_masks_can_be_tested_all_the_same_and_the_report_warns(tmp_path):
    released(tmp_path / "cifar")
    harm_masks(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES, "--set", "test.allow_unexchangeable=true")
    assert "failed the check of their premise" in (tmp_path / "reports" / "digits" / "index.html").read_text()


def test_a_failure_while_working_is_exit_code_one_and_verbose_shows_where(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fit").write_text("a file where a folder must be")
    done = call(tmp_path, "run", *SMALL)
    assert done.returncode == 1
    assert done.stderr.startswith("datamodels-inf: failed: ")
    assert "Traceback" not in done.stderr
    assert "Traceback" in call(tmp_path, "run", *SMALL, "--verbose").stderr


def test_plan_and_config(tmp_path):
    output = ok(tmp_path, "plan", "--effect", "0.5", "--alpha", "0.001")
    counts = [int(line.split()[-1].replace(",", "")) for line in output.splitlines()[1:]]
    assert counts == sorted(counts, reverse=True)
    done = call(tmp_path, "plan", "--effect", "0")
    assert (done.returncode, done.stderr) == (
        2,
        "datamodels-inf: --effect must be a finite number other than 0, but it is 0.0.\n",
    )
    assert 'method = ["swap"]' in ok(tmp_path, "config", "show")
    assert "alpha = 0.05" in ok(tmp_path, "config", "show", "--set", "test.alpha=0.05")
    assert "cifar10" in ok(tmp_path, "config", "list")
