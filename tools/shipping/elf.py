"""The requests of a program to its loader, read from the file: nothing of it is run."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 1, 5, 15, 29
_X86_64 = 62


@dataclass
class Needs:
    """The loader that a file names, and the libraries, by the names that the loader looks for."""

    loader: str = ""
    libraries: list[str] = field(default_factory=list)


def needs(data: bytes, what: str) -> Needs:
    """Reads them of a 64-bit x86 program or library; `what` names it if it cannot be shipped (ValueError)."""
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18) != (_X86_64,):
        raise ValueError(f"{what} is no program or library for x86-64")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    # Type, offset in the file, address, and size in the file.
    segments = []
    for number in range(count):
        kind, _, start, address, _, length = struct.unpack_from("<IIQQQQ", data, offset + number * size)
        segments.append((kind, start, address, length))
    found, tags = Needs(), []
    for kind, start, _, length in segments:
        if kind == _PT_INTERP:
            found.loader = data[start : start + length].rstrip(b"\0").decode()
        elif kind == _PT_DYNAMIC:
            tags = [struct.unpack_from("<qQ", data, at) for at in range(start, start + length, 16)]
    strings = next((_in_file(segments, value) for tag, value in tags if tag == _DT_STRTAB), 0)

    def text(at: int) -> str:
        return data[strings + at : data.index(b"\0", strings + at)].decode()

    for tag, value in tags:
        if tag == _DT_NEEDED:
            found.libraries.append(text(value))
        elif tag in (_DT_RPATH, _DT_RUNPATH):
            raise ValueError(f"{what} looks for libraries in {text(value)}: build it without a path of its own")
    return found


def _in_file(segments: Iterable[tuple[int, int, int, int]], address: int) -> int:
    for kind, start, begin, length in segments:
        if kind == _PT_LOAD and begin <= address < begin + length:
            return start + address - begin
    raise ValueError(f"nothing of the file lies at {address:#x}")


def closure(programs: Sequence[Path], directories: Sequence[Path]) -> tuple[str, dict[str, Path]]:
    """The loader of these programs (and libraries), and all libraries that they come to need, by name."""
    loaders: set[str] = set()
    libraries: dict[str, Path] = {}
    todo = list(programs)
    while todo:
        path = todo.pop()
        asked = needs(path.read_bytes(), str(path))
        if asked.loader:
            loaders.add(asked.loader)
        for name in asked.libraries:
            if name in libraries:
                continue
            place = next((directory / name for directory in directories if (directory / name).is_file()), None)
            if place is None:
                raise ValueError(f"{path} needs {name}, which is not in {', '.join(map(str, directories))}")
            libraries[name] = place
            todo.append(place)
    if len(loaders) != 1:
        raise ValueError(f"the programs name no loader, or several: {', '.join(sorted(loaders))}")
    return loaders.pop(), dict(sorted(libraries.items()))
