"""The entry points of this tree's pyproject.toml, known to Python though the tree was not installed with them."""

import tomllib

from places import ROOT


def declare(folder, monkeypatch):
    """Put a distribution with the entry points of this tree before all others."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    lines = [
        line for group, names in declared.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))
    ]
    place = folder / "datamodels_inf-0.1.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: datamodels-inf\nVersion: 0.1.0\n", encoding="utf-8")
    (place / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
