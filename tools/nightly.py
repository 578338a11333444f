"""The outcome of the slowest stories, and its date: `tools/test nightly` writes it into docs/stories.md, and every run
of tools/test says which of them are due."""

from __future__ import annotations

import datetime
import re
import subprocess
from pathlib import Path

from builddir import ROOT

RECORD = ROOT / "docs/stories.md"
# If so many commits have followed, nobody knows any more whether the stories are true.
MAX_AGE = 200
ROW = re.compile(r"^\| `(?P<file>test_\w+\.py)` \| (?:`(?P<commit>[0-9a-f]{7,40})`(?: with changes)?|never) \|.*$")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.strip()  # fmt: skip


def rewritten(text: str, file: str, commit: str, date: str, result: str) -> str:
    """The page with the row of that file as it is now. Each file has a row, which a test compares with tools/stories.py."""
    row = f"| `{file}` | {commit} | {date} | {result} |"
    lines = [row if (found := ROW.match(line)) and found["file"] == file else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def record(file: str, result: str) -> None:
    """Writes what came of a file of stories at the commit that is checked out."""
    commit = f"`{_git('rev-parse', '--short=8', 'HEAD')}`"
    if _git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RECORD.relative_to(ROOT)}"):
        commit += " with changes"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    RECORD.write_text(rewritten(RECORD.read_text(), file, commit, today, result))


def ran_at(text: str) -> dict[str, str]:
    """The commit at which each file was run last, "" if it never was."""
    return {found["file"]: found["commit"] or "" for line in text.splitlines() if (found := ROW.match(line))}


def due(record: Path = RECORD) -> list[str]:
    """One line for each file that was run too long ago."""
    lines = []
    for file, commit in ran_at(record.read_text()).items():
        age = _git("rev-list", "--count", f"{commit}..HEAD") if commit else ""
        if age and int(age) <= MAX_AGE:
            continue
        since = f"last run {age} commits ago" if age else "last run at a commit that is not here" if commit else "never run"
        lines.append(f"nightly: {file} was {since}: tools/test nightly {file}")
    return lines
