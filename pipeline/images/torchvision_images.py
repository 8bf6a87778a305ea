"""CIFAR-10 as torchvision downloads it: the only module that imports torchvision, and only when it is called."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from os import devnull
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError


def download_with_torchvision(root: Path, *, timeout: float, quiet: bool) -> None:
    """Make `root/cifar-10-batches-py`; whatever torchvision raises becomes a `BadInputError`.

    torchvision checks the md5 of the archive and of each file. `timeout` seconds without a byte are a failure.
    """
    with warnings.catch_warnings(), _socket_timeout(timeout), _muted(quiet):
        warnings.simplefilter("ignore")  # about parts of torchvision that are not used here
        cifar10 = _import()
        try:
            cifar10(root, download=True)
        except Exception as error:  # urllib's, tarfile's and its own, undocumented
            raise BadInputError(f"it cannot download ({_first_line(error)})") from error


def _import() -> Any:
    try:
        from torchvision.datasets import CIFAR10  # type: ignore[import-untyped]
    except Exception as error:  # a build that does not fit torch's raises RuntimeError
        raise BadInputError(f"it does not import ({_first_line(error)})") from error
    return CIFAR10


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


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
def _muted(quiet: bool) -> Iterator[None]:
    """Without torchvision's own progress bar, if nobody wants it."""
    with ExitStack() as stack:
        if quiet:
            sink = stack.enter_context(Path(devnull).open("w"))
            stack.enter_context(redirect_stdout(sink))
            stack.enter_context(redirect_stderr(sink))
        yield
