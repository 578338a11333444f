"""An image with Debian's Python under the name of one that a user would pull: there is no registry here."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import settings

sys.path.insert(0, str(settings.TREE / "tools"))

from shipping import archive, debian, elf, oci, root  # noqa: E402

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
    modules = [path for path in brought if path.suffix == ".so"]
    loader, libraries = elf.closure([PYTHON, *modules], root.LIBRARIES)
    places = {f"usr/lib/x86_64-linux-gnu/{library}": path for library, path in libraries.items()}
    places |= {f"usr{loader}": Path(loader), "usr/bin/python3": PYTHON}
    places |= {str(path).removeprefix("/"): path for path in brought}
    entries: dict[str, archive.Entry] = {
        place: archive.File(path.read_bytes(), path.stat().st_mode & 0o755) for place, path in places.items()
    }
    entries |= {"lib": archive.Link("usr/lib"), "lib64": archive.Link("usr/lib64"), "proc": archive.Directory()}
    layer = archive.tar(archive.with_parents(entries), 0)
    target.write_bytes(oci.archive(layer, name, {}, "1970-01-01T00:00:00Z", time=0)[0])
