"""Which of Debian's packages files are of, as dpkg knows it, and whether they are still what the package brought."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_INFO = Path("/var/lib/dpkg/info")


@dataclass(frozen=True, order=True)
class Package:
    name: str
    version: str
    architecture: str
    # The source package that it is made from, by which its licence is known.
    source: str

    @property
    def copyright(self) -> Path:
        return Path("/usr/share/doc") / self.name / "copyright"


def _spellings(path: Path) -> list[str]:
    """/usr/lib/x and /lib/x are one file, which a package may bring by either name."""
    words = str(path)
    return [words, words.removeprefix("/usr") if words.startswith("/usr/") else f"/usr{words}"]


def owners(paths: Iterable[Path]) -> dict[Path, str]:
    """The package of each file, links not followed; those that no package brought are missing."""
    asked = {name: path for path in paths for name in _spellings(path)}
    if not asked:
        return {}
    answer = subprocess.run(["dpkg-query", "--search", *asked], capture_output=True, text=True, check=False).stdout
    found = {}
    for line in answer.splitlines():
        names, _, file = line.rpartition(": ")
        if file in asked and not names.startswith("diversion "):
            found[asked[file]] = names.split(", ")[0]
    return found


def packages_of(paths: Collection[Path]) -> list[Package]:
    """The packages that brought these files (ValueError if none brought one of them)."""
    known = owners(paths)
    refuse_unowned(paths, known)
    return sorted(packages(known.values()).values())


def refuse_unowned(paths: Collection[Path], known: Mapping[Path, str]) -> None:
    if missing := sorted({str(path) for path in paths} - {str(path) for path in known}):
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise ValueError(
            f"no package brought {', '.join(missing[:3])}{more}: what is shipped is made of Debian's packages alone"
        )


def packages(names: Iterable[str]) -> dict[str, Package]:
    """What is installed under these names."""
    wanted = sorted(set(names))
    if not wanted:
        return {}
    form = "${Package}\t${Version}\t${Architecture}\t${source:Package}\n"
    answer = subprocess.run(
        ["dpkg-query", "--show", f"--showformat=${{binary:Package}}\t{form}", *wanted],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    lines = [line.split("\t") for line in answer.splitlines()]
    by_name = {shown: Package(*rest) for shown, *rest in lines} | {rest[0]: Package(*rest) for _, *rest in lines}
    return {name: by_name[name] for name in wanted}


def files(name: str) -> list[Path]:
    """What a package brought."""
    answer = subprocess.run(["dpkg-query", "--listfiles", name], capture_output=True, text=True, check=True).stdout
    return [Path(line) for line in answer.splitlines()]


def changed(package: Package, paths: Iterable[Path]) -> list[Path]:
    """Those of the package's files that are not what it brought."""
    sums = {}
    for candidate in (f"{package.name}:{package.architecture}", package.name):
        listed = _INFO / f"{candidate}.md5sums"
        if listed.exists():
            for line in listed.read_text().splitlines():
                digest, _, path = line.partition("  ")
                sums[f"/{path}"] = digest
            break

    def brought(path: Path) -> bool:
        digest = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        return any(sums.get(name) == digest for name in _spellings(path.resolve()) + _spellings(path))

    return [path for path in paths if not brought(path)]
