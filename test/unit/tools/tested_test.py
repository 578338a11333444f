"""Each part of the controllers has a test that a reader finds: one of its name, or the one that its header names."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOM = ROOT / "src/controllers"


def find_named(header: Path) -> list[Path]:
    """Those of its lines "Tested by"."""
    return [ROOT / name for name in re.findall(r"^// Tested by (test/\S+)\.$", header.read_text("utf-8"), re.M)]


def find_tests(header: Path) -> list[Path]:
    """The test of its name, and those that it names."""
    story = header.relative_to(ROOM).parent
    own = ROOT / "test/unit/controllers" / story / f"{header.stem}_test.cpp"
    return [own] * own.exists() + find_named(header)


def test_each_header_with_a_source_has_a_test() -> None:
    headers = [header for header in sorted(ROOM.rglob("*.hpp")) if header.with_suffix(".cpp").exists()]
    assert len(headers) > 40
    assert [str(header.relative_to(ROOM)) for header in headers if not find_tests(header)] == []


def test_each_named_test_exists() -> None:
    headers = [header for room in ("src", "include") for header in (ROOT / room).rglob("*.hpp")]
    assert [str(test) for header in headers for test in find_named(header) if not test.is_file()] == []
