"""Runs the stories on real clusters side by side: each file in a process of its own, on clusters of its own, because a
story mostly waits."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from builddir import CACHE, ROOT

SUITE = ROOT / "test/cluster"
# Each waits longer than alone, because the others use the machine, too (harness/wait.py). Kubernetes collects garbage less
# often, which saves a third of its CPU; a process that grows large collects it as ever.
ENVIRONMENT = {"LIQO_TEST_PATIENCE": "2", "GOGC": "400", "GOMEMLIMIT": "1GiB"}
HERE = "not go_peer and not skew and not apps"
BESIDE_OTHERS = HERE + " and not alone"
# These run real programs of three clusters, a whole installation, or Kubernetes' own tests, and check that nobody waits, so
# they need the machine to themselves. They are the slowest of all: `tools/test nightly` runs them, and not every change.
NIGHTLY = ("test_applications.py", "test_conformance.py", "test_dist.py")
# If more files than this failed, or they took longer, none is run again: so many failures are no accident of a busy machine.
MAX_RUN_AGAIN = 4
MAX_RUN_AGAIN_SECONDS = 1200
# How long each file took when it last ran here: the longest begin first, so that none is left over at the end.
DURATIONS = CACHE / "story-seconds.json"


@dataclass
class StoryResult:
    """The outcome of one file of stories."""

    file: Path
    code: int
    output: str
    seconds: float
    # Of a second run, with the machine to itself: the outcome of the first.
    first: StoryResult | None = None


def _remembered() -> dict[str, float]:
    try:
        return json.loads(DURATIONS.read_text())
    except (OSError, ValueError):
        return {}


def _longest_first(files: list[Path]) -> list[Path]:
    seconds = _remembered()

    # A file that never ran here is guessed by its length: a line of a story takes a third of a second.
    def guessed(file: Path) -> float:
        return seconds.get(file.name, len(file.read_bytes().splitlines()) / 3)

    return sorted(files, key=lambda file: -guessed(file))


def jobs() -> int:
    """Files run at a time: $LIQO_TEST_JOBS, or two for each core."""
    return int(os.environ.get("LIQO_TEST_JOBS") or 2 * len(os.sched_getaffinity(0)))


class StoryRunner:
    """Processes of pytest; they end with this one, and their clusters with them."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, file: Path, chosen: str = BESIDE_OTHERS) -> StoryResult:
        """Runs what of a file, or of a directory of them without those of NIGHTLY, has the marks that are chosen."""
        left_out = [f"--ignore={found}" for name in NIGHTLY for found in file.rglob(name)] if file.is_dir() else []
        started = time.monotonic()
        with self._lock:
            if self._stopped:
                return StoryResult(file, 2, "not begun\n", 0)
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", chosen, *left_out, file], cwd=ROOT,
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", env={**ENVIRONMENT, **os.environ},
            )  # fmt: skip
            self._running.add(process)
        output, _ = process.communicate()
        with self._lock:
            self._running.discard(process)
        return StoryResult(file, process.returncode, output, time.monotonic() - started)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.send_signal(signal.SIGTERM)


def run_nightly(names: Iterable[str]) -> Iterator[StoryResult]:
    """Runs files of NIGHTLY, one after the other, with the machine to themselves."""
    for name in names:
        yield StoryRunner().run(next(SUITE.rglob(name)), HERE)


def run_all() -> Iterator[StoryResult]:
    """Runs every file but those of NIGHTLY, and yields the outcome of each as it ends.

    If no more failed than MAX_RUN_AGAIN and MAX_RUN_AGAIN_SECONDS allow, those are run once more at the end, each with
    the machine to itself: `first` is then the outcome of the first time.
    """
    files = _longest_first(sorted(file for file in SUITE.rglob("test_*.py") if file.name not in NIGHTLY))
    failed: list[StoryResult] = []
    seconds = _remembered()
    runner = StoryRunner()
    with ThreadPoolExecutor(jobs()) as pool:
        futures = [pool.submit(runner.run, file) for file in files]
        try:
            for future in as_completed(futures):
                result = future.result()
                if result.code == 0:
                    seconds[result.file.name] = round(result.seconds, 1)
                elif failed_stories(result.output):
                    failed.append(result)
                yield result
        except BaseException:
            runner.stop()
            raise
        finally:
            for future in futures:
                future.cancel()
    # What measures time, when it has the machine to itself.
    yield runner.run(SUITE, "alone")
    few = len(failed) <= MAX_RUN_AGAIN and sum(result.seconds for result in failed) <= MAX_RUN_AGAIN_SECONDS
    for first in failed if few else []:
        yield replace(runner.run(first.file), first=first)
    DURATIONS.write_text(json.dumps(seconds, indent=1, sort_keys=True))


def failed_stories(output: str) -> list[str]:
    """The stories that pytest names as failed, or whose set-up or end did."""
    return list(dict.fromkeys(re.findall(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", output, re.MULTILINE)))


def passed_again(output: str) -> list[str]:
    """What a story has itself run again, and why (test/cluster/conftest.py): one line each."""
    return re.findall(r"^flaky, passed when run again: (.*)$", output, re.MULTILINE)


def slowest_stories(output: str) -> list[tuple[float, str]]:
    """The stories (set-up included) that pytest names among its slowest, with their seconds."""
    found = re.findall(r"^(\d+\.\d+)s (?:call|setup|teardown) +(\S+)$", output, re.MULTILINE)
    return [(float(seconds), name) for seconds, name in found]
