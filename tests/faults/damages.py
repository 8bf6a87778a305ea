"""Ways to damage a file: {name: what its content becomes}; None is a file that is gone."""

import re

PLACES = {"first": 0, "second": 1, "last": -1}
JSON_FIELDS = {
    "a figure": re.compile(rb"[:\[] ?-?\d*?(\d)[,.\]\n}\d]"),
    "a text": re.compile(rb': "(\w)'),
    "a name": re.compile(rb'"(\w)[^"]*": ?'),
    "a bracket": re.compile(rb"([\[{])"),
}


def flipped(content, place, bit=0):
    """One bit of the byte at `place` is another."""
    place %= len(content)
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def damages(content):
    """All that can be done to a file without looking at others."""
    found = {"deleted": None}
    if not content:
        return {**found, "a byte too much": b"x"}
    found |= {
        "a bit of the first byte": flipped(content, 0), "a bit of the middle byte": flipped(content, len(content) // 2),
        "a bit of the last byte": flipped(content, -1, 3), "a byte short": content[:-1],
        "half": content[: len(content) // 2], "empty": b"", "zeros": bytes(len(content)),
    }  # fmt: skip
    for name, place in header_fields(content).items():
        found[f"header: {name}"] = place if isinstance(place, bytes) else flipped(content, place)
    return {name: changed for name, changed in found.items() if changed != content}


def header_fields(content):
    """{field: where it is, or the whole content with another value}, by what the file is."""
    if content.startswith(b"\x93NUMPY"):
        return _npy(content)
    if content.startswith(b"PK\x03\x04"):
        return _zip(content)
    if content.startswith(b"PAR1"):
        size = int.from_bytes(content[-8:-4], "little")
        return {"magic": 1, "footer": -8 - size // 2, "length of the footer": -8, "magic at the end": -1}
    if content[:1] in (b"{", b"["):
        return dict(_json(content))
    return {}


def _npy(content, start=0):
    end = content.find(b"\n", start)
    fields = {"magic": start + 1, "version": start + 6, "length": start + 8}
    for name, pattern in (("dtype", rb"'descr': '.(\w)"), ("digits of the dtype", rb"'descr': '..(\d)")):
        if match := re.compile(pattern).search(content, start, end):
            fields[name] = match.start(1)
    if match := re.compile(rb"'shape': \((\d)").search(content, start, end):
        fields["shape"] = match.start(1)
    if b"False" in content[start:end]:
        fields["order"] = content[:start] + content[start:].replace(b"False", b"True ", 1)
    return fields


def _zip(content):
    central, end = content.find(b"PK\x01\x02"), content.rfind(b"PK\x05\x06")
    fields = {"signature": 2, "method": 8, "checksum": 14, "size": 18, "name": 30}
    if central > 0:
        fields |= {"central signature": central + 2, "central method": central + 10, "central checksum": central + 16}
        fields |= {"central size": central + 20, "central offset": central + 42, "central name": central + 46}
    if end > 0:
        fields |= {"count of entries": end + 10, "place of the directory": end + 16}
    inside = content.find(b"\x93NUMPY")
    if 0 < inside < 100:
        fields |= {f"{name} of an array": place for name, place in _npy(content, inside).items()}
    return fields


def _json(content):
    for name, pattern in JSON_FIELDS.items():
        matches = list(pattern.finditer(content))
        for word, place in PLACES.items():
            if len(matches) > (1 if word == "second" else 0):
                at = matches[place].start(1)
                yield f"{name}, {word}", at if name != "a figure" else _other_digit(content, at)


def _other_digit(content, at):
    """9 becomes 8, 0 becomes 1: a valid figure, and a wrong one."""
    return content[:at] + str(int(content[at : at + 1]) ^ 1).encode() + content[at + 1 :]
