"""quanda: the YAML file of `subset_ids` that its linear datamodeling benchmark writes, the images of each model: a list
of lists, or that under the key subset_ids.

Its outcomes are in checkpoints only.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.sources.imports.base import Converted, Importer, as_lists
from pipeline.sources.imports.yaml_file import read_yaml

ENDINGS = (".yaml", ".yml")
KEY = "subset_ids"


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix in ENDINGS else []
    return sorted(file for ending in ENDINGS for file in path.glob(f"*{ending}") if _starts_with_lists(file))


def _starts_with_lists(path: Path) -> bool:
    """Whether a YAML file begins as a list of lists does, or with its key; reading a long one takes time."""
    if not path.is_file():
        return False
    begins = ("- -", "- [", "[[", f"{KEY}:", f"{{{KEY}:", f'{{"{KEY}":')
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(256).lstrip().startswith(begins)


def _read(path: Path) -> Converted:
    files = _files(path)
    if len(files) != 1:
        raise BadInputError(f"{path} holds {len(files):,} YAML files of lists; name the one of quanda's subset_ids.")
    found = read_yaml(files[0])
    return Converted(as_lists(files[0], found[KEY] if isinstance(found, dict) and KEY in found else found))


IMPORTER = Importer("quanda", "a folder of quanda's", lambda path: len(_files(path)) == 1, _read)
