"""Runs the blocks of a page, in order, in a folder of its own.

The store is one for all pages (`data` is a link to it): a result has a key of all that made it, so that what one page
has made is cached for the next.
"""

import ast
import contextlib
import io
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
from commands import ONE_THREAD, Forks
from documented import SHELL, Command, agrees, expressions
from places import ROOT
from progress_lines import without_progress

from pipeline.cli import cli
from pipeline.config_files import load_config, named_configs
from pipeline.text.toml_text import read_toml

PROGRAMS = ("datamodels-inf", "python", "pip", "uv", "dask")
LINKED = ("benchmarks", "examples", "tests", "configs", "docs")
"""Folders of the tree that commands name."""
OURSELVES = ("ruff ", "mypy", 'echo ".venv/bin/mypy, beside', "chromium ", "python tests/faults/run.py --write")
"""What begins commands of recipes that are not run: the tests are these themselves."""
PATIENCE = 240
"""Seconds for one command."""
PLACEHOLDER = re.compile(r"[A-Z]+(/[A-Z]+)?|.*[…<].*")


class Desk:
    """What all pages share: the process that forks, the programs of their shell, the store."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.bin, self.store = self.folder / "bin", self.folder / "store"
        self.bin.mkdir(parents=True)
        self.store.mkdir()
        shim = (ROOT / "tests" / "helpers" / "documented_shim.py").read_text(encoding="utf-8")
        for name in PROGRAMS:
            (self.bin / name).write_text(f"#!{sys.executable} -SE\n{shim}", encoding="utf-8")
            (self.bin / name).chmod(0o755)
        self.forks = Forks(small=False)
        self.helps = {}

    def close(self):
        """Nothing is left running."""
        self.forks.close()

    def page(self, name):
        """A folder for a page, with links to the store and the tree."""
        folder = self.folder / "pages" / re.sub(r"\W", "-", name)
        folder.mkdir(parents=True)
        (folder / "data").symlink_to(self.store)
        for linked in LINKED:
            (folder / linked).symlink_to(ROOT / linked)
        (folder / ".started").mkdir()
        return folder

    def variables(self, folder, more):
        """Of the environment of a page's commands."""
        return {
            **os.environ, **ONE_THREAD, "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(folder),
            "BROWSER": "true", "PYTHONPATH": str(ROOT), "DOCUMENTED_PATH": os.environ["PATH"],
            "DOCUMENTED_ROOT": str(ROOT), "DOCUMENTED_FORKS": self.forks.place,
            "DOCUMENTED_STARTED": str(folder / ".started"), **more,
        }  # fmt: skip


@dataclass
class Run:
    """One page under way. names: of its Python blocks; variables: more of them for commands; failures: what to mend.

    exceptions: a table of `Changed`, `Parsed` and `Shown`; used: those that were met. cleanups: called at the end.
    """

    desk: Desk
    page: object
    names: dict = field(default_factory=dict)
    variables: dict = field(default_factory=dict)
    exceptions: tuple = ()
    failures: list = field(default_factory=list)
    used: set = field(default_factory=set)
    cleanups: list = field(default_factory=list)

    def __post_init__(self):
        self.folder = self.desk.page(self.page.name)
        self._printed = None
        self.cleanups.append(self._end_started)

    def everything(self):
        """All blocks and mentioned commands; the failures."""
        try:
            for block in self.page.blocks:
                self.block(block)
        finally:
            for cleanup in self.cleanups:
                cleanup()
        for line, command in self.page.mentioned:
            self._noting(line, lambda command=command: self.mentioned(command))
        return self.failures

    def block(self, block):
        """By its language."""
        if self._excepted(Shown, block):
            return
        if block.source:
            self._noting(block.line, lambda: self._excerpt(block))
        elif block.title:
            self._noting(block.line, lambda: self._written(block))
        elif block.is_script:
            self._noting(block.line, lambda: self.command(Command(block.line, block.text)))
        elif block.language in SHELL:
            for command in block.commands:
                self._noting(command.line, lambda command=command: self.command(command))
        elif block.language == "python":
            self._python(block)
        elif block.language == "toml":
            self._noting(block.line, lambda: self.toml(block.text))
        elif block.language == "text":
            self._noting(block.line, lambda: self._text(block))
        else:
            self._note(
                block.line, f"a block of language {block.language!r} is neither run nor in the table of those shown"
            )

    def command(self, command):
        """In a shell; of a target of the Makefile, all commands of its recipe."""
        if not command.text.startswith("make "):
            return self._command(command)
        for text in recipe(shlex.split(command.text)[1:]):
            if not text.startswith(OURSELVES):
                self._command(replace(command, text=text))
        return None

    def _command(self, command):
        if self._excepted(Parsed, command.text):
            self.mentioned(command.text)
            return
        text = self._changed(command.text)
        code = self._shell(text)
        said, shown = self._printed, command.printed
        refused = shown is not None and "datamodels-inf: " in shown
        if bool(code) != refused:
            raise DifferenceError(f"{text}\n  exit code {code}\n{_indented(said)}")
        if shown is not None and self._comparable(command.text) and not agrees(shown, said):
            raise DifferenceError(f"{text}\n  prints\n{_indented(said)}\n  and the page shows\n{_indented(shown)}")

    def _shell(self, text):
        """The exit code; what it said is kept for the text below."""
        done = subprocess.run(
            ["bash", "-c", text], cwd=self.folder, env=self.desk.variables(self.folder, self.variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
        )  # fmt: skip
        self._printed = without_progress(done.stdout.decode(errors="replace"))
        return done.returncode

    def _excepted(self, kind, what):
        """Whether an entry of the table is about this."""
        found = [entry for entry in self.exceptions if isinstance(entry, kind) and entry.matches(what)]
        self.used.update(found)
        return bool(found)

    def _changed(self, text):
        """With the changes of the table; of these, @NAME@ is a variable."""
        for entry in self.exceptions:
            if isinstance(entry, Changed) and entry.apply(self.page.name, text) != text:
                self.used.add(entry)
                text = entry.apply(self.page.name, text)
        return re.sub(r"@(\w+)@", lambda found: self.variables[found[1]], text)

    def _comparable(self, text):
        """Whether nothing was changed in it that changes what it prints."""
        changes = (entry for entry in self.exceptions if isinstance(entry, Changed) and not entry.compared)
        return all(entry.apply(self.page.name, text) == text for entry in changes)

    def _python(self, block):
        out = io.StringIO()
        try:
            for statement in expressions(block):
                at = out.tell()
                self._noting(statement.line, lambda statement=statement, at=at: self._statement(statement, out, at))
        except SyntaxError as error:
            self._note(block.line + error.lineno - 1, str(error))
        self._printed = out.getvalue()

    def _statement(self, statement, out, at):
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
            if not isinstance(statement.code, ast.Expr):
                exec(compile(ast.Module([statement.code], []), self.page.name, "exec"), self.names)
                return
            value = eval(compile(ast.Expression(statement.code.value), self.page.name, "eval"), self.names)
        printed = out.getvalue()[at:] if value is None else repr(value)
        if statement.shown is not None and not agrees(statement.shown, printed):
            raise DifferenceError(f"is\n{_indented(printed)}\n  and the page shows\n{_indented(statement.shown)}")

    def toml(self, text):
        """As a configuration by itself, or over `digits`."""
        file = self.folder / ".part.toml"
        file.write_text(text, encoding="utf-8")
        with contextlib.chdir(self.folder):
            if "source" in read_toml(text):
                load_config(str(file), ())
                return
            base = read_toml(named_configs()["digits"].read_text(encoding="utf-8"))
            from pipeline.config import Config

            Config.model_validate(_over(base, read_toml(text)))

    def _written(self, block):
        place = self.folder / block.title
        place.parent.mkdir(parents=True, exist_ok=True)
        text = self._changed(block.text)
        if block.language == "toml":
            self.toml(block.text)
            text = f"{place.read_text(encoding='utf-8')}\n{text}" if place.exists() else text
        if block.language == "python":
            ast.parse(block.text)
        place.write_text(text, encoding="utf-8")

    def _excerpt(self, block):
        """Each statement must be in the file, as it is."""
        (place,) = [path for path in sources() if path.as_posix().endswith(f"/{block.source}")]
        known = {_normal(node) for node in ast.walk(ast.parse(place.read_text(encoding="utf-8"))) if _is_code(node)}
        for node in ast.parse(block.text).body:
            code = node.value if isinstance(node, ast.Expr) else node
            if _normal(code) not in known:
                raise DifferenceError(f"{block.source} has nothing like\n{_indented(ast.unparse(code))}")

    def _text(self, block):
        if block.output_of:
            self.command(Command(block.line, block.output_of, block.text))
        elif self._printed is None:
            raise DifferenceError("this text is below no block that could have printed it")
        elif not agrees(block.text, self._printed):
            raise DifferenceError(
                f"printed was\n{_indented(self._printed)}\n  and the page shows\n{_indented(block.text)}"
            )

    def mentioned(self, text):
        """A command of the running text, held against its options."""
        words = shlex.split(text.replace("…", " … "))
        if words[0] == "datamodels-inf":
            parsed(words[1:])
        elif words[0] == "make":
            target = [word for word in words[1:] if "=" not in word and word != "…"][:1]
            if not re.search(rf"^{target[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
                raise DifferenceError(f"{text}: the Makefile has no such target")
        elif words[1].endswith(".py"):
            self._script_options(words)

    def _script_options(self, words):
        if words[1] not in self.desk.helps:
            if self._shell(f"python {words[1]} --help"):
                raise DifferenceError(f"{words[1]} --help fails\n{_indented(self._printed)}")
            self.desk.helps[words[1]] = self._printed
        for word in words[2:]:
            name = word.partition("=")[0]
            if name.startswith("--") and not re.search(rf"{name}\b", self.desk.helps[words[1]]):
                raise DifferenceError(f"{words[1]} has no option {name}")

    def _end_started(self):
        """Schedulers and workers of the page."""
        for path in (self.folder / ".started").glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(path.stem), signal.SIGKILL)
            path.unlink()

    def _noting(self, line, act):
        try:
            act()
        except Exception as error:
            kind = "" if isinstance(error, DifferenceError) else f"{type(error).__name__}: "
            self._note(line, f"{kind}{error}")

    def _note(self, line, sentence):
        self.failures.append(f"{self.page.name}:{line}: {sentence}")


class DifferenceError(Exception):
    """What a page says and what is, are two things."""


def recipe(words):
    """The commands of a target of the Makefile, whose environment is there already."""
    make = ["make", "-n", "-o", ".venv/.made", "-C", str(ROOT), "--no-print-directory", *words]
    done = subprocess.run(make, capture_output=True, text=True)
    if done.returncode:
        raise DifferenceError(f"make {' '.join(words)}: {done.stderr}")
    return [re.sub(r"^(\w+=\S* )*(\.venv/bin/)?", "", line) for line in done.stdout.splitlines()]


def parsed(words):
    """Whether the command line takes these words; a word in capitals stands for a value, and what is missing may be."""
    command, context = cli, click.Context(cli, info_name="datamodels-inf")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        found = command.get_command(context, name)
        if found is None and PLACEHOLDER.fullmatch(name):
            return
        if found is None:
            raise DifferenceError(f"datamodels-inf has no command {name}")
        command, context = found, click.Context(found, context, info_name=name)
    options = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
    for word, value in itertools.zip_longest(words, words[1:]):
        name, equals, inside = word.partition("=")
        if not word.startswith("--") or word == "--help":
            continue
        if name not in options:
            raise DifferenceError(f"{context.command_path} has no option {name}")
        value = inside if equals else value
        option = options[name]
        if value and not option.is_flag and not PLACEHOLDER.fullmatch(value) and option.nargs == 1:
            option.type.convert(value, option, context)


def _over(base, part):
    """The settings of a part in place of those of a base."""
    merged = {**base, **part}
    both = (name for name in base.keys() & part.keys() if isinstance(base[name], dict) and isinstance(part[name], dict))
    return {**merged, **{name: _over(base[name], part[name]) for name in both}}


def _indented(text):
    return "\n".join(f"    {line}" for line in text.rstrip("\n").split("\n"))


def sources():
    """All Python files of the tree that pages may quote."""
    return [path for name in ("datamodels_inf", "pipeline", "examples") for path in (ROOT / name).rglob("*.py")]


def _is_code(node):
    return isinstance(node, ast.stmt | ast.expr)


def _normal(node):
    return ast.dump(node)


@dataclass(frozen=True)
class Changed:
    """A change of commands and files for the sake of time, or of a server: a regular expression of whole words, what
    stands in its place, and why. compared: it prints the same for all that; of others, what they print is not."""

    old: str
    new: str
    why: str
    page: str = ".*"
    compared: bool = False

    def apply(self, page, text):
        """The command with the change, if it applies."""
        if not re.fullmatch(self.page, page):
            return text
        return re.sub(rf"(?<!\S){self.old}(?!\S)", self.new, text)


@dataclass(frozen=True)
class Parsed:
    """Commands (a regular expression) that are only held against the options of their program, and why."""

    command: str
    why: str

    def matches(self, text):
        """Whether this is one of them."""
        return re.fullmatch(self.command, text) is not None


@dataclass(frozen=True)
class Shown:
    """A block that is not run, by its page and its beginning, and why."""

    page: str
    begins: str
    why: str

    def matches(self, block):
        """Whether this is the block."""
        return block.page == self.page and block.text.startswith(self.begins)
