"""`datamodels-inf findings --csv | head`: where the reader of a pipe has gone, a command ends without a word.

A write to such a pipe is an OSError like any other to code that looks for trouble with files, so `echo` gives it a name
of its own, at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import click

from pipeline.progress import SCREEN
from pipeline.signals import EndedError
from pipeline.text.given_names import printable
from pipeline.text.own_paths import shareable

STATUS = 141
"""What a shell says of a program that SIGPIPE ended: 128 + 13."""


class ClosedPipeError(Exception):
    """Nobody reads what is printed any more."""


def echo(line: str, *, err: bool = False) -> None:
    """Print a line, in which nothing moves the cursor, colours or hides text, for names come from files of others; no
    password or signature of an address stands, and no more of the user's home than ~."""
    with named(), SCREEN.paused():
        click.echo(spelled(printable(shareable(line)), sys.stderr if err else sys.stdout), err=err)


PLAIN = str.maketrans({"→": "->", "…": "...", "–": "-", "−": "-", "×": "x", "·": ".", "“": '"', "”": '"', "’": "'"})


def spelled(text: str, stream: TextIO | None) -> str:
    """`text` in the letters that a console has: others are put in words of its own, or a ? stands for them."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    except LookupError:
        return text
    return text


def forgive_letters() -> None:
    """What is printed by others, such as pages of help, must not fail at a letter that the console has not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="replace")


@contextlib.contextmanager
def named() -> Iterator[None]:
    """A broken pipe inside is a `ClosedPipeError` if it is that of the output, and else a failed connection."""
    try:
        yield
    except BrokenPipeError as error:
        if any(map(_is_closed, (sys.stdout, sys.stderr))):
            raise ClosedPipeError from error
        raise ConnectionError("the other side closed a connection") from error


class PipedGroup(click.Group):
    """A group that tells a closed pipe from a failure; click itself would end with 1, as with any failure."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """The same; here help pages are printed."""
        with named():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """The same. A signal is none of click's: it would begin a line, as after a ^C."""
        try:
            with named():
                return super().invoke(ctx)
        except EndedError as error:
            raise click.Abort from error


def leave_quietly(status: int = STATUS) -> None:
    """End. What is still buffered goes nowhere, so that Python does not try again, and complain, at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    sys.exit(status)


def _is_closed(stream: TextIO) -> bool:
    """Whether it is a pipe without a reader; one that cannot be asked tells by failing once more."""
    try:
        asked = select.poll()
        asked.register(stream.fileno(), select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in asked.poll(0))
    except (AttributeError, OSError, ValueError):  # no poll on this system, or no file
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
            return False
        return True
