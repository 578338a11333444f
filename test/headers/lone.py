#!/usr/bin/env python3
"""Prints the public headers, one in a line, that no source includes before all others. clang-tidy, which knows no
precompiled headers, sees with each source that the first of its headers compiles alone; these have nobody else to see it.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PLACES = (ROOT, ROOT / "subprojects/kube")
SOURCES = [ROOT / "services", *(place / "src" for place in PLACES)]


def first_header(source: Path) -> str | None:
    found = re.search(r'^#include ["<]([^">]+)[">]', source.read_text(), re.MULTILINE)
    return found[1] if found else None


def main() -> None:
    seen = {first_header(source) for place in SOURCES for source in place.rglob("*.cpp")}
    headers = {str(h.relative_to(p / "include")) for p in PLACES for h in (p / "include").rglob("*.hpp")}
    print("\n".join(sorted(headers - seen)))


if __name__ == "__main__":
    main()
