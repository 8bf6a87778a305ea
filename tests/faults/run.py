"""All faults, one kind after the other, with a table of what became of them: `make faults`.

    python tests/faults/run.py --kinds kills corruption --kills 210 --corruptions 1500
    python tests/faults/run.py --kinds corruption --only "embedded: data/fit" --seed 0     # what a failure prints

A failure does not end it: it is printed with what repeats it, and the exit code is 1 at the end. Tries are independent,
and are divided among processes, each with scenarios of its own; which tries there are depends on the seed alone.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from tqdm import tqdm

HERE = Path(__file__).parent
KINDS = {
    "kills": 210, "corruption": 1500, "disk": 72, "power_loss": 210, "concurrency": 60, "hostile_input": 100_000,
    "coverage_guided": 100_000,
}  # fmt: skip
"""The modules beside this one, and how many tries there are in the long run."""
OPTIONS = {
    "kills": "kills", "corruption": "corruptions", "disk": "disks", "power_loss": "prefixes", "concurrency": "rounds",
    "hostile_input": "inputs", "coverage_guided": "executions",
}  # fmt: skip
"""The options that give another number."""


def survey(asked, folder):
    """The rows of this process's part of all kinds that are asked for; a kind that breaks is a failure like others."""
    from scenes import Ground
    from tries import Row

    rows = []
    with Ground(folder) as ground:
        ground.part, ground.parts = asked.part or (0, 1)
        for kind, count in asked.counts.items():
            begun = time.monotonic()
            try:
                found = import_module(kind).run(count, asked.seed, ground, _bar(ground), only=asked.only)
            except Exception as error:
                found = [Row(kind, "all", failures=[("", f"the harness broke: {type(error).__name__}: {error}")])]
            for failure in (failure for row in found for failure in row.failures):
                _tell_failure(kind, asked, *failure)
            tell(f"{kind}: {sum(row.tries for row in found):,} tries in {time.monotonic() - begun:,.0f} s")
            rows += [(kind, row) for row in found]
    return rows


def _bar(ground):
    """Of the first process, whose part is like those of others."""

    def watched(fault, tries):
        of = "" if ground.parts == 1 else f", 1 of {ground.parts} processes"
        return tqdm(list(tries), desc=f"{fault}{of}", unit="try", mininterval=1.0, disable=ground.part > 0)

    return watched


def _tell_failure(kind, asked, label, why):
    words = f'--kinds {kind} --seed {asked.seed} --{OPTIONS[kind]} {asked.counts[kind]} --only "{label}"'
    tell(f"LOST  {kind}  {label}\n      {why}\n      again: python tests/faults/run.py {words}")


def divided(asked, folder):
    """The rows of all parts, each made by a process of its own, and put together."""
    from tries import Row, joined, read_rows

    words = [sys.executable, str(HERE / "run.py"), *sys.argv[1:]]
    files = [folder / f"rows-{k}.json" for k in range(asked.at_once)]
    folders = [folder / f"part-{k}" for k in range(asked.at_once)]
    children = [
        subprocess.Popen([*words, "--part", str(k), str(asked.at_once), str(file), "--folder", str(own)])
        for k, (file, own) in enumerate(zip(files, folders, strict=True))
    ]
    for child in children:
        child.wait()
    rows = [one for file in files if file.is_file() for one in read_rows(file)]
    for file, child in zip(files, children, strict=True):
        if not file.is_file():
            why = f"a process of the harness ended with {child.returncode}"
            rows.append((asked.kinds[0], Row(asked.kinds[0], "all", failures=[("", why)])))
    return joined(rows)


def checked(rows, asked):
    """The rows alone, after what can be said only of all of them."""
    for kind, count in asked.counts.items():
        own = [row for its_kind, row in rows if its_kind == kind]
        if hasattr(import_module(kind), "check"):
            known = sum(len(row.failures) for row in own)
            import_module(kind).check(own, count, asked.only)
            for failure in [failure for row in own for failure in row.failures][known:]:
                _tell_failure(kind, asked, *failure)
    return [row for _, row in rows]


def tell(line):
    """A line, before the bar."""
    tqdm.write(line, file=sys.stdout)
    sys.stdout.flush()


def read_options():
    """From the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="tries whose description has this text, one at a time")
    options.add_argument("--at-once", type=int, default=min(2, os.cpu_count() or 1), help="processes; default: 2")
    options.add_argument("--folder", type=Path, help="an empty folder to work in; default: a temporary one")
    options.add_argument("--write", action="store_true", help="write the rows of these kinds into docs/reliability.md")
    options.add_argument("--part", nargs=3, help=argparse.SUPPRESS)  # Which of how many, and the file for its rows.
    for kind, count in KINDS.items():
        options.add_argument(f"--{OPTIONS[kind]}", type=int, default=count, metavar="N", dest=kind)
    asked = options.parse_args()
    asked.counts = {kind: getattr(asked, kind) for kind in asked.kinds}
    if asked.part:
        *numbers, asked.rows = asked.part
        asked.part = tuple(map(int, numbers))
    return asked


def main():
    """Run, print the table, and write it into the page if that is asked for."""
    import table
    from tries import write_rows

    asked, begun = read_options(), time.monotonic()
    if asked.part:
        write_rows(survey(asked, asked.folder), Path(asked.rows))
        return
    tree = table.state_of_the_tree()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        alone = asked.only or asked.at_once < 2
        rows = checked(survey(asked, folder) if alone else divided(asked, folder), asked)
    finally:
        if asked.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    tell("\n" + table.markdown(rows) + table.moments(rows))
    if asked.write:
        table.write(rows, table.about(asked.seed, tree, time.monotonic() - begun, 1 if alone else asked.at_once))
    sys.exit(1 if any(row.failures for row in rows) else 0)


if __name__ == "__main__":
    sys.path[:1] = [str(HERE), str(HERE.parent / "helpers"), str(HERE.parents[1])]
    main()
