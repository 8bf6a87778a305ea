"""All that a run does to files, with every byte, as the kernel saw it (strace): [Operation] in the order they happened.

Only what changes files under one folder is kept. A write that two processes share a handle for is not understood, and
none of ours does that.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

CALLS = (
    "open,openat,creat,write,pwrite64,writev,pwritev,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "link,linkat,symlink,symlinkat,truncate,ftruncate,fallocate,fsync,fdatasync,sync,syncfs,sendfile,copy_file_range,"
    "lseek,read,dup,dup2,dup3,fcntl,clone,clone3,fork,vfork"
)
LINE = re.compile(
    r"^(\d+) +(?:(\w+)\((.*)\) += (-?\d+|\?).*|(\w+)\((.*) <unfinished \.\.\.>|"
    r"<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?).*)$"
)
THREAD = re.compile(r"^(\d+) .*CLONE_THREAD.*= (\d+)$")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
HANDLE = re.compile(r"^(-?\d+|AT_FDCWD)(?:<((?:\\x[0-9a-f]{2})*)>)?")


@dataclass(frozen=True)
class Operation:
    """what: make, write, copy, cut, move, link, remove, mkdir, sync. path: absolute, when it happened. to: of a move or
    link; where a copy comes from. at: where a write begins, −1 at the end; a new length. data: what is written; of a
    copy "start length"."""

    what: str
    path: str
    to: str = ""
    at: int = 0
    data: bytes = b""


def can_record():
    """Whether strace is there and may be used."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode == 0


def record(command, folder, log, environment):
    """Run a command to its end under strace, and return its operations under `folder`."""
    options = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", str(1 << 28), "-e", f"trace={CALLS}", "-e", "signal=none"]
    done = subprocess.run(
        ["strace", *options, "-o", log, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    with log.open(encoding="ascii", errors="replace") as lines:
        found = Recording(str(folder.resolve())).operations(lines)
    log.unlink()
    return found


class Recording:
    """Reads the lines of strace; handles are known by process and number, with the place where each stands."""

    def __init__(self, home):
        self.home = home
        self._begun, self._process, self._handles, self._found = {}, {}, {}, []

    def operations(self, lines):
        """Those of all lines. Threads are known first: one may speak before the call that made it has returned."""
        lines = list(lines)
        for line in lines:
            if thread := THREAD.match(line):
                self._process[thread[2]] = self._process.get(thread[1], thread[1])
        for line in lines:
            match = LINE.match(line)
            if match is None:
                continue
            pid, name, arguments, result, begun, first, resumed, rest, late = match.groups()
            if begun is not None:
                self._begun[pid] = first
                continue
            if resumed is not None:
                name, arguments, result = resumed, self._begun.pop(pid, "") + rest, late
            if result != "?" and int(result) >= 0:
                self._call(self._process.setdefault(pid, pid), name, arguments, int(result))
        return self._found

    def _call(self, process, name, text, result):
        handler = getattr(self, f"_{name}", None)
        if handler is not None:
            handler(process, text, result)

    def _add(self, what, path, *more, **named):
        if path == self.home or path.startswith(f"{self.home}/"):
            self._found.append(Operation(what, path, *more, **named))

    # Which process a thread belongs to, and which handles it has.

    def _clone(self, process, text, result):
        if "CLONE_THREAD" not in text:
            for (owner, handle), place in list(self._handles.items()):
                if owner == process:
                    self._handles[str(result), handle] = dict(place)

    _clone3 = _fork = _vfork = _clone

    def _openat(self, process, text, result):
        path = _path(text, self.home)
        flags = text[text.rfind('"') :]
        if "O_TMPFILE" in flags:
            return
        if "O_CREAT" in flags:
            self._add("make", path)
        if "O_TRUNC" in flags:
            self._add("cut", path)
        self._handles[process, result] = {"at": 0, "append": "O_APPEND" in flags}

    _open = _openat

    def _dup(self, process, text, result):
        self._handles[process, result] = self._place(process, _number(text))

    _dup2 = _dup3 = _dup

    def _fcntl(self, process, text, result):
        if "F_DUPFD" in text:
            self._dup(process, text, result)

    def _place(self, process, handle):
        return self._handles.setdefault((process, handle), {"at": 0, "append": False})

    # Content.

    def _lseek(self, process, text, result):
        self._place(process, _number(text))["at"] = result

    def _read(self, process, text, result):
        self._place(process, _number(text))["at"] += result

    def _write(self, process, text, result):
        place = self._place(process, _number(text))
        at = -1 if place["append"] else place["at"]
        self._add("write", _handle_path(text), at=at, data=_strings(text)[:result])
        place["at"] += result

    _writev = _write

    def _pwrite64(self, process, text, result):
        at = int(text.rpartition(",")[2])
        self._add("write", _handle_path(text), at=at, data=_strings(text)[:result])

    _pwritev = _pwrite64

    def _sendfile(self, process, text, result):
        to, source, offset = re.match(r"(\S+), (\S+), (NULL|\[\d+\])", text).groups()
        place = self._place(process, _number(to))
        other = self._place(process, _number(source))
        start = other["at"] if offset == "NULL" else int(re.search(r"\d+", offset)[0])
        self._add("copy", _handle_path(to), _handle_path(source), place["at"], f"{start} {result}".encode())
        place["at"] += result
        if offset == "NULL":
            other["at"] += result

    def _copy_file_range(self, process, text, result):
        raise NotImplementedError("copy_file_range")

    def _ftruncate(self, process, text, result):
        self._add("cut", _handle_path(text), at=int(text.rpartition(",")[2]))

    def _truncate(self, process, text, result):
        self._add("cut", _path(text, self.home), at=int(text.rpartition(",")[2]))

    def _fallocate(self, process, text, result):
        raise NotImplementedError("fallocate")

    # Names.

    def _rename(self, process, text, result):
        first, second = _two_paths(text, self.home)
        self._add("move", first, second)

    _renameat = _renameat2 = _rename

    def _link(self, process, text, result):
        first, second = _two_paths(text, self.home)
        self._add("link", first, second)

    _linkat = _link

    def _unlink(self, process, text, result):
        self._add("remove", _path(text, self.home))

    _unlinkat = _rmdir = _unlink

    def _mkdir(self, process, text, result):
        self._add("mkdir", _path(text, self.home))

    _mkdirat = _mkdir

    def _fsync(self, process, text, result):
        self._add("sync", _handle_path(text))

    _fdatasync = _fsync

    def _sync(self, process, text, result):
        self._add("sync all", self.home)

    _syncfs = _sync


def _plain(hexed):
    return bytes.fromhex(hexed.replace("\\x", "")).decode(errors="surrogateescape")


def _strings(text):
    return b"".join(bytes.fromhex(found[1].replace("\\x", "")) for found in STRING.finditer(text))


def _number(text):
    return int(HANDLE.match(text)[1])


def _handle_path(text):
    return _plain(HANDLE.match(text)[2] or "").removesuffix(" (deleted)")


def _path(text, home):
    """Of a call with a folder's handle and a name, or a name alone, of the folder `home` where the command runs."""
    found = HANDLE.match(text)
    folder = _plain(found[2]) if found and found[2] else home
    name = _plain(STRING.search(text)[1])
    return os.path.normpath(f"{folder}/{name}" if not name.startswith("/") else name)


def _two_paths(text, home):
    parts = re.findall(r'(?:((?:-?\d+|AT_FDCWD)<(?:\\x[0-9a-f]{2})*>), )?("(?:\\x[0-9a-f]{2})*")', text)
    return [_path(f"{folder}, {name}" if folder else name, home) for folder, name in parts]
