"""Pickles are written down: what Python pickles is read, nothing is called, and no length or key is believed."""

import pickle
import struct
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.arrays.recorded_pickles import Recorded, RefusedNameError, record

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


def nothing(module, name):
    return False


@given(PLAIN, st.integers(0, 5))
def test_data_is_read_as_python_reads_it(value, protocol):
    content = pickle.dumps(value, protocol=protocol)
    try:
        found, end = record(content + b"more", nothing)
    except RefusedNameError as error:
        assert error.name in ("_codecs.encode", "builtins.bytes", "__builtin__.bytes")  # How old protocols say bytes.
        return
    assert end == len(content)
    assert found == pickle.loads(content, encoding="bytes")


def test_a_call_is_a_note_of_it():
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    found, _ = record(pickle.dumps(array, protocol=2), lambda module, name: True)
    assert isinstance(found, Recorded)
    assert (found.name, found.state[1]) == ("_reconstruct", (2, 3))


@pytest.mark.parametrize(
    "content",
    (
        b"\x80\x04\x8e" + struct.pack("<Q", 2**40),  # BINBYTES8
        b"\x80\x04\x8d" + struct.pack("<Q", 2**63),  # BINUNICODE8
        b"\x80\x05\x96" + struct.pack("<Q", 2**40),  # BYTEARRAY8
        b"\x80\x02T" + struct.pack("<i", -5) + b".",
        b"\x80\x02B" + struct.pack("<I", 2**32 - 1),
        b"\x80\x02\x8b" + struct.pack("<I", 2**31) + b".",  # LONG4
        b"I" + b"9" * 100_000 + b"\n.",
        b"\x80\x02" + b"(" * 100_000 + b".",
        b"\x80\x02" + b"]" * 1_100_000,
        b"0.", b"R.", b"b.", b"a.", b"u.", b"s.", b"t.", b"h\x05.", b"\x82\x01.", b"P1\n.", b"\x80", b"", b".",
    ),
    ids=lambda content: repr(content[:12]),
)  # fmt: skip
def test_what_is_damaged_or_asks_for_much_is_refused_at_once(content):
    start = time.process_time()
    with pytest.raises(ValueError):
        record(content, nothing)
    assert time.process_time() - start < 10


def test_a_place_in_the_memo_takes_no_memory():
    """9 bytes that made Python's own reader take 4.5 GB: they say where a value is kept."""
    assert record(b"\x80\x02}r\xff\xff\xff\x1f.", nothing)[0] == {}


def test_keys_that_hold_each_other_are_refused():
    """Hashing this key takes 2^60 steps."""
    content = b"\x80\x02}K\x01K\x02\x86q\x010" + b"h\x01h\x01\x86q\x010" * 60 + b"h\x01Ns."
    with pytest.raises(ValueError, match="keys"):
        record(content, nothing)


def test_names_that_are_not_allowed_are_told():
    with pytest.raises(RefusedNameError, match=r"os\.system"):
        record(b"\x80\x02cos\nsystem\n.", nothing)


@pytest.mark.parametrize("name", ("a" * 300, "a b", "a;b", "", "ä", "a('"))
def test_names_that_are_none_are_not_passed_on(name):
    """torch would look through a long one for ever, to say that it does not know it."""
    with pytest.raises(RefusedNameError):
        record(b"\x80\x02ctorch\n" + name.encode() + b"\n.", lambda module, name: True)
