"""All faults, one after the other, with a table of what became of them: `make faults`.

    python tests/faults/run.py --kinds kills corruption --kills 150 --corruptions 1500
    python tests/faults/run.py --kinds corruption --only "embedded: data/fit" --seed 0     # what a failure prints

A failure does not end it: it is printed with what repeats it, and the exit code is 1 at the end.
"""

import argparse
import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from tqdm import tqdm

HERE = Path(__file__).parent
KINDS = {"kills": 150, "corruption": 1500, "disk": 72, "power_loss": 210, "concurrency": 60, "hostile_input": 100_000}
"""The modules beside this one, and how many tries there are in the long run."""
OPTIONS = {
    "kills": "kills", "corruption": "corruptions", "disk": "disks", "power_loss": "prefixes", "concurrency": "rounds",
    "hostile_input": "inputs",
}  # fmt: skip
"""The options that give another number."""


def bar(fault, tries):
    """The tries, with a bar."""
    return tqdm(list(tries), desc=fault, unit="try", mininterval=1.0)


def survey(counts, seed, folder, only=""):
    """The rows of all kinds that are asked for, {kind: count}; a kind that breaks is a failure like any other."""
    from scenes import Ground
    from tries import Row

    rows = []
    with Ground(folder) as ground:
        for kind, count in counts.items():
            begun = time.monotonic()
            try:
                found = import_module(kind).run(count, seed, ground, bar, only=only)
            except Exception as error:
                found = [Row(kind, "all", failures=[("", f"the harness broke: {type(error).__name__}: {error}")])]
            for label, why in (failure for row in found for failure in row.failures):
                tell(f"LOST  {kind}  {label}\n      {why}\n      again: {repeated(kind, seed, count, label)}")
            tell(f"{kind}: {sum(row.tries for row in found):,} tries in {time.monotonic() - begun:,.0f} s")
            rows += found
    return rows


def repeated(kind, seed, count, label):
    """The command that does one try again."""
    return f'python tests/faults/run.py --kinds {kind} --seed {seed} --{OPTIONS[kind]} {count} --only "{label}"'


def tell(line):
    """A line, before the bar."""
    tqdm.write(line, file=sys.stdout)
    sys.stdout.flush()


def main():
    """Read the options, run, print the table, and write it into the page if that is asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="tries whose description has this text")
    options.add_argument("--folder", type=Path, help="an empty folder to work in; default: a temporary one")
    options.add_argument("--write", action="store_true", help="write the rows of these kinds into docs/reliability.md")
    for kind, count in KINDS.items():
        options.add_argument(f"--{OPTIONS[kind]}", type=int, default=count, metavar="N", dest=kind)
    asked = options.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="faults-"))
    counts = {kind: getattr(asked, kind) for kind in asked.kinds}
    try:
        rows = survey(counts, asked.seed, folder, asked.only)
    finally:
        if asked.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    import table

    tell("\n" + table.markdown(rows) + table.moments(rows))
    if asked.write:
        table.write(rows, f"Seed {asked.seed}, {datetime.now(UTC):%Y-%m-%d}.")
    sys.exit(1 if any(row.failures for row in rows) else 0)


if __name__ == "__main__":
    sys.path[:1] = [str(HERE), str(HERE.parent / "helpers"), str(HERE.parents[1])]
    main()
