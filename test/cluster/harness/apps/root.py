"""The root file system of an image, put together of Debian's programs, their libraries, and wheels from PyPI."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from .. import settings
from ..cluster.python_image import PYTHON

sys.path.insert(0, str(settings.TREE / "tools"))

from shipping import archive, debian, elf, oci  # noqa: E402
from shipping import root as shipped  # noqa: E402

LIBRARIES = "usr/lib/x86_64-linux-gnu"
# Where Debian's Python looks for packages.
PACKAGES = "usr/lib/python3/dist-packages"
# Libraries that wheels for Linux may count on (PEP 600), and those of Python's own modules.
COUNTED_ON = "libdl.so.2 libgcc_s.so.1 libm.so.6 libpthread.so.0 librt.so.1 libstdc++.so.6 libz.so.1".split()
APPLETS = "cat cp date env grep hostname id ls mkdir nc rm sed sleep sh tail test touch true".split()
# The user of every image (shipping/oci.py).
PASSWD = f"root:x:0:0:root:/:/bin/sh\napp:x:{shipped.USER}:{shipped.USER}:app:/tmp:/bin/sh\n"


def _with_pip() -> Path:
    """The Python of tools/setup, because Debian's has no pip; else this one."""
    set_up = settings.CACHE / "venv/bin/python3"
    return set_up if set_up.exists() else Path(sys.executable)


class Root:
    """Files by their places in the image; libraries are looked for when it is written."""

    def __init__(self) -> None:
        self._entries: dict[str, archive.Entry] = {
            "etc/passwd": archive.File(PASSWD.encode()),
            "etc/group": archive.File(f"root:x:0:\napp:x:{shipped.USER}:\n".encode()),
            "etc/nsswitch.conf": archive.File(b"passwd: files\ngroup: files\nhosts: files dns\n"),
            "lib": archive.Link("usr/lib"), "lib64": archive.Link("usr/lib64"), "bin": archive.Link("usr/bin"),
            "proc": archive.Directory(), "dev": archive.Directory(), "sys": archive.Directory(),
            "tmp": archive.Directory(0o1777), "var/tmp": archive.Directory(0o1777),
        }  # fmt: skip
        self._programs: list[Path] = []
        self._directories = list(shipped.LIBRARIES)

    def add(self, place: str, content: bytes, mode: int = 0o644) -> None:
        self._entries[place] = archive.File(content, mode)

    def link(self, place: str, target: str) -> None:
        self._entries[place] = archive.Link(target)

    def program(self, place: str, path: Path) -> None:
        """Adds a program with the libraries that it needs."""
        self.add(place, path.read_bytes(), 0o755)
        self._programs.append(path)

    def shell(self) -> None:
        """Adds Bash, and the usual programs of BusyBox."""
        self.program("usr/bin/bash", Path("/bin/bash"))
        self.add("usr/bin/busybox", settings.BUSYBOX.read_bytes(), 0o755)
        for applet in APPLETS:
            self.link(f"usr/bin/{applet}", "busybox")

    def python(self) -> None:
        """Adds Debian's Python with its standard library, and what wheels count on."""
        self.program("usr/bin/python3", PYTHON)
        version = PYTHON.name.removeprefix("python")
        for package in (f"libpython{version}-minimal", f"libpython{version}-stdlib"):
            for path in debian.files(package):
                if path.is_file() and path.is_relative_to(f"/usr/lib/{PYTHON.name}"):
                    self.add(str(path).removeprefix("/"), path.read_bytes())
                    if path.suffix == ".so":
                        self._programs.append(path)
        found = (directory / name for name in COUNTED_ON for directory in shipped.LIBRARIES)
        self.libraries(path for path in found if path.is_file())

    def libraries(self, paths: Iterable[Path]) -> None:
        """Adds libraries, and those that they need."""
        for path in paths:
            self.add(f"{LIBRARIES}/{path.name}", path.read_bytes(), 0o755)
            self._programs.append(path)

    def wheels(self, pinned: Path, leave_out: Sequence[str] = ()) -> None:
        """Downloads and unpacks wheels for Debian's Python, without what begins with one of these paths."""
        version = PYTHON.name.removeprefix("python")
        platforms = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(
                [_with_pip(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--require-hashes",
                 "--no-deps", "--only-binary", ":all:", "--python-version", version, "--implementation", "cp",
                 *(f"--platform={name}" for name in platforms), "--dest", directory, "--requirement", pinned],
                check=True,
            )  # fmt: skip
            for wheel in sorted(Path(directory).glob("*.whl")):
                self.unpack(wheel, leave_out)

    def unpack(self, wheel: Path, leave_out: Sequence[str] = ()) -> None:
        """Adds the files of a wheel, and its programs among the others."""
        with zipfile.ZipFile(wheel) as packed:
            for info in packed.infolist():
                name = info.filename
                if info.is_dir() or name.startswith(tuple(leave_out)):
                    continue
                place = f"{PACKAGES}/{name}"
                if "/scripts/" in name and ".data/" in name:
                    place = f"usr/bin/{name.rpartition('/')[2]}"
                mode = 0o755 if (info.external_attr >> 16) & 0o111 or place.startswith("usr/bin/") else 0o644
                self.add(place, packed.read(info), mode)

    def debian(self, packages: Sequence[str], places: Sequence[str], programs: Sequence[str]) -> None:
        """Downloads packages of Debian, and adds what is in these places of theirs; `programs` are files of that whose
        libraries are looked for, in the packages first."""
        self._extracted = tempfile.TemporaryDirectory(prefix="liqo-apps-")
        directory = Path(self._extracted.name)
        # apt gives up its rights for a download if it can, and that user has to reach the directory.
        directory.chmod(0o755)
        # An apt that knows older packages than the mirror has asks for files that are gone.
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "download", "-qq", *packages], cwd=directory, check=True)
        for package in sorted(directory.glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", package, directory], check=True)
        self._directories.insert(0, directory / LIBRARIES)
        for place in places:
            for path in sorted((directory / place).rglob("*")):
                if path.is_file() and not path.is_symlink():
                    mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
                    self.add(str(path.relative_to(directory)), path.read_bytes(), mode)
        for program in programs:
            self.program(program, directory / program)

    def write(self, target: Path, name: str) -> None:
        """Writes the archive of the image under this name."""
        if self._programs:
            loader, libraries = elf.closure(self._programs, self._directories)
            for library, path in libraries.items():
                self._entries.setdefault(f"{LIBRARIES}/{library}", archive.File(path.read_bytes(), 0o755))
            self._entries[f"usr{loader}"] = archive.File(Path(loader).read_bytes(), 0o755)
        layer = archive.tar(archive.with_parents(self._entries), 0)
        target.write_bytes(oci.archive(layer, name, {}, "1970-01-01T00:00:00Z", time=0)[0])
