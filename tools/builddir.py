"""Sets the machine up and makes build directories, for the programs in tools/."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("LIQO_TEST_CACHE", Path.home() / ".cache/liqo-test"))
VENV = CACHE / "venv"
PYTHON = VENV / "bin/python3"
RELEASE = ROOT / "build/release"
LIQOD = RELEASE / "services/liqod/liqod"


def setup(output=None) -> bool:
    """Runs tools/setup, which writes to `output`, and lets its tools be found first by all that is run from here on."""
    if subprocess.run([ROOT / "tools/setup"], stdout=output, check=False).returncode != 0:
        return False
    os.environ["PATH"] = f"{VENV}/bin:{os.environ['PATH']}"
    # Build directories of other checkouts can then share what was compiled.
    os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
    os.environ.setdefault("CCACHE_NOHASHDIR", "1")
    return True


def quietly(*command: str | Path, **environment: str) -> bool:
    """Runs a command, with these variables besides, and shows the end of what it said only when it fails."""
    result = subprocess.run(
        [str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False, env={**os.environ, **environment},
    )  # fmt: skip
    if result.returncode != 0:
        print("\n".join(result.stdout.splitlines()[-200:]), file=sys.stderr, flush=True)
    return result.returncode == 0


def configure(directory: Path, *options: str, source: Path = ROOT, shared: bool = False) -> bool:
    """Makes a build directory if there is none; with CI set, warnings are errors in it. A `shared` one takes what ccache
    has compiled for another checkout, if it is installed, and goes without precompiled headers then."""
    if (directory / "build.ninja").exists():
        return True
    native = ["--native-file", "tools/clang-19.ini"]
    if shared and shutil.which("ccache"):
        native += ["--native-file", "tools/ccache.ini"]
    werror = "-Dwerror=" + ("true" if os.environ.get("CI") else "false")
    if quietly("meson", "setup", *native, werror, *options, directory, source):
        return True
    shutil.rmtree(directory, ignore_errors=True)
    return False


def ninja(directory: Path, *targets: str) -> bool:
    return quietly("ninja", "-C", directory, *targets)


def build_release(*targets: str) -> bool:
    """Builds these targets, or all but the unit tests, which run under sanitizers, for release."""
    options = ("--buildtype=release", "-Db_ndebug=true", "-Dunit_tests=false", "-Dkube:unit_tests=false")
    # CI begins with an empty directory each time, where what ccache has is worth more than precompiled headers.
    return configure(RELEASE, *options, shared=bool(os.environ.get("CI"))) and ninja(RELEASE, *targets)
