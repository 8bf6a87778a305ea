"""Files made wrong, as disks, networks and people do it: bytes, lengths, numbers, headers, archives."""

import io
import re
import struct
import zipfile

NUMBERS = (0, 1, 2, 7, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
TEXT_NUMBERS = (
    b"0", b"-1", b"1", b"2", b"99", b"4294967296", b"18446744073709551616", b"1e308", b"1e999", b"-1e999", b"NaN",
    b"Infinity", b"0.5", b"null", b"true", b'"x"', b"[]", b"{}", b"9" * 5000, b"0x" + b"f" * 6000, b"inf",
)  # fmt: skip
TOKENS = (
    b"\x00", b"\x1b[31m", b"\xff\xfe", b"\xed\xa0\x80", b"{", b"}", b"[", b"]", b"(", b"'", b'"', b"\n", b",", b":",
    b"=", b"[" * 3000, b"(" * 3000, b"{'a':" * 500, b'{"a":' * 3000, b"&a [*a", b"*a", b"!!python/object:os.system",
    b"---\n", b"- - - - ", b"../../../etc/passwd", b"/dev/zero", b"~/", b"%s", b"\xe2\x80\xae", b"=1+1",
)  # fmt: skip
SHAPES = (
    "()", "(0,)", "(0, 0)", "(1,)", "(4,)", "(-1,)", "(2, 3)", "(600, 0)", "(0, 5)", "(1, 1, 1, 1)", f"({10**18},)",
    f"({2**40}, {2**40})", f"({2**63},)", "(1.5,)", "('a',)", "((1,),)", "(4L,)", "(4,,)", "[4]", "4",
    "(" + "1," * 40 + ")", "(" + "9" * 5000 + ",)", "(True,)", "(" * 200, "(1\n,)", f"({10**9}, 0)",
)  # fmt: skip
TYPES = (
    "'<f4'", "'<f8'", "'>f8'", "'<f2'", "'|b1'", "'|u1'", "'<i8'", "'<i2'", "'|O'", "'<U0'", "'|S0'", "'<U5'", "'|V8'",
    "'<c16'", "'<M8[ns]'", "'<m8'", "'|S999999999'", "'<U2000000000'", "'<f16'", "'x'", "''", "None", "[('a', '<f4')]",
    "[('a', '|O')]", "('<f4', (9,))", "'<f4, <f4'", "'f4;import os'", "{'names': ['a']}", "'<f4' 'x'",
)  # fmt: skip
HEADERS = (
    "{{'descr': {t}, 'fortran_order': {o}, 'shape': {s}, }}", "{{'shape': {s}, 'fortran_order': {o}, 'descr': {t}}}",
    "{{'descr': {t}, 'fortran_order': {o}}}", "{{'descr': {t}, 'fortran_order': {o}, 'shape': {s}, 'x': 1}}",
    "{{'descr': {t}, 'descr': {t}, 'fortran_order': {o}, 'shape': {s}}}", "  {{'descr': {t},\n 'shape': {s}",
    "[{t}, {o}, {s}]", "{{{{{{{{{{", "lambda: 0", "'''", "\\\n",
    "\t{{'descr': {t}, 'fortran_order': {o}, 'shape': {s}, }}",
    "{{'descr': {t}, 'fortran_order': 1, 'shape': {s}, }}", "(" * 3000,
)  # fmt: skip
NPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"


def mutated(content, rng, others=()):
    """`content`, made wrong once or a few times. others: contents that may stand in its place."""
    if content[:4] == ZIP and rng.random() < 0.7:
        return repacked(content, rng)
    if content[:6] == NPY and rng.random() < 0.6:
        return with_header(content, rng)
    if others and rng.random() < 0.03:
        return rng.choice(others)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(WAYS)(content, rng)
    return content


def place(content, rng):
    """Where; beginnings and ends are where most is said."""
    if not content:
        return 0
    near = min(len(content), 200)
    return rng.choice((rng.randrange(len(content)), rng.randrange(near), len(content) - 1 - rng.randrange(near)))


def flipped(content, rng):
    if not content:
        return b"\x01"
    k = place(content, rng)
    return content[:k] + bytes([content[k] ^ 1 << rng.randrange(8)]) + content[k + 1 :]


def cut(content, rng):
    return content[: place(content, rng)]


def spliced(content, rng):
    a, b, c = place(content, rng), place(content, rng), place(content, rng)
    return content[:a] + content[min(b, c) : max(b, c)] + content[rng.choice((a, b)) :]


def numbered(content, rng):
    """Another number in the place of one, as bytes."""
    form = rng.choice(("<B", "<H", "<I", "<Q", ">I", ">Q"))
    value = rng.choice(NUMBERS) % 256 ** struct.calcsize(form)
    k = place(content, rng)
    return content[:k] + struct.pack(form, value) + content[k + struct.calcsize(form) :]


def renumbered(content, rng):
    """Another number in the place of one, as text."""
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?", content[:20_000]))
    if not found:
        return numbered(content, rng)
    number = rng.choice(found)
    return content[: number.start()] + rng.choice(TEXT_NUMBERS) + content[number.end() :]


def inserted(content, rng):
    k = place(content, rng)
    return content[:k] + rng.choice(TOKENS) * rng.choice((1, 1, 1, 50)) + content[k + rng.choice((0, 1)) :]


def noise(content, rng):
    k, n = place(content, rng), rng.choice((1, 4, 16, 200))
    return content[:k] + rng.randbytes(n) + content[k + n :]


def only_noise(content, rng):
    return rng.choice((b"", b"\x00", rng.randbytes(rng.choice((1, 9, 200, 5000))), content[:8] + rng.randbytes(60)))


WAYS = (
    flipped,
    flipped,
    cut,
    spliced,
    numbered,
    numbered,
    renumbered,
    renumbered,
    inserted,
    inserted,
    noise,
    only_noise,
)


def with_header(content, rng):
    """An .npy file with another header, of the right length or not."""
    start = content.find(b"{")
    size = int.from_bytes(content[8:10], "little")
    old = content[start : 10 + size].decode("latin1").strip()
    shape, kind = re.search(r"'shape': (\([^)]*\))", old), re.search(r"'descr': ('[^']*')", old)
    text = rng.choice((HEADERS[0], rng.choice(HEADERS))).format(
        t=kind[1] if kind and rng.random() < 0.5 else rng.choice(TYPES),
        o=rng.choice(("False", "False", "True")),
        s=shape[1] if shape and rng.random() < 0.5 else rng.choice(SHAPES),
    )
    header = text.encode("latin1", "replace").ljust(rng.choice((0, 118, 118)), b" ") + b"\n"
    if rng.random() < 0.1:
        header = mutated(header, rng)
    version = rng.choice((1, 1, 1, 2, 3, 0, 255))
    length = struct.pack("<H" if version == 1 else "<I", len(header) % 65536)
    return NPY + bytes([version, 0]) + length + header + content[10 + size :]


def repacked(content, rng):
    """A zip archive, one of whose parts is made wrong; or packed, doubled, named otherwise, or of many zeros."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, EOFError):
        return flipped(content, rng)
    k, stream = rng.randrange(len(parts)), io.BytesIO()
    name, part = parts[k]
    what = rng.random()
    if what < 0.75:
        parts[k] = name, mutated(part, rng)
    elif what < 0.85:
        parts[k] = rng.choice(("", "../../x.npy", "/etc/x.npy", name + "\x1b", "weight.npy", "x" * 300)), part
    elif what < 0.95:
        parts.append(parts[rng.randrange(len(parts))])
    else:
        parts[k] = name, zeros(rng.choice((10, 10**4, 10**6)))
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, part in parts:
            archive.writestr(zipfile.ZipInfo(name or "x", (1980, 1, 1, 0, 0, 0)), part, kind)
    made = stream.getvalue()
    return numbered(made, rng) if rng.random() < 0.1 else made


def zeros(count):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({count},), }}".encode().ljust(117) + b"\n"
    return NPY + b"\x01\x00" + struct.pack("<H", len(header)) + header + bytes(count)
