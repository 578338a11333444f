"""A page of the manual as a test reads it: the commands in its console blocks, and what they are said to show.

A line `rome $ COMMAND` is typed in rome; it goes on after a backslash. The lines up to the next such line are what the
command shows: within a line `…` stands for anything, and a line that is `…` alone for any number of lines. Empty lines
and the width of the space between two words do not matter. After "[y/N]" stands what the user answers. A command has to
fail if the last line that it shows says so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ..required import require_machine
from ..run import Run
from ..wait import patient
from .console import Console

# For how long a command that only looks may show something else.
SOON = 40.0
_PROMPT = re.compile(r"^(\w+) \$ (.*)$")
_ANSWER = re.compile(r"(Go on\? \[y/N\]) (\w+)$")
_FAILURE = re.compile(r"^(✖|Error|error:|command terminated with exit code)")
# What `kubectl debug` and `run` say if the container has ended before they attach; its output comes from the log then.
_TOO_LATE = re.compile(r"^warning: couldn't attach to pod/")
# A command that only looks is repeated until it shows the expected state.
_LOOKS = re.compile(r"^(kubectl|liqoctl) (get|describe|logs|events|info|rollout status|top)\b")


@dataclass
class Step:
    """One command line: where it stands on the page, whose it is, and what it shows."""

    number: int
    user: str
    line: str
    shown: list[str] = field(default_factory=list)

    @property
    def answers(self) -> list[tuple[str, str]]:
        return [(found[1], found[2]) for line in self.shown if (found := _ANSWER.search(line))]

    @property
    def fails(self) -> bool:
        return bool(self.shown) and bool(_FAILURE.match(self.shown[-1]))

    @property
    def only_looks(self) -> bool:
        return bool(_LOOKS.match(self.line))

    def matches(self, text: str) -> bool:
        """Whether that is what the page says."""
        pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else _pattern(line) + r"\n" for line in self.shown)
        lines = [" ".join(line.split()) for line in text.splitlines() if not _TOO_LATE.match(line)]
        return bool(re.fullmatch(pattern, "".join(f"{line}\n" for line in lines if line)))


@dataclass
class Section:
    title: str
    steps: list[Step]


def _pattern(line: str) -> str:
    return r" ".join(re.escape(word).replace("…", ".*") for word in line.split())


def read(page: Path) -> list[Section]:
    """The sections of a page that have commands."""
    sections, steps, inside = [Section("", [])], [], False
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            inside = line == "```console"
            steps = sections[-1].steps
            fresh = True
        elif not inside:
            if line.startswith("## "):
                sections.append(Section(line.removeprefix("## "), []))
        elif prompt := _PROMPT.match(line):
            command = prompt[2]
            while command.endswith("\\"):
                command = command[:-1].rstrip() + " " + next(lines)[1].strip()
            steps.append(Step(number, prompt[1], command))
            fresh = False
        else:
            assert not fresh, f"{page.name}:{number}: a console block begins with a prompt"
            if line.strip():
                steps[-1].shown.append(line)
    return [section for section in sections if section.steps]


def own_run() -> Iterator[Run]:
    """A run for the clusters of a page, which have the names that they have there."""
    require_machine()
    with closing(Run()) as the_run:
        yield the_run


def try_step(page: str, console: Console, step: Step) -> None:
    """Types a step, once more and again if it only looks, until it shows what the page says."""
    until = time.monotonic() + (patient(SOON) if step.only_looks else 0)
    while True:
        shown = console.run(step.line, step.answers)
        if step.matches(shown.text) and (shown.code != 0) == step.fails:
            return
        if time.monotonic() > until:
            break
        time.sleep(0.5)
    pytest.fail(
        f"{page}:{step.number}: {step.user} $ {step.line}\nends with {shown.code} and shows\n{shown.text}\n"
        f"and not\n" + "\n".join(step.shown),
        pytrace=False,
    )
