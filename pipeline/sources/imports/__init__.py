"""IMPORTERS: formats that need more than reading, which `datamodels-inf import` makes a folder of. A new one is a
module with an `Importer`, and a line here (docs/adding.md)."""

from pathlib import Path

from pipeline.sources.imports import bergson, dattri, quanda
from pipeline.sources.imports.base import Importer

__all__ = ["IMPORTERS", "Importer", "importer_of"]

IMPORTERS: dict[str, Importer] = {
    importer.name: importer for importer in (dattri.IMPORTER, quanda.IMPORTER, bergson.IMPORTER)
}


def importer_of(path: Path) -> Importer | None:
    """The first that a file or folder looks like; None where that is none."""
    return next((importer for importer in IMPORTERS.values() if importer.found(path)), None)
