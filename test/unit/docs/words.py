"""The rules of docs/style.md that can be counted, and the list of the breaches that are left.

As a program it makes the list shrink to what there is: `python3 test/unit/docs/words.py`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIST = Path(__file__).with_name("words.txt")
MOST_WORDS = 40
MOST_CHARACTERS = 300

REMEDIES = {
    "what": 'the first line begins with "What": begin with a noun phrase or a verb',
    "likewise": 'the text refers to the one before it ("Likewise", "As before"): repeat what it shares with that',
    "where": 'the text says "where" of a condition: "if", or "when" of a time',
    "sentence": f"the sentence has more than {MOST_WORDS} words: one idea a sentence, subject first",
    "cell": f"the table cell has more than {MOST_CHARACTERS} characters: a list or a paragraph below the table",
}

FOLDERS = ("src", "include", "services", "subprojects/kube", "test", "tools", "bench", "examples", "docs", "charts")
OTHERS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
# Made from the code, which is where their words are.
GENERATED = {f"docs/{page}.md" for page in ("commands", "flags", "metrics", "values")}
PASSED_OVER = re.compile(r"^(build.*|__pycache__|subprojects|node_modules|\..*)$")


@dataclass(frozen=True)
class Text:
    """A paragraph, an item, a cell or a docstring, on one line, and where it begins."""

    line: int
    words: str
    cell: bool = False


@dataclass(frozen=True)
class Breach:
    path: str
    line: int
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {REMEDIES[self.rule]}: {self.words[:100]}"


# -- Texts ------------------------------------------------------------------------------------------------------------

_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_HEADING = re.compile(r"#+ ")
_FENCE = re.compile(r"(```|~~~)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^)\s]*\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TEMPLATE_COMMENT = re.compile(r"{{-? ?/\*(.*?)\*/ ?-?}}", re.DOTALL)


def paragraphs(lines: list[tuple[int, str]]) -> Iterator[Text]:
    """The paragraphs and items of numbered lines. What is indented by four beyond the text before it is code."""
    words: list[str] = []
    start, indent, fenced = 0, 0, False
    for number, line in [*lines, (0, "")]:
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        if _FENCE.match(bare):
            fenced, bare = not fenced, ""
        item = _ITEM.match(bare)
        if words and (not bare or item or fenced):
            yield Text(start, " ".join(words))
            words = []
        if not bare or fenced or (not words and not item and depth >= indent + 4):
            continue
        if not words:
            start = number
            indent = depth + len(item[0]) if item else min(indent, depth)
        words.append(bare[len(item[0]) :] if item else bare)


def without_comments(text: str) -> str:
    """HTML comments are gone, lines keep their numbers."""
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def texts_of_markdown(text: str) -> list[Text]:
    """Paragraphs, items and cells as they are shown; headings and code are none."""
    out: list[Text] = []
    section: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        bare = line.strip()
        if _FENCE.match(bare):
            fenced = not fenced
        elif not fenced and _HEADING.match(bare):
            out += paragraphs(section)
            section, line = [], ""
        elif not fenced and bare.startswith("|"):
            cells = re.split(r"(?<!\\)\|", bare.strip("|"))
            out += [Text(number, cell.strip(), True) for cell in cells if cell.strip("-: ")]
            line = ""
        elif not fenced and bare.startswith(">"):
            line = bare[1:].lstrip()
        section.append((number, line))
    out += paragraphs(section)
    # A link may go over the end of a line.
    return sorted((Text(one.line, _LINK.sub(r"\1", one.words), one.cell) for one in out), key=lambda one: one.line)


def comment_blocks(text: str, mark: str) -> Iterator[list[tuple[int, str]]]:
    """Lines of nothing but a comment, as far as they follow each other, and comments behind code."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.lstrip()
        if bare.startswith(mark) and not bare.startswith("#!"):
            block.append((number, bare[len(mark) :].removeprefix("/").removeprefix(" ")))
            continue
        if block:
            yield block
            block = []
        behind = line.rfind(f" {mark}")
        if behind > 0 and line.count('"', 0, behind) % 2 == 0:
            block.append((number, line[behind:].lstrip(f" {mark}<")))
    if block:
        yield block


def docstrings(text: str) -> Iterator[list[tuple[int, str]]]:
    """The strings with which a module, a class or a function of Python begins."""
    lines = text.split("\n")
    before, number = "", 0
    while number < len(lines):
        bare = lines[number].strip()
        if bare.startswith('"""') and (not before or before.endswith(":")):
            first = number
            if bare.count('"""') < 2:
                ends = (at for at in range(first + 1, len(lines)) if '"""' in lines[at])
                number = next(ends, len(lines) - 1)
            block = lines[first : number + 1]
            depth = len(block[0]) - len(block[0].lstrip())
            yield [(first + 1 + at, line[depth:].replace('"""', "")) for at, line in enumerate(block)]
        if bare and not bare.startswith("#"):
            before = bare
        number += 1


def template_comments(text: str) -> Iterator[list[tuple[int, str]]]:
    """Those of Helm's templates, which are left out of what is rendered."""
    for found in _TEMPLATE_COMMENT.finditer(text):
        first = text.count("\n", 0, found.start(1)) + 1
        yield [(first + at, line) for at, line in enumerate(found[1].split("\n"))]


def texts_of_code(path: str, text: str) -> list[Text]:
    if path.endswith((".cpp", ".hpp")):
        blocks = [*comment_blocks(text, "//")]
    elif path.endswith((".yaml", ".tpl")):
        blocks = [*comment_blocks(text, "#"), *template_comments(text)]
    else:
        blocks = [*comment_blocks(text, "#"), *docstrings(text)]
    out: list[Text] = []
    for block in blocks:
        # A comment of tools is none.
        if not re.match(r"(NOLINT|clang-format|fmt:|type:|noqa|!)", block[0][1]):
            out += paragraphs(block)
    return sorted(out, key=lambda one: one.line)


# -- Breaches ---------------------------------------------------------------------------------------------------------

_CODE = re.compile(r"`[^`]*`")
_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+|\s·\s")
_NO_END = re.compile(r"\b(e\.g|i\.e|etc|cf|vs|approx)\.\s")
_WORD = re.compile(r"\w")
_CONDITION = re.compile(
    r"(?:\b(?:None|[Nn]othing|empty|ValueError|LookupError)|\"\") where\b"
    r"|\b[Ww]here (?:there (?:is|are|was|were) (?:no|none|one)\b|no (?:one|more|turn|line)\b|nobody\b|nothing\b|none\b)"
    r"|\balso where\b"
)
_REFERS = re.compile(r"(?:^|[.!?] )(Likewise|As before)\b")


def sentences(words: str) -> list[str]:
    """A sentence ends at a mark before a space, and so does an entry of an index at a `·`; `code here` is one word."""
    return _END.split(_NO_END.sub(r"\1 ", _CODE.sub("code", words)))


def count(sentence: str) -> int:
    return sum(1 for word in sentence.split() if _WORD.search(word))


def breaches_of(path: str, text: str) -> list[Breach]:
    page = path.endswith(".md")
    texts = texts_of_markdown(text) if page else texts_of_code(path, text)
    out = []
    # Code may begin with something else than a comment.
    begins = page or text.removeprefix("#!/usr/bin/env python3\n").startswith(("//", "# ", '"""'))
    if texts and begins and re.match(r"What(?!ever)\b", texts[0].words):
        out.append(Breach(path, texts[0].line, "what", texts[0].words))
    for one in texts:
        if one.cell and len(one.words) > MOST_CHARACTERS:
            out.append(Breach(path, one.line, "cell", one.words))
        if not page and _REFERS.search(one.words):
            out.append(Breach(path, one.line, "likewise", one.words))
        if not page and _CONDITION.search(one.words):
            out.append(Breach(path, one.line, "where", one.words))
        if one.words.count(" ") >= MOST_WORDS:
            long = [sentence for sentence in sentences(one.words) if count(sentence) > MOST_WORDS]
            out += [Breach(path, one.line, "sentence", sentence) for sentence in long]
    return out


def is_read(path: Path) -> bool:
    if path.suffix in (".md", ".cpp", ".hpp", ".py") or path.name == "values.yaml":
        return True
    if path.suffix in (".yaml", ".tpl"):
        return path.parent.name == "templates"
    if path.suffix:
        return False
    with path.open("rb") as file:
        return file.readline(64).startswith(b"#!/usr/bin/env python3")


def files(root: Path) -> Iterator[str]:
    """What is read, by path from the root."""
    yield from (name for name in OTHERS if (root / name).exists())
    for folder in FOLDERS:
        for where, below, names in os.walk(root / folder):
            below[:] = [name for name in below if not PASSED_OVER.match(name)]
            for name in names:
                path = Path(where, name)
                relative = path.relative_to(root).as_posix()
                if relative not in GENERATED and is_read(path):
                    yield relative


def breaches(root: Path = ROOT) -> list[Breach]:
    texts = {path: (root / path).read_text(encoding="utf-8") for path in sorted(files(root))}
    return [one for path, text in texts.items() for one in breaches_of(path, text)]


# -- The list ---------------------------------------------------------------------------------------------------------

Counts = Counter[tuple[str, str]]  # by path and rule


def counts(found: list[Breach]) -> Counts:
    return Counter((one.path, one.rule) for one in found)


def read_list(text: str) -> Counts:
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return Counter({(path, rule): int(number) for path, rule, number in rows})


def write_list(listed: Counts) -> str:
    head = "# Breaches of docs/style.md that are left, by file and rule. It may only shrink: words.py makes it do so.\n"
    return head + "".join(f"{path} {rule} {number}\n" for (path, rule), number in sorted(listed.items()) if number)


def complaints(found: list[Breach], listed: Counts) -> list[str]:
    """A line for each place in a file that has more than listed, and for each line of the list that says too much."""
    there = counts(found)
    out = [str(one) for one in found if there[one.path, one.rule] > listed[one.path, one.rule]]
    for (path, rule), number in sorted(listed.items()):
        if there[path, rule] < number:
            less = f"{path} has {there[path, rule]} of {rule}, the list says {number}"
            out.append(f"{less}: run python3 test/unit/docs/words.py")
    return out


def main() -> None:
    there = counts(breaches())
    kept = there & read_list(LIST.read_text(encoding="utf-8")) if LIST.exists() else there
    LIST.write_text(write_list(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
