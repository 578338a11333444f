"""Each part of the core and of the controllers has a test of its name, or its header names one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "subprojects/kube"


def find_named(header: Path) -> list[Path]:
    """Those of its lines "Tested by", whose paths begin at the root of the library or of Liqo."""
    root = LIBRARY if header.is_relative_to(LIBRARY) else ROOT
    lines = re.findall(r"^//.*\bTested by (.+)$", header.read_text("utf-8"), re.M)
    return [root / name for line in lines for name in re.findall(r"\btest/[\w./-]+\.(?:cpp|py)\b", line)]


def find_tests(header: Path, room: str) -> list[Path]:
    """The test of its name, and those that it names."""
    story = header.relative_to(ROOT / "src" / room).parent
    own = ROOT / "test/unit" / room / story / f"{header.stem}_test.cpp"
    return [own] * own.exists() + find_named(header)


@pytest.mark.parametrize(("room", "least"), [("core", 100), ("controllers", 40)])
def test_each_header_with_a_source_has_a_test(room: str, least: int) -> None:
    headers = sorted((ROOT / "src" / room).rglob("*.hpp"))
    found = [header for header in headers if header.with_suffix(".cpp").exists()]
    assert len(found) > least
    assert [str(header.relative_to(ROOT)) for header in found if not find_tests(header, room)] == []


def test_each_named_test_exists() -> None:
    rooms = [ROOT / "src", ROOT / "include", ROOT / "services", LIBRARY / "src", LIBRARY / "include"]
    headers = [header for room in rooms for header in room.rglob("*.hpp")]
    named = [test for header in headers for test in find_named(header)]
    assert len(named) > 80
    assert [str(test) for test in named if not test.is_file()] == []
