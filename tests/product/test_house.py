"""What the folders promise: the arrow points one way, no import goes in circles, tables are the only lists of names,
and each module has its tests at its own place."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from long_runs import LONGEST

ROOT = Path(__file__).parents[2]
PACKAGES = ("datamodels_inf", "pipeline")
LONGEST_TEST_FILE = 450
WITHOUT_TESTS = {
    "pipeline/errors.py": "two exceptions without any logic",
    "pipeline/report/content/curves.py": "a type; evidence/test_curves.py fills it",
    "pipeline/report/content/fresh.py": "types; sections/test_fresh.py fills them",
    "pipeline/report/content/galleries.py": "two types; evidence/test_galleries.py fills them",
    "pipeline/report/sections/base.py": "types; sections/test_sections_table.py follows their contract",
    "pipeline/report/sections/diagnostics.py": "a heading without variables",
}
"""Modules that have no test file of their own, and why; `__init__.py` need none."""


def modules():
    """{dotted name: file}."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(path, known, *, late):
    """The modules of ours that a file imports, with those inside functions if `late`; not those for types only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()

    def visit(node, inside):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.ImportFrom) and node.module and (late or not inside):
            found.update(name for a in node.names if (name := f"{node.module}.{a.name}") in known)
            if any(f"{node.module}.{a.name}" not in known for a in node.names) and node.module in known:
                found.add(node.module)
        if isinstance(node, ast.Import) and (late or not inside):
            found.update(a.name for a in node.names if a.name in known)
        deeper = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for child in ast.iter_child_nodes(node):
            visit(child, deeper)

    visit(tree, False)
    return found


def test_the_library_never_imports_the_pipeline():
    known = modules()
    for name, path in known.items():
        if name.startswith("datamodels_inf"):
            assert not [m for m in imports(path, known, late=True) if m.startswith("pipeline")], name


def test_nothing_but_the_command_line_imports_commands():
    """They print what stages and the report say, never the reverse."""
    known = modules()
    for name, path in known.items():
        if not name.startswith(("pipeline.cli", "pipeline.commands", "pipeline.completion")):
            assert not [m for m in imports(path, known, late=True) if m.startswith("pipeline.commands")], name


@pytest.mark.parametrize("late", (False, True), ids=("at import", "inside functions too"))
def test_no_import_goes_in_circles(late):
    known = modules()
    graph = {name: imports(path, known, late=late) - {name} for name, path in known.items()}
    done, path = set(), []

    def walk(name):
        assert name not in path, " → ".join([*path[path.index(name) :], name])
        if name in done:
            return
        path.append(name)
        for other in sorted(graph[name]):
            walk(other)
        path.pop()
        done.add(name)

    for name in graph:
        walk(name)


def test_the_front_door_is_light():
    """Neither Numba, torch nor pandas comes with it, and the LASSO and `analyse` are there all the same."""
    code = (
        "import sys, datamodels_inf as d; heavy = {'numba', 'torch', 'statsmodels', 'pandas', 'PIL'}; "
        "late = heavy & set(sys.modules); "
        "assert not late, late; assert all(callable(getattr(d, name)) for name in d.LATE); "
        "assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_room_says_what_lives_there():
    for path in ROOT.glob("*/**/__init__.py"):
        if path.relative_to(ROOT).parts[0] in PACKAGES:
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def without_docstring(node):
    """The public names in a module or class that have none; what is inside functions or private classes is nobody's."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from without_docstring(child)
        elif not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield child.name
            if isinstance(child, ast.ClassDef):
                yield from (f"{child.name}.{name}" for name in without_docstring(child))


def test_every_public_name_says_what_it_is():
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}
    assert not [f"{module}.{name}" for module, tree in trees.items() for name in without_docstring(tree)]


def test_a_missing_docstring_is_seen():
    code = "class A:\n  @property\n  def b(self): ...\n  def _c(self): ...\nif A:\n  def d():\n    def e(): ..."
    hidden = "class _F:\n  def g(self): ...\ndef h():\n  'Has one.'"
    assert list(without_docstring(ast.parse(f"{code}\n{hidden}"))) == ["A", "A.b", "d"]


@pytest.mark.parametrize(
    "table",
    (
        *("METHODS", "CORRECTIONS", "DESIGNS", "SOURCES", "LAYOUTS"),
        *("IMPORTERS", "STAGES", "SECTIONS", "NETWORKS", "COMMANDS"),
    ),
)
def test_the_tables_are_in_the_docs(table):
    assert f"`{table}`" in (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")


def test_the_package_is_imported_without_numba():
    """It is slow to import, and only many pairs and fits need it."""
    subprocess.run([sys.executable, "-c", "import sys, datamodels_inf; assert 'numba' not in sys.modules"], check=True)


def test_library_prints_nothing_and_knows_nothing_of_the_pipeline():
    for file in (ROOT / "datamodels_inf").rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        assert "print(" not in source, file
        assert "import pipeline" not in source, file
        assert "from pipeline" not in source, file


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_has_its_tests_at_its_own_place(package):
    """tests/datamodels_inf/lasso/test_gram.py for datamodels_inf/lasso/gram.py; other files beside it are welcome."""
    modules_of = [path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py"))]
    modules_of = [path for path in modules_of if path.name != "__init__.py"]
    place = {path.as_posix(): ROOT / "tests" / path.with_name(f"test_{path.name}") for path in modules_of}
    assert not [name for name, file in place.items() if not file.exists() and name not in WITHOUT_TESTS]
    for file in place.values():
        assert not file.exists() or "\ndef test_" in file.read_text(encoding="utf-8"), file


@pytest.mark.parametrize("folder", PACKAGES)
def test_every_folder_of_tests_is_one_of_modules(folder):
    """So that a room that was renamed takes its tests along; `embedded` holds data."""
    for path in (ROOT / "tests" / folder).rglob("test_*.py"):
        assert (ROOT / path.parent.relative_to(ROOT / "tests")).is_dir(), path


@pytest.mark.parametrize("name", (*WITHOUT_TESTS, *(f"tests/{name}" for name in LONGEST)))
def test_lists_of_files_name_files_that_are_there(name):
    assert (ROOT / name).is_file()


def test_no_test_file_is_too_long_to_read():
    for path in (ROOT / "tests").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_TEST_FILE, path


def test_every_room_is_in_the_docs():
    """In the table of its package, "Rooms" of docs/architecture.md, so that a stranger finds it; STAGES has its own."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tables = {package: text.partition(f"| in `{package}`")[2].partition("\n\n")[0] for package in PACKAGES}
    for path in (path.parent for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")):
        package, *rooms = path.relative_to(ROOT).parts
        if rooms and rooms[:-1] != ["stages"]:
            assert f"`{rooms[-1]}/`" in tables[package] or f"`{'/'.join(rooms)}/`" in tables[package], path
