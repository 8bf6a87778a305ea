"""JSON that says by a checksum of its own whether it is as it was written: a flipped digit is still a number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.text.json_file import read_json

NAME = "checksum"


def checksum_of(content: Mapping[str, Any]) -> str:
    """The sha256 of all of it but the checksum, however it is set."""
    body = {name: value for name, value in content.items() if name != NAME}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """With its checksum."""
    return {**content, NAME: checksum_of(content)}


def unsealed(found: Any) -> dict[str, Any]:
    """The content without the checksum, which must be right if it is there: what earlier versions wrote may have none.
    Anything else is a ValueError."""
    if not isinstance(found, dict) or (NAME in found and found[NAME] != checksum_of(found)):
        raise ValueError("its checksum is another one")
    return {name: value for name, value in found.items() if name != NAME}


def read_sealed(path: Path) -> dict[str, Any]:
    """`unsealed` of a file that ends with a line break, which no checksum is of: not a byte of it may be missing."""
    found = read_json(path)
    content = unsealed(found)
    if NAME in found and not path.read_bytes().endswith(b"}\n"):
        raise ValueError("its end is missing")
    return content
