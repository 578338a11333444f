"""Finds in the output of a test the lines that say what failed, to be told once more at the end of a long run."""

from __future__ import annotations

import re

# Of pytest, of the simulations, of Meson, of doctest, of compilers and clang-tidy, of sanitizers.
TELLING = re.compile(
    r"^(?:FAILED|ERROR) \S+"
    r"|^seed \d+: "
    r"|^ *\d+/\d+ .*\b(?:FAIL|TIMEOUT|ERROR)\b"
    r"|^TEST CASE:"
    r"|: (?:FATAL )?ERROR: |: (?:fatal )?error: "
    r"|ERROR: (?:Address|Leak|UndefinedBehavior)Sanitizer|: runtime error: "
)
MAX_LINES, MAX_CHARACTERS = 20, 300


def telling_lines(output: str) -> list[str]:
    """The lines that say what failed, each once; if no line looks so, the last ones."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    found = list(dict.fromkeys(line for line in lines if TELLING.search(line))) or lines[-MAX_LINES:]
    more = [f"... and {len(found) - MAX_LINES} more"] if len(found) > MAX_LINES else []
    return [line[:MAX_CHARACTERS] for line in found[:MAX_LINES]] + more
