"""What `datamodels-inf`, `python`, `pip` and `dask` are in the shell of a page (documented_run.py puts it there).

Commands run in forks of a process that has everything imported (tests/faults/zygote.py), with the words, the folder,
the variables and the output of this process. It imports the standard library only, so that it starts at once.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(os.environ.get("DOCUMENTED_ROOT", "."))  # Pytest looks for examples in all modules, this one too.
STARTED = Path(os.environ.get("DOCUMENTED_STARTED", "."))


def fork(words, script=None):
    """The exit code of the command line, or of a script, with these words."""
    own = f"/proc/{os.getpid()}/fd"
    request = {
        "words": words, "script": script, "before": os.environ.get("DOCUMENTED_BEFORE"), "folder": str(Path.cwd()),
        "out": f"{own}/1", "err": f"{own}/2", "environment": dict(os.environ), "no_more": True,
        "file_bytes": None, "kill_at": None, "stop_at": None, "events": None,
    }  # fmt: skip
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ["DOCUMENTED_FORKS"])
        with connection.makefile("rw", encoding="utf-8") as talk:
            talk.write(json.dumps(request) + "\n")
            talk.flush()
            note = STARTED / f"{int(talk.readline())}.pid"  # Of a process group, so that none outlives its page.
            note.touch()
            code = int(talk.readline() or 1)
            note.unlink()
            return code


def python(words):
    """A script in a fork; all else by the real interpreter."""
    if words and words[0].endswith(".py"):
        return fork(words[1:], script=words[0])
    return subprocess.run([sys.executable, *words]).returncode


def pip(words):
    """Nothing is installed: it must be this package, with extras that it has, or a file that is there."""
    words = words[1:] if words[:1] == ["pip"] else words
    if words[:1] != ["install"]:
        return fail(f"pip {' '.join(words)} is not known here")
    rest = iter(words[1:])
    problems = []
    for word in rest:
        if word in ("-r", "--requirement", "-c", "--constraint"):
            file = next(rest)
            problems += [] if (ROOT / file).exists() else [f"{file}: there is no such file"]
        elif word in ("--extra-index-url", "--index-url", "--find-links"):
            next(rest)
        elif not word.startswith("-"):
            problems += wrong_requirement(word)
    return fail("; ".join(problems)) if problems else 0


def wrong_requirement(word):
    """What is wrong with something to install, if anything is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.fullmatch(r"(?P<name>[\w./-]+?)(\[(?P<extras>[\w,-]+)\])?([=<>~!].*)?", word)
    if not found or not (found["name"] in (project["name"], ".") or found["name"].endswith(".whl")):
        return [f"{word} is not {project['name']}"]
    unknown = set((found["extras"] or "").split(",")) - {"", *project["optional-dependencies"]}
    return [f"{word}: there is no extra {', '.join(unknown)}"] if unknown else []


def dask(words):
    """A scheduler or a worker that stays until the page is at its end; a scheduler is waited for."""
    with (STARTED / f"{os.getpid()}.log").open("wb") as log:
        command = [sys.executable, "-m", "dask", *words]
        started = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    (STARTED / f"{started.pid}.pid").touch()
    if words[0] == "scheduler":
        wait_for(int(words[words.index("--port") + 1]), started)
    return started.poll() or 0


def wait_for(port, process):
    """Until somebody listens there."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)


def fail(sentence):
    """Say why, and the exit code of it."""
    sys.stderr.write(f"{sentence}\n")
    return 1


if __name__ == "__main__":
    PROGRAMS = {"datamodels-inf": fork, "python": python, "pip": pip, "uv": pip, "dask": dask}
    sys.exit(PROGRAMS[Path(sys.argv[0]).name](sys.argv[1:]))
