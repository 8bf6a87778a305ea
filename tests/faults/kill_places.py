"""Where a run is killed: in each stage there is, with everything before it finished; and at what moments."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from begun_steps import NAME, read_begun
from file_events import read_events
from released_bucket import journal
from scenes import CLUSTER, MERGE, SHARDS, TRAIN, TRAIN_SHARDS, TRAIN_WHAT

BETWEEN = "between two steps"
MOMENTS = (
    "before its work", "in a step", "while a step is saved", BETWEEN, "while its files are written",
    "while its manifest is written", "while it is moved into place", "while the report is published",
    "while it cleans up", "after its end",
)  # fmt: skip
WORK = (".work-", "/.parts", "/objects/")
STEP = re.compile(r"(.*/\.work-.*|.*\.parts)/[a-z]*(-?\d+)+\.np[yz]")
"""Files that are finished steps."""
ON_A_CLUSTER = " on a cluster"
STAGES = (
    "download", "train", "train --shard", "merge", "fit", "test", "evidence", "prior", "atlas", "influence", "features",
    "robustness", "verify", "fresh", "agreement", "referee", "referee-page", "report",
)  # fmt: skip
"""All that are of their own in pipeline.stages, and what `train` and `merge` do."""
CLUSTERED = tuple(f"{stage}{ON_A_CLUSTER}" for stage in ("train", "fit", "test"))
SCENES = {"download": "s3", "features": "featured", "referee": "refereed", "referee-page": "refereed"}
"""Where it is not `trained`."""
PUBLISHED = {"report": "reports/digits", "referee-page": "reports/digits-referee"}
IN_HAND = {"download": 6, "train": 2, "train --shard": 2, "verify": 2, "fresh": 2, **dict.fromkeys(CLUSTERED, 4)}
"""How many processes or connections have a step in hand, where it is not one: each that makes steps, and the one that
saves what others have made; of a cluster, `in_flight` (2) steps of each of two workers: one that it makes, and one
that is made and waits to be saved."""


@dataclass(frozen=True)
class Place:
    """A stage of a scenario, which is as it was before that stage. home: the folder that the stage fills. further: a
    command that is to be run when the stage is done, before what is there is looked at."""

    stage: str
    scene: object
    words: tuple
    home: str
    without: tuple
    expected: dict
    further: tuple = ()

    @property
    def is_a_set(self):
        """Whether home is a set of models in place of a stage's results."""
        return self.home == "set"

    @property
    def shards(self):
        """Folders whose parts stay."""
        return SHARDS if self.scene.name == "sharded" else ()

    def prepare(self, folder):
        """All but the stage."""
        return self.scene.copy(folder, self.without)

    def has_begun(self, folder, notes):
        """Whether the stage has begun: its folder holds more than before, which was nothing; with a cluster, that takes
        seconds to start, its first step."""
        home = folder / self.home
        return notes.is_file() if self.stage in CLUSTERED else home.is_dir() and any(home.iterdir())

    def has_ended(self, folder):
        """Whether its result is in its place."""
        home = folder / self.home
        if self.home in self.shards:
            return len(self.steps(folder)) == len(self.steps(self.scene.folder))
        return (home / "manifest.json").is_file() if self.is_a_set else any(home.glob("[!.]*/manifest.json"))

    def steps(self, folder):
        """{finished step}: files that an unfinished stage has left for the next run."""
        home = folder / self.home
        names = (path.relative_to(folder).as_posix() for path in home.rglob("*") if path.is_file())
        return {name for name in names if STEP.fullmatch(name)}

    def rows(self, folder):
        """Runs of rows that a download has noted as complete."""
        return journal(folder) if self.stage == "download" else set()

    def moment(self, folder, notes):
        """When a kill from outside came, by what it left."""
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
        working = [name for name in names if any(word in f"/{name}" for word in WORK)]
        if self.has_ended(folder):
            if self.stage in PUBLISHED and self._n_published(folder) < self._n_published(self.scene.folder):
                return "while the report is published"
            own = [name for name in names if name.startswith(self.home) and self.home not in self.shards]
            return "while it cleans up" if any(".work-" in n or "/.parts" in n for n in own) else "after its end"
        if not self.has_begun(folder, notes):
            return "before its work"
        if any("/.tmp-" in name and name.endswith("/manifest.json") for name in names):
            return "while its manifest is written"
        if any("/.part-" in name for name in working):
            return "while a step is saved"
        written = [n for n in names if "/.tmp-" in n and not n.rpartition("/")[2].startswith(".tmp-")]
        return "while its files are written" if written else "in a step"

    def _n_published(self, folder):
        return len(list((folder / PUBLISHED[self.stage]).rglob("*")))


def place_of(ground, stage):
    """That of a stage of STAGES or CLUSTERED."""
    plain, on_a_cluster = stage.removesuffix(ON_A_CLUSTER), CLUSTER if stage in CLUSTERED else ()
    if plain in ("train --shard", "merge"):
        scene, home = ground.sharded, "set" if plain == "merge" else SHARDS[-1]
        words, further = (MERGE, ()) if plain == "merge" else (TRAIN_SHARDS[-1], MERGE)
        return Place(stage, scene, words, home, tuple({"set", home}), scene.expected, further)
    if plain == "train":
        scene = ground.trained
        own = {name: content for name, content in scene.expected.items() if name.startswith("set/")}
        words = ("train", "--out", "set", *TRAIN_WHAT, *CLUSTER) if on_a_cluster else TRAIN
        return Place(stage, scene, words, "set", ("set", "data", "reports"), own)
    scene = getattr(ground, SCENES.get(plain, "trained"))
    more = ("data/objects",) if plain == "download" else (PUBLISHED[plain],) if plain in PUBLISHED else ()
    words = (*scene.words, *on_a_cluster)
    return Place(stage, scene, words, f"data/{plain}", (f"data/{plain}", *more), scene.expected)


@dataclass(frozen=True)
class Undisturbed:
    """A run to which nothing happens. moments: {moment: numbers of events}; a kill at one of them comes then. saved:
    names of steps. begun: what was noted of them."""

    moments: dict
    saved: set
    begun: list


def undisturbed(place, ground):
    """Of a stage, looked at once."""
    if place.stage not in ground.undisturbed:
        folder, log, notes = (ground.folder / name for name in ("undisturbed", "events", "begun"))
        place.prepare(folder)
        for path in (log, notes):
            path.unlink(missing_ok=True)
        ground.forks.ok(folder, *place.words, events=log, environment={NAME: str(notes)})
        shutil.rmtree(folder)
        events = read_events(log)
        ground.undisturbed[place.stage] = Undisturbed(_moments(place, events), saved_steps(log), read_begun(notes))
    return ground.undisturbed[place.stage]


def saved_steps(log):
    """{name} of the steps that a run has saved."""
    return {event[-1] for event in read_events(log) if event[0] == "os.rename" and STEP.fullmatch(event[-1])}


def _moments(place, events):
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
    if path.endswith("manifest.json") or (place.is_a_set and Path(before[-1]).name == "manifest.json"):
        return "while its manifest is written"
    if name == "os.rename" and ".tmp-" in events[n][1]:
        return "while it is moved into place"
    if path.startswith(place.home) and (".tmp-" in path or place.is_a_set):
        return "while its files are written" if name == "open" or place.is_a_set else "in a step"
    return "after its end"


def _of_a_file(name, path):
    return name in ("open", "os.rename", "os.remove") and Path(path).suffix != ""
