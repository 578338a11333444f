"""Archives are the same bytes each time, whoever makes them where and when."""

import io
import os
import tarfile

from shipping.archive import Directory, File, Link, gzip, tar, with_parents

ENTRIES = {"usr/bin/b": File(b"bb", 0o755), "usr/bin/a": File(b"a"), "lib": Link("usr/lib"), "proc": Directory()}


def read(data: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return archive.getmembers()


def test_entries_are_sorted_below_the_directories_that_they_lie_in():
    names = list(with_parents(ENTRIES))
    assert names == ["lib", "proc", "usr", "usr/bin", "usr/bin/a", "usr/bin/b"]


def test_a_tar_says_nothing_of_who_made_it_and_when():
    members = read(tar(with_parents(ENTRIES), 1700000000))
    assert {(one.uid, one.gid, one.uname, one.gname, one.mtime) for one in members} == {(0, 0, "", "", 1700000000)}
    assert [(one.name, one.mode) for one in members if one.isfile()] == [("usr/bin/a", 0o644), ("usr/bin/b", 0o755)]
    assert [(one.name, one.linkname) for one in members if one.issym()] == [("lib", "usr/lib")]


def test_order_and_umask_do_not_matter():
    before = os.umask(0o077)
    try:
        other = tar(with_parents(dict(reversed(ENTRIES.items()))), 7)
    finally:
        os.umask(before)
    assert other == tar(with_parents(ENTRIES), 7)


def test_the_header_of_gzip_bears_no_time_and_no_name():
    packed = gzip(b"content" * 100)
    assert packed[:3] == b"\x1f\x8b\x08" and packed[3] == 0 and packed[4:8] == bytes(4)
    assert packed == gzip(b"content" * 100)
