"""The site of docs/: it builds without a warning, its links lead somewhere, and it needs nobody else's host."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
# What a browser fetches without being asked; a link that somebody may follow is none.
FETCHED = {tag: "src" for tag in ("script", "img", "iframe", "source", "embed")} | {"object": "data", "use": "href"}
FETCHING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}
VERBATIM = ("pre", "code", "script", "style")
# Markdown that GitHub understands and MkDocs does not: it would show as text.
LEFT_OVER = re.compile(r"(^|\n)\s*(\|.*\||```|#+ )|\n\s*([-*] |\d+\. )|\]\(")


def mkdocs(tree: pathlib.Path, out: pathlib.Path) -> subprocess.CompletedProcess[str]:
    # Not --quiet, with which warnings are not counted.
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", out], cwd=tree, text=True,
        capture_output=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("site")
    done = mkdocs(ROOT, out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


class Reader(HTMLParser):
    """What a page fetches, and what it says apart from code."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.policies: list[str] = []
        self.said: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])
        if tag == "link" and set(given.get("rel", "").split()) & FETCHING_LINKS:
            self.fetched.append(given["href"])
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(given["content"])
        if tag in VERBATIM:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.said.append(data)


def read(page: pathlib.Path) -> Reader:
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def foreign(address: str) -> bool:
    return bool(re.match(r"([a-z]+:)?//", address)) or address.startswith("http")


def leads_on(page: pathlib.Path) -> bool:
    return 'http-equiv="refresh"' in page.read_text(encoding="utf-8")


def test_a_page_that_has_moved_leads_on(site):
    assert 'url=usage.html"' in (site / "figures.html").read_text(encoding="utf-8")
    assert not leads_on(site / "usage.html")


def test_no_page_needs_another_host(site):
    pages = [page for page in sorted(site.rglob("*.html")) if not leads_on(page)]
    assert len(pages) > 25
    for page in pages:
        reader = read(page)
        assert reader.fetched, page.name
        assert not [address for address in reader.fetched if foreign(address)], page.name
        # The theme's script could still ask others: the browser is told not to.
        (policy,) = reader.policies
        assert policy.startswith("default-src 'self' 'unsafe-inline' data:;"), page.name
    for sheet in site.rglob("*.css"):
        fetched = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", sheet.read_text(encoding="utf-8"))
        assert not [address for pair in fetched for address in pair if foreign(address)], sheet.name


def test_no_markdown_is_left_in_what_is_shown(site):
    left = []
    for page in sorted(site.rglob("*.html")):
        left += [f"{page.name}: {text[:80]}" for text in read(page).said if LEFT_OVER.search(text)]
    assert not left


def test_what_belongs_to_a_list_is_indented_by_four():
    """As MkDocs wants it; GitHub would take less."""
    wrong = []
    others = ("CONTRIBUTING.md", "CHANGELOG.md", "charts/liqo/README.md")
    for page in [*ROOT.glob("docs/*.md"), *(ROOT / name for name in others)]:
        inside, before = False, ""
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith(("```", "~~~")):
                inside = not inside
            indent = len(line) - len(line.lstrip())
            nested = re.match(r"\s*([-*]|\d+\.) ", line)
            if not inside and line.strip() and (not before or nested) and indent < 8 and indent % 4:
                wrong.append(f"{page.name}:{number}")
            before = line.strip()
    assert not wrong


def test_what_is_searched_is_all_of_it(site):
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    for page in ("operations.html", "chart.html", "contributing.html", "values.html"):
        assert f'"{page}"' in index


def test_links_that_lead_nowhere_are_errors(tmp_path):
    tree = tmp_path / "tree"
    for part in ("docs", "tools/site"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md", "charts/liqo/README.md",
                 "examples/slice-class/README.md", "examples/slice-class-cpp/README.md", "subprojects/kube/README.md"):  # fmt: skip
        (tree / part).parent.mkdir(parents=True, exist_ok=True)
        # Their links into the sources lead nowhere here.
        (tree / part).write_text((ROOT / part).read_text() if part == "mkdocs.yml" else "# A page\n\n## Values\n")
    with (tree / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write("\n[one](nothing.md), [two](operations.md#nowhere), [three](../src/nothing.cpp)\n")
        page.write("[four](../CONTRIBUTING.md#no)\n")
    (tree / "docs/alone.md").write_text("# In no menu\n")
    done = mkdocs(tree, tmp_path / "site")
    told = done.stdout + done.stderr
    assert done.returncode != 0
    for wrong in ("'nothing.md'", "'#nowhere'", "'../src/nothing.cpp'", "'#no'", "alone.md"):
        assert wrong in told, told
