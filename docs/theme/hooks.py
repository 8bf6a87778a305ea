"""What MkDocs is told beside mkdocs.yml: the site has the repository's own paths, and holds all that its pages link to.

Pages are read on a code host too, where `../benchmarks/RESULTS.md` leads out of docs/. So files have the same place in
the site as in the repository, README.md is the first page, and whatever a page links to comes along: Markdown as a
page, source as a page that shows it, a folder by its index.html or README.md, anything else as it is.
"""

import re
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from formulas import Formulas

ROOT = Path(__file__).parents[2]
THEME = ("site.css", "scrolled.js", "iframe-worker.js", "icon.svg")
SOURCE = {".py": "python", ".toml": "toml", ".txt": "text", ".sh": "bash", ".cff": "yaml", "": "text"}
"""How a file is highlighted that is shown as source."""
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"""(?P<before>\]\(|(?:href|src|srcset)=")(?P<target>[^)\s"#:]+)(?P<after>(?:#[^)\s"]*)?[)"])""")


def linked(name: str, target: str) -> str | None:
    """The place in the repository that a link of the page `name` leads to, or None if there is nothing."""
    place = normpath((PurePosixPath(name).parent / unquote(target)).as_posix())
    return None if place.startswith("..") or not (ROOT / place).exists() else place


def shown_as(place: str) -> str:
    """The file of the site that stands for a place in the repository."""
    path = ROOT / place
    if path.is_dir():
        inside = next((name for name in ("index.html", "README.md") if (path / name).is_file()), None)
        return place if inside is None else f"{place}/{inside}"
    return f"{place}.md" if path.suffix in SOURCE else place


def _links(name: str) -> list[str]:
    text = FENCE.sub("", (ROOT / name).read_text(encoding="utf-8"))
    return [place for match in LINK.finditer(text) if (place := linked(name, match["target"])) is not None]


def _came_along(name: str) -> list[str]:
    """Files that a file of the site needs beside it: those that a page links to, and all beside a page of its own."""
    path = ROOT / name
    if path.suffix == ".md" and path.is_file():
        return [shown_as(place) for place in _links(name)]
    if path.suffix == ".html":
        return [other.relative_to(ROOT).as_posix() for other in path.parent.iterdir() if other.is_file()]
    return []


def site_files() -> list[str]:
    """All files of the site, by their place in the repository; source has `.md` behind its name."""
    pages = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
    names = ["README.md", *pages, *(f"docs/theme/{name}" for name in THEME)]
    known = set(names)
    for name in names:
        more = [other for other in dict.fromkeys(_came_along(name)) if other not in known and Path(other).suffix]
        known.update(more)
        names.extend(more)
    return [name for name in names if not PurePosixPath(name).name.startswith(".")]


def _file(name: str, config: MkDocsConfig) -> File:
    path = ROOT / name
    if path.is_file():
        return File.generated(config, name, abs_src_path=str(path))
    source = path.with_suffix("")
    text = source.read_text(encoding="utf-8").rstrip("\n")
    title = source.relative_to(ROOT).as_posix()
    head = f"---\ntitle: {title}\nsearch:\n  exclude: true\n---\n\n"
    return File.generated(config, name, content=f"{head}# `{title}`\n\n````{SOURCE[source.suffix]}\n{text}\n````\n")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Formulas get sub- and superscripts."""
    config.markdown_extensions.append(Formulas())
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """In place of MkDocs' own list, which is of docs/ alone; what the theme brings stays."""
    brought = [file for file in files if file.src_dir != config.docs_dir]
    return Files([*brought, *(_file(name, config) for name in site_files())])


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to folders and sources lead to the pages that show them. Blocks of code stay as they are."""

    def led(match: re.Match[str]) -> str:
        place = linked(page.file.src_uri, match["target"])
        shown = None if place is None else shown_as(place)
        if shown is None or shown == place:
            return match[0]
        up = "../" * (len(PurePosixPath(page.file.src_uri).parts) - 1)
        return f"{match['before']}{up}{shown}{match['after']}"

    pieces, end = [], 0
    for fence in FENCE.finditer(markdown):
        pieces += [LINK.sub(led, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, LINK.sub(led, markdown[end:])])


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Material's search is a dialogue without a name, which readers of screens need."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
