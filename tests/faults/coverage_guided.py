"""Input that is bred to reach ever more of our code (atheris), before every reader of `hostile_readers`.

Each reader has a process of its own, whose modules of `pipeline` say which of their branches an input took; inputs that
took a new one are changed further, by libFuzzer and by the same hands as in `hostile`. The verdict is that of `hostile`
too. Without atheris (`pip install 'datamodels-inf[fuzz]'`, there is none for every system) the table says so.
"""

import base64
import json
import os
import random
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import hostile
from commands import ONE_THREAD
from hostile import Counts, attempt, limit_this_process, made_seed
from hostile_broken import BROKEN
from hostile_readers import READERS
from mutations import mutated
from tries import Outcome, Row, Try, survey

HERE = Path(__file__).parent
FAULT = "coverage-guided input"
LONGEST = hostile.LONGEST
TOO_FEW = 300
"""Inputs, of which at least one must have reached something new."""


def run(count, seed, ground, watcher=lambda fault, tries: tries, only="", readers=READERS):
    """A row for all readers, which share the inputs."""
    if find_spec("atheris") is None:
        return [Row(FAULT, "could not be tried: atheris is not installed")]
    row, each = Row(FAULT, f"{len(readers)} readers of files and answers"), max(1, count // len(readers))

    def made(reader):
        def make(folder):
            folder.mkdir()
            counts = fuzzed(folder, reader, each, seed)
            row.tries += counts.tries
            row.survived += counts.refused + counts.read
            row.lost += counts.failed
            row.how["refused in a sentence"] += counts.refused
            row.how["read as what they are"] += counts.read
            row.failures += [tuple(failure) for failure in counts.failures]
            return Outcome("")

        return make

    tries = [Try("", name, made(name)) for name in readers if only in name]
    broken = [failure for one in survey(FAULT, tries, ground, watcher) for failure in one.failures]
    row.failures += broken
    return [row]


def fuzzed(folder, reader, count, seed):
    """The Counts of one reader; a process that dies is counted, and not started again."""
    words = [sys.executable, str(HERE / "coverage_guided.py"), str(folder), reader, str(count), str(seed)]
    paths = os.pathsep.join(map(str, (HERE, HERE.parent / "helpers", HERE.parents[1])))
    environment = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONPATH": paths}
    current, log = folder / "current", folder / "log"
    with log.open("wb") as said, subprocess.Popen(words, env=environment, stdout=said, stderr=said) as child:
        while child.poll() is None:
            time.sleep(0.05)
            if current.is_file() and time.time() - current.stat().st_mtime > hostile.STUCK:
                child.kill()
    text = log.read_text(encoding="utf-8", errors="replace")
    if not (folder / "note.json").is_file():
        raise RuntimeError(f"{reader}: nothing was tried: {text[-600:]}")
    counts = Counts(**json.loads((folder / "note.json").read_text(encoding="utf-8")))
    if child.returncode:
        why = f"the process ended with {child.returncode}: {text[-300:]} after {_shown(current.read_bytes())}"
        counts.add(Counts(1, 0, 0, 1, [(reader, why)]))
    elif counts.tries >= TOO_FEW and "NEW" not in text:
        counts.failures.append((reader, "no input reached anything new: nothing guided them"))
    return counts


def _shown(content):
    return base64.b64encode(content[:3000]).decode()


def child(folder, name, count, seed):
    """Try so many inputs, and note what became of them."""
    import atheris
    import torch

    assert torch  # Seconds, that the first input which needs it would have to pay for.
    warnings.simplefilter("ignore")
    reader = (READERS | BROKEN)[name]
    with atheris.instrument_imports(include=["pipeline"]):  # Not numba, torch and numpy: theirs is not our code.
        made = made_seed(folder / "seed", reader)
    corpus = folder / "corpus"
    corpus.mkdir()
    for k, path in enumerate(made.wrong):
        (corpus / str(k)).write_bytes(bytes([k]) + made.contents[path])
    counts, others = Counts(), list(made.contents.values())
    current = os.open(folder / "current", os.O_WRONLY | os.O_CREAT)

    def try_one(data):
        if not counts.tries:
            limit_this_process()  # Now: libFuzzer has set its own signals before.
        os.ftruncate(current, 0)
        os.pwrite(current, data, 0)
        path = made.wrong[data[0] % len(made.wrong) if data else 0]
        problem, kind = attempt(reader, made, path, data[1:], LONGEST)
        counts.count(name, path, problem and f"{problem} of {_shown(data[1:])}", kind)
        ends = counts.tries >= count or counts.failed >= hostile.MOST_KEPT  # Enough to look at; each may have hung.
        if ends or problem or counts.tries % hostile.EVERY == 1:
            (folder / "note.part").write_text(json.dumps(asdict(counts)), encoding="utf-8")
            (folder / "note.part").replace(folder / "note.json")
        if ends:
            os._exit(0)

    def change(data, most, number):
        rng = random.Random(number)
        if data and rng.random() < 0.5:
            with suppress(Exception):  # It expects archives that can be opened, and this may be none any more.
                return data[:1] + mutated(data[1:], rng, others)[: most - 1]
        return atheris.Mutate(data, most)

    most = 2 * max(map(len, made.contents.values())) + 4096
    options = [f"-seed={seed + 1}", "-timeout=0", "-rss_limit_mb=0", f"-max_len={most}", f"-artifact_prefix={folder}/"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], try_one, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    child(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
