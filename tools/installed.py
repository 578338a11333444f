"""The files of `meson install` for programs outside of the tree, and an example built against them as by a user."""

from __future__ import annotations

import shutil
from pathlib import Path

from builddir import PYTHON, ROOT, ninja, quietly

MESON = (PYTHON, "-m", "mesonbuild.mesonmain")


def stage(build: Path, root: Path) -> bool:
    """Installs the libraries of a build directory below `root`, as if that were /."""
    return quietly(*MESON, "install", "-C", build, "--no-rebuild", "--quiet", "--tags", "devel", "--destdir", root)


def build_example(name: str, build: Path, place: Path) -> Path | None:
    """Installs the libraries of a build directory into `place`, an empty directory outside of the tree, and builds a copy of
    examples/NAME there. Returns the example's build directory; None, and the end of what was said, if it cannot be built."""
    staged, copy, made = place / "root", place / name, place / "build"
    if not stage(build, staged):
        return None
    shutil.copytree(ROOT / "examples" / name, copy, ignore=shutil.ignore_patterns("build"))
    (pc,) = staged.rglob("liqo-api.pc")
    # What is staged believes that it lies below /.
    where = {"PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(staged)}
    # It is to compile soon, not to be fast.
    options = ("--native-file", ROOT / "tools/clang-19.ini", "--buildtype=plain", "-Dwerror=true")
    built = quietly(*MESON, "setup", *options, made, copy, **where) and ninja(made)
    return made if built else None
