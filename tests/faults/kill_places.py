"""Where a run is killed: in each stage that takes long, with everything before it finished; and at what moments."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from file_events import read_events
from released_bucket import journal
from scenes import TRAIN

BETWEEN = "between two steps"
MOMENTS = (
    "before its work", "in a step", "while a step is saved", BETWEEN, "while its files are written",
    "while its manifest is written", "while it is moved into place", "while the report is published",
    "while it cleans up", "after its end",
)  # fmt: skip
WORK = (".work-", "/.parts", "/objects/")
STAGES = ("download", "train", "fit", "test", "atlas", "robustness", "verify", "fresh", "report")


@dataclass(frozen=True)
class Place:
    """A stage of a scenario, which is as it was before that stage. home: the folder that the stage fills."""

    stage: str
    scene: object
    words: tuple
    home: str
    without: tuple
    expected: dict

    def prepare(self, folder):
        """All but the stage."""
        return self.scene.copy(folder, self.without)

    def has_begun(self, folder):
        """Whether the stage has begun: its folder holds more than before, which was nothing."""
        home = folder / self.home
        return home.is_dir() and any(home.iterdir())

    def has_ended(self, folder):
        """Whether its result is in its place."""
        home = folder / self.home
        return (home / "manifest.json").is_file() if self.stage == "train" else any(home.glob("[!.]*/manifest.json"))

    def steps(self, folder):
        """{finished step: when}: files that an unfinished stage has left for the next run."""
        found = {}
        for part in ("data", "set"):
            for path in (folder / part).rglob("*") if (folder / part).is_dir() else ():
                name = path.relative_to(folder).as_posix()
                is_step = path.suffix in (".npz", ".npy") and not path.name.startswith(".")
                if is_step and any(word in f"/{name}" for word in WORK[:2]) and path.is_file():
                    found[name] = path.stat().st_mtime
        return found

    def rows(self, folder):
        """Runs of rows that a download has noted as complete."""
        return journal(folder) if self.stage == "download" else set()

    def moment(self, folder):
        """When a kill from outside came, by what it left."""
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
        working = [name for name in names if any(word in f"/{name}" for word in WORK)]
        if self.has_ended(folder):
            if self.stage == "report" and len(list((folder / "reports").rglob("*"))) < self.n_published:
                return "while the report is published"
            return "while it cleans up" if any(".work-" in n or "/.parts" in n for n in names) else "after its end"
        if not self.has_begun(folder):
            return "before its work"
        if any("/.tmp-" in name and name.endswith("/manifest.json") for name in names):
            return "while its manifest is written"
        if any("/.part-" in name for name in working):
            return "while a step is saved"
        written = [n for n in names if "/.tmp-" in n and not n.rpartition("/")[2].startswith(".tmp-")]
        return "while its files are written" if written else "in a step"

    @property
    def n_published(self):
        """Files and folders of the report."""
        return len([p for p in (self.scene.folder / "reports").rglob("*") if not p.name.endswith(".lock")])


def place_of(ground, stage):
    """That of a stage of STAGES."""
    if stage == "train":
        scene = ground.trained
        own = {name: content for name, content in scene.expected.items() if name.startswith("set/")}
        return Place(stage, scene, TRAIN, "set", ("set", "data", "reports"), own)
    scene = ground.s3 if stage == "download" else ground.trained
    more = {"download": ("data/objects",), "report": ("reports",)}.get(stage, ())
    return Place(stage, scene, scene.words, f"data/{stage}", (f"data/{stage}", *more), scene.expected)


def moments_of(place, ground):
    """{moment: numbers of events} of an undisturbed run: a kill at one of them comes then."""
    folder, log = place.prepare(ground.folder / "undisturbed"), ground.folder / "events"
    log.unlink(missing_ok=True)
    ground.forks.ok(folder, *place.words, events=log)
    events = read_events(log)
    shutil.rmtree(folder)
    found = {}
    first = next((n for n, event in enumerate(events) if place.home in event[-1]), 0)
    for n in range(len(events)):
        found.setdefault(_moment(place, events, n, first), []).append(n + 1)
    return found


def moment_of_last(place, log):
    """Of the event at which a run ended."""
    events = read_events(log)
    first = next((n for n, event in enumerate(events) if place.home in event[-1]), len(events))
    return _moment(place, events, len(events) - 1, first) if events else MOMENTS[0]


def _moment(place, events, n, first):
    """Before event n happens: the process is about to do that."""
    name, path = events[n][0], events[n][-1]
    before = events[n - 1] if n else ("", "")
    if n < first:
        return MOMENTS[0]
    if path.startswith("reports"):
        return "while the report is published"
    if any(word in f"/{path}" for word in WORK):
        if name in ("os.remove", "os.rmdir") and ".part-" not in path:
            return "while it cleans up"
        if before[0] == "os.rename" and any(word in f"/{before[-1]}" for word in WORK):
            return BETWEEN
        return "while a step is saved" if _of_a_file(name, path) else "in a step"
    if path.endswith("manifest.json") or (place.stage == "train" and Path(before[-1]).name == "manifest.json"):
        return "while its manifest is written"
    if name == "os.rename" and ".tmp-" in events[n][1]:
        return "while it is moved into place"
    if path.startswith(place.home) and (".tmp-" in path or place.stage == "train"):
        return "while its files are written" if name == "open" or place.stage == "train" else "in a step"
    return "after its end"


def _of_a_file(name, path):
    return name in ("open", "os.rename", "os.remove") and Path(path).suffix != ""
