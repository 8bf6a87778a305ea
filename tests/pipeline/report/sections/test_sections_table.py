"""A section is one entry of SECTIONS: the recipe of docs/adding.md, followed on a toy section."""

import ast
import re
from pathlib import Path

import pytest
from jinja2 import FileSystemLoader, UndefinedError
from report_content import Page, make_content, make_masks, make_quality, make_rows

from pipeline.report import sections, write_report
from pipeline.report.page import Page as ReportPage
from pipeline.report.sections import SECTIONS, File, Section, shown_sections

FOLDER = Path(sections.__file__).parent
TEMPLATE = """\
<section id="largest">
<h2>The largest effects</h2>
{% for method, effect in largest %}
<p>{{ method.name }}: {{ effect | number }}</p>
{% endfor %}
</section>
"""


def data(page):
    """None without a finding, as the recipe says."""
    if not page.n_findings:
        return None
    found = [(method, [abs(item.row.effect) for item in method.listed]) for method in page.methods]
    return {"largest": [(method, max(sizes)) for method, sizes in found if sizes]}


def files(page):
    return [File("largest.txt", lambda path: path.write_text(f"{page.n_findings}\n"), "the largest effects")]


@pytest.fixture
def add(monkeypatch, tmp_path):
    """Adds a toy section after another one, with its template in a folder of its own."""

    def add_after(place, template=TEMPLATE, **changes):
        (tmp_path / "largest.html.j2").write_text(template, encoding="utf-8")
        fields = {"data": data, "files": files, "templates": FileSystemLoader(tmp_path)} | changes
        entries = list(SECTIONS.values())
        entries.insert([entry.name for entry in entries].index(place) + 1, Section("largest", **fields))
        monkeypatch.setattr(sections, "SECTIONS", {entry.name: entry for entry in entries})

    return add_after


def write(tmp_path, rows, **changes):
    folder = tmp_path / f"report{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    paths = write_report(folder, make_content(rows, **changes))
    return Page((folder / "index.html").read_text(encoding="utf-8")), [path.name for path in paths], folder


def anchors(page):
    return [attrs["id"] for tag, attrs in page.tags if tag == "section" and "id" in attrs]


def test_a_new_section_stands_in_its_place_and_writes_its_file(add, tmp_path):
    rows = make_rows(9, 3)
    before, names, _ = write(tmp_path, rows)
    add("table")
    page, more, folder = write(tmp_path, rows)
    assert anchors(before) == ["findings", "table", "diagnostics", "provenance"]
    assert anchors(page) == ["findings", "table", "largest", "diagnostics", "provenance"]
    assert "The largest effects paired: " in page.text
    assert sorted(more) == sorted([*names, "largest.txt"])
    assert more[-1] == "index.html"
    assert (folder / "largest.txt").read_text() == "3\n"
    assert {"href": "largest.txt"} in page.all("a")
    assert "largest.txt (the largest effects)" in page.text


def test_all_else_on_the_page_stays(add, tmp_path):
    rows = make_rows(9, 3)
    before, _, _ = write(tmp_path, rows)
    add("table", files=lambda page: [])
    after, _, _ = write(tmp_path, rows)
    assert re.sub(r'<section id="largest">.*?</section>\n\n', "", after.html, flags=re.S) == before.html


def test_a_section_without_data_leaves_no_trace(add, tmp_path):
    rows = make_rows(9, 0)
    before, names, _ = write(tmp_path, rows)
    add("table")
    after, more, _ = write(tmp_path, rows)
    assert after.html == before.html
    assert more == names


def test_a_section_may_stand_inside_another_one(add, tmp_path):
    add("pvalues", inside="diagnostics")
    page, _, _ = write(tmp_path, make_rows(9, 3), quality=make_quality([0.3, 0.5]), masks=make_masks())
    assert anchors(page) == ["findings", "table", "diagnostics", "largest", "datamodels", "provenance"]
    diagnostics = page.html[
        page.html.index('<section id="diagnostics">') : page.html.index('<section id="provenance">')
    ]
    assert 'id="largest"' in diagnostics


def test_without_its_section_none_inside_it_is_shown(add):
    add("table", inside="table")
    names = [one.section.name for one in shown_sections(ReportPage.of(make_content(make_rows(9, 0))))]
    assert "table" not in names
    assert "largest" not in names


def test_a_section_is_not_lost_inside_one_that_has_no_place_for_it(add, tmp_path):
    add("table", inside="table")
    with pytest.raises(ValueError, match="sections inside table are lost"):
        write(tmp_path, make_rows(9, 3))


def test_a_name_that_a_template_asks_for_in_vain_is_an_error(add, tmp_path):
    add("table", template="{{ missing }}")
    with pytest.raises(UndefinedError, match="missing"):
        write(tmp_path, make_rows(9, 3))


def test_every_section_has_its_template_and_its_line():
    entries = list(SECTIONS)
    assert entries == [section.name for section in SECTIONS.values()]
    assert {path.name for path in FOLDER.glob("*.j2")} == {f"{name}.html.j2" for name in entries}
    assert {path.stem for path in FOLDER.glob("*.py")} == {*entries, "__init__", "base"}
    for name, section in SECTIONS.items():
        assert not section.inside or entries.index(section.inside) < entries.index(name)


@pytest.mark.parametrize("module", ("html.py", "__init__.py", "page.py"))
def test_what_puts_the_page_together_knows_no_section_by_name(module):
    tree = ast.parse((FOLDER.parent / module).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & {f"pipeline.report.sections.{name}" for name in SECTIONS}
    text = (FOLDER.parent / "templates" / "page.html.j2").read_text(encoding="utf-8")
    assert not [name for name in SECTIONS if f'"{name}' in text]


@pytest.mark.parametrize("name", ("coding", "provenance"))
def test_the_recipe_in_the_docs_is_the_code(name):
    """What docs/adding.md shows stands in the module and in the table, to the letter."""
    recipe = (Path(__file__).parents[4] / "docs" / "adding.md").read_text(encoding="utf-8")
    [code] = re.findall(rf"<!-- sections/{name}.py -->\n```python\n(.*?)```", recipe, re.S)
    assert code in (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert f"{name}.SECTION," in (FOLDER / "__init__.py").read_text(encoding="utf-8")
