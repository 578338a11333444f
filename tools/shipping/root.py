"""The root file system of the image: the programs, what they need to run, and the texts that go with it. Nothing else:
no shell, no package manager, nothing that is written to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import debian, elf, licences
from .archive import Directory, Entry, File, Link, with_parents

USER = 65532
LIBRARIES = (Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib64"))
_AUTHORITIES = Path("/usr/share/ca-certificates/mozilla")
_COMMON_LICENCES = Path("/usr/share/common-licenses")
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


@dataclass
class Root:
    """What lies where, and of which package it is; what is of none is ours."""

    entries: dict[str, Entry] = field(default_factory=dict)
    packages: dict[str, debian.Package] = field(default_factory=dict)

    def files_of(self, package: debian.Package | None) -> dict[str, File]:
        """The files of a package, or ours, with their paths."""
        return {
            path: entry
            for path, entry in self.entries.items()
            if isinstance(entry, File) and self.packages.get(path) == package
        }


def make(programs: Mapping[str, Path], compiled_in: Sequence[debian.Package], licence: Path) -> Root:
    """The root for these programs, by their names (ValueError if it cannot be made)."""
    root = Root()
    for name, path in programs.items():
        root.entries[f"usr/bin/{name}"] = File(path.read_bytes(), 0o755)
    _add_libraries(root, list(programs.values()))
    _add_authorities(root)
    _add_copyrights(root, compiled_in)
    root.entries["usr/share/doc/liqo/LICENSE"] = File(licence.read_bytes())
    root.entries |= _settings()
    root.entries = with_parents(root.entries)
    return root


def _settings() -> dict[str, Entry]:
    """What the C library and OpenSSL look for, and where the runtime mounts."""
    return {
        "etc/passwd": File(f"root:x:0:0:root:/:/\nliqo:x:{USER}:{USER}:liqo:/:/\n".encode()),
        "etc/group": File(f"root:x:0:\nliqo:x:{USER}:\n".encode()),
        # Both are part of glibc since 2.34: there is no libnss to load.
        "etc/nsswitch.conf": File(b"passwd: files\ngroup: files\nhosts: files dns\n"),
        # OpenSSL of Debian reads this one file.
        "usr/lib/ssl/cert.pem": Link(f"/{_CERTIFICATES}"),
        "lib": Link("usr/lib"),
        "lib64": Link("usr/lib64"),
        "bin": Link("usr/bin"),
        "dev": Directory(),
        "proc": Directory(),
        "sys": Directory(),
    }


def _add_libraries(root: Root, programs: Sequence[Path]) -> None:
    loader, libraries = elf.closure(programs, LIBRARIES)
    # By the name that the programs have for it; as a library it may be needed by another.
    places = {f"usr{loader}": Path(f"/usr{loader}")}
    for name, path in libraries.items():
        if name != Path(loader).name:
            places[f"usr/lib/x86_64-linux-gnu/{name}"] = path
    targets = {place: path.resolve() for place, path in places.items()}
    _add_brought(root, targets, 0o755)


def _add_authorities(root: Root) -> None:
    """Those that Debian trusts; what an administrator of this machine trusts besides is nobody else's business."""
    (package,) = debian.packages(["ca-certificates"]).values()
    files = sorted(path for path in debian.files("ca-certificates") if path.parent == _AUTHORITIES)
    _refuse_changed(package, files)
    root.entries[_CERTIFICATES] = File(b"".join(path.read_bytes() for path in files))
    root.packages[_CERTIFICATES] = package


def _add_brought(root: Root, places: Mapping[str, Path], mode: int) -> None:
    """Adds files as packages brought them."""
    owners = debian.owners(places.values())
    debian.refuse_unowned(list(places.values()), owners)
    known = debian.packages(owners.values())
    for place, path in places.items():
        package = known[owners[path]]
        _refuse_changed(package, [path])
        root.entries[place], root.packages[place] = File(path.read_bytes(), mode), package


def _refuse_changed(package: debian.Package, paths: Sequence[Path]) -> None:
    if changed := debian.changed(package, paths):
        names = ", ".join(map(str, changed))
        raise ValueError(f"{names} is not what the package {package.name} brought: install that again")


def _add_copyrights(root: Root, compiled_in: Sequence[debian.Package]) -> None:
    """Most licences ask that their text goes along. One package of a source speaks for all of them."""
    by_source = {package.source: package for package in sorted(set(root.packages.values()), reverse=True)}
    for package in compiled_in:
        if licences.wants_notice(package.source):
            by_source.setdefault(package.source, package)
    for package in by_source.values():
        place = f"usr/share/doc/{package.name}/copyright"
        root.entries[place], root.packages[place] = File(package.copyright.read_bytes()), package
    texts = {_COMMON_LICENCES / name for source in by_source if (name := licences.common_text(source))}
    _add_brought(root, {str(path).removeprefix("/"): path for path in texts}, 0o644)
