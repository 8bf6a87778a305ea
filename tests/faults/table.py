"""The table of docs/reliability.md, between two marks."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
HEAD = "| fault | where | tries | survived | lost | what became of them |\n|---|---|---:|---:|---:|---|"


def markdown(rows):
    """All rows, and a sum for each fault."""
    lines = [HEAD]
    for fault in dict.fromkeys(row.fault for row in rows):
        own = [row for row in rows if row.fault == fault]
        for row in own:
            lines.append(f"| {fault} | {row.where} | {row.tries:,} | {row.survived:,} | {row.lost:,} | {_what(row)} |")
        if len(own) > 1:
            tries, survived, lost = (sum(getattr(row, n) for row in own) for n in ("tries", "survived", "lost"))
            lines.append(f"| **{fault}** | all | **{tries:,}** | **{survived:,}** | **{lost:,}** | |")
    return "\n".join(lines) + "\n"


def _what(row):
    how = ", ".join(f"{count:,} {word}" for word, count in row.how.most_common())
    return f"{how}; at most {row.redone:.0%} of the stage's time since the last saved step" if row.redone else how


def moments(rows):
    """When kills came: a line."""
    hit = {}
    for row in rows:
        for moment, count in row.moments.items():
            hit[moment] = hit.get(moment, 0) + count
    told = ", ".join(f"{moment} {count}" for moment, count in sorted(hit.items(), key=lambda item: -item[1]))
    return f"\nKills came {told}.\n" if told else ""


def write(rows, about):
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{about}\n\n{markdown(rows)}{moments(rows)}{END}{after}", encoding="utf-8")
