"""Reads the results of Kubernetes' own tests, and decides which of them count."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..liqo.peering import TAINT

AREAS = ("sig-node", "sig-storage", "sig-apps", "sig-cli", "sig-network", "sig-auth")
FOCUS = rf"\[({'|'.join(AREAS)})\].*\[Conformance\]"


@dataclass(frozen=True)
class Outcome:
    """How one test ended: passed, failed, skipped, timedout, …"""

    name: str
    state: str
    seconds: float = 0
    failure: str = ""


def read(results: Path) -> list[Outcome]:
    """What a run has written so far."""
    found = []
    for line in results.read_text(errors="replace").splitlines() if results.exists() else ():
        told = json.loads(line)
        if re.search(FOCUS, told["name"]):
            found.append(Outcome(told["name"], told["state"], told["seconds"], told.get("failure", "")))
    return found


def _created(log_file: Path, resource: str) -> Iterator[dict]:
    """The entries of an audit log about new objects of a kind. A log of hundreds of tests is too long to be held."""
    with log_file.open(errors="replace") as log:
        for line in log:
            if '"verb":"create"' not in line or f'"resource":"{resource}"' not in line:
                continue
            entry = json.loads(line)
            if "dryRun=" in entry["requestURI"] or "subresource" in entry["objectRef"]:
                continue
            if entry.get("responseStatus", {}).get("code") == 201:
                yield entry


def created_pods(log_file: Path) -> Iterator[dict]:
    """The pods that were ever created in a cluster, as its audit log has them."""
    return (entry["responseObject"] for entry in _created(log_file, "pods"))


def namespaces_of_tests(log_file: Path) -> dict[str, set[str]]:
    """The namespaces that each test made: the suite says in its requests which test runs."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in _created(log_file, "namespaces"):
        _, says, test = entry.get("userAgent", "").partition(" -- ")
        if says:
            found[test].add(entry["objectRef"]["name"])
    return found


def started(log_file: Path) -> set[str]:
    """The namespaces of pods of which a kubelet has said that a container runs or has run."""
    found = set()
    with log_file.open(errors="replace") as log:
        for line in log:
            if '"subresource":"status"' not in line or '"startedAt":"' not in line or '"resource":"pods"' not in line:
                continue
            entry = json.loads(line)
            if _has_started(entry.get("requestObject", {}).get("status", {})):
                found.add(entry["objectRef"]["namespace"])
    return found


def _has_started(status: Mapping) -> bool:
    return any(
        container.get(state, {}).get(phase, {}).get("startedAt")
        for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
        for container in status.get(kind) or ()
        for state in ("state", "lastState")
        for phase in ("running", "terminated")
    )


def at_home(namespaces: Iterable[str], consumer: str) -> set[str]:
    """By the names that the consumer has for these namespaces of the provider."""
    return {namespace.removesuffix(f"-{consumer}") for namespace in namespaces}


def slipped(pods: Iterable[Mapping]) -> list[str]:
    """Pods at home that no admission has made ready to go: they wait for ever."""
    return [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods
        if not any(toleration.get("key") == TAINT for toleration in pod["spec"].get("tolerations") or ())
    ]


@dataclass(frozen=True)
class Expected:
    """A test that passes on the plain provider, and whether it starts a pod there."""

    name: str
    starts_pod: bool


Namespaces = Mapping[str, Collection[str]]


def to_list(
    outcomes: Collection[Outcome], namespaces: Namespaces, with_pods: Collection[str], before: Iterable[Expected] = ()
) -> str:
    """The committed list: what has passed, a line each, and before it whether a pod was started in its namespaces. What has
    not run now is as it was `before`."""
    known = {test.name: test.starts_pod for test in before}
    for outcome in outcomes:
        known.pop(outcome.name, None)
        if outcome.state == "passed":
            known[outcome.name] = bool(set(namespaces.get(outcome.name, ())) & set(with_pods))
    return "".join(f"{'pod ' if known[name] else 'none'} {name}\n" for name in sorted(known))


def from_list(text: str) -> list[Expected]:
    return [Expected(line[5:], line.startswith("pod ")) for line in text.splitlines() if line]


def reasons(text: str) -> dict[str, str]:
    """The tests that cannot pass through a virtual node, and the field or rule that forbids it: a name a line, and below it,
    indented, why."""
    found: dict[str, str] = {}
    lines = [line for line in text.splitlines() if line]
    for name, why in zip(lines[::2], lines[1::2], strict=True):
        assert name.startswith("[") and why.startswith("    "), name
        found[name] = why.strip()
    return found


@dataclass
class Score:
    """Of the tests that pass on the plain provider: which passed through the virtual node too, and which did not."""

    passed: list[str]
    # The name of the test, and why it cannot pass.
    missed: dict[str, str]

    @property
    def percent(self) -> float:
        return 100 * len(self.passed) / max(1, len(self.passed) + len(self.missed))

    def per_area(self) -> dict[str, tuple[int, int]]:
        """How many passed, of how many."""
        counts = {}
        for area in AREAS:
            passed = sum(name.startswith(f"[{area}]") for name in self.passed)
            counts[area] = passed, passed + sum(name.startswith(f"[{area}]") for name in self.missed)
        return counts

    def table(self) -> str:
        rows = [*self.per_area().items(), ("all", (len(self.passed), len(self.passed) + len(self.missed)))]
        head = ["| area | passed | of | % |", "| --- | --- | --- | --- |"]
        return "\n".join(
            head + [f"| {area} | {some} | {of} | {100 * some / of:.1f} |" for area, (some, of) in rows if of]
        )


def judge(
    expected: Iterable[Expected], outcomes: Iterable[Outcome], namespaces: Namespaces, away: Collection[str]
) -> Score:
    """A test counts that passed, and of which a pod ran at the provider: in a namespace that is in `away`, by the
    consumer's name for it. One that starts none on the plain provider need not."""
    ended = {outcome.name: outcome for outcome in outcomes}
    score = Score([], {})
    for test in expected:
        outcome = ended.get(test.name)
        if outcome is None:
            score.missed[test.name] = "did not run"
        elif outcome.state != "passed":
            score.missed[test.name] = f"{outcome.state}: {outcome.failure}"
        elif test.starts_pod and not set(namespaces.get(test.name, ())) & set(away):
            score.missed[test.name] = "passed, but no pod of it ran at the provider"
        else:
            score.passed.append(test.name)
    return score
