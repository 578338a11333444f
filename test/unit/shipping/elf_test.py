"""The requests of programs to their loader are read from their bytes."""

import pathlib
import re
import shutil
import struct
import subprocess

import pytest
from shipping import elf

BASE = 0x1000


def program(libraries, loader=b"/lib64/ld.so\0", path="", machine=62):
    """The least that a loader takes: one segment that holds all, a dynamic section, an interpreter."""
    strings, offsets = b"\0", []
    for name in [*libraries, *([path] if path else [])]:
        offsets.append(len(strings))
        strings += name.encode() + b"\0"
    tags = [(1, at) for at in offsets[: len(libraries)]]
    if path:
        tags.append((29, offsets[-1]))
    dynamic_at = 64 + 3 * 56
    dynamic_size = 16 * (len(tags) + 2)
    strings_at = dynamic_at + dynamic_size
    loader_at = strings_at + len(strings)
    end = loader_at + len(loader)
    # The table of strings is named by its address, not by where it lies in the file.
    tags += [(5, BASE + strings_at), (0, 0)]
    numbers = struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + numbers
    segments = [(1, 0, end), (2, dynamic_at, dynamic_size), (3, loader_at, len(loader))]
    table = b"".join(
        struct.pack("<IIQQQQQQ", kind, 4, at, BASE + at, BASE + at, size, size, 1) for kind, at, size in segments
    )
    return header + table + b"".join(struct.pack("<qQ", *tag) for tag in tags) + strings + loader


def test_libraries_and_loader_are_read():
    found = elf.needs(program(["libb.so.1", "liba.so"]), "it")
    assert (found.loader, found.libraries) == ("/lib64/ld.so", ["libb.so.1", "liba.so"])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"#!/bin/sh\n" + bytes(64), "no program or library for x86-64"),
        (program([], machine=183), "no program or library for x86-64"),
        (program(["liba.so"], path="/home/me/lib"), "looks for libraries in /home/me/lib"),
    ],
)
def test_what_cannot_be_shipped_is_said(data, says):
    with pytest.raises(ValueError, match=says):
        elf.needs(data, "it")


def test_libraries_of_libraries_are_found_and_missing_ones_named(tmp_path):
    files = {"a": ["libone.so"], "b": ["libtwo.so"], "libone.so": ["libtwo.so"], "libtwo.so": ["libone.so"]}
    for name, libraries in files.items():
        (tmp_path / name).write_bytes(program(libraries))
    loader, libraries = elf.closure([tmp_path / "a", tmp_path / "b"], [tmp_path])
    assert loader == "/lib64/ld.so" and list(libraries) == ["libone.so", "libtwo.so"]
    (tmp_path / "libtwo.so").write_bytes(program(["libthree.so"]))
    with pytest.raises(ValueError, match=r"libtwo\.so needs libthree\.so, which is not in"):
        elf.closure([tmp_path / "a"], [tmp_path])


@pytest.mark.skipif(not shutil.which("readelf"), reason="needs binutils")
def test_it_reads_what_readelf_reads():
    readelf = pathlib.Path(shutil.which("readelf")).resolve()
    said = subprocess.run([readelf, "--wide", "-d", "-l", readelf], capture_output=True, text=True, check=True).stdout
    found = elf.needs(readelf.read_bytes(), "readelf")
    assert found.libraries == re.findall(r"NEEDED.*\[(.*)\]", said)
    assert [found.loader] == re.findall(r"interpreter: (.*)\]", said)
