"""The table of docs/reliability.md, between two marks."""

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
    return f"{how}; they found {row.kept:,} finished steps" if row.kept else how


def moments(rows):
    """When kills came: a line."""
    hit = {}
    for row in rows:
        for moment, count in row.moments.items():
            hit[moment] = hit.get(moment, 0) + count
    told = ", ".join(f"{moment} {count}" for moment, count in sorted(hit.items(), key=lambda item: -item[1]))
    return f"Kills came {told}." if told else ""


def write(rows, about):
    """Put the rows into the page; those of faults that were not tried now stay."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    tried = {row.fault for row in rows}
    kept = [line for line in old.splitlines() if line.startswith("| ") and _fault(line) not in {"fault", *tried}]
    when = moments(rows) or next((line for line in old.splitlines() if line.startswith("Kills came")), "")
    text = "\n".join((about, "", HEAD, *kept, *lines(rows), "", when)).rstrip()
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _fault(line):
    return line.split("|")[1].strip()
