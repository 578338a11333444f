"""tools/bench NAME --against REF: the programs of an earlier commit and those of today, turn by turn.

A turn is a whole run of the bench, with clusters of its own, and both have theirs one after the other: what the machine
does meanwhile happens to both. Which of them begins alternates. The clusters, the chart, and the bench's own programs
(bare clients, generators of load) are today's in every turn.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compare
import report

ROOT = Path(__file__).resolve().parent.parent
# What makes a turn short: its figures are compared with those of other turns.
SHORT = {"offload": ["--rounds", "1"], "peer": ["--rounds", "5"], "streams": ["--rounds", "1"]}
BOTH = ("earlier", "today")


def order(turns: int) -> Iterator[str]:
    """Whose turn it is: both once in each pair, and each first as often as the other."""
    for number in range(turns):
        yield from BOTH if number % 2 == 0 else reversed(BOTH)


def environment(programs: Path) -> dict[str, str]:
    """By which the bench finds the programs that it measures."""
    places = {name.upper(): str(programs / f"services/{name}/{name}") for name in ("liqod", "liqoctl")}
    return {**os.environ, **places}


def command(name: str, programs: Path, arguments: list[str], file: Path) -> list[str]:
    if name == "pump":
        # It has liqod's own code in it.
        return [str(programs / "bench/stream_pump"), *arguments]
    return [sys.executable, str(ROOT / f"bench/{name}.py"), *SHORT.get(name, []), *arguments, "--json", str(file)]


def printed(text: str) -> dict[str, float]:
    found = re.search(r"[0-9.]+(?:e[+-][0-9]+)?", text)
    assert found, f"no figure is in: {text!r}"
    return {"printed": float(found[0])}


def take_turn(name: str, programs: Path, arguments: list[str]) -> dict[str, Any]:
    """The figures of one run. That it misses a goal (exit code 1) is no failure here."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "figures.json"
        done = subprocess.run(
            command(name, programs, arguments, file), env=environment(programs), stdout=subprocess.PIPE, text=True
        )
        if name == "pump" and done.returncode == 0:
            return printed(done.stdout)
        if done.returncode not in (0, 1) or not file.exists():
            sys.exit(f"bench: a turn has failed, with the programs in {programs}")
        return json.loads(file.read_text())


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench NAME --against REF", description=__doc__, allow_abbrev=False)
    options.add_argument("name", choices=sorted(compare.FIGURES))
    options.add_argument("--programs", type=Path, required=True, help="the build directory of the earlier commit")
    options.add_argument("--commit", required=True, help="that commit")
    options.add_argument("--turns", type=int, default=compare.least_turns(), help="of each (default: %(default)s)")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures of all turns there")
    chosen, arguments = options.parse_known_args()
    if chosen.turns < compare.least_turns():
        options.error(f"{compare.least_turns()} turns at least: fewer show no spread")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    programs = {"earlier": chosen.programs, "today": ROOT / "build/release"}
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in BOTH}
    for side in order(chosen.turns):
        report.say(f"turn {len(found[side]) + 1} of {chosen.turns}, {side}")
        found[side].append(take_turn(chosen.name, programs[side], arguments))
    if chosen.json:
        chosen.json.write_text(json.dumps({"earlier_commit": chosen.commit, **found}, indent=1) + "\n")
    compared = [compare.compare(figure, found["earlier"], found["today"]) for figure in compare.FIGURES[chosen.name]]
    print(compare.table(compared), f"earlier: {chosen.commit[:12]}; today: {report.setting()}", sep="\n\n")
    return 1 if any(each.is_worse for each in compared) else 0


if __name__ == "__main__":
    sys.exit(main())
