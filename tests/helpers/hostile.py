"""Hostile input: files and answers made wrong, by the thousand, before every reader.

    python tests/helpers/hostile.py --inputs 100000

Each input ends in a valid answer or in one of our own sentences; it takes no more memory than MORE_BYTES beyond what
the readers have, and no more time than LONGEST; it runs nothing, and writes nothing beside the folder that is read. All
of it follows from the seed: input k of a seed is the same in every run.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mutations import mutated

HERE = Path(__file__).parent
MORE_BYTES = 700 * 2**20
LONGEST = 5.0
"""Seconds of one input."""
STUCK = 60.0
"""Seconds after which a process that says nothing is ended: it is in code that no signal reaches."""
EVERY, MOST_KEPT, LONGEST_SENTENCE = 200, 40, 1500


@dataclass
class Counts:
    """tries = refused + read + failed. failures: (label of the input, what is wrong)."""

    tries: int = 0
    refused: int = 0
    read: int = 0
    failed: int = 0
    failures: list = field(default_factory=list)

    def count(self, known_as, path, problem, kind):
        """One input more."""
        self.tries += 1
        if not problem:
            setattr(self, kind, getattr(self, kind) + 1)
            return
        self.failed += 1
        if len(self.failures) < MOST_KEPT:
            self.failures.append((known_as, f"{path.name}: {problem}"))

    def add(self, other):
        for name in ("tries", "refused", "read", "failed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures


def run(count, seed=0, only="", longest=LONGEST, part=0, parts=1):
    """{reader: Counts} of `count` inputs, in processes of their own: one that dies is counted, and the next goes on
    behind the input that it died of. only: inputs whose labels hold this. longest: seconds of one input. part: of so
    many `parts`, each has every so manieth."""
    found, first, deadly = {}, 0, []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        while first < count:
            job = {
                "folder": folder,
                "first": first,
                "count": count,
                "seed": seed,
                "only": only,
                "deadly": deadly,
                "longest": longest,
                "part": part,
                "parts": parts,
            }
            told = _process(Path(folder), job)
            for name, counts in told["counts"].items():
                found.setdefault(name, Counts()).add(Counts(**counts))
            first = told["next"]
            if told["code"]:
                deadly.append(told["current"])
                failure = label(told["reader"], told["current"]), f"the process ended with {told['code']}"
                found.setdefault(told["reader"], Counts()).add(Counts(1, 0, 0, 1, [failure]))
    return found


def _process(folder, job):
    """What a process found until its end; `next` is the input behind those that are counted."""
    note, current = folder / "note.json", folder / "current"
    for path in (note, current):
        path.unlink(missing_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, str(HERE / "hostile.py"), "--child", json.dumps(job)]
    with subprocess.Popen(words, env=environment, cwd=HERE.parents[1]) as child:
        while child.poll() is None:
            time.sleep(0.05)
            if current.is_file() and time.time() - current.stat().st_mtime > STUCK:
                child.kill()
    if not note.is_file():
        raise RuntimeError("no input was tried: the readers cannot even read their seeds")
    told = json.loads(note.read_text(encoding="utf-8"))
    at, _, reader = current.read_text(encoding="utf-8").strip().partition(" ") if current.is_file() else ("0", "", "")
    return {**told, "code": child.returncode, "current": int(at or 0), "reader": reader}


def label(reader, number):
    """By which an input is known, and asked for alone."""
    return f"{reader}, input {number},"


class Hung(BaseException):
    """An input takes too long."""


def _hang(number, frame):
    raise Hung


def child(job):
    """Try inputs first … count − 1, and note every EVERY of them what was found so far."""
    sys.path.insert(0, str(HERE.parents[1]))
    from hostile_broken import BROKEN
    from hostile_readers import READERS

    warnings.simplefilter("ignore")
    folder = Path(job["folder"])
    only = job["only"]
    reader = only.partition(", input ")[0]
    known = BROKEN if reader and any(reader in name for name in BROKEN) else READERS
    names = list(known)  # Which input is whose does not depend on what is asked for.
    readers = {name: known[name] for name in names if reader in name}
    shutil.rmtree(folder / "seeds", ignore_errors=True)
    seeds = {name: made_seed(folder / "seeds" / str(k), reader) for k, (name, reader) in enumerate(readers.items())}
    limit_this_process()
    counts, deadly = {}, set(job["deadly"])
    with (folder / "current").open("wb", buffering=0) as current:
        for k in range(job["first"], job["count"]):
            if k % EVERY == 0 or k == job["first"]:
                _note(folder, k, counts)
            name = names[k % len(names)]
            if k % job["parts"] == job["part"] and only in label(name, k) and k not in deadly:
                os.pwrite(current.fileno(), f"{k} {name}".ljust(80).encode(), 0)
                counted, rng = counts.setdefault(name, Counts()), random.Random(f"{job['seed']} {k}")
                _try(label(name, k), readers[name], seeds[name], rng, counted, job["longest"])
    _note(folder, job["count"], counts)


def limit_this_process():
    """From now on: so much more memory, and an exception in what takes too long."""
    signal.signal(signal.SIGALRM, _hang)
    size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + MORE_BYTES, size + MORE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _note(folder, k, counts):
    known = {name: asdict(found) for name, found in counts.items()}
    (folder / "note.part").write_text(json.dumps({"next": k, "counts": known}), encoding="utf-8")
    (folder / "note.part").replace(folder / "note.json")


@dataclass
class Seed:
    """A folder that is read, and what it holds."""

    folder: Path
    contents: dict
    wrong: list
    """Files that are made wrong."""


def made_seed(place, reader):
    """A folder at `place` that has been read once."""
    folder = place / "read"
    folder.mkdir(parents=True)
    reader.make(folder)
    contents = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    wrong = [path for path in contents if any(path.match(pattern) for pattern in reader.files)]
    before = _names(place)
    try:
        reader.read(folder)  # What is imported and compiled at the first call is not an input's to pay for.
    except Exception as error:
        if not reader.refused or _problem(error):
            raise
    assert _names(place) == before, "a seed was run"
    return Seed(folder, contents, wrong)


def _try(known_as, reader, seed, rng, counts, longest):
    """One input: a file of the seed made wrong, read, and mended."""
    path = rng.choice(seed.wrong)
    content = mutated(seed.contents[path], rng, list(seed.contents.values()))
    counts.count(known_as, path, *attempt(reader, seed, path, content, longest))


def attempt(reader, seed, path, content, longest):
    """(what is wrong, "read" or "refused") of a seed whose file `path` holds `content` as long as it is read."""
    path.write_bytes(content)
    before, kind = _names(seed.folder.parent), "read"
    signal.setitimer(signal.ITIMER_REAL, longest)
    try:
        reader.read(seed.folder)
        problem = ""
    except Hung:
        problem = "it takes too long"
    except MemoryError:
        problem = "MemoryError"
    except Exception as error:
        problem, kind = _problem(error), "refused"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if _names(seed.folder.parent) != before:
        problem = problem or "it wrote something, or ran"
        for stray in seed.folder.parent.rglob("*"):
            if stray.is_file() and stray not in seed.contents:
                stray.unlink()
    path.write_bytes(seed.contents[path])
    return problem, kind


def _names(folder):
    return sorted(path for path in folder.rglob("*"))


def _problem(error):
    """What is wrong with how an input was refused; nothing if it was one of our own sentences."""
    from pipeline.errors import BadInputError
    from pipeline.remote.failures import RemoteError

    if not isinstance(error, (BadInputError, RemoteError)):
        return f"{type(error).__name__}: {str(error)[:200]}"
    if not str(error).strip() or len(str(error)) > LONGEST_SENTENCE:
        return f"no sentence: {str(error)[:200]!r}"
    if "secret" in str(error):
        return f"it tells a secret: {str(error)[:200]}"
    while error is not None:
        if isinstance(error, MemoryError) or "allocate" in str(error):
            return f"it took all memory: {str(error)[:200]}"
        error = error.__cause__ or error.__context__
    return ""


def table(found):
    """Lines to print."""
    width = max(map(len, found))
    yield f"{'reader':<{width}}  {'tries':>8} {'refused':>8} {'read':>8} {'failed':>8}"
    rows = [*sorted(found.items()), ("all", Counts())]
    for counts in found.values():
        rows[-1][1].add(counts)
    for name, c in rows:
        yield f"{name:<{width}}  {c.tries:>8,} {c.refused:>8,} {c.read:>8,} {c.failed:>8,}"
    yield from (" ".join(failure) for failure in rows[-1][1].failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="inputs whose labels hold this, such as a reader's name")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return 0
    found = run(options.inputs, options.seed, options.only)
    for line in table(found):
        sys.stdout.write(f"{line}\n")
    return int(any(counts.failed for counts in found.values()))


if __name__ == "__main__":
    sys.exit(main())
