"""Small but complete scenarios, each made once: a folder with a store (data), reports and, where one is trained, a set.

embedded   the set of the package, a few targets: download, fit, test, atlas, influence, report
trained    `train`, then all stages on its set: robustness, verify, fresh and agreement too
featured   the same with look-alikes by features of a network
refereed   the same, then `referee` on its own scores and on others
sharded    the same set, trained as two shards in folders of their own, then merged
s3         the released layout in a bucket that is served here: mirrors of masks, margins and weights
"""

import contextlib
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from commands import Forks
from released_bucket import BUCKET, KEYS, Released
from released_layout import released
from servers import s3_server
from settled import copied, settled

ROWS = ("source.fit_rows=600", "source.held_out_rows=300")
EMBEDDED = (
    *ROWS, "fit.targets=[0,3,13,20,30,33]", "test.repeats=1", "fit.n_lambdas=6", "test.chunk_pairs=20",
    "report.name=digits", "report.max_panels=2",
)  # fmt: skip
TRAINED = (
    "source.kind=files", "source.folder=set", "source.fit_rows=600", "source.held_out_rows=500", "fit.n_lambdas=6",
    "test.repeats=2", "test.target_class=1", "test.alpha=0.9", "test.correction=bh", "test.method=contrast",
    "test.chunk_pairs=20", "atlas.targets=all", "fit.targets=all", "robustness.top=2", "robustness.n_targets=3",
    "robustness.neighbours=3", "robustness.same_class=false", "verify.top=2", "verify.models=16", "verify.fresh=64",
    "report.name=digits", "report.max_panels=2",
)  # fmt: skip
TRAIN_WHAT = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)
TRAIN = ("train", "--out", "set", *TRAIN_WHAT, "--workers", 1)
SHARDS = ("one", "two")
"""Folders of shards."""
TRAIN_SHARDS = tuple(
    ("train", "--out", name, *TRAIN_WHAT, "--workers", 1, "--shard", f"{k}/{len(SHARDS)}")
    for k, name in enumerate(SHARDS, start=1)
)
MERGE = ("merge", "set", *SHARDS)
CLUSTER = ("--cluster", "local:2")
SCORES = "scores.npy"
S3 = (
    "source.fit_rows=800", "source.held_out_rows=400", "fit.calibrate=true", "test.chunk_pairs=5", "test.repeats=2",
    "report.max_panels=2",
)  # fmt: skip
OTHER = {"embedded": "test.seed=1", "trained": "test.seed=1"}
"""What makes a store of another seed."""


def set_words(settings):
    """As words of a command."""
    return tuple(word for setting in settings for word in ("--set", setting))


def _run_words(settings):
    return ("run", "--config", "digits", *set_words(settings), "--threads", 1)


@dataclass
class Scene:
    """A scenario as an undisturbed run left it. expected: what its results are."""

    name: str
    folder: Path
    words: tuple
    stages: tuple
    expected: dict = field(default_factory=dict)

    def copy(self, place, without=()):
        """A copy at `place`, without these folders."""
        copied(self.folder, place)
        for name in without:
            shutil.rmtree(place / name)
        return place


class Ground:
    """All scenarios in one folder, made when first asked for, the server of one of them and the process that forks."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.part, self.parts = 0, 1
        """Of all tries, this ground does number part, part + parts, …"""
        self.undisturbed = {}
        """What is known of stages when nothing happens (`kill_places.undisturbed`)."""
        self._using = contextlib.ExitStack()
        self.forks = Forks()
        self._using.callback(self.forks.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._using.close()

    @property
    def work(self):
        """Where one try after the other happens."""
        return self.folder / "try"

    @cached_property
    def embedded(self):
        """The set of the package."""
        return self._made("embedded", EMBEDDED)

    @cached_property
    def embedded_other(self):
        """Of another seed."""
        return self._made("embedded-other", (*EMBEDDED, OTHER["embedded"]))

    @cached_property
    def trained(self):
        """A set that was trained, and all stages on it."""
        return self._made("trained", TRAINED, TRAIN)

    @cached_property
    def trained_other(self):
        """Another training, and another seed."""
        return self._made("trained-other", (*TRAINED, OTHER["trained"]), (*TRAIN, "--seed", 1))

    @cached_property
    def featured(self):
        """With a network's features."""
        return self._further("featured", _run_words((*TRAINED, "robustness.metric=features")))

    @cached_property
    def refereed(self):
        """With the referee's page beside the report."""
        words = ("referee", *_run_words(TRAINED)[1:], "--scores", "lasso", "--scores", f"random={SCORES}")
        return self._further("refereed", words)

    @cached_property
    def sharded(self):
        """Shards, and the set that was made of them."""
        folder = self.folder / "sharded"
        folder.mkdir()
        for words in (*TRAIN_SHARDS, MERGE):
            self.forks.ok(folder, *words)
        return Scene("sharded", folder, MERGE, (), settled(folder))

    @cached_property
    def bucket(self):
        """The released layout behind a server."""
        url, door, log = self._using.enter_context(s3_server())
        source = self.folder / "released"
        released(source / "cifar", n=1200, d=60, targets=12)
        made = Released(source, url, door, log)
        made.client.create_bucket(Bucket=BUCKET)
        for key in KEYS:
            made.put(key, (source / "cifar" / key).read_bytes())
        return made

    @cached_property
    def s3(self):
        """Mirrors of objects in a bucket."""
        words = ("run", *self.bucket.config("cifar10", *S3), "--threads", 1, "--yes")
        return self._run("s3", words)

    def _made(self, name, settings, train=()):
        folder = self.folder / name
        folder.mkdir()
        if train:
            self.forks.ok(folder, *train)
        return self._run(name, _run_words(settings))

    def _further(self, name, words):
        """From where `trained` ended."""
        folder = copied(self.trained.folder, self.folder / name)
        np.save(folder / SCORES, np.random.default_rng(0).standard_normal((40, 20)))
        return self._run(name, words)

    def _run(self, name, words):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        self.forks.ok(folder, *words)
        homes = [path.name for path in (folder / "data").iterdir() if path.is_dir() and path.name != "objects"]
        return Scene(name, folder, words, tuple(sorted(homes)), settled(folder))
