"""Every command and code block of the README and of the other pages, as tests run them. How to write a page:

- ```console: a command a line, `\\` at its end goes on; what is behind # is for people. Each must end with exit code 0.
  Where lines begin with "$ ", these are the commands, and the lines below one are what it prints: compared with it.
- `…` in printed lines stands for anything; a line of nothing else, for any lines. A command that is shown to print
  "datamodels-inf: …", as where input is bad, must end with another exit code.
- ```python: run, all blocks of a page in one namespace. A comment behind an expression, or on the lines below it, that
  begins like a value ('…', 0.3, [, (, {, True, None, Name() is compared with what Python shows.
- ```text below a block is what that block (its last command) printed; below a line `<!-- output of: COMMAND -->`, what
  COMMAND prints. ```python below a line `<!-- path/of/file.py -->` is a part of that file, and must be in it.
- ```toml is loaded as a configuration, laid over `digits` where it is a part of one.
- title="file" behind any language: the block is that file in the folder of the page, for the commands below it; TOML is
  added to a file that is there.
- ```sh and ```bash as ```console; a block that begins with #! is run as a whole. A block without a language is refused.
- `datamodels-inf …`, `python file …` and `make …` in running text are held against their options, and not run.

What is in a page's folder before its first block, what is made smaller, and what is not run at all, is said in the
tables of documented_pages.py. A page that is in none of them starts in an empty folder, where the embedded digits are
the default. Results are cached over all pages.
"""

import ast
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from places import ROOT

SHELL = ("console", "sh", "bash", "shell")
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
OUTPUT_OF = re.compile(r"<!-- output of: (?P<command>.+?) -->\s*$")
SOURCE = re.compile(r"<!-- (?P<file>\S+\.py) -->\s*$")
INLINE = re.compile(r"(?<!`)`((?:datamodels-inf|python|make) [^`\n]+)`(?!`)")
VALUE = re.compile(r"""[rbf]?['"]|-?[\d.]+(e-?\d+)?\b(?! \w)|[\[({…]|(True|False|None|array|\w+\()""")


@dataclass(frozen=True)
class Command:
    """One command of a page, and what the page says that it prints, if it does."""

    line: int
    text: str
    printed: str | None = None


@dataclass(frozen=True)
class Expression:
    """One statement of a Python block; shown: the value that a comment says it has."""

    line: int
    code: ast.stmt
    shown: str | None = None


@dataclass(frozen=True)
class Block:
    """A fenced block. line: that of its first line of text. before: the line above the fence."""

    page: str
    line: int
    language: str
    text: str
    title: str | None = None
    before: str = ""

    @property
    def place(self):
        """For people."""
        return f"{self.page}:{self.line}"

    @property
    def is_script(self):
        """A shell script rather than commands that are typed."""
        return self.language in SHELL and self.text.startswith("#!")

    @property
    def commands(self):
        """Of a block of commands."""
        return list(_commands(self))

    @property
    def output_of(self):
        """The command that a text is the output of, if the page says one."""
        found = OUTPUT_OF.search(self.before)
        return found and found["command"]

    @property
    def source(self):
        """The file that a block of Python is a part of, if the page says one."""
        found = SOURCE.search(self.before)
        return found and self.language == "python" and found["file"]


@dataclass
class Page:
    """Blocks in their order, and commands in the running text as (line, command)."""

    name: str
    blocks: list[Block] = field(default_factory=list)
    mentioned: list[tuple[int, str]] = field(default_factory=list)


def page_names():
    """All pages whose blocks are run, the README first; a new one is among them."""
    patterns = (
        "README.md",
        "CONTRIBUTING.md",
        "docs/**/*.md",
        "*/README.md",
        "examples/**/*.md",
        "benchmarks/RESULTS.md",
    )
    names = [str(path.relative_to(ROOT)) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return list(dict.fromkeys(names))


def read_page(name, root=ROOT):
    """A page by its name."""
    return parse(name, (Path(root) / name).read_text(encoding="utf-8"))


def parse(name, text):
    """The page that a text is."""
    page, lines = Page(name), text.split("\n")
    inside, before = None, ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if inside is None and fence:
            inside = (number, fence["indent"], fence["info"].strip(), before)
        elif inside is not None and fence and not fence["info"]:
            page.blocks.append(_block(name, lines[inside[0] : number - 1], *inside))
            inside = None
        elif inside is None:
            page.mentioned += [(number, found) for found in INLINE.findall(line)]
            before = line if line.strip() else ""
    if inside is not None:
        raise ValueError(f"{name}:{inside[0]}: a block that does not end")
    return page


def _block(name, lines, number, indent, info, before):
    language, _, options = info.partition(" ")
    title = re.search(r'title="([^"]+)"', options)
    text = "\n".join(line.removeprefix(indent) for line in lines) + "\n"
    return Block(name, number + 1, language, text, title and title[1], before)


def _commands(block):
    """A line that ends with a backslash goes on; `$ ` anywhere makes all other lines output."""
    lines = block.text.rstrip("\n").split("\n")
    asked = any(line.startswith("$ ") for line in lines)
    at, found = 0, []
    while at < len(lines):
        first = at
        if not asked or lines[at].startswith("$ "):
            text = lines[at].removeprefix("$ ")
            while text.endswith("\\") and at + 1 < len(lines):
                at += 1
                text = text[:-1].rstrip() + " " + lines[at].removeprefix("> ").strip()
            found.append([block.line + first, text, []])
        elif found:
            found[-1][2].append(lines[at])
        elif lines[at].strip() and not lines[at].startswith("#"):
            raise ValueError(f"{block.place}: output before the first command")
        at += 1
    for line, text, printed in found:
        if shlex.split(text, comments=True):
            yield Command(line, without_comment(text), "\n".join(printed) if any(printed) else None)


def without_comment(text):
    """A line of a shell without what is behind its #."""
    quote = None
    for at, letter in enumerate(text):
        if quote:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (at == 0 or text[at - 1].isspace()):
            return text[:at].rstrip()
    return text.rstrip()


def expressions(block):
    """The statements of a Python block, with the values that comments say."""
    lines = block.text.split("\n")
    tree = ast.parse(block.text, block.page)
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        last = node.end_lineno
        below = lines[last : after.lineno - 1 if after else len(lines)]
        shown = _shown(lines[last - 1][_column(lines[last - 1], node) :], below) if isinstance(node, ast.Expr) else None
        yield Expression(block.line + node.lineno - 1, node, shown)


def _column(line, node):
    """ast counts bytes."""
    return len(line.encode()[: node.end_col_offset].decode())


def _shown(behind, below):
    """A value in the comment behind an expression, or in those directly below it."""
    comment = behind.strip().removeprefix("#").strip()
    if comment and VALUE.match(comment):
        return comment
    texts = []
    for line in below:
        if not line.startswith("#"):
            break
        texts.append(line.removeprefix("#").removeprefix(" "))
    return "\n".join(texts) if texts and not comment and VALUE.match(texts[0]) else None


def agrees(shown, printed):
    """Whether what was printed is what a page shows, with `…` for anything; ends of lines do not count."""
    lines = [line.rstrip() for line in shown.strip("\n").split("\n")]
    pattern = ""
    for line in lines:
        pattern += r"(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n"
    text = "\n".join(line.rstrip() for line in printed.strip("\n").split("\n")) + "\n"
    return re.fullmatch(pattern, text) is not None
