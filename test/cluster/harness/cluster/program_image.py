"""An image with one program and the libraries that it needs, under the name that a user would give it: there is no registry
here."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from .. import settings

sys.path.insert(0, str(settings.TREE / "tools"))

from shipping import archive, elf, oci, root  # noqa: E402


def write(target: Path, name: str, program: Path, place: str, besides: Iterable[Path] = ()) -> None:
    """Writes the archive: the program at `place` ("usr/bin/pool"), and further files, which lie there as they lie here."""
    besides = list(besides)
    modules = [path for path in besides if path.suffix == ".so"]
    loader, libraries = elf.closure([program, *modules], root.LIBRARIES)
    places = {f"usr/lib/x86_64-linux-gnu/{library}": path for library, path in libraries.items()}
    places |= {f"usr{loader}": Path(loader), place: program}
    places |= {str(path).removeprefix("/"): path for path in besides}
    entries: dict[str, archive.Entry] = {
        where: archive.File(path.read_bytes(), path.stat().st_mode & 0o755) for where, path in places.items()
    }
    entries |= {"lib": archive.Link("usr/lib"), "lib64": archive.Link("usr/lib64"), "proc": archive.Directory()}
    layer = archive.tar(archive.with_parents(entries), 0)
    target.write_bytes(oci.archive(layer, name, {}, "1970-01-01T00:00:00Z", time=0)[0])
