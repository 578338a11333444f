"""Which packages' headers the programs were compiled with: all of Boost and CLI11 is there, and none of it shows in the
binaries. The build directory knows."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Where Meson unpacks what a .wrap file names.
_UNPACKED = re.compile(r"/subprojects/([^/]+-\d[^/]*|boost_[^/]+)/")


def _ninja(build: Path, *arguments: str) -> list[str]:
    command = ["ninja", "-C", str(build), "-t", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line for line in answer.splitlines() if not line.startswith("ninja: ")]


def dependencies(log: Sequence[str], wanted: set[str]) -> set[str]:
    """The headers that the wanted targets were made with, by the words of `ninja -t deps`."""
    found, counts = set(), False
    for line in log:
        if line.startswith(" "):
            if counts:
                found.add(line.strip())
        elif line:
            counts = line.partition(":")[0] in wanted
    return found


def headers(build: Path, targets: Sequence[str]) -> list[Path]:
    """The headers, outside of the tree, that these targets of a build directory were compiled with (ValueError if
    Meson unpacked some of them)."""
    wanted = set(_ninja(build, "inputs", *targets))
    named = {os.path.normpath(build / name) for name in dependencies(_ninja(build, "deps"), wanted)}
    if unpacked := {found[1] for name in named if (found := _UNPACKED.search(name))}:
        what = ", ".join(sorted(unpacked))
        raise ValueError(f"{build} has {what} from .wrap files: what is shipped is made with Debian's packages alone")
    return sorted(Path(name) for name in named if name.startswith("/usr/"))
