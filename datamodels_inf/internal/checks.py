"""Input checks that the tests share. Each failure is a ``ValueError`` of one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Index: TypeAlias = int | Sequence[int] | NDArray[np.int64]
Rng: TypeAlias = int | np.random.Generator | None

NAMED = 5
"""Of many numbers, a sentence names so many."""


def as_array(name: str, values: ArrayLike) -> NDArray[np.generic]:
    """`values` as an array of real numbers, of whatever shape and dtype."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"`{name}` has masked entries, which have no value; leave out their rows.")
    try:
        array: NDArray[np.generic] = np.asarray(values)
    except (TypeError, ValueError) as error:  # Ragged lists.
        raise ValueError(f"`{name}` must be an array of real numbers.") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"`{name}` must hold real numbers, but its dtype is {array.dtype}.")
    return array


def check_number(name: str, value: float) -> float:
    """A real number, finite."""
    if isinstance(value, (str, bytes, complex)) or np.ndim(value) != 0:
        raise ValueError(f"`{name}` must be a number, but it is {value!r}.")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"`{name}` must be a number, but it is {value!r}.") from error
    if not np.isfinite(number):
        raise ValueError(f"`{name}` must be a finite number, but it is {number}.")
    return number


def check_integer(name: str, value: int, least: int) -> int:
    """A whole number of at least `least`, of Python's or numpy's; True and False are none."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"`{name}` must be a whole number of at least {least}, but it is {value!r}.")
    return int(value)


def check_flag(name: str, value: bool) -> bool:
    """True or False, of Python's or numpy's; a text such as "no" is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"`{name}` must be True or False, but it is {value!r}.")
    return bool(value)


def check_iterable(name: str, value: Any, what: str) -> Iterable[Any]:
    """Something with items, `what` in words; a text is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
        raise ValueError(f"`{name}` must be {what}, but it is {value!r}.")
    return value


def check_features(x: ArrayLike) -> NDArray[np.generic]:
    """`x` as a two-dimensional numeric array of finite values; its own dtype is kept."""
    array = as_array("x", x)
    if array.ndim != 2:
        raise ValueError(f"`x` must be a two-dimensional (n, d) array, but it has {array.ndim} dimension(s).")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("`x` must be finite, but it holds NaN or infinity.")
    return array


def check_response(y: ArrayLike, n: int) -> Floats:
    """`y` as a finite float64 vector with one entry per row of `x`."""
    array = as_array("y", y)
    if array.shape != (n,):
        raise ValueError(f"`y` must have shape ({n},), one value per row of `x`, but it is {array.shape}.")
    with np.errstate(over="ignore"):
        values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("`y` must be finite, but it holds NaN or infinity.")
    return values


def check_sample_size(n: int) -> None:
    """Refuse fewer than 2 rows."""
    if n < 2:
        raise ValueError(f"`x` must have at least 2 rows, but it has {n}.")


def check_vector(name: str, values: ArrayLike, size: int | None = None) -> Floats:
    """A finite float64 vector, of length `size` when that is given."""
    array = as_array(name, values).astype(np.float64)
    if array.ndim != 1 or (size is not None and array.size != size):
        wanted = "a vector" if size is None else f"a vector of length {size}"
        raise ValueError(f"`{name}` must be {wanted}, but its shape is {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` must be finite, but it holds NaN or infinity.")
    return array


def check_alpha(alpha: float) -> float:
    """A level: a number strictly between 0 and 1."""
    return check_fraction("alpha", alpha)


def check_fraction(name: str, value: float) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, (str, bytes, complex)) or value is None or np.ndim(value) != 0 or not 0.0 < value < 1.0:
        raise ValueError(f"`{name}` must lie strictly between 0 and 1, but it is {value!r}.")
    return float(value)


def check_nonnegative(name: str, value: float) -> float:
    """A finite number of at least 0."""
    number = check_number(name, value)
    if number < 0.0:
        raise ValueError(f"`{name}` must be a finite number of at least 0, but it is {number}.")
    return number


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """`value`, which must be one of `choices`."""
    if value not in choices:
        allowed = ", ".join(repr(c) for c in choices)
        raise ValueError(f"`{name}` must be one of {allowed}, but it is {value!r}.")
    return value


def check_pair(i: Index, j: Index, d: int) -> Ints:
    """One pair, or one pair of groups, as a (1, 2, g) array of column numbers."""
    left, right = _check_group("i", i), _check_group("j", j)
    if left.size != right.size:
        raise ValueError(f"`i` and `j` must be of equal length, but they have {left.size} and {right.size}.")
    return check_pairs(np.stack([left, right])[None], d, name="`i` and `j`")


def _check_group(name: str, index: Index) -> Ints:
    try:
        group = np.atleast_1d(np.asarray(index))
    except ValueError:  # A ragged list.
        group = np.empty(0)
    if group.ndim != 1 or group.size == 0 or group.dtype.kind not in "iu":
        raise ValueError(f"`{name}` must be an int or a non-empty sequence of ints.")
    return group.astype(np.int64)


def check_pairs(pairs: ArrayLike, d: int, *, name: str = "`pairs`") -> Ints:
    """Many pairs as a (P, 2, g) array of column numbers; (P, 2) is read as g = 1."""
    try:
        array = np.asarray(pairs)
    except ValueError as error:
        raise ValueError(f"{name} must be ints of shape (P, 2), or (P, 2, g) for groups of g.") from error
    if array.shape[:1] == (0,):
        return np.empty((0, 2, 1), np.int64)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[1] != 2 or array.size == 0 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be ints of shape (P, 2), or (P, 2, g) for groups of g.")
    if array.min() < 0 or array.max() >= d:
        raise ValueError(f"{name} must be column numbers from 0 to {d - 1}, but one is out of range.")
    flat = np.sort(array.reshape(len(array), -1), axis=1)
    if (flat[:, 1:] == flat[:, :-1]).any():
        raise ValueError(f"{name} must differ: a column stands twice in one pair.")
    return array.astype(np.int64)


def seed_of(rng: Rng) -> int:
    """A 63-bit seed: of a generator the next draw, of None 0, so that a call repeated gives its result again."""
    if rng is None:
        return 0
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng) % 2**63
    raise ValueError("`rng` must be None, a non-negative int or a numpy.random.Generator.")


def some_of(numbers: Sequence[int] | Ints) -> str:
    """Numbers for a sentence: the first few, and how many more there are.

    >>> some_of([3, 5]), some_of(range(7))
    ('3, 5', '0, 1, 2, 3, 4 and 2 more')
    """
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    return ", ".join(str(int(number)) for number in numbers[:NAMED]) + more
