"""`kernel`: a loop compiled by numba without the interpreter's lock, and kept on disk for the next process.

Numba compiles again when the file of a function has changed. It does not look at the files of the functions and
constants that went into it; here they count too, so that no result ever comes from code that is not there any more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit, types, version_info
from numba.core.caching import FunctionCache
from numba.core.errors import TypingError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

KNOWN = (0, 60) <= version_info.short <= (0, 68)
"""Numba's versions that `parts` was tried with, from inside of it; with others, more is compiled, to the same bits."""


@cache
def sources() -> str:
    """A hash of all files of the package, in all its rooms."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


class _Kept(FunctionCache):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file._source_stamp = (self._cache_file._source_stamp, sources())


def kernel(
    *door: Any, by_itself: bool = False, **options: Any
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """`options` are njit's. `door`: of a kernel that Python calls, the types of its arguments, the only ones it gets.

    Nothing is compiled here; but what a door needs is known before it is called, and can be compiled while data are
    read (`datamodels_inf.kernels.ahead`). A call with other types works, and compiles everything behind the door again.
    by_itself: it is optimised before it is linked into those that call it (see `parts`), where that makes them faster.
    """

    def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        # Without the wrapper for C, which nobody calls.
        chosen: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}
        dispatcher: Any = njit(**chosen)(function)
        # Where no folder can be written to, or in a numba that has changed inside, each process compiles for itself.
        with suppress(RuntimeError, AttributeError):
            dispatcher._cache = _Kept(function)
        dispatcher.door = door
        with suppress(AttributeError):  # As where NUMBA_DISABLE_JIT leaves the function as it is.
            within = _within(function, chosen, by_itself) or dispatcher
            dispatcher.get_call_template, dispatcher.get_overload = partial(_call_template, within), within.get_overload
        return cast("Callable[Parameters, Result]", dispatcher)

    return compiled


def _within(function: Callable[..., Any], options: dict[str, Any], by_itself: bool) -> Any:
    """The same for calls from other kernels; None in a numba that may have changed inside."""
    if not KNOWN:
        return None
    from datamodels_inf.kernels.parts import part

    return part(function, options, by_itself)


def _call_template(dispatcher: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Numba would compile a kernel anew for each constant that another one calls it with: f(x, 0), f(x, 1)."""
    plain = [kind.literal_type if isinstance(kind, types.Literal) else kind for kind in arguments]
    return type(dispatcher).get_call_template(dispatcher, plain, keywords)


def check_layout(*wanted: tuple[Any, Any]) -> None:
    """Of (array, type of its numbers): code that reads memory as it lies is not compiled for any other array."""
    for array, kind in wanted:
        if array.dtype != kind or array.layout != "C":
            raise TypingError(f"a contiguous array of {kind} is wanted, not {array}")
