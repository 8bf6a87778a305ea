"""The manifest of a result: what it was made from, and the checksums of its files and of itself."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.store.hashing import Hashing
from pipeline.text.own_paths import shareable
from pipeline.text.sealed_json import checksum_of, sealed

MANIFEST = "manifest.json"
PACKAGES = ("datamodels-inf", "numpy", "scipy", "scikit-learn", "torch")


@dataclass(frozen=True)
class Spec:
    """What a stage's result is made from. Settings and inputs are JSON; the keys of inputs are stage names."""

    stage: str
    version: int
    settings: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """16 hex digits: the beginning of a sha256 of all four fields."""
        recipe = {"stage": self.stage, "version": self.version, "settings": self.settings, "inputs": self.inputs}
        text = json.dumps(recipe, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_manifest(
    folder: Path,
    spec: Spec,
    digests: Mapping[str, str],
    summary: Mapping[str, Any],
    *,
    seconds: float,
    origin: str,
    hashing: Hashing,
) -> None:
    """Describe all files of `folder`. digests: of the content of the inputs. seconds: that it took to make them."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {
        path.relative_to(folder).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": digest,
            "mtime_ns": path.stat().st_mtime_ns,  # For earlier versions of this program, which look at it.
        }
        for path, digest in zip(paths, hashing.digests(paths), strict=True)
    }
    manifest = {
        "stage": spec.stage,
        "key": spec.key,
        "version": spec.version,
        "settings": spec.settings,
        "inputs": spec.inputs,
        "input_digests": dict(digests),
        "summary": shareable(summary),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "command": shareable(" ".join(sys.argv[1:])),
        "origin": origin,
        "versions": versions(),
        "files": files,
    }
    text = json.dumps(sealed(manifest), indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(path: Path) -> dict[str, Any] | None:
    """A manifest as it was written, of a recipe whose key it has, with files inside its folder; or None."""
    if not path.is_file():  # A pipe would be waited for.
        return None
    try:
        text = path.read_text(encoding="utf-8")
        manifest: dict[str, Any] = json.loads(text)
        intact = text.endswith("}\n") and manifest["checksum"] == checksum_of(manifest)
        recipe = Spec(*(manifest[name] for name in ("stage", "version", "settings", "inputs")))
        fits = recipe.key == manifest["key"] and all(map(_is_inside, manifest["files"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return manifest if intact and fits else None


def read_fitting(path: Path) -> dict[str, Any] | None:
    """The same of the result that the folder is named after; None where it is that of another."""
    manifest = read_manifest(path)
    if manifest is None or (manifest["stage"], manifest["key"]) != (path.parent.parent.name, path.parent.name):
        return None
    return manifest


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and not PurePosixPath(name).is_absolute()


def versions() -> dict[str, str]:
    """Of Python and of the packages that results may depend on."""
    return {"python": platform.python_version(), **_package_versions()}


@cache
def _package_versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}
