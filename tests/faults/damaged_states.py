"""What is damaged: every file of stores that are finished, of unfinished work of each stage, of a set and its parts."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from damages import damages
from kill_places import BETWEEN, MOMENTS, place_of, undisturbed
from scenes import TRAIN
from settled import NOTES

UNFINISHED = ("fit", "test", "evidence", "atlas", "robustness", "verify", "fresh", "train", "download")
LISTS = ("embedded", "trained", "s3")


@dataclass(frozen=True)
class State:
    """A folder that is to be damaged, what is to be damaged in it, and what the next run must make of it. other: the
    folder of a like scenario with another seed."""

    name: str
    folder: Path
    words: tuple
    expected: dict
    files: tuple
    other: Path | None

    def content(self, name):
        """Of a file, undamaged."""
        return (self.folder / name).read_bytes()

    def damages(self, name):
        """{name of a damage: content}, with the content of other files."""
        content = self.content(name)
        found = damages(content)
        like = [f for f in self.files if f != name and Path(f).suffix == Path(name).suffix]
        same = [f for f in like if Path(f).name == Path(name).name] or like
        if same:
            found["another file's content"] = self.content(same[hash_of(name) % len(same)])
        if (twin := self.twin(name)) is not None:
            found["the content of another seed"] = twin.read_bytes()
        return {word: changed for word, changed in found.items() if changed != content}

    def twin(self, name):
        """The file that is in its place with another seed; keys are other ones there."""
        if self.other is None:
            return None
        parts = Path(name).parts
        if parts[0] == "data" and len(parts) > 2:
            like = list(self.other.glob("/".join((*parts[:2], "*", *parts[3:]))))
        else:
            like = [self.other / name]
        return next((path for path in like if path.is_file()), None)


def hash_of(text):
    """The same in every process."""
    return sum(k * byte for k, byte in enumerate(text.encode(), start=1))


def states(ground, names=None):
    """Those of LISTS, and "unfinished STAGE" of each of UNFINISHED; made when they are reached."""
    for name in names or (*LISTS, *(f"unfinished {stage}" for stage in UNFINISHED)):
        yield unfinished(ground, name.removeprefix("unfinished ")) if " " in name else finished(ground, name)


def finished(ground, name):
    """A whole scenario."""
    scene = getattr(ground, name)
    other = {"embedded": lambda: ground.embedded_other, "trained": lambda: ground.trained_other}.get(name)
    files = tuple(sorted(n for n in _files(scene.folder) if n.startswith(("data", "reports", "set"))))
    return State(name, scene.folder, scene.words, scene.expected, files, other and other().folder)


def unfinished(ground, stage):
    """A stage that was killed when about half of its steps were there."""
    place = place_of(ground, stage)
    moments = undisturbed(place, ground).moments
    numbers = moments.get(BETWEEN) or moments.get("in a step") or moments[MOMENTS[2]]
    folder = place.prepare(ground.folder / f"unfinished-{stage}")
    ground.forks.run(folder, *place.words, kill_at=numbers[len(numbers) * 3 // 5])
    shutil.rmtree(folder / ".events", ignore_errors=True)
    files = tuple(sorted(n for n in _files(folder) if any(w in f"/{n}" for w in ("/.work-", "/.parts", "/objects/"))))
    assert files, f"nothing unfinished of {stage}"
    words = TRAIN if stage == "train" else place.words
    return State(f"unfinished {stage}", folder, words, place.expected, files, None)


def _files(folder):
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    locks = (".lock", ".lock-holder", "/lock")
    return [name for name in names if not (NOTES.search(name) and name.endswith(locks))]
