"""Only what a package brought, as it brought it, gets into an image."""

import pathlib
import shutil

import pytest
from shipping import compiled_in, debian, root

LIBC = pathlib.Path("/usr/lib/x86_64-linux-gnu/libc.so.6")

on_debian = pytest.mark.skipif(
    not shutil.which("dpkg-query") or not LIBC.exists(), reason="needs Debian's packages, for amd64"
)


@on_debian
def test_files_are_known_by_either_of_their_names():
    other = pathlib.Path(str(LIBC).removeprefix("/usr"))
    assert {name.partition(":")[0] for name in debian.owners([LIBC, other]).values()} == {"libc6"}
    (package,) = debian.packages_of([LIBC])
    assert (package.name, package.architecture, package.source) == ("libc6", "amd64", "glibc")
    assert package.version and not debian.changed(package, [LIBC])


@on_debian
def test_a_file_that_is_not_as_it_was_brought_is_seen(tmp_path):
    (package,) = debian.packages_of([LIBC])
    other = tmp_path / "libc.so.6"
    other.write_bytes(LIBC.read_bytes() + b"\0")
    assert debian.changed(package, [other]) == [other]


@on_debian
def test_what_no_package_brought_is_named():
    mine = [pathlib.Path(f"/usr/local/include/mine/{name}.hpp") for name in "abcde"]
    with pytest.raises(ValueError, match=r"no package brought .*/a\.hpp, .*/b\.hpp, .*/c\.hpp and 2 more: "):
        debian.packages_of([LIBC, *mine])


@on_debian
def test_a_program_with_a_library_of_ones_own_is_not_shipped(tmp_path, monkeypatch):
    (tmp_path / "libc.so.6").symlink_to(shutil.copy(LIBC, tmp_path / "libc.mine"))
    monkeypatch.setattr(root, "LIBRARIES", (tmp_path, *root.LIBRARIES))
    with pytest.raises(ValueError, match=r"no package brought .*/libc\.mine"):
        root.make({"true": pathlib.Path("/usr/bin/true")}, [], LIBC)


def test_headers_are_those_of_the_targets_alone():
    log = [
        "a.o: #deps 2, deps mtime 1 (VALID)", "    /usr/include/a.h", "    ../src/a.hpp", "",
        "b.o: #deps 1, deps mtime 1 (VALID)", "    /usr/include/b.h", "",
    ]  # fmt: skip
    assert compiled_in.dependencies(log, {"a.o"}) == {"/usr/include/a.h", "../src/a.hpp"}


def test_what_meson_has_unpacked_is_not_shipped(monkeypatch, tmp_path):
    answers = {
        "inputs": ["a.o"],
        "deps": ["a.o: #deps 1, deps mtime 1 (VALID)", "    ../../subprojects/CLI11-2.7.2/include/CLI/CLI.hpp"],
    }
    monkeypatch.setattr(compiled_in, "_ninja", lambda _, tool, *targets: answers[tool])
    with pytest.raises(ValueError, match=r"has CLI11-2\.7\.2 from \.wrap files"):
        compiled_in.headers(tmp_path / "build/release", ["liqod"])
    answers["deps"][1] = "    ../../subprojects/kube/include/kube/base/json.hpp"
    assert compiled_in.headers(tmp_path / "build/release", ["liqod"]) == []
