"""Batches of CIFAR-10 with the opcodes that Python 2 wrote."""

import os
import struct

import numpy as np
import pytest

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.image_set import ImageSet

BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
ROWS = 4


def refusal(load, *arguments, **options):
    """The one sentence with which `load` refuses."""
    with pytest.raises(BadInputError) as caught:
        load(*arguments, **options)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def same(a, b):
    names = ("train", "train_labels", "targets", "target_labels")
    return a.class_names == b.class_names and all(
        getattr(a, n).dtype == getattr(b, n).dtype and np.array_equal(getattr(a, n), getattr(b, n)) for n in names
    )


class Marker:
    """Unpickled by an ordinary unpickler, makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def python2_string(text):
    return b"T" + struct.pack("<i", len(text)) + text


def python2_array(data, module=b"numpy.core.multiarray"):
    """The opcodes with which Python 2's numpy writes a uint8 matrix."""
    n, width = data.shape
    dtype = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"(J" + struct.pack("<i", n) + b"J" + struct.pack("<i", width) + b"t"
    start = b"c" + module + b"\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    return start + b"(K\x01" + shape + dtype + b"\x89" + python2_string(data.tobytes()) + b"tb"


def python2_labels(labels):
    return b"](" + b"".join(b"J" + struct.pack("<i", k) for k in labels) + b"e"


def python2_batch(data, labels, **options):
    parts = [python2_string(b"batch_label"), python2_string(b"a batch")]
    parts += [python2_string(b"labels"), python2_labels(labels)]
    parts += [python2_string(b"data"), python2_array(data, **options)]
    return b"\x80\x02}(" + b"".join(parts) + b"u."


def planar(images):
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def expected(made, n_train=5 * ROWS, n_targets=ROWS):
    images, labels = made
    train, train_labels = images[:5].reshape(-1, 32, 32, 3)[:n_train], labels[:5].ravel()[:n_train]
    return ImageSet(train, train_labels, images[5][:n_targets], labels[5][:n_targets], CLASS_NAMES)
