"""Templates compiled once a process: a third of the time of a small report is Jinja reading the same files again."""

from __future__ import annotations

from types import CodeType

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class CompiledTemplates(BytecodeCache):
    """By name and source, so for environments with the same options."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """What was compiled from this source."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """For the next environment."""
        self._codes[bucket.key, bucket.checksum] = bucket.code


TEMPLATES = CompiledTemplates()
