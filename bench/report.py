"""Lines of progress, and the table: what was measured, beside what the Go version needs and the goals."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def say(text: str) -> None:
    """A line of progress: the table alone goes to standard output."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def bound(milliseconds: float) -> str:
    """The bucket of a histogram of turns, whose last one begins at 500 ms."""
    return "> 500 ms" if milliseconds > 500 else f"<= {milliseconds:g} ms"


@dataclass(frozen=True)
class Row:
    figure: str
    go: str
    target: str
    measured: str
    reached: bool


@dataclass(frozen=True)
class Goals:
    """What offloading is to cost at most; the rate is that of the bare client's, at least."""

    early_writes: float
    writes: float
    cpu_ms: float | None
    total_cpu_ms: float
    rate: float
    latency: float
    kb: float
    deletion_seconds: float


# Goals without admission, which the bare client does not have either, and with it.
GOALS = {
    False: Goals(3.3, 4.2, 4, 26, 0.70, 1.25, 15, 10),
    True: Goals(3.3, 4.2, None, 30, 0.62, 1.35, 16, 12),
}
REST_MB = 20
RECORD_SECONDS = 60


def rows(figures: dict[str, Any]) -> list[Row]:
    """The rows for the figures of tools/bench offload --json."""
    goals = GOALS[figures["admission"]]
    rest = figures["rest_mb"]
    plain = figures["plain_latency_ms"]
    latency = figures["latency_ms"] / plain
    rate = figures["limit_seconds"] / figures["seconds"]
    early, writes, kb = figures["early_writes_per_pod"], figures["writes_per_pod"], figures["kb_per_pod"]
    cpu, total_cpu = figures["cpu_ms_per_pod"], figures["total_cpu_ms_per_pod"]
    record, deletion = figures["record_seconds"], figures["deletion_seconds"]
    count = f"{figures['pods']:,}"
    return [
        Row(
            "writes per pod before the last is Running", "-", f"<= {goals.early_writes}", f"{early:.2f}",
            early <= goals.early_writes,
        ),
        Row("writes per pod over its life", "19-37", f"<= {goals.writes}", f"{writes:.2f}", writes <= goals.writes),
        Row(
            "until it is on record that all run", "-", f"<= {RECORD_SECONDS} s", f"{record:.0f} s",
            record <= RECORD_SECONDS,
        ),
        Row(
            "CPU per pod, consumer + provider", "34 ms", "-" if goals.cpu_ms is None else f"<= {goals.cpu_ms} ms",
            f"{cpu:.2f} ms", goals.cpu_ms is None or cpu <= goals.cpu_ms,
        ),
        Row(
            "CPU per pod with the API servers'", "135 ms", f"<= {goals.total_cpu_ms} ms", f"{total_cpu:.1f} ms",
            total_cpu <= goals.total_cpu_ms,
        ),
        Row(
            "memory at rest, consumer / provider", "227 / 160 MB", f"<= {REST_MB} MB each",
            f"{rest['consumer']:.1f} / {rest['provider']:.1f} MB", max(rest.values()) <= REST_MB,
        ),
        Row("memory per pod, both sides", "250 KB", f"<= {goals.kb} KB", f"{kb:.1f} KB", kb <= goals.kb),
        Row(
            "one pod, create to Ready, median", "93 ms", f"<= {goals.latency} x a plain one",
            f"{latency:.2f}: {figures['latency_ms']:.0f} ms, plain {plain:.0f} ms", latency <= goals.latency,
        ),
        Row(
            f"{count} pods until Running", "-", f">= {goals.rate:.2f} of the limit's rate",
            f"{rate:.2f}: {figures['seconds']:.1f} s, limit {figures['limit_seconds']:.1f} s", rate >= goals.rate,
        ),
        Row(
            f"deletion of {count} on both sides", "22-50 s", f"<= {goals.deletion_seconds} s", f"{deletion:.1f} s",
            deletion <= goals.deletion_seconds,
        ),
    ]  # fmt: skip


def setting() -> str:
    """On what, and of what, the figures of a run are."""
    described = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty= with changes"], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    other = os.environ.get("LIQOD", "")
    programs = f", {other}" if other and not Path(other).is_relative_to(ROOT) else ""
    return f"commit {described or 'unknown'}{programs}; {machine(Path('/proc/cpuinfo').read_text(), os.cpu_count() or 0)}"


def machine(cpuinfo: str, cores: int) -> str:
    models = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return f"{cores} cores, {models[0] if models else 'of an unknown model'}"


def of_bare_client(figures: dict[str, Any]) -> str:
    """What can be compared with another machine: times against those of the bare client, and of a plain pod, and CPU time
    against that of all processes in the bare client's run."""
    spent = sum(figures["details"]["limit_cpu_ms_by_process"].values())
    ratios = {
        "pods until Running": figures["seconds"] / figures["limit_seconds"],
        "deletion": figures["deletion_seconds"] / figures["limit_seconds"],
        "one pod, against a plain one": figures["latency_ms"] / figures["plain_latency_ms"],
    }
    if spent:
        ratios["CPU per pod"] = figures["cpu_ms_per_pod"] / spent
        ratios["CPU per pod with the API servers'"] = figures["total_cpu_ms_per_pod"] / spent
    return "of the bare client's run: " + ", ".join(f"{name} {ratio:.3g}" for name, ratio in ratios.items())


def table(figures: dict[str, Any]) -> str:
    return lay_out(rows(figures))


def lay_out(found: list[Row]) -> str:
    lines = [("figure", "Go Liqo", "to reach", "measured", "")]
    for row in found:
        verdict = "" if row.target == "-" else "reached" if row.reached else "MISSED"
        lines.append((row.figure, row.go, row.target, row.measured, verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)


def explain(details: dict[str, Any]) -> str:
    """Where writes and CPU time go, per pod."""
    text = ["writes per pod:"]
    text += [f"  {count:6.2f}  {what}" for what, count in details["writes_by_kind"].items() if count >= 0.005]
    text.append("writes per pod of its deletion:")
    text += [f"  {count:6.2f}  {what}" for what, count in details["deletion_writes_by_kind"].items() if count >= 0.005]
    text.append("CPU ms per pod (liqod's run | the bare client's | its deletion):")
    limit, deletion = details["limit_cpu_ms_by_process"], details["deletion_cpu_ms_by_process"]
    text += [
        f"  {spent:6.2f} | {limit.get(process, 0):6.2f} | {deletion.get(process, 0):6.2f}  {process}"
        for process, spent in details["cpu_ms_by_process"].items()
    ]
    return "\n".join(text)
