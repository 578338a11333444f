"""The table of `tools/bench peers`: what was measured, beside the goals."""

from __future__ import annotations

from typing import Any

import peers_profile
import report

# Goals.
GRANT_MS, TURN_MS, BLINK_SECONDS, FREE_FOR_CORE, CLAIMS_MS, DRAIN_SECONDS = 20.0, 50.0, 2.0, 0.05, 5.0, 3.0
# A function with a larger share of a profile is named.
SHARE = 0.05


def rows(figures: dict[str, Any]) -> list[report.Row]:
    found: list[report.Row] = []
    if consumer := figures.get("consumer"):
        found += _consumer(consumer)
    if provider := figures.get("provider"):
        found += _provider(provider)
    if drain := figures.get("drain"):
        found += _drain(drain)
    return found


def _row(figure: str, value: float, goal: float, unit: str, more: str = "", scale: float = 1.0) -> report.Row:
    measured = f"{scale * value:.3g} {unit}" + (f" ({more})" if more else "")
    return report.Row(figure, "-", f"<= {scale * goal:g} {unit}", measured, value <= goal)


def _turn(what: str, spent: dict[str, Any]) -> report.Row:
    longest = spent["longest_turn_ms"]
    return report.Row(f"longest turn while {what}", "-", f"<= {TURN_MS:g} ms", report.bound(longest), longest <= TURN_MS)


def _reading(whose: str, milliseconds: float) -> report.Row:
    return report.Row(f"turn of the {whose} in which /metrics is read", "-", "-", report.bound(milliseconds), True)


def _rest(whose: str, spent: dict[str, Any]) -> report.Row:
    measured = f"{100 * spent['cpu_seconds'] / spent['seconds']:.2f} % of a core"
    if spent["heartbeat_seconds"]:
        measured += f", {1000 * spent['heartbeat_seconds']:.1f} ms for each Node that is written anew"
    return report.Row(f"{whose} at rest", "-", "-", measured, True)


def _start(whose: str, spent: dict[str, Any]) -> report.Row:
    measured = f"{spent['cpu_seconds']:.1f} s, longest turn {report.bound(spent['longest_turn_ms'])}"
    return report.Row(f"{whose} begins, CPU until all is there", "-", "-", measured, True)


def _consumer(of: dict[str, Any]) -> list[report.Row]:
    size, lost = of["size"], int(of["blinked"]["lost"])
    blinked = f"{lost} of {size['providers']} ForeignClusters were lost"
    blink = _row("all peers blink, CPU", of["blink_seconds"], BLINK_SECONDS, "s", blinked)
    return [
        _start("consumer", of["start"]),
        _rest(f"consumer, {size['providers'] * size['nodes']:,} virtual nodes,", of["rest"]),
        _reading("consumer", of["reading_ms"]),
        _row("CPU of one grant that changes", of["grant_ms"], GRANT_MS, "ms"),
        _turn("grants change", of["grants"]),
        blink if lost >= size["providers"] else report.Row(blink.figure, "-", blink.target, blink.measured, False),
        _turn("all peers blink", of["blink"]),
        _row(f"CPU of a change that unbound claims wait for, {size['claims']:,} bound", of["claims_ms"], CLAIMS_MS, "ms"),
        _turn("that changes", of["claims"]),
    ]


def _provider(of: dict[str, Any]) -> list[report.Row]:
    size, change = of["size"], "20 pods a second change"
    if "free_for_core" in of:
        free = _row(f"free_for while {change}", of["free_for_core"], FREE_FOR_CORE, "% of a core", scale=100)
    else:
        more = "perf is missing: all that pods cost is counted"
        free = _row(f"free_for while {change}", of["pods_core"], FREE_FOR_CORE, "% of a core", more, scale=100)
    all_of_it = f"{100 * of['pods_core']:.1f} % of a core beyond rest"
    return [
        _start("provider", of["start"]),
        _rest(f"provider, {size['tenants']} tenants, {size['machines']:,} nodes,", of["rest"]),
        _reading("provider", of["reading_ms"]),
        free,
        report.Row(f"all that liqod does while {change}", "-", "-", all_of_it, True),
        _turn("pods change", of["pods"]),
        report.Row("all grants follow what is free, CPU", "-", "-", f"{of['cordon_seconds']:.2f} s", True),
        _turn("all grants follow", of["cordon"]),
    ]


def _drain(of: dict[str, Any]) -> list[report.Row]:
    figure = f"{of['pods']:,} pods of a virtual node that goes are evicted, {of['delay_ms']} ms an answer"
    gone = f"{of['gone_seconds']:.1f} s, {of['cpu_seconds']:.1f} s of CPU"
    return [
        _row(figure, of["evicted_seconds"], DRAIN_SECONDS, "s"),
        report.Row("until its Node is gone", "-", "-", gone, True),
    ]


def explain(figures: dict[str, Any]) -> str:
    text = ["CPU time is liqod's alone; its own cluster and all peers are in memory, in other processes."]
    for part in ("consumer", "provider"):
        for name, spent in figures.get(part, {}).items():
            if isinstance(spent, dict) and "writes" in spent:
                text.append(f"{part}, {name}: {spent['cpu_seconds']:.2f} s of CPU in {spent['seconds']:.0f} s; a second:")
                often = sorted(spent["writes"].items(), key=lambda item: -item[1])
                text += [f"  {count / spent['seconds']:8.2f}  {what}" for what, count in often if count >= spent["seconds"] / 20]
        for name, found in figures.get(part, {}).items():
            if name.endswith("_profile") and found:
                load = name.removesuffix("_profile")
                text.append(f"{part}, {load}: functions with 5 % of the CPU time, what they call included:")
                text += [f"  {100 * share:5.1f} %  {what}" for what, share in peers_profile.above(found, SHARE).items()]
    return "\n".join(text)
