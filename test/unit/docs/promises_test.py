"""The promises of docs/ are tested: every test that a page names is there, and what users are said to see stands in the
code."""

import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = ["stories.md", "security.md"]
# `test_x.py`, `test_x.py::test_name`, or `x_test.cpp: the name of a case`.
REFERENCE = re.compile(r"`([\w/]+(?:\.py|\.cpp))(?:::(\w+)|: ([^`]+))?`")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@functools.cache
def sources() -> dict[str, list[str]]:
    """The texts of all files of tests, by name: a plan and what carries it out may have tests of one name."""
    texts: dict[str, list[str]] = {}
    for tests in ("test/**/*.py", "test/**/*.cpp", "subprojects/kube/test/**/*.cpp"):
        for path in ROOT.glob(tests):
            texts.setdefault(path.name, []).append(path.read_text(encoding="utf-8"))
    return texts


def holds(text: str, name: str, case: str) -> bool:
    if name:
        return f"def {name}(" in text
    return not case or re.search(rf'TEST_CASE(_FIXTURE\(\w+, |\()"{re.escape(case)}"', text) is not None


def missing(text: str) -> list[str]:
    """The tests that the text names and that do not exist."""
    out = []
    for file, name, case in REFERENCE.findall(text):
        if not any(holds(text, name, case) for text in sources().get(pathlib.Path(file).name, [])):
            out.append(f"{file} {name or case}".strip())
    return out


def items(page: str) -> list[tuple[str, str]]:
    """Promise and tests of every item of the page's list, in which tests are items below."""
    _, _, promises = (DOCS / page).read_text(encoding="utf-8").partition("## Promises and their tests\n")
    cut = (item.partition("\n    - ") for item in re.split(r"^- ", promises, flags=re.MULTILINE)[1:])
    return [(" ".join(promise.split()), tests) for promise, _, tests in cut]


def rows(page: str) -> list[tuple[str, str]]:
    """Promise and tests of every row of the page's tables that name a test, and of its list."""
    out = items(page)
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("|") and len(cells) >= 2 and REFERENCE.search(cells[-1]):
            out.append((cells[0], cells[-1]))
    return out


@pytest.mark.parametrize("page", PAGES)
def test_the_page_names_tests_that_exist(page):
    told = rows(page)
    assert told, f"docs/{page} has no promises and tests"
    assert not [f"{promise}: {test}" for promise, tests in told for test in missing(tests)]


def test_a_promise_of_a_list_has_a_test():
    assert len(items("security.md")) > 60
    assert not [promise for page in PAGES for promise, tests in items(page) if not REFERENCE.search(tests)]


def test_a_row_without_a_test_is_a_row_of_another_table():
    """So that a promise cannot lose its test unseen."""
    for page in PAGES:
        in_table = False
        for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
            if re.match(r"\| promise \| (story|test) \|", line):
                in_table = True
            elif not line.startswith("|"):
                in_table = False
            elif in_table and not line.startswith("| ---"):
                assert REFERENCE.search(line), f"docs/{page}: {line}"


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_promised_twice(page):
    promises = [promise for promise, _ in rows(page)]
    assert not sorted({promise for promise in promises if promises.count(promise) > 1})


# -- operations.md and troubleshooting.md: readers do not see the tests, which stand in comments ----------------------


def test_every_section_of_operations_with_commands_was_typed_by_a_test():
    sections = re.split(r"^## ", (DOCS / "operations.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(sections) >= 6
    for section in sections:
        title, comments = section.partition("\n")[0], " ".join(COMMENT.findall(section))
        typed = re.search(r"^ *(liqoctl|helm|kubectl) ", section, re.MULTILINE)
        assert not typed or REFERENCE.search(comments), f"section {title} has commands, and names no test"
        assert not missing(comments), title


@functools.cache
def code() -> str:
    """The texts that programs and tests have, literals that C++ puts together in one piece."""
    places = ("src", "include", "services", "subprojects/kube/src", "test")
    files = [path for place in places for path in (ROOT / place).rglob("*") if path.suffix in (".cpp", ".hpp", ".py")]
    said = "\n".join(path.read_text(encoding="utf-8") for path in files if path.parent != pathlib.Path(__file__).parent)
    return re.sub(r'"\s*\n\s*"', "", said)


def symptoms() -> list[tuple[str, str]]:
    lines = (DOCS / "troubleshooting.md").read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith("|") and not line.startswith(("| you see", "| ---"))]
    return [tuple(line.strip("| ").split(" | ", 1)) for line in found]


def test_every_symptom_is_one_that_a_test_makes():
    told = symptoms()
    assert len(told) > 40
    for symptom, help_ in told:
        comments = " ".join(COMMENT.findall(help_))
        assert REFERENCE.search(comments), symptom
        assert not missing(comments), symptom


def test_the_words_of_a_symptom_stand_in_the_code():
    quoted = [words for symptom, _ in symptoms() for words in re.findall(r"`([^`]+)`", symptom)]
    parts = [part.strip() for words in quoted for part in words.split("…")]
    assert not [part for part in parts if part not in code()]
