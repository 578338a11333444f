"""The hardening of released programs against mistakes that are still in them, as the binaries show it."""

import pathlib
import platform
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
RELEASE = ROOT / "build" / "release"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="read for x86-64")


@pytest.fixture(scope="module", params=["services/liqod/liqod", "services/liqoctl/liqoctl", "services/liqo/liqo"])
def program(request: pytest.FixtureRequest) -> pathlib.Path:
    path = RELEASE / request.param
    if not path.exists():
        pytest.skip(f"{path.name} is not built for release")
    return path


def read(program: pathlib.Path, *flags: str) -> str:
    return subprocess.run(["readelf", "--wide", *flags, program], capture_output=True, text=True, check=True).stdout


def test_it_is_loaded_wherever_the_system_likes(program: pathlib.Path) -> None:
    assert re.search(r"Type:\s+DYN", read(program, "--file-header"))
    assert re.search(r"FLAGS_1.*\bPIE\b", read(program, "--dynamic"))


def test_addresses_of_functions_cannot_be_overwritten(program: pathlib.Path) -> None:
    assert "GNU_RELRO" in read(program, "--program-headers")
    assert re.search(r"FLAGS.*\bBIND_NOW\b|FLAGS_1.*\bNOW\b", read(program, "--dynamic"))


def test_no_memory_is_writable_and_executable(program: pathlib.Path) -> None:
    columns = r"^\s+(\w+)\s+0x\S+ 0x\S+ 0x\S+ 0x\S+ 0x\S+ ([R ][W ][E ])"
    segments = re.findall(columns, read(program, "--program-headers"), re.M)
    assert ("GNU_STACK", "RW ") in segments
    assert not [name for name, rights in segments if "W" in rights and "E" in rights]


def test_overwritten_stacks_and_buffers_end_it(program: pathlib.Path) -> None:
    symbols = read(program, "--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail", ""))
    # libstdc++ says so if an index is beyond its end.
    assert "__glibcxx_assert_fail" in symbols


def test_calls_only_reach_the_begin_of_functions(program: pathlib.Path) -> None:
    # endbr64. The note that says so of all the program is not there if the system's start files are without.
    assert program.read_bytes().count(b"\xf3\x0f\x1e\xfa") > 5_000
