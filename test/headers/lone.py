#!/usr/bin/env python3
"""Prints the headers of several rooms, one in a line, that no source includes before all others. clang-tidy, which knows no
precompiled headers, sees with each source that the first of its headers compiles alone; these have nobody else to see it.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "subprojects/kube"
SOURCES = [ROOT / "services", ROOT / "src", LIBRARY / "src"]


def first_header(source: Path) -> str | None:
    found = re.search(r'^#include ["<]([^">]+)[">]', source.read_text(), re.MULTILINE)
    return found[1] if found else None


def private_headers() -> set[str]:
    """What rooms keep to themselves: the list `private` of each meson.build."""
    found = set()
    for build in (ROOT / "src").glob("*/meson.build"):
        listed = re.search(r"^private = files\((.*?)^\)", build.read_text(), re.MULTILINE | re.DOTALL)
        found |= {f"{build.parent.name}/{name}" for name in re.findall(r"'(.+?)'", listed[1] if listed else "")}
    return found


def main() -> None:
    seen = {first_header(source) for place in SOURCES for source in place.rglob("*.cpp")}
    places = (ROOT / "include", ROOT / "src", LIBRARY / "include")
    headers = {str(header.relative_to(place)) for place in places for header in place.rglob("*.hpp")}
    print("\n".join(sorted(headers - private_headers() - seen)))


if __name__ == "__main__":
    main()
