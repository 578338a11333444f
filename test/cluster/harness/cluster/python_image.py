"""An image with Debian's Python under the name of one that a user would pull: there is no registry here."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import settings
from . import program_image

sys.path.insert(0, str(settings.TREE / "tools"))

from shipping import debian  # noqa: E402

PYTHON = Path("/usr/bin/python3").resolve()


def write(target: Path, name: str) -> None:
    """Writes the archive: the interpreter, its standard library, and the libraries that these need."""
    version = PYTHON.name.removeprefix("python")
    brought = [
        path
        for package in (f"libpython{version}-minimal", f"libpython{version}-stdlib")
        for path in debian.files(package)
        if path.is_file() and path.is_relative_to(f"/usr/lib/{PYTHON.name}")
    ]
    program_image.write(target, name, PYTHON, "usr/bin/python3", brought)
