"""Each part of the core and of the controllers has a test of its name, or its header names one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def find_named(header: Path) -> list[Path]:
    """Those of its lines "Tested by"."""
    return [ROOT / name for name in re.findall(r"^// Tested by (test/\S+)\.$", header.read_text("utf-8"), re.M)]


def find_tests(header: Path, room: str, headers: str) -> list[Path]:
    """The test of its name, and those that it names."""
    story = header.relative_to(ROOT / headers).parent
    own = ROOT / "test/unit" / room / story / f"{header.stem}_test.cpp"
    return [own] * own.exists() + find_named(header)


@pytest.mark.parametrize(("room", "headers"), [("core", "include/liqo/core"), ("controllers", "src/controllers")])
def test_each_header_with_a_source_has_a_test(room: str, headers: str) -> None:
    def has_source(header: Path) -> bool:
        return (ROOT / "src" / room / header.relative_to(ROOT / headers)).with_suffix(".cpp").exists()

    found = [header for header in sorted((ROOT / headers).rglob("*.hpp")) if has_source(header)]
    assert len(found) > 40
    assert [str(header.relative_to(ROOT)) for header in found if not find_tests(header, room, headers)] == []


def test_each_named_test_exists() -> None:
    headers = [header for room in ("src", "include") for header in (ROOT / room).rglob("*.hpp")]
    assert [str(test) for header in headers for test in find_named(header) if not test.is_file()] == []
