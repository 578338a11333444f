"""Hooks of MkDocs: the site has pages that are not in docs/, and links between them lead where they should."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Pages that stand elsewhere in the tree, and what they are called in the site.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/README.md": "benches.md",
    "charts/liqo/README.md": "chart.md",
    "examples/slice-class/README.md": "slice-class.md",
    "examples/slice-class-cpp/README.md": "slice-class-cpp.md",
    "subprojects/kube/README.md": "library.md",
}
# Pages that have moved: who has kept their address is led on.
MOVED = {"figures.html": "usage.html"}
# The start page says what the README says.
NAMES = ELSEWHERE | {"README.md": "index.md"}
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^ *(```|~~~)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, name in ELSEWHERE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    for old, new in MOVED.items():
        led = f'<!doctype html><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={new}">'
        (Path(config.site_dir) / old).write_text(f'{led}<a href="{new}">{new}</a>\n', encoding="utf-8")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    titles = _titles(config.nav)
    inside, out = False, []
    for line in markdown.split("\n"):
        if _FENCE.match(line):
            inside = not inside
        out.append(line if inside else _LINK.sub(lambda found: _link(found, page.file.src_uri, titles), line))
    return "\n".join(out)


def _titles(menu: Any) -> dict[str, str]:
    """What the menu calls each page."""
    if isinstance(menu, list):
        return {page: title for entry in menu for page, title in _titles(entry).items()}
    ((title, below),) = menu.items()
    return {below: title} if isinstance(below, str) else _titles(below)


def _link(found: re.Match[str], name: str, titles: dict[str, str]) -> str:
    """The same link for the site, where pages have titles and no file names. A file of the tree without a page is named
    instead; what does not exist is left to MkDocs, which tells of it."""
    text, target = found[1], found[2]
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return found[0]
    stands = next((elsewhere for elsewhere, called in ELSEWHERE.items() if called == name), f"docs/{name}")
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(stands), path))
    if meant.startswith("docs/"):
        page = meant.removeprefix("docs/")
    elif page := NAMES.get(meant) or NAMES.get(f"{meant}/README.md"):
        pass
    elif (ROOT / meant).exists():
        plain = text.strip("`")
        return f"`{meant}`" if meant.endswith(plain) else f"{text} (`{meant}`)"
    else:
        return found[0]
    text = titles.get(page, text) if text == posixpath.basename(path) else text
    to = posixpath.relpath(page, posixpath.dirname(name) or ".")
    return f"[{text}]({to}{'#' + anchor if anchor else ''})"
