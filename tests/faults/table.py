"""The table of docs/reliability.md, between two marks, and what it was made of."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
HEAD = "| fault | where | tries | survived | lost | what became of them |\n|---|---|---:|---:|---:|---|"


def markdown(rows):
    """All rows, and a sum for each fault."""
    return "\n".join((HEAD, *lines(rows))) + "\n"


def lines(rows):
    """Those of the table, below its head."""
    for fault in dict.fromkeys(row.fault for row in rows):
        own = [row for row in rows if row.fault == fault]
        for row in own:
            yield f"| {fault} | {row.where} | {row.tries:,} | {row.survived:,} | {row.lost:,} | {_what(row)} |"
        if len(own) > 1:
            tries, survived, lost = (sum(getattr(row, n) for row in own) for n in ("tries", "survived", "lost"))
            yield f"| {fault} | **all** | **{tries:,}** | **{survived:,}** | **{lost:,}** | |"


def _what(row):
    how = ", ".join(f"{count:,} {word}" for word, count in row.how.most_common())
    steps = sum(work.steps for work in row.works)
    if not steps:
        return how
    made, twice = (sum(getattr(work, name) for work in row.works) for name in ("made", "twice"))
    most = max(work.twice for work in row.works)
    return (
        f"{how}; of {steps:,} steps {steps - made:,} were kept and {made:,} made by the next runs, {twice:,} of them "
        f"for the second time, at most {most:,} after one kill"
    )


def moments(rows):
    """When kills came: a line."""
    hit = {}
    for row in rows:
        for moment, count in row.moments.items():
            hit[moment] = hit.get(moment, 0) + count
    told = ", ".join(f"{moment} {count}" for moment, count in sorted(hit.items(), key=lambda item: -item[1]))
    return f"Kills came {told}." if told else ""


def state_of_the_tree():
    """The commit, and whether anything in it was changed since."""
    try:
        commit, changed = (_git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return "a tree without git"
    return f"commit {commit}, {'with changes that are not in it' if changed else 'clean'}"


def _git(*words):
    done = subprocess.run(["git", *words], cwd=PAGE.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def about(seed, tree, seconds, at_once):
    """A line above the table."""
    minutes = round(seconds / 60)
    time = f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
    return f"Seed {seed}, {datetime.now(UTC):%Y-%m-%d}, {tree}; {time} with {at_once} at a time."


def write(rows, about):
    """Put the rows into the page; those of faults that were not tried now stay, and are said to be older."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    tried = {row.fault for row in rows}
    kept = [line for line in old.splitlines() if line.startswith("| ") and _fault(line) not in {"fault", *tried}]
    if kept:
        first = next((line for line in old.splitlines() if line and not line.startswith("|")), "")
        older = ", ".join(dict.fromkeys(map(_fault, kept)))
        about = f"{about} Of an earlier run are: {older}. ({first})"
    when = moments(rows) or next((line for line in old.splitlines() if line.startswith("Kills came")), "")
    text = "\n".join((about, "", HEAD, *kept, *lines(rows), "", when)).rstrip()
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _fault(line):
    return line.split("|")[1].strip()
