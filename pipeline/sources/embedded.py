"""Sets that every installation has: 12,000 models of scikit-learn's digits, and the models of the CIFAR-10 study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import BadInputError
from pipeline.sources.array_files import open_files
from pipeline.sources.base import MIRRORS, Arrived, SourceKind, content_of_images
from pipeline.sources.trained import bring_files, trained_files
from pipeline.store.files import file_digest

if TYPE_CHECKING:
    from pipeline.config import Config, Source
    from pipeline.stages.base import Run

HOME = Path(__file__).parents[1] / "embedded"
FOLDER = HOME / "digits"


def folder_of(source: Source) -> Path:
    """The folder of `source.set`."""
    return HOME / source.set


def _own_images(source: Source) -> bool:
    return (folder_of(source) / "images.npz").is_file()


def _problem(source: Source) -> str:
    if source.folder is not None:
        return "source.folder is not for source.kind 'embedded', which has its own"
    if source.images is not None and _own_images(source):
        return f"source.images is not for source.set {source.set!r}, which has its own"
    return ""


def _content(config: Config) -> dict[str, Any]:
    source = config.source
    manifest = folder_of(source) / "manifest.json"
    if not manifest.is_file():
        raise BadInputError(f"source.set {source.set!r} is not in this installation ({manifest}); install it again.")
    images = {} if _own_images(source) else {"content of images": content_of_images(source.images) or "CIFAR-10"}
    return {"embedded": file_digest(manifest), **images}


def _bring(run: Run) -> Arrived:
    source = run.config.source
    return bring_files(run, trained_files(folder_of(source), source.images))


SOURCE = SourceKind(
    "embedded",
    "a set that comes with the package",
    ("set", "images", "mirrors"),
    _content,
    _bring,
    left_out={"set": "its content enters instead", "images": "their content enters instead", **MIRRORS},
    problem=_problem,
    trained=folder_of,
    open=lambda source: open_files(trained_files(folder_of(source), source.images)),
)
