"""What single training images and targets are called, such as the columns of a table or file names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.text.json_file import read_json


@dataclass(frozen=True)
class ItemNames:
    """One name each, in their order; none where they have none.

    >>> ItemNames(train=("age", "bmi")).of("train", 1)
    'bmi'
    >>> ItemNames().of("target", 0)
    ''
    """

    train: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def of(self, part: str, index: int) -> str:
        """The name of a training image ("train") or of a target ("target"); empty if it has none."""
        names = self.train if part == "train" else self.targets
        return names[index] if names else ""

    def columns(self, *, train: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
        """Of columns for names in a table, those that have any: no column where nothing has a name.

        >>> ItemNames(train=("age", "bmi")).columns(train=("name_i", "name_j"), targets=("name_target",))
        ('name_i', 'name_j')
        """
        return (*(train if self.train else ()), *(targets if self.targets else ()))

    def of_group(self, part: str, indices: Iterable[int]) -> str:
        """What all of them are called, in one cell of a table.

        >>> ItemNames(train=("age", "bmi")).of_group("train", [1, 0])
        'bmi; age'
        """
        return "; ".join(self.of(part, index) for index in indices)

    def save(self, path: Path) -> None:
        """Write the JSON that `load` reads."""
        path.write_text(json.dumps({"train": self.train, "targets": self.targets}, ensure_ascii=False), "utf-8")

    @classmethod
    def load(cls, path: Path) -> ItemNames:
        """Read what `save` wrote."""
        try:
            found = read_json(path)
            parts = [tuple(found[part]) for part in ("train", "targets")]
            if not all(isinstance(name, str) for part in parts for name in part):
                raise TypeError("a name is not a text")
        except (BadInputError, KeyError, TypeError) as error:
            raise BadInputError(f"{path} is not a file of names ({error}); remove its folder and run again.") from error
        return cls(*parts)
