"""Every setting in words: its key, what it may be, its default and its meaning, from the models of `config`.

`datamodels-inf config explain test.alpha` prints one, or a section; docs/configuration.md is `config reference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pipeline.config import Config
from pipeline.config_files import literal
from pipeline.errors import BadInputError

PATTERNS = {
    "^[0-9a-f]{64}$": "text of 64 hexadecimal digits",
    "^[A-Za-z0-9][A-Za-z0-9._-]*$": "text of letters, digits and . _ -",
}
"""What a pattern asks for, in words: a key with another one needs its own."""

BOUNDS = {
    "at least": "minimum",
    "above": "exclusiveMinimum",
    "at most": "maximum",
    "below": "exclusiveMaximum",
}
UPPER = ("maximum", "exclusiveMaximum")
FAR = 1_000_000

EXAMPLES = {
    "source": ('kind = "files"\nfolder = "my-models"\nfit_rows = 4000', "data.md#sources-source", "own-data.md"),
    "fit": ('mode = "load"\nfile = "scores/trak.npy"\ncalibrate = true', "lasso.md", "data.md#score-files"),
    "test": (
        'design = "top"\ntargets = "all"\nrows = "progressive"\nmethod = ["paired", "contrast"]\nalpha = 0.1\n'
        'correction = "closed-by"',
        "designs.md",
        "method.md",
        "rows.md",
    ),
    "atlas": ('targets = "needed"\nfamily = "all"', "influence.md"),
    "robustness": ('top = 2\nmetric = "features"', "robustness.md"),
    "verify": ("top = 3\nmodels = 2000\nfresh = 10000", "verify.md", "fresh.md"),
    "referee": ('scores = ["trak=scores/trak.npy", "lasso"]\nnegate = ["trak"]', "referee.md"),
    "report": ('name = "first-look"\nmax_panels = 20', "report.md"),
    "cluster": ('address = "slurm"\njobs = 50\nslurm = {cores = 8, memory = "16GB"}', "cluster.md"),
    "train": ('dataset = "digits"\nn_models = 20000\nseed = 1', "own-training.md"),
}
"""Section → an example, and the pages that say more; in the order of the page."""

HEAD = """# Configuration

<!-- Made by `datamodels-inf config reference > docs/configuration.md` from the models in pipeline/config.py; a test
     fails when it is out of date. -->

A configuration is a TOML file of sections, any of which may be left out, and so may any key. `--config NAME` takes
one that ships (`datamodels-inf config list`), `--config my.toml` one of yours; `--set section.key=value` changes a key,
and `--set section.key=` unsets it. Unknown keys and impossible values are refused by name, before anything runs.

```console
datamodels-inf config show --config digits-all      # the effective configuration, every key
datamodels-inf config explain test.alpha            # one key, or a section: what it may be, its default, its meaning
datamodels-inf check --config digits-all            # what it would read and test, and whether it can
```

A dash is a key that is unset.
"""


@dataclass(frozen=True)
class Setting:
    """One key. allowed: what it may be, in words. default: as TOML writes it, or empty where it is unset."""

    section: str
    name: str
    allowed: str
    default: str
    meaning: str

    @property
    def key(self) -> str:
        """As `--set` takes it."""
        return f"{self.section}.{self.name}"

    def in_words(self) -> str:
        """For a terminal: two lines or more."""
        from textwrap import fill

        default = f"default {self.default}" if self.default else "unset by default"
        said = [f"{self.allowed}; {default}", self.meaning]
        return "\n".join(
            [self.key, *(fill(text, 100, initial_indent="    ", subsequent_indent="    ") for text in said)]
        )


def settings() -> dict[str, list[Setting]]:
    """Section → its settings, in the order of the page."""
    schema = Config.model_json_schema()
    found = {}
    for section in EXAMPLES:
        name = schema["properties"][section]["$ref"].rpartition("/")[2]
        fields = schema["$defs"][name]["properties"].items()
        found[section] = [_setting(section, key, field) for key, field in fields]
    return found


def _setting(section: str, name: str, field: dict[str, Any]) -> Setting:
    default = field.get("default")
    empty = default is None or default == []
    meaning = " ".join(field["description"].split())
    return Setting(section, name, _allowed(field), "" if empty else literal(default), meaning)


def _allowed(field: dict[str, Any]) -> str:
    """What a JSON schema allows, in words."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_allowed(other) for other in field["anyOf"] if other.get("type") != "null"))
    if "enum" in field or "const" in field:
        *others, last = map(literal, field.get("enum", [field.get("const")]))
        return f"{', '.join(others)} or {last}" if others else last
    match field["type"]:
        case "boolean":
            return "true or false"
        case "string":
            return _text(field)
        case "array":
            return _list(field)
        case "object":
            return "table"
        case kind:
            return f"{'whole number' if kind == 'integer' else 'number'}{_range(field)}"


def _text(field: dict[str, Any]) -> str:
    kind = "path" if field.get("format") == "path" else PATTERNS[field["pattern"]] if "pattern" in field else "text"
    return f"{kind}, at most {field['maxLength']} characters" if "maxLength" in field else kind


def _list(field: dict[str, Any]) -> str:
    """As one value may stand for a list of it, closed sets are "one or several of"."""
    items = field["items"]
    return f"one or several of {_allowed(items)}" if "enum" in items else f"list of {_plural(_allowed(items))}"


def _plural(words: str) -> str:
    for one, many in (("whole number", "whole numbers"), ("text", "texts")):
        words = words.replace(one, many)
    return words


def _range(field: dict[str, Any]) -> str:
    """Its bounds, but those so far away that they only keep mistakes out."""
    bounds = [
        f"{word} {_number(field[name])}"
        for word, name in BOUNDS.items()
        if name in field and not (name in UPPER and field[name] >= FAR)
    ]
    return f", {' and '.join(bounds)}" if bounds else ""


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def explain(name: str) -> str:
    """One setting, or all of a section, for a terminal."""
    known = settings()
    found = {setting.key: [setting] for section in known.values() for setting in section} | known
    if name not in found:
        near = [key for key in found if key.endswith(f".{name}")] or get_close_matches(name, found, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; sections are {', '.join(known)}."
        raise BadInputError(f"{name} is neither a setting nor a section{hint}")
    return "\n\n".join(setting.in_words() for setting in found[name])


def reference() -> str:
    """The page docs/configuration.md."""
    return "\n".join([HEAD, *(_section(name, keys) for name, keys in settings().items())])


def _section(name: str, keys: list[Setting]) -> str:
    example, *pages = EXAMPLES[name]
    about = (Config.model_fields[name].annotation.__doc__ or "").strip()
    rows = [_row(key) for key in keys]
    more = ", ".join(f"[{page.partition('#')[0]}]({page})" for page in pages)
    table = ["| key | value | default | meaning |", "|---|---|---|---|", *rows]
    block = ["```toml", f"[{name}]", example, "```"]
    return "\n".join(
        [
            f"## `[{name}]`",
            "",
            " ".join(about.split()),
            f"More: {more}.",
            "",
            *table,
            "",
            "For example:",
            "",
            *block,
            "",
        ]
    )


def _row(key: Setting) -> str:
    cells = (f"`{key.name}`", key.allowed, f"`{key.default}`" if key.default else "–", key.meaning)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
