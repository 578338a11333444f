"""The table of `tools/bench scale`: what was measured, beside the goals."""

from __future__ import annotations

import statistics
from typing import Any

import report

# Goals.
MEMORY_MB, START_SECONDS, TURN_MS, FLAT, LATENCY_RATIO = 300.0, 20.0, 50.0, 0.05, 1.2
REST_FEW_SECONDS, REST_ALL_SECONDS = 0.5, 2.0
MANNERS = ("stuck", "lying", "flooding", "crowded")
# Connections of one client of liqod to one server, and the streams that an API server allows on each.
MAX_CONNECTIONS = {"watches": 128, "requests": 32}
STREAMS_PER_CONNECTION = 100


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def flatness(steps: list[dict[str, Any]]) -> float:
    """How far the requests per pod of a step are from those of the first, as a fraction."""
    first = steps[0]["requests_per_pod"]
    return max(abs(step["requests_per_pod"] / first - 1) for step in steps)


def rows(figures: dict[str, Any]) -> list[report.Row]:
    size = figures["size"]
    pods, nodes, namespaces = f"{size['pods']:,} pods", f"{size['nodes']} nodes", f"{size['namespaces']:,} namespaces"
    few, all_ = figures["rest_few"], figures["rest_all"]
    return [
        _memory("rome", f"memory of the consumer: {pods}, {nodes}, {namespaces}", figures),
        _memory("milan", f"memory of the provider: {size['pods']:,} ShadowPods", figures),
        _start("start of the consumer, caches complete / first write", figures["start_home"]),
        _start("start of the provider, likewise", figures["start_away"]),
        *_turns(figures["changes"]),
        _requests(figures["steps"]),
        _rest(f"CPU at rest, {size['few']} twins", few, REST_FEW_SECONDS),
        _rest(f"CPU at rest, {namespaces}, {nodes}, {pods}", all_, REST_ALL_SECONDS),
        *(_latency(manner, figures["foul"]) for manner in MANNERS),
        *_open(figures["connections"]),
    ]  # fmt: skip


def _memory(cluster: str, figure: str, figures: dict[str, Any]) -> report.Row:
    """After the load, and of a process that has begun anew: both are a day's work."""
    grown = figures["loaded_mb"][cluster]
    anew = figures["rest_all"]["mb"][cluster]
    measured = f"{grown:.0f} MB, begun anew {anew:.0f} MB"
    return report.Row(figure, "-", f"<= {MEMORY_MB:g} MB", measured, max(grown, anew) <= MEMORY_MB)


def _start(figure: str, start: dict[str, float]) -> report.Row:
    complete, written = start["complete_seconds"], start["first_write_seconds"]
    return report.Row(
        figure, "-", f"<= {START_SECONDS:g} s", f"{complete:.1f} / {written:.1f} s",
        max(complete, written) <= START_SECONDS,
    )  # fmt: skip


def _turns(changes: dict[str, dict[str, Any]]) -> list[report.Row]:
    """One reading of the metrics is in each time, and is not what is asked about: if no turn was longer than that of a
    reading may be, the longest one is left out."""
    clusters = ("rome", "milan")
    readings = {name: max(changes[of][name]["longest_turn_ms"] for of in ("reading", "nothing")) for name in clusters}
    found = [report.Row("turn in which /metrics is read", "-", "-", _by_cluster(readings), True)]
    for change, of in changes.items():
        if change == "reading":
            continue
        longest = {
            name: of[name]["longest_turn_ms" if of[name]["longest_turn_ms"] > readings[name] else "second_turn_ms"]
            for name in clusters
        }
        if change == "nothing":
            found.append(report.Row("longest turn while nothing changes", "-", "-", _by_cluster(longest), True))
            continue
        figure, goal = f"longest turn while one {change} changes", f"<= {TURN_MS:g} ms"
        found.append(report.Row(figure, "-", goal, _by_cluster(longest), max(longest.values()) <= TURN_MS))
    return found


def _by_cluster(milliseconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {report.bound(of)}" for name, of in milliseconds.items())


def _requests(steps: list[dict[str, Any]]) -> report.Row:
    measured = ", ".join(f"{step['requests_per_pod']:.2f}" for step in steps)
    figure = "requests per pod: " + ", ".join(f"{step['pods']:,}" for step in steps) + " pods"
    return report.Row(figure, "-", f"flat, +-{100 * FLAT:g} %", measured, flatness(steps) <= FLAT)


def _rest(figure: str, rest: dict[str, Any], goal: float) -> report.Row:
    cpu = rest["cpu_seconds"]
    servers = sum(seconds for name, seconds in cpu.items() if name.endswith("/kube-apiserver"))
    measured = f"{cpu['rome/liqod']:.2f} s (provider {cpu['milan/liqod']:.2f}, API servers {servers:.1f})"
    return report.Row(figure + ", a minute", "-", f"<= {goal:g} s", measured, cpu["rome/liqod"] <= goal)


def _latency(manner: str, foul: dict[str, dict[str, Any]]) -> report.Row:
    """One provider is so, and pods go to another. How long they take while all are well is measured again and again."""
    well = p95([milliseconds for of in foul.values() for milliseconds in of["well_ms"]])
    so = p95(foul[manner]["ms"])
    return report.Row(
        f"a provider that is {manner}: p95 of another's pods", "-", f"<= {LATENCY_RATIO:g} x",
        f"{so / well:.2f} x ({so:.0f} of {well:.0f} ms)", so / well <= LATENCY_RATIO,
    )  # fmt: skip


def _open(connections: dict[str, Any]) -> list[report.Row]:
    found = []
    for use, most in MAX_CONNECTIONS.items():
        # An earlier commit may not count these.
        if f"{use} streams" not in connections:
            continue
        streams, made = connections[f"{use} streams"], connections[f"{use} connections"]
        measured = (
            f"{streams['all']:.0f} on {made['all']:.0f}; to {streams['where']} {streams['most']:.0f}, at most "
            f"{most * STREAMS_PER_CONNECTION:,} on {most}"
        )
        found.append(report.Row(f"streams on connections, {use}", "-", "-", measured, True))
    return found


def counted(held: dict[str, float]) -> str:
    return ", ".join(f"{count:,.0f} {what}" for what, count in held.items())


def explain(figures: dict[str, Any]) -> str:
    size = figures["size"]
    text = [
        f"From real API servers, of 1 consumer and 1 provider: {size['pods']:,} pods on kwok, {size['twins']:,} twins, "
        "and every request that is counted.",
        f"From API servers in memory: the {size['providers'] - 1} other providers, {size['nodes'] - 1} virtual nodes, "
        f"{size['namespaces'] - size['twins']:,} twins, and what they do wrong.",
        "requests per pod, step by step:",
    ]
    names = {what for step in figures["steps"] for what in step["requests"]}
    last = figures["steps"][-1]["requests"]
    for what in sorted(names, key=lambda what: -last.get(what, 0)):
        counts = [step["requests"].get(what, 0) for step in figures["steps"]]
        if max(counts) >= 0.005:
            text.append("  " + " | ".join(f"{count:6.2f}" for count in counts) + f"  {what}")
    text.append("seconds until the pods of a step run: " + ", ".join(f"{s['seconds']:.0f}" for s in figures["steps"]))
    text.append("CPU ms per pod of the last step:")
    cpu = figures["steps"][-1]["cpu_ms"]
    text += [f"  {ms:6.2f}  {name}" for name, ms in sorted(cpu.items(), key=lambda item: -item[1]) if ms >= 0.05]
    for title, rest in (("few twins", figures["rest_few"]), ("all", figures["rest_all"])):
        text.append(f"at rest with {title}, a minute: CPU s")
        used = sorted(rest["cpu_seconds"].items(), key=lambda item: -item[1])
        text += [f"  {seconds:6.2f}  {name}" for name, seconds in used if seconds >= 0.05]
        text += [f"  {count:8.1f}  {what}" for what, count in rest["requests"].items() if count >= 1]
    for name, start in (("consumer", figures["start_home"]), ("provider", figures["start_away"])):
        text.append(
            f"start of the {name}: {start['cpu_seconds']:.1f} s of CPU until the first write, longest turn "
            f"{report.bound(start['longest_turn_ms'])}, {start['mb']:.0f} MB"
        )
    text.append("CPU s of the liqods in the seconds after a change (rome, milan):")
    for name, of in figures["changes"].items():
        text.append(f"  {of['rome']['cpu_seconds']:6.2f} {of['milan']['cpu_seconds']:6.2f}  {name}")
    text.append("rome's liqod holds " + counted(figures["held"]))
    text.append("while one provider is foul: events that it has told, CPU s of rome's liqod:")
    text += [f"  {of['events']:8.0f} {of['cpu_seconds']:6.2f}  {name}" for name, of in figures["foul"].items()]
    return "\n".join(text)
