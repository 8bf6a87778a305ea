"""The files of this tree: those that git knows or would take; without git, all but what work leaves behind."""

import subprocess

from places import ROOT

LEFT_BEHIND = {
    "PKG-INFO",
    ".git",
    ".venv",
    "dist",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
}


def source_files():
    """Paths relative to the top, of files that are not ignored; sorted."""
    if (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.check_output(command, text=True).split("\0")
    else:  # An unpacked source distribution.
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = (path.as_posix() for path in paths if not LEFT_BEHIND & set(path.parts))
    return sorted({name for name in names if name and (ROOT / name).is_file() and not name.endswith((".nbi", ".nbc"))})
