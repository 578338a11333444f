"""The numbers of docs/decisions.md: each is used once and for ever, has an anchor, and is in the index of its part."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
INDEX, *PARTS = re.split(r"^(?=## )", PAGE, flags=re.MULTILINE)
CITED = re.compile(r"decisions\.md#d(\d+)\b")


def numbers(part: str) -> list[int]:
    return [int(number) for number in re.findall(r"^- .*?\*\*D(\d+)\.", part, re.MULTILINE)]


def withdrawn() -> list[int]:
    (said,) = re.findall(r"Withdrawn: ([^.]*)\.", INDEX)
    return [int(number) for number in re.findall(r"D(\d+)", said)]


def used() -> list[int]:
    return sorted([number for part in PARTS for number in numbers(part)] + withdrawn())


def test_every_decision_has_its_number_and_its_anchor():
    items = re.findall(r"^- .*", "".join(PARTS), re.MULTILINE)
    assert items
    assert not [item for item in items if not re.match(r'- <a id="d(\d+)"></a>\*\*D\1\. \S', item)]


def test_a_number_is_used_once_and_none_is_lost():
    remedy = "a decision that goes leaves its number in the list of withdrawn ones"
    assert used() == list(range(1, len(used()) + 1)), remedy
    assert f"the next one is **D{len(used()) + 1}**" in " ".join(INDEX.split())


def test_the_newest_decision_of_a_part_comes_last():
    assert not [part.partition("\n")[0] for part in PARTS if numbers(part) != sorted(numbers(part))]


def test_the_index_names_the_decisions_of_each_part():
    entries = re.split(r"^- ", INDEX, flags=re.MULTILINE)[1:]
    assert len(entries) == len(PARTS)
    for entry, part in zip(entries, PARTS, strict=True):
        assert re.match(r"\[([^\]]*)\]", " ".join(entry.split()))[1] == part.partition("\n")[0].removeprefix("## ")
        listed = re.findall(r"\[D(\d+)\]\(#d(\d+)\)\s+[^·\s]", entry)
        assert [int(number) for number, _ in listed] == [int(anchor) for _, anchor in listed] == numbers(part)


def test_decisions_that_other_files_link_exist():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.md")]
    cited = {int(number) for page in pages for number in CITED.findall(page.read_text(encoding="utf-8"))}
    assert cited <= set(used())
