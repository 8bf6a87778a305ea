"""A function of the user's, found by its name, as Python would import it in the user's folder.

A process may live longer than a function: a worker of a cluster serves one command after the other. So modules that lie
in that folder are imported anew where a file of theirs is another one than before; and by a worker for every command,
for data that a module has read may be others too.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError
from pipeline.store.files import file_digest, has_digest

INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class OwnFunction:
    """What `name` stands for in `folder`. file: where it is defined."""

    name: str
    folder: Path
    call: Callable[..., Any]
    file: Path
    sha256: str

    @classmethod
    def find(cls, name: str, folder: Path, *, anew: bool = False) -> OwnFunction:
        """Import it; whatever is in the way is one sentence. name: "package.module:function". anew: with all modules of
        the folder, also those that have not changed."""
        module_name, _, attribute = name.partition(":")
        _forget_changed(folder, anew)
        module = _imported(module_name, folder, name)
        call: Any = module
        where = getattr(module, "__file__", None)
        for part in attribute.split("."):
            call = getattr(call, part, None)
        if not callable(call):
            what = "has nothing of that name" if call is None else f"has {attribute}, but it is no function"
            raise BadInputError(f"--function {name}: {where or module_name} {what}.")
        file = _source(call) or where
        if file is None:
            raise BadInputError(f"--function {name}: {module_name} has no file; give a function of a module that has.")
        path = Path(file).absolute()
        _files[name] = path
        return cls(name, folder, call, path, file_digest(path))

    def check_arguments(self) -> None:
        """Refuse one that cannot be called with a mask and a seed, before it fails for each model."""
        try:
            inspect.signature(self.call).bind(None, None)
        except TypeError as error:
            takes = inspect.signature(self.call)
            raise BadInputError(
                f"--function {self.name}: it is called with two arguments, a mask and a seed, but takes {takes} "
                f"({self.file}); define it as {self.name.partition(':')[2].rpartition('.')[2]}(mask, seed)."
            ) from error
        except ValueError:  # Of a compiled one nobody knows.
            return


def source_file(name: str) -> str:
    """Of a function that was found in this process; else the name of its module."""
    return str(_files.get(name, name.partition(":")[0]))


def _source(call: Any) -> str | None:
    """The file that a function is defined in, which may be another than that of the module that names it."""
    try:
        return inspect.getsourcefile(inspect.unwrap(call))
    except TypeError:  # An object that can be called, of no source of its own.
        return None


_files: dict[str, Path] = {}
"""Of each function that was found, the last."""
_folders: list[str] = []
"""What was put into sys.path."""
_ours: set[str] = set()
"""Modules that were there before any function was."""
_seen: dict[str, tuple[Path, str]] = {}
"""Modules of the user's folder that were imported here → file and checksum."""


def _imported(module_name: str, folder: Path, name: str) -> Any:
    if not folder.is_dir():
        raise BadInputError(f"--function {name}: the folder {folder} that it is imported from is not there.")
    _look_in(folder)
    _ours.update(() if _ours else sys.modules)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _unusable(name, error) from error
        if module_name.endswith(".py"):
            raise BadInputError(f"--function {name}: name the module without .py.") from error
        raise BadInputError(
            f"--function {name}: there is no module {error.name} in {folder}, nor is one installed; run the command in "
            "the folder that holds it."
        ) from error
    except (Exception, SystemExit) as error:  # Of a module that is not ours, anything.
        raise _unusable(name, error) from error
    finally:
        _seen.update({name: (path, file_digest(path)) for name, path in _users(folder).items() if name not in _seen})


def _users(folder: Path) -> dict[str, Path]:
    """Modules of the folder, and not of a package that happens to be installed, or developed, in it; with those that a
    function imported when it was called."""
    files = {name: getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - _ours}
    paths = {name: Path(file).absolute() for name, file in files.items() if file is not None}
    return {
        name: path
        for name, path in paths.items()
        if path.is_relative_to(folder)
        and not INSTALLED & {*path.parts}
        and name.partition(".")[0] not in ("pipeline", "datamodels_inf", *sys.stdlib_module_names)
    }


def _look_in(folder: Path) -> None:
    """First, and in no folder of an earlier function."""
    for earlier in _folders:
        if earlier in sys.path:
            sys.path.remove(earlier)
    _folders[:] = [str(folder)]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


def _unusable(name: str, error: BaseException) -> BadInputError:
    return BadInputError(f"--function {name} cannot be imported: {in_words(error)}.")


def in_words(error: BaseException, file: Path | None = None) -> str:
    """What was raised and where, on one line: in `file`, if it was called from there."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if file is not None and Path(frame.filename) == file]
    last = (own or frames)[-1:]
    place = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in last)
    message = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}{': ' if message else ''}{message}{place}"


def _forget_changed(folder: Path, anew: bool) -> None:
    """Modules of another folder, or all where one has changed: who imported what is not known."""
    whole = all(path.is_relative_to(folder) and has_digest(path, digest) for path, digest in _seen.values())
    if anew or not whole:
        for name in {*_seen, *(name for earlier in _folders for name in _users(Path(earlier)))}:
            sys.modules.pop(name, None)
        _seen.clear()
