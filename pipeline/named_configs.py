"""Configurations that ship, found without reading any: names are completed and listed at once."""

from __future__ import annotations

from pathlib import Path


def named_configs() -> dict[str, Path]:
    """{name: file}: inside the installed package, or `configs/` of the source tree."""
    package = Path(__file__).parent
    folder = package / "configs" if (package / "configs").is_dir() else package.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem)}


def first_comment(path: Path) -> str:
    """What a configuration that ships says of itself, in its first line."""
    return path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
