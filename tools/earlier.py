"""Builds the programs of another commit, for `tools/test skew` and `tools/bench --against`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from builddir import CACHE, ROOT, configure, ninja

PROGRAMS = ("services/liqod/liqod", "services/liqoctl/liqoctl")


def commit(ref: str) -> str:
    """The commit that a name of git's stands for, "" if there is none."""
    answer = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"], cwd=ROOT,
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    return answer.stdout.strip()


def build(of: str, *besides: str) -> Path | None:
    """Builds liqod and liqoctl of a commit, and other targets, in the cache, where they stay, and returns the build
    directory. The compiler's options are those of `builddir.build_release`."""
    place = CACHE / "earlier" / of
    if not (place / "source").exists():
        partial = place / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", of], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", partial], input=archive, check=True)
        partial.rename(place / "source")
    directory = place / "build"
    made = configure(directory, "--buildtype=release", "-Db_ndebug=true", source=place / "source")
    return directory if made and ninja(directory, *PROGRAMS, *besides) else None
