"""What runs leave, without what is a matter of time: to hold one against another."""

import json
import re

MADE = re.compile(r"made [-+:\dT]+ in [\d.]+ s")
OF_THE_MACHINE = (".lock", ".hashed.json")
"""Beginnings of names: who is at work, and which files were read since the machine started."""
OF_THE_RUN = ("made_at", "seconds", "command", "checksum", "origin")


def contents(folder):
    """{path: bytes} of all files of a store, a set or a folder of reports."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: _timeless(path) for name, path in files.items() if not name.startswith(OF_THE_MACHINE)}


def _timeless(path):
    content = path.read_bytes()
    if path.name == "manifest.json" and "stage" in (told := json.loads(content)):
        kept = {name: value for name, value in told.items() if name not in OF_THE_RUN}
        timed = ("index.html", "report.json")  # A report tells of the times; its bytes are compared themselves.
        kept["files"] = {name: None if name in timed else entry["sha256"] for name, entry in told["files"].items()}
        kept["input_digests"] = {k: v for k, v in told["input_digests"].items() if k != "report"}
        return json.dumps(kept, sort_keys=True)
    if path.name == ".files":  # Its first line is of the bytes that tell of the times.
        return content[content.startswith(b"#") and content.index(b"\n") + 1 :]
    if path.suffix in (".html", ".json"):
        return MADE.sub("made", content.decode())
    return content
