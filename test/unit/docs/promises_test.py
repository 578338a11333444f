"""The tables of promises in docs/: every test that they name is there."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLES = ["stories.md", "security.md"]
# `test_x.py`, `test_x.py::test_name`, or `x_test.cpp: the name of a case`.
REFERENCE = re.compile(r"`([\w/]+(?:\.py|\.cpp))(?:::(\w+)|: ([^`]+))?`")


def sources() -> dict[str, pathlib.Path]:
    found = [*ROOT.glob("test/**/*.py"), *ROOT.glob("test/**/*.cpp"), *ROOT.glob("subprojects/kube/test/**/*.cpp")]
    return {path.name: path for path in found}


def rows(page: str) -> list[tuple[str, str]]:
    """Promise and tests of every row of the page's tables that name a test."""
    out = []
    for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("|") and len(cells) >= 2 and REFERENCE.search(cells[-1]):
            out.append((cells[0], cells[-1]))
    return out


@pytest.mark.parametrize("page", TABLES)
def test_the_table_names_tests_that_exist(page):
    known, missing = sources(), []
    told = rows(page)
    assert told, f"docs/{page} has no table of promises and tests"
    for promise, tests in told:
        for file, name, case in REFERENCE.findall(tests):
            path = known.get(pathlib.Path(file).name)
            text = path.read_text(encoding="utf-8") if path else ""
            there = path and (f"def {name}(" in text if name else f'TEST_CASE("{case}"' in text if case else True)
            if not there:
                missing.append(f"{promise}: {file} {name or case}".strip())
    assert not missing


def test_a_row_without_a_test_is_a_row_of_another_table():
    """So that a promise cannot lose its test unseen."""
    for page in TABLES:
        in_table = False
        for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines():
            if re.match(r"\| promise \| (story|test) \|", line):
                in_table = True
            elif not line.startswith("|"):
                in_table = False
            elif in_table and not line.startswith("| ---"):
                assert REFERENCE.search(line), f"docs/{page}: {line}"
