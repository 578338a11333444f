"""Archives that are the same bytes each time: sorted, owned by root, all of one time, with a plain gzip header."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Directory:
    mode: int = 0o755


Entry = File | Link | Directory


def with_parents(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries, by their paths without a slash in front, and the directories that they lie in; sorted."""
    out = dict(entries)
    for path in entries:
        while path := path.rpartition("/")[0]:
            out.setdefault(path, Directory())
    return dict(sorted(out.items()))


def tar(entries: Mapping[str, Entry], time: int) -> bytes:
    """A tar of these entries in the order given, each of this time (seconds since 1970)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, entry in entries.items():
            info = tarfile.TarInfo(path)
            info.mtime, info.mode = time, 0o777 if isinstance(entry, Link) else entry.mode
            if isinstance(entry, File):
                info.size = len(entry.content)
                archive.addfile(info, io.BytesIO(entry.content))
                continue
            if isinstance(entry, Link):
                info.type, info.linkname = tarfile.SYMTYPE, entry.target
            else:
                info.type = tarfile.DIRTYPE
            archive.addfile(info)
    return out.getvalue()


def gzip(data: bytes) -> bytes:
    """Compressed; zlib's own header says neither when nor of which file."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()
