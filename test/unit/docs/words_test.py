"""Texts keep the rules of docs/style.md that can be counted: there are no more breaches than words.txt has."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import words

LONG = " ".join(["word"] * (words.MOST_WORDS + 1))
JUST = " ".join(["word"] * words.MOST_WORDS)


def test_no_more_breaches_than_the_list_has():
    wrong = words.complaints(words.breaches(), words.read_list(words.LIST.read_text(encoding="utf-8")))
    assert not wrong, "docs/style.md, five rules:\n" + "\n".join(wrong)


def test_the_list_is_as_it_would_be_written():
    text = words.LIST.read_text(encoding="utf-8")
    assert text == words.write_list(words.read_list(text))


def rules(path: str, text: str) -> list[tuple[str, int]]:
    return [(one.rule, one.line) for one in words.breaches_of(path, text)]


@pytest.mark.parametrize(
    ("path", "text", "seen"),
    [
        ("a.hpp", "// What it does.\n#pragma once\n", True),
        ("a.cpp", '#include "a.hpp"\n\n// What follows.\n', False),
        ("a.hpp", "// Whatever comes.\n", False),
        ("a.py", '"""What it does."""\n', True),
        ("a.py", '#!/usr/bin/env python3\n"""What it does."""\n', True),
        ("a.py", 'import os\n\n\ndef f():\n    """What it does."""\n', False),
        ("a.md", "# What it is\n\nA page.\n", False),
        ("a.md", "# Page\n\nWhat it is.\n", True),
    ],
)
def test_a_first_line_that_begins_with_what(path, text, seen):
    assert bool(rules(path, text)) == seen


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.hpp", "/// One.\nint a();\n\n/// Likewise, in\n/// two.\nint b();\n", [("likewise", 4)]),
        ("a.hpp", "int a();\nint b();  ///< As before, of two.\n", [("likewise", 2)]),
        ("a.hpp", 'const auto a = "// Likewise";\n', []),
        ("a.py", 'def a():\n    """One. Likewise the other."""\n', [("likewise", 2)]),
        ("a.py", 'a = """Likewise."""\n', []),
        ("a.md", "Likewise.\n", []),
    ],
)
def test_a_text_that_refers_to_the_one_before_it(path, text, found):
    assert rules(path, text) == found


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", 'def a():\n    """The pod; None where\n    it is gone."""\n', [("where", 2)]),
        ("a.py", "# Where there is none, it ends.\n", [("where", 1)]),
        ("a.hpp", "/// Empty if nobody asks where it is.\nint a();\n", []),
        ("a.py", '"""The place where it runs, and where there is room."""\n', []),
        ("values.yaml", "# One.\na: 1 # nothing where it is set\n", [("where", 2)]),
        ("a.tpl", "{{- /* One. */ -}}\n{{/* Two,\n     also where b is. */}}\n", [("where", 2)]),
        ("a.tpl", f"{{{{/*\nOne.\n\n    {LONG}\n*/}}}}\n", []),
    ],
)
def test_where_is_for_places(path, text, found):
    assert rules(path, text) == found


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.md", f"# Page\n\n{JUST}. {JUST}! {JUST}\n", []),
        ("a.md", f"# Page\n\n{LONG}.\n", [("sentence", 3)]),
        # Lines and links that go over their ends.
        ("a.md", f"# Page\n\n{JUST} [of\na link](https://somewhere.example/)\n", [("sentence", 3)]),
        ("a.md", f"# Page\n\n{' '.join(['word'] * 30)} `{LONG}`.\n", []),
        ("a.md", f"- {JUST}\n- {JUST}\n\n    {LONG}\n", [("sentence", 4)]),
        ("a.md", f"Code:\n\n    {LONG}\n", []),
        ("a.md", f"- one\n\n## Section\n\n    {LONG}\n", []),
        ("a.md", f"```\n{LONG}\n```\n<!-- {LONG} -->\n", []),
        ("a.md", f"| a | b |\n| --- | --- |\n| {LONG} | {JUST} |\n", [("sentence", 3)]),
        ("a.md", f"> {LONG}\n", [("sentence", 1)]),
        ("a.md", f"{JUST} · {JUST}\n", []),
        ("a.cpp", f"int a;\n// {JUST}\n// word\n", [("sentence", 2)]),
        ("a.cpp", f"// {JUST}\n//\n// {JUST}\n", []),
        ("a.cpp", f"// NOLINTNEXTLINE: {LONG}\n", []),
        ("a.py", f'class A:\n    """One.\n\n    {JUST}\n    word.\n    """\n', [("sentence", 4)]),
        ("a.py", f'a = """\n# {JUST}\n"""\n', []),
    ],
)
def test_a_sentence_of_too_many_words(path, text, found):
    assert rules(path, text) == found


def test_a_cell_of_too_many_characters():
    cell = "x" * (words.MOST_CHARACTERS + 1)
    assert rules("a.md", f"| a | b |\n| --- | --- |\n| {cell} | b |\n") == [("cell", 3)]
    shown = "x" * (words.MOST_CHARACTERS - 4)
    assert not rules("a.md", f"| a |\n| --- |\n| [{shown}](page.md#somewhere) <!-- {cell} --> |\n")
    assert not rules("a.md", cell)


def test_a_message_says_the_place_the_rule_and_the_remedy():
    (found,) = words.breaches_of("docs/a.md", f"# Page\n\n{LONG}.\n")
    remedy = "the sentence has more than 40 words: one idea a sentence, subject first"
    assert str(found).startswith(f"docs/a.md:3: {remedy}: word")


def test_what_is_read(tmp_path: Path):
    names = ("src/a.cpp", "build/a.cpp", "src/build-x/a.cpp", "docs/flags.md", "docs/a.md", "tools/b", "tools/c.txt")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/usr/bin/env python3\n")
    assert sorted(words.files(tmp_path)) == ["docs/a.md", "src/a.cpp", "tools/b"]


def test_a_list_that_says_too_little_or_too_much():
    found = words.breaches_of("a.md", f"# Page\n\n{LONG}.\n\n{LONG}.\n")
    assert not words.complaints(found, Counter({("a.md", "sentence"): 2}))
    assert len(words.complaints(found, Counter({("a.md", "sentence"): 1}))) == 2
    assert words.complaints(found, Counter({("a.md", "sentence"): 2, ("gone.md", "cell"): 1})) == [
        "gone.md has 0 of cell, the list says 1: run python3 test/unit/docs/words.py"
    ]
    assert words.read_list(words.write_list(words.counts(found))) == Counter({("a.md", "sentence"): 2})
