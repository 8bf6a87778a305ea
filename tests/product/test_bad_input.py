"""Whatever is wrong with files and settings: one sentence, exit code 2, nothing overwritten."""

import os

import numpy as np
import pytest
import torch
from command_here import call
from released_layout import FILES, LOAD, harm_masks, released


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


def header_is(text):
    """Of the masks, whose numbers stay."""

    def change(folder):
        header = text.encode() + b"\n"
        start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
        (folder / "data" / "train_masks_50pct.npy").write_bytes(start + bytes(300 * 24))

    return change


def one_label(folder):
    np.savez(folder / "labels.npz", train_labels=np.array(1), target_labels=np.array(0), class_names=["cat", "dog"])


SHAPED = "{{'descr': '|b1', 'fortran_order': False, 'shape': ({},), }}"
NAN = np.full((300, 8), np.nan)
HOLE = np.ones((300, 8), np.float16)
HOLE[3, 2] = np.nan
BAD = {
    "overlap": ((), ("--set", "source.fit_rows=250"), "overlap: there are only 300 models"),
    "no folder": ((), ("--set", "source.folder=nowhere"), "source.folder nowhere is not a folder"),
    "no masks": ((lambda f: (f / "data" / "train_masks_50pct.npy").unlink(),), (), "no train_masks_50pct.npy"),
    "other percent": ((), ("--set", "source.percent=10"), "no train_masks_10pct.npy"),
    "float masks": ((masks_are(np.ones((300, 24))),), (), "must hold bool"),
    "pickled masks": ((masks_are(np.array([{}], object)),), (), "holds Python objects, and not an array of numbers"),
    "truncated masks": ((lambda f: os.truncate(f / "data" / "train_masks_50pct.npy", 500),), (), "is not a whole .npy"),
    "short margins": ((margins_are(np.ones((10, 8))),), (), "must hold floats of shape (300"),
    "NaN margins": ((margins_are(NAN),), (), "says that no model is completed"),
    "a NaN": ((margins_are(HOLE),), (), "holds NaN or infinity in row 3 (row 3: column 2)"),
    "biased masks": ((harm_masks,), (), "not independent and exchangeable"),
    "no images": ((lambda f: (f / "images.npz").unlink(),), (), "images.npz does not exist"),
    "unknown class": ((), ("--set", "test.target_class=yak"), "there are cat, dog"),
    "no such target": ((), ("--set", "fit.targets=[99]"), "fit.targets must be different numbers from 0 to 7"),
    "images of the embedded set": ((), ("--set", "source.kind=embedded"), "is not for source.kind 'embedded'"),
    "bad lam": ((lam_of_other_length,), LOAD, "bias (8,), lam (9,)"),
    "target of other class": ((), ("--set", "fit.targets=[0]"), "no fitted target is of test.target_class 'dog'"),
    "too many repeats": ((), ("--set", "test.repeats=5000"), "`repeats` must be at most"),
    "validation too long": ((), ("--set", "fit.validation_rows=200"), "`validation_rows` must lie between"),
    "no weights": ((), (*LOAD, "--set", "fit.file=none.pt"), "fit.file none.pt does not exist"),
    "hostile weights": ((hostile_weights,), LOAD, "is not a file of weights"),
    "wrong weights": ((weights_are(torch.ones(3, 3), torch.ones(3)),), LOAD, "must hold weight of shape (24, 8)"),
    "useless weights": ((weights_are(torch.ones(24, 8) * 9, torch.ones(8)),), LOAD, "against"),
    "margins of no target": ((margins_are(np.ones((300, 0))),), (), "must hold floats of shape (300"),
    "masks of no image": ((masks_are(np.ones((300, 0), bool)),), (), "must hold bool"),
    "margins that are all tiny": ((margins_are(np.ones((300, 8)) * 1e-100),), (), "multiply them all by a power"),
    "margins that cannot be summed": ((margins_are(np.ones((300, 8)) * 1e200),), (), "cannot be summed"),
    "a header of half a text": ((header_is("''" + "'"),), (), "is not a whole .npy array"),
    "a header that is indented": ((header_is("  {'descr':\n 1"),), (), "is not a whole .npy array"),
    "a header of many digits": ((header_is(SHAPED.format("9" * 5000)),), (), "is not a whole .npy array"),
    "a header of a huge array": ((header_is(SHAPED.format(f"{2**40}, {2**40}")),), (), "is not a whole .npy array"),
    "a label alone": ((one_label,), ("--set", "source.labels=cifar/labels.npz"), "is not a whole set of labels"),
    "a path without an end": ((), ("--set", "fit.n_lambdas=1000000000000"), "fit.n_lambdas = 1000000000000: input"),
    "repeats without an end": ((), ("--set", "test.repeats=1000000000000"), "test.repeats = 1000000000000: input"),
    "infinite memory": ((), ("--set", "fit.memory_gb=inf"), "fit.memory_gb = inf: input should be a finite number"),
    "a nested setting": ((), ("--set", f"test.images={'[' * 2000}{']' * 2000}"), "it is nested too deep"),
    "a number of many digits": ((), ("--set", f"test.seed={'9' * 5000}"), "test.seed: its value cannot be read"),
    "a number beyond 64 bits": ((), ("--set", f"test.seed=0x{'f' * 6000}"), "a whole number in it is too large"),
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


LONG = "a" * 300


@pytest.mark.parametrize(
    "words",
    (
        ("run", "--config", LONG),
        ("run", "--store", LONG),
        ("run", "--reports", LONG),
        ("run", "--set", f"fit.file={LONG}"),
        ("run", "--set", f"referee.scores=[mine={LONG}]"),
        ("run", "--set", "source.kind=files", "--set", f"source.folder=b/{LONG}/c"),
        ("init", LONG),
        ("merge", LONG, "shard"),
        ("images", "--path", f"{LONG}/" * 15),
    ),
)
def test_a_name_that_no_file_can_have_is_one_sentence(tmp_path, words):
    """A system does not say that such a file is not there, but fails."""
    done = call(tmp_path, *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "Traceback" not in done.stderr
