"""CIFAR-10 as torchvision downloads it: the only module that imports torchvision, and only when it is called."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from http.client import HTTPException
from os import devnull
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from pipeline.errors import BadInputError
from pipeline.remote.failures import root_reason


def download_with_torchvision(root: Path, *, timeout: float) -> None:
    """Make `root/cifar-10-batches-py`; whatever torchvision raises becomes a `BadInputError`.

    torchvision checks the md5 of the archive and of each file. `timeout` seconds without a byte are a failure.
    """
    with warnings.catch_warnings(), _socket_timeout(timeout), _muted():
        warnings.simplefilter("ignore")  # about parts of torchvision that are not used here
        cifar10 = _import()
        try:
            cifar10(root, download=True)
        except Exception as error:  # urllib's, tarfile's and its own, undocumented
            raise BadInputError(_why_no_download(error)) from error


def _import() -> Any:
    try:
        from torchvision.datasets import CIFAR10  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise BadInputError("it is not installed") from error
    except Exception as error:  # a build that does not fit torch's raises RuntimeError
        raise BadInputError("it does not import; its build does not fit the installed torch") from error
    return CIFAR10


def _why_no_download(error: Exception) -> str:
    """In our words: those of urllib, tarfile and torchvision say nothing to a user."""
    if isinstance(error, HTTPError):
        return f"its host answers {error.code}"
    inner = getattr(error, "reason", None)  # of urllib's URLError
    cause = inner if isinstance(inner, Exception) else error
    if isinstance(cause, TimeoutError):
        return "its host went silent"
    if isinstance(cause, (OSError, HTTPException)):
        return f"its host cannot be reached ({root_reason(cause)})"
    if isinstance(error, RuntimeError):  # "File not found or corrupted."
        return "what its host sent is not the archive that it knows"
    return f"it cannot download ({type(error).__name__})"


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """torchvision sets none, and would wait for ever for a server that has gone silent."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


@contextmanager
def _muted() -> Iterator[None]:
    """Without torchvision's own progress bar, which would be in the way of ours."""
    with Path(devnull).open("w") as sink, redirect_stdout(sink), redirect_stderr(sink):
        yield
