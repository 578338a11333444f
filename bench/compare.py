"""Whether a figure is worse than an earlier commit's, by turns that both took in one session. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_figures import p95

Figures = Mapping[str, Any]
# More than this is worse.
LIMIT = 1.05
# How often the true ratio may lie below the spread, or above it.
DOUBT = 1 / 8


@dataclass(frozen=True)
class Figure:
    """One figure of a bench: less is better. `of` reads it from what the bench has written with --json, and `bare` what
    the bare client, or whatever stands for the machine, took in the same run."""

    name: str
    of: Callable[[Figures], float]
    unit: str = ""
    bare: Callable[[Figures], float] | None = None

    def cost(self, figures: Figures) -> float:
        """In the bare client's own, if there is one: what the machine does to both then cancels out."""
        return self.of(figures) / self.bare(figures) if self.bare else self.of(figures)


@dataclass(frozen=True)
class Compared:
    figure: Figure
    earlier: float
    today: float
    ratio: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        return self.low > LIMIT


def least_turns() -> int:
    return math.ceil(-math.log2(DOUBT))


def spread(ratios: Sequence[float]) -> tuple[float, float]:
    """Between which the true ratio lies, whatever the distribution is: the k-th smallest and the k-th largest. Each turn's
    ratio is as likely above the true one as below it, so that all but k-1 are above it no more often than by throwing a
    coin. k is the largest number for which that is rarer than DOUBT."""
    if len(ratios) < least_turns():
        raise ValueError(f"a spread needs {least_turns()} turns")
    found, count, rarer = sorted(ratios), len(ratios), 0.0
    cut = 0
    while (rarer := rarer + math.comb(count, cut) / 2**count) <= DOUBT:
        cut += 1
    return found[cut - 1], found[-cut]


def ratio_of(today: float, earlier: float) -> float:
    if earlier:
        return today / earlier
    return math.inf if today else 1.0


def compare(figure: Figure, earlier: Sequence[Figures], today: Sequence[Figures]) -> Compared:
    """Turn by turn, since those of a pair had the same hour."""
    pairs = zip(today, earlier, strict=True)
    ratios = [ratio_of(figure.cost(now), figure.cost(before)) for now, before in pairs]
    low, high = spread(ratios)
    return Compared(
        figure=figure,
        earlier=statistics.median(map(figure.of, earlier)),
        today=statistics.median(map(figure.of, today)),
        ratio=statistics.median(ratios),
        low=low,
        high=high,
    )


def table(found: Sequence[Compared]) -> str:
    lines = [("figure", "earlier", "today", "ratio", "spread", "")]
    for each in found:
        name = each.figure.name + (", of the bare client's" if each.figure.bare else "")
        values = [f"{value:.4g} {each.figure.unit}".rstrip() for value in (each.earlier, each.today)]
        verdict = "WORSE" if each.is_worse else "above, within the spread" if each.ratio > LIMIT else ""
        lines.append((name, *values, f"{each.ratio:.2f}", f"{each.low:.2f} to {each.high:.2f}", verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)


def at(*path: str) -> Callable[[Figures], float]:
    """The number under these keys; of a list its median."""

    def read(figures: Figures) -> float:
        found: Any = figures
        for key in path:
            found = found[key]
        return statistics.median(found) if isinstance(found, list) else float(found)

    return read


def _limit_cpu(figures: Figures) -> float:
    """CPU time of all processes for a pod of the bare client."""
    return sum(figures["details"]["limit_cpu_ms_by_process"].values())


def _server_cpu(figures: Figures) -> float:
    """CPU time of the API server, which does the same for each creation whatever liqod is."""
    return 1000 * figures["cpu_seconds"]["kube-apiserver"] / figures["load"]["sent"]


def _limit_object_cpu(figures: Figures) -> float:
    return 1000 * figures["limit_cpu_seconds"]["milan/kube-apiserver"] / figures["objects"]


def _last_step(key: str, process: str = "") -> Callable[[Figures], float]:
    def read(figures: Figures) -> float:
        found = figures["steps"][-1][key]
        return found[process] if process else found

    return read


def _relay(direction: str, key: str) -> Callable[[Figures], float]:
    return at("ways", "relay", direction, key)


def _seconds_per_gb(way: str, direction: str) -> Callable[[Figures], float]:
    return lambda figures: 1000 / figures["ways"][way][direction]["mb_per_second"]


# Of `admission` the pure decision is left out: it is that of today's programs in every turn.
FIGURES: dict[str, list[Figure]] = {
    "offload": [
        Figure("writes per pod before the last is Running", at("early_writes_per_pod")),
        Figure("writes per pod over its life", at("writes_per_pod")),
        Figure("CPU per pod, both liqods", at("cpu_ms_per_pod"), "ms", _limit_cpu),
        Figure("CPU per pod with the API servers'", at("total_cpu_ms_per_pod"), "ms", _limit_cpu),
        Figure("memory at rest, consumer", at("rest_mb", "consumer"), "MB"),
        Figure("memory at rest, provider", at("rest_mb", "provider"), "MB"),
        Figure("memory per pod, both sides", at("kb_per_pod"), "KB"),
        Figure("one pod, create to Ready", at("latency_ms"), "ms", at("plain_latency_ms")),
        Figure("until all pods are Running", at("seconds"), "s", at("limit_seconds")),
        Figure("deletion on both sides", at("deletion_seconds"), "s", at("limit_seconds")),
    ],
    "peer": [
        Figure("peer, until the slice is accepted", at("accepted"), "s"),
        Figure("peer, until the Node is Ready", at("ready"), "s"),
        Figure("unpeer", at("gone"), "s"),
    ],
    "admission": [
        Figure("CPU of liqod per admission", at("cpu_ms_per_admission"), "ms", _server_cpu),
        Figure("commits per admission", at("commits_per_admission")),
        Figure("the whole creation, p50", at("load", "latency_ms", "p50"), "ms"),
        Figure("the whole creation, p99", at("load", "latency_ms", "p99"), "ms"),
    ],
    "endpoints": [
        Figure("the final state, after the last flip", at("last_seconds"), "s"),
        Figure("writes of a ShadowEndpointSlice", at("shadowendpointslices", "writes_per_slice")),
        Figure("writes of an EndpointSlice", at("endpointslices", "writes_per_slice")),
        Figure("CPU of liqod, consumer", at("cpu_seconds", "rome"), "s"),
        Figure("CPU of liqod, provider", at("cpu_seconds", "milan"), "s"),
    ],
    "reflection": [
        Figure("seconds per object", lambda figures: 1 / figures["rate"], "s", lambda figures: 1 / figures["limit_rate"]),
        Figure("writes per object", at("reflected", "writes_per_object")),
        Figure("CPU of liqod per object", at("reflected", "cpu_ms_per_object"), "ms", _limit_object_cpu),
        Figure("memory per object", at("reflected", "kb_per_object"), "KB"),
        Figure("memory at rest", at("rest", "mb"), "MB"),
        Figure("CPU of liqod at rest, of a second", at("rest", "liqod_cpu_ms_per_second"), "ms"),
        Figure("CPU of liqod after a restart", at("restart", "cpu_seconds"), "s"),
    ],
    "scale": [
        Figure("memory of the consumer", at("loaded_mb", "rome"), "MB"),
        Figure("memory of the provider", at("loaded_mb", "milan"), "MB"),
        Figure("start of the consumer, until its first write", at("start_home", "first_write_seconds"), "s"),
        Figure("start of the provider, until its first write", at("start_away", "first_write_seconds"), "s"),
        Figure("requests per pod, last step", _last_step("requests_per_pod")),
        Figure("CPU per pod of the consumer, last step", _last_step("cpu_ms", "rome/liqod"), "ms"),
        Figure("CPU per pod of the provider, last step", _last_step("cpu_ms", "milan/liqod"), "ms"),
        Figure("CPU at rest of the consumer, a minute", at("rest_all", "cpu_seconds", "rome/liqod"), "s"),
    ],
    "peers": [
        Figure("CPU of the consumer's start", at("consumer", "start", "cpu_seconds"), "s"),
        Figure("CPU of a grant that changes", at("consumer", "grant_ms"), "ms"),
        Figure("CPU of a blink of all peers", at("consumer", "blink_seconds"), "s"),
        Figure("CPU at rest of the consumer", at("consumer", "rest", "core"), "of a core"),
        Figure("CPU of pods that change, beyond rest", at("provider", "pods_core"), "of a core"),
        Figure("CPU of grants that follow what is free", at("provider", "cordon_seconds"), "s"),
        Figure("CPU at rest of the provider", at("provider", "rest", "core"), "of a core"),
        Figure("pods of a virtual node that goes are evicted", at("drain", "evicted_seconds"), "s"),
    ],
    "streams": [
        *(
            figure
            for way in ("down", "up")
            for figure in (
                Figure(f"{way}: time per GB", _seconds_per_gb("liqod", way), "s", _seconds_per_gb("relay", way)),
                Figure(f"{way}: CPU per GB", at("ways", "liqod", way, "cpu_seconds_per_gb"), "s",
                       _relay(way, "cpu_seconds_per_gb")),
            )
        ),
        Figure("memory of execs whose readers stand still", at("still", "mb"), "MB"),
        Figure("memory of port-forwards that are stuck both ways", at("stuck", "mb"), "MB"),
        Figure("memory of many streams above rest", at("crowd", "mb"), "MB"),
    ],
    "hostile": [
        Figure("peak memory above rest", lambda figures: figures["peak_mb"] - figures["rest_mb"], "MB"),
        Figure("pods of another provider, p95", lambda figures: p95(figures["ms"]), "ms",
               lambda figures: p95(figures["plain_ms"])),
        Figure("growth of the database at home", at("database_mb"), "MB"),
    ],
    "pump": [Figure("the figure that it prints first", at("printed"))],
}  # fmt: skip
