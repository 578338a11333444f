"""Packs the chart as `helm package` does, but the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from .archive import File, gzip, tar


def ignored(path: str, rules: Iterable[str]) -> bool:
    """Whether .helmignore leaves this path of a file away, as Helm reads it: nothing of an ignored directory is kept,
    and a rule with a slash is about the whole path. What `!` means to Helm nobody expects (ValueError)."""
    parts = path.split("/")
    for rule in (line.strip() for line in rules):
        if not rule or rule.startswith("#"):
            continue
        if rule.startswith("!"):
            raise ValueError(f".helmignore: {rule}: say what is left away in place of what is not")
        patterns = rule.strip("/").split("/")
        anywhere = "/" not in rule.rstrip("/")
        for depth in range(1, len(parts) + 1):
            if depth == len(parts) and rule.endswith("/"):
                break  # a rule about directories
            asked = parts[depth - 1 : depth] if anywhere else parts[:depth]
            if len(asked) == len(patterns) and all(map(fnmatchcase, asked, patterns)):
                return True
    return False


def with_version(chart: str, version: str) -> str:
    """Chart.yaml with this version, of the chart and of what it installs."""
    for key in ("version", "appVersion"):
        chart, count = re.subn(rf"^{key}:.*$", f"{key}: {version}", chart, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"Chart.yaml has {count} lines with {key}")
    return chart


def package(directory: Path, version: str, time: int) -> bytes:
    """The archive (.tgz) of the chart in that directory."""
    rules = (directory / ".helmignore").read_text().splitlines()
    paths = sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
    # Helm reads it first.
    paths.sort(key=lambda path: path != "Chart.yaml")
    entries = {}
    for path in paths:
        if not ignored(path, rules):
            content = (directory / path).read_bytes()
            if path == "Chart.yaml":
                content = with_version(content.decode(), version).encode()
            entries[f"{directory.name}/{path}"] = File(content)
    return gzip(tar(entries, time))
