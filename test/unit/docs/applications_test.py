"""The table of applications names a story for each thing that people reported, and every story that it names exists."""

import ast
import pathlib
import re

from promises_test import REFERENCE, missing

ROOT = pathlib.Path(__file__).resolve().parents[3]
APPS = ROOT / "test/cluster/apps"
NOT_RUN, BY_HAND = "not run", ", by hand"


def rows() -> list[list[str]]:
    """The cells of the table's rows."""
    page = (ROOT / "docs/applications.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| application | how it runs | story |\n| --- | --- | --- |\n")
    lines = table.partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def stories() -> dict[str, str]:
    """The table in the test of the manifests: the story of each try."""
    tree = ast.parse((APPS / "test_manifests.py").read_text(encoding="utf-8"))
    (table,) = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == ["STORIES"]
    ]  # fmt: skip
    return ast.literal_eval(table)


def files(text: str) -> set[str]:
    return {file for file, _, _ in REFERENCE.findall(text)}


def test_each_row_says_how_it_runs_and_names_its_story():
    assert len(rows()) > 30
    assert not [row for row in rows() if len(row) != 3 or not all(row)]
    assert not [row for row in rows() if row[2] != NOT_RUN and not REFERENCE.search(row[2])]
    assert not [(row[0], gone) for row in rows() for gone in missing(row[2])]


def test_the_story_of_each_try_exists_and_is_in_the_table():
    known = stories()
    assert not missing(" ".join(f"`{story}`" for story in known.values()))
    named = files(" ".join(row[2] for row in rows()))
    assert not {story.partition("::")[0] for story in known.values()} - named


def test_tries_are_told_by_their_numbers():
    numbers = sorted(stories())
    assert all(re.fullmatch(r"\d\d", number) for number in numbers)
    # These passed from the beginning, and other stories show them.
    assert set(range(1, 34)) - {int(number) for number in numbers} == {21, *range(26, 34)}


def test_what_is_run_by_hand_is_what_tools_test_apps_runs():
    by_hand = files(" ".join(row[2] for row in rows() if row[2].endswith(BY_HAND)))
    marked = {file.name for file in APPS.glob("test_*.py") if "pytest.mark.apps" in file.read_text(encoding="utf-8")}
    assert by_hand == marked
