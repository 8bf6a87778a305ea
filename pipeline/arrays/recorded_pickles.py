"""Pickles as records: what one says is written down, and nothing that it asks for is done.

Python's own unpickler calls what a pickle names, takes whatever memory a length in it says, and can be kept busy for
ever by a table whose keys hold each other. Here a name is a name, a call is a note of it, keys are texts or numbers, no
length goes beyond what is left of the pickle, and its opcodes are counted.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Hashable
from typing import Any

MOST_STEPS = 1_000_000
"""A batch of CIFAR-10 has some 60,000 opcodes; each may take a hundred bytes."""
_NAME = re.compile(r"[A-Za-z_][\w.]{0,198}\w", re.ASCII)
"""Of a module and what is in it; some readers take the square of a longer one, for the text of their error."""
LARGEST_NUMBER = 64
"""Bytes of a whole number; texts of numbers have no more letters either."""


class Recorded:
    """A name that a pickle mentions, or a call of it, with its arguments and state as written; or what lies outside of
    the pickle (`name` "", its arguments what the pickle calls it).

    Fresh for every mention and without behaviour, so that nothing a pickle does to it outlives the reading.
    """

    def __init__(self, module: str, name: str, arguments: tuple[Any, ...] = ()) -> None:
        self.module = module
        self.name = name
        self.arguments = arguments
        self.state: Any = None
        self.items: list[Any] = []
        """What was put into it, as into a table or a list."""


Allowed = Callable[[str, str], bool]


class RefusedNameError(ValueError):
    """A pickle mentions a name that is not allowed: `name`."""

    def __init__(self, module: str, name: str) -> None:
        self.name = f"{module}.{name}"
        super().__init__(f"it asks to run {self.name[:80]!r}, which was not run")


def record(content: bytes, allowed: Allowed, start: int = 0) -> tuple[Any, int]:
    """(what the pickle that begins at `start` says, where it ends); ValueError where it is damaged or asks for more.

    Texts of Python 2 are bytes.

    >>> import pickle
    >>> record(pickle.dumps({"a": [1, b"b"]}), lambda module, name: False)[0]
    {'a': [1, b'b']}
    """
    reader = _Reader(content, start, allowed)
    for _ in range(MOST_STEPS):
        reader.step()
        if reader.done:
            return reader.pop(), reader.place
    raise ValueError(f"it has more than {MOST_STEPS:,} parts")


class _Mark:
    """Where a list or a table begins."""


_MARK = _Mark()


class _Reader:
    def __init__(self, content: bytes, start: int, allowed: Allowed) -> None:
        self.content = content
        self.place = start
        self.allowed = allowed
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.done = False

    def step(self) -> None:
        """One opcode."""
        code = self.take(1)
        action = _ACTIONS.get(code)
        if action is None:
            raise ValueError(f"opcode {code!r} is for other things than data")
        action(self)

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self.content) - self.place:
            raise ValueError("it ends early")
        self.place += count
        return self.content[self.place - count : self.place]

    def number(self, form: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)

    def line(self) -> bytes:
        end = self.content.find(b"\n", self.place)
        if end < 0:
            raise ValueError("it ends early")
        return self.take(end + 1 - self.place)[:-1]

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise ValueError("it takes more than it has")
        return self.stack.pop()

    def top(self) -> Any:
        value = self.pop()
        self.push(value)
        return value

    def marked(self) -> list[Any]:
        """What was put since the last mark."""
        taken: list[Any] = []
        while self.stack and self.stack[-1] is not _MARK:
            taken.append(self.stack.pop())
        if not self.stack:
            raise ValueError("it takes more than it has")
        self.stack.pop()
        return taken[::-1]

    def some(self, count: int) -> list[Any]:
        return [self.pop() for _ in range(count)][::-1]

    def remember(self, place: int) -> None:
        self.memo[place] = self.top()

    def recall(self, place: int) -> None:
        if place not in self.memo:
            raise ValueError("it means something that it did not say")
        self.push(self.memo[place])

    def name(self, module: Any, name: Any) -> None:
        if not (isinstance(module, str) and isinstance(name, str)):
            raise ValueError("it has a name that is no text")
        if not (_NAME.fullmatch(f"{module}.{name}") and self.allowed(module, name)):
            raise RefusedNameError(module, name)
        self.push(Recorded(module, name))

    def call(self) -> None:
        function, arguments = self.some(2)
        if not isinstance(function, Recorded) or not isinstance(arguments, tuple):
            raise ValueError("it calls what is no name")
        self.push(Recorded(function.module, function.name, arguments))

    def build(self) -> None:
        state = self.pop()
        if not isinstance(self.top(), Recorded):
            raise ValueError("it changes what is no name")
        self.top().state = state

    def append(self, values: list[Any]) -> None:
        into = self.top()
        if isinstance(into, (list, Recorded)):
            (into if isinstance(into, list) else into.items).extend(values)
        else:
            raise ValueError("it adds to what is no list")

    def new_table(self, values: list[Any]) -> None:
        self.push({})
        self.put(values)

    def put(self, values: list[Any]) -> None:
        into = self.top()
        if len(values) % 2 or not isinstance(into, (dict, Recorded)):
            raise ValueError("it adds to what is no table")
        pairs = [(_key(key), value) for key, value in zip(values[::2], values[1::2], strict=True)]
        if isinstance(into, dict):
            into.update(pairs)
        else:
            into.items.extend(pairs)


def _key(value: Any) -> Hashable:
    """Of a table: what holds others would have to be walked through, which may take for ever."""
    if not isinstance(value, (str, bytes, int, float, Recorded, type(None))):  # Records are told apart by themselves.
        raise ValueError("a table in it has keys that are neither texts nor numbers")
    return value


def _text_number(text: bytes) -> int:
    if len(text) > LARGEST_NUMBER:
        raise ValueError("a number in it is too long")
    return int(text.removesuffix(b"L"))


def _whole(reader: _Reader, size: int) -> int:
    if size > LARGEST_NUMBER:
        raise ValueError("a number in it is too long")
    return int.from_bytes(reader.take(size), "little", signed=True)


def _int_line(reader: _Reader) -> int | bool:
    text = reader.line()
    return text == b"01" if text in (b"00", b"01") else _text_number(text)


def _quoted(text: bytes) -> bytes:
    """A text of the oldest protocol, between quotes; none of ours needs its escapes but the backslash's own."""
    if len(text) < 2 or text[:1] not in (b"'", b'"') or text[-1:] != text[:1]:
        raise ValueError("a text in it has no quotes")
    import codecs

    return codecs.escape_decode(text[1:-1])[0]


def _float_line(text: bytes) -> float:
    if len(text) > LARGEST_NUMBER:
        raise ValueError("a number in it is too long")
    return float(text)


def _stop(reader: _Reader) -> None:
    reader.done = True


_ACTIONS: dict[bytes, Callable[[_Reader], object]] = {
    b"\x80": lambda r: r.take(1),  # PROTO
    b"\x95": lambda r: r.take(8),  # FRAME: how much follows, which nobody needs to know
    b".": _stop,
    b"(": lambda r: r.push(_MARK),
    b"0": lambda r: r.pop(),
    b"N": lambda r: r.push(None),
    b"\x88": lambda r: r.push(True),
    b"\x89": lambda r: r.push(False),
    b"}": lambda r: r.push({}),
    b"]": lambda r: r.push([]),
    b")": lambda r: r.push(()),
    b"l": lambda r: r.push(r.marked()),
    b"t": lambda r: r.push(tuple(r.marked())),
    b"\x85": lambda r: r.push(tuple(r.some(1))),
    b"\x86": lambda r: r.push(tuple(r.some(2))),
    b"\x87": lambda r: r.push(tuple(r.some(3))),
    b"d": lambda r: r.new_table(r.marked()),
    b"a": lambda r: r.append(r.some(1)),
    b"e": lambda r: r.append(r.marked()),
    b"s": lambda r: r.put(r.some(2)),
    b"u": lambda r: r.put(r.marked()),
    b"K": lambda r: r.push(r.number("<B")),
    b"M": lambda r: r.push(r.number("<H")),
    b"J": lambda r: r.push(r.number("<i")),
    b"I": lambda r: r.push(_int_line(r)),
    b"L": lambda r: r.push(_text_number(r.line())),
    b"\x8a": lambda r: r.push(_whole(r, r.number("<B"))),
    b"\x8b": lambda r: r.push(_whole(r, r.number("<I"))),
    b"G": lambda r: r.push(struct.unpack(">d", r.take(8))[0]),
    b"F": lambda r: r.push(_float_line(r.line())),
    b"U": lambda r: r.push(r.take(r.number("<B"))),
    b"T": lambda r: r.push(r.take(r.number("<i"))),
    b"S": lambda r: r.push(_quoted(r.line())),
    b"C": lambda r: r.push(r.take(r.number("<B"))),
    b"B": lambda r: r.push(r.take(r.number("<I"))),
    b"\x8e": lambda r: r.push(r.take(r.number("<Q"))),
    b"\x8c": lambda r: r.push(r.take(r.number("<B")).decode("utf-8", "surrogatepass")),
    b"X": lambda r: r.push(r.take(r.number("<I")).decode("utf-8", "surrogatepass")),
    b"\x8d": lambda r: r.push(r.take(r.number("<Q")).decode("utf-8", "surrogatepass")),
    b"V": lambda r: r.push(r.line().decode("raw-unicode-escape")),
    b"q": lambda r: r.remember(r.number("<B")),
    b"r": lambda r: r.remember(r.number("<I")),
    b"p": lambda r: r.remember(_text_number(r.line())),
    b"\x94": lambda r: r.remember(len(r.memo)),
    b"h": lambda r: r.recall(r.number("<B")),
    b"j": lambda r: r.recall(r.number("<I")),
    b"g": lambda r: r.recall(_text_number(r.line())),
    b"c": lambda r: r.name(r.line().decode("utf-8"), r.line().decode("utf-8")),
    b"\x93": lambda r: r.name(*r.some(2)),
    b"R": lambda r: r.call(),
    b"b": lambda r: r.build(),
    b"Q": lambda r: r.push(Recorded("", "", (r.pop(),))),  # what lies outside, as torch's numbers do
}
"""What each opcode of data does; those of instances, extensions and buffers are not there."""
