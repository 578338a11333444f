"""The table: what was measured, beside what the Go version needs and what is to be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    figure: str
    go: str
    target: str
    measured: str
    reached: bool


def rows(figures: dict[str, Any]) -> list[Row]:
    """The rows for the figures of tools/bench offload --json."""
    rest, details = figures["rest_mb"], figures["details"]
    plain = details["plain_latency_ms"]
    rate = figures["limit_seconds"] / figures["seconds"]
    pods = f"{figures['pods']:,} pods until Running"
    return [
        Row(
            "writes per offloaded pod", "19-37", "<= 8", f"{figures['writes_per_pod']:.2f}",
            figures["writes_per_pod"] <= 8,
        ),
        Row(
            "CPU per pod, consumer + provider", "34 ms", "<= 4 ms", f"{figures['cpu_ms_per_pod']:.2f} ms",
            figures["cpu_ms_per_pod"] <= 4,
        ),
        Row(
            "CPU per pod with the API servers'", "135 ms", "<= 60 ms", f"{figures['total_cpu_ms_per_pod']:.1f} ms",
            figures["total_cpu_ms_per_pod"] <= 60,
        ),
        Row(
            "memory at rest, consumer / provider", "227 / 160 MB", "<= 20 MB each",
            f"{rest['consumer']:.1f} / {rest['provider']:.1f} MB", max(rest.values()) <= 20,
        ),
        Row(
            "memory per pod, both sides", "250 KB", "<= 30 KB", f"{figures['kb_per_pod']:.1f} KB",
            figures["kb_per_pod"] <= 30,
        ),
        Row(
            "one pod, create to Ready, median", "93 ms", "<= 45 ms",
            f"{figures['latency_ms']:.0f} ms, {figures['latency_ms'] / plain:.1f} x a plain pod's {plain:.0f} ms",
            figures["latency_ms"] <= 45,
        ),
        Row(
            pods, "-", ">= 0.70 of the limit's rate",
            f"{rate:.2f}: {figures['seconds']:.1f} s, limit {figures['limit_seconds']:.1f} s", rate >= 0.7,
        ),
    ]  # fmt: skip


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
    text.append("CPU ms per pod (liqod's run | the bare client's):")
    limit = details["limit_cpu_ms_by_process"]
    text += [
        f"  {spent:6.2f} | {limit.get(process, 0):6.2f}  {process}"
        for process, spent in details["cpu_ms_by_process"].items()
    ]
    return "\n".join(text)
