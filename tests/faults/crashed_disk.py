"""A disk that loses power: what may be on it when it comes back, given all that was written and synced before.

The model promises no more than POSIX does: the data of a file that was written since its last fsync may be there, in
part, as zeros, or not; a name that was made, moved or removed since the last fsync of its folder may have been so or
not, whatever became of later ones. Real file systems are kinder.
"""

from dataclasses import dataclass, field
from pathlib import Path

MODES = ("nothing unsynced", "names without data", "data without names", "some of each", "some of each, out of order")


@dataclass
class File:
    """writes: (place, data), or (length, None), since the last sync, on top of `kept`."""

    kept: bytes = b""
    writes: list = field(default_factory=list)

    def content(self, upto=None):
        """With the first `upto` of the writes."""
        found = bytearray(self.kept)
        for at, data in self.writes[:upto]:
            if data is None:
                del found[at:]
                found.extend(bytes(at - len(found)))
                continue
            at = len(found) if at < 0 else at
            found.extend(bytes(max(0, at - len(found))))
            found[at : at + len(data)] = data
        return bytes(found)

    def sync(self):
        """All of it is on the disk."""
        self.kept, self.writes = self.content(), []


@dataclass
class Folder:
    """entries: name → what it is now. kept: the same on the disk. changes: {name: what, or None} since the sync."""

    entries: dict = field(default_factory=dict)
    kept: dict = field(default_factory=dict)
    changes: list = field(default_factory=list)

    def change(self, names):
        """Names that change together, as in a move."""
        self.changes.append(names)
        _apply(self.entries, names)

    def sync(self):
        """All names are on the disk."""
        self.kept, self.changes = dict(self.entries), []


def _apply(entries, names):
    for name, what in names.items():
        if what is None:
            entries.pop(name, None)
        else:
            entries[name] = what


class Disk:
    """A folder `home` that was empty and on the disk, and what operations (`recorded_writes`) made of it."""

    def __init__(self, home):
        self.home = str(home)
        self.root = Folder()

    def do(self, operation):
        """One more operation."""
        getattr(self, f"_{operation.what.replace(' ', '_')}")(operation)

    def _find(self, path):
        """What is at `path`, or None."""
        place = self.root
        for part in self._parts(path):
            place = place.entries.get(part) if isinstance(place, Folder) else None
        return place

    def _parts(self, path):
        return [part for part in path.removeprefix(self.home).split("/") if part]

    def _place(self, path):
        *_, name = self._parts(path)
        return self._find(path.rpartition("/")[0]), name

    def _make(self, operation):
        folder, name = self._place(operation.path)
        if name not in folder.entries:
            folder.change({name: File()})

    def _mkdir(self, operation):
        folder, name = self._place(operation.path)
        folder.change({name: Folder()})

    def _write(self, operation):
        if (file := self._find(operation.path)) is not None:  # Else it has no name, and nobody will see it.
            file.writes.append((operation.at, operation.data))

    def _copy(self, operation):
        start, length = map(int, operation.data.split())
        source = self._find(operation.to) if operation.to.startswith(self.home) else None
        if source is None:
            with Path(operation.to).open("rb") as file:
                file.seek(start)
                data = file.read(length)
        else:
            data = source.content()[start : start + length]
        self._find(operation.path).writes.append((operation.at, data))

    def _cut(self, operation):
        if (file := self._find(operation.path)) is not None:
            file.writes.append((operation.at, None))

    def _move(self, operation):
        what = self._find(operation.path)
        (folder, name), (other, new) = self._place(operation.path), self._place(operation.to)
        if folder is other:
            folder.change({name: None, new: what})
        else:
            other.change({new: what})
            folder.change({name: None})

    def _link(self, operation):
        folder, name = self._place(operation.to)
        folder.change({name: self._find(operation.path)})

    def _remove(self, operation):
        folder, name = self._place(operation.path)
        if folder is not None:
            folder.change({name: None})

    def _sync(self, operation):
        if (what := self._find(operation.path)) is not None:
            what.sync()

    def _sync_all(self, operation):
        for what in self._all(self.root):
            what.sync()

    def _all(self, folder):
        yield folder
        for what in folder.entries.values():
            yield from self._all(what) if isinstance(what, Folder) else (what,)

    def now(self):
        """{path in it: content} as a running system sees it."""
        return dict(_files(self.root, lambda folder: folder.entries, lambda file: file.content()))

    def after_power_loss(self, mode, rng):
        """{path in it: content, None for a folder} that may be found later."""
        names, data = {
            "nothing unsynced": (_no_names, _kept),
            "names without data": (_all_names, _without_data),
            "data without names": (_no_names, lambda file, rng: file.content()),
            "some of each": (_first_names, _some_data),
            "some of each, out of order": (_some_names, _some_data),
        }[mode]
        return dict(_files(self.root, lambda folder: names(folder, rng), lambda file: data(file, rng), folders=True))


def _files(folder, names, data, place="", folders=False, seen=None):
    """A file with two names is looked at once, so that both have one content."""
    seen = {} if seen is None else seen
    for name, what in names(folder).items():
        if isinstance(what, Folder):
            if folders:
                yield f"{place}{name}/", None
            yield from _files(what, names, data, f"{place}{name}/", folders, seen)
        else:
            if id(what) not in seen:
                seen[id(what)] = data(what)
            yield place + name, seen[id(what)]


def _no_names(folder, rng):
    return folder.kept


def _all_names(folder, rng):
    return folder.entries


def _first_names(folder, rng):
    return _with_changes(folder, folder.changes[: rng.randint(0, len(folder.changes))])


def _some_names(folder, rng):
    return _with_changes(folder, [names for names in folder.changes if rng.random() < 0.5])


def _with_changes(folder, changes):
    entries = dict(folder.kept)
    for names in changes:
        _apply(entries, names)
    return entries


def _kept(file, rng):
    return file.kept


def _without_data(file, rng):
    """The length has come, or not even that."""
    return file.kept if not file.writes else rng.choice((file.kept, _zeros(file)))


def _zeros(file):
    whole = len(file.content())
    return file.kept[:whole] + bytes(max(0, whole - len(file.kept)))


def _some_data(file, rng):
    if not file.writes:
        return file.kept
    part = file.content(rng.randint(0, len(file.writes)))
    return rng.choice((file.content(), part, part, file.kept, _zeros(file)))


def put(found, folder):
    """Write what was found to `folder`."""
    for name, content in found.items():
        path = folder / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
