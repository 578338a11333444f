"""tools/bench scale: ten thousand pods, a hundred virtual nodes and five thousand namespaces in one liqod.

It measures memory, start, requests, turns of the loop, the cost of rest, and what a provider that is stuck, lies,
floods or is crowded costs the others.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test/cluster"))

import report  # noqa: E402
import scale_figures  # noqa: E402
import scale_measures as measures  # noqa: E402
from harness import settings  # noqa: E402
from harness.run import Run  # noqa: E402
from profiler import Profiler  # noqa: E402
from scale_stage import ScaleStage, Size  # noqa: E402
from watch import PodWatch  # noqa: E402

# Pods made one at a time for each kind of foul provider, and as many before each while all are well.
SINGLE_PODS = 40
# Twins of that provider in which pods of rome wait, so that liqod watches them.
OCCUPIED = 100
# Seconds that a provider is foul before its effect on others is measured.
FOUL_FOR = 10.0
BEGAN = time.monotonic()


def say(text: str) -> None:
    print(f"bench: {time.monotonic() - BEGAN:5.0f} s: {text}", file=sys.stderr, flush=True)


def cpu_of(rest: dict[str, Any]) -> str:
    return f"{rest['cpu_seconds']['rome/liqod']:.2f} s of CPU a minute"


def steps(pods: int) -> list[range]:
    """A hundred pods, what is lacking to a thousand, and the rest."""
    ends = [end for end in (100, 1000) if end < pods] + [pods]
    return [range(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


def measure_few(on: ScaleStage) -> dict[str, Any]:
    """milan alone, with few twins."""
    on.offload(range(on.size.few))
    for daemon in on.daemons:
        daemon.start()
    on.wait_nodes(1)
    on.settle()
    rest = measures.at_rest(on)
    on.home.stop()
    return rest


def measure_foul(on: ScaleStage) -> dict[str, dict[str, Any]]:
    """Pods of milan while the last provider is stuck, lies, floods or is crowded, each after some while all are well."""
    last = on.stand_ins.providers[-1]
    on.occupy(last, OCCUPIED)
    found: dict[str, dict[str, Any]] = {}
    for manner in scale_figures.MANNERS:
        on.stand_ins.start(last)
        on.wait_nodes(on.size.nodes)
        on.settle()
        well = measures.latencies(on, f"before-{manner}", SINGLE_PODS)
        on.stand_ins.start(last, manner)
        time.sleep(FOUL_FOR)
        events = measures.events_taken(on, last.name)
        so: list[float] = []
        used = measures.spent(on, lambda name=manner, so=so: so.extend(measures.latencies(on, name, SINGLE_PODS)))
        found[manner] = {
            "well_ms": well,
            "ms": so,
            "events": measures.events_taken(on, last.name) - events,
            "cpu_seconds": used["rome/liqod"],
            "cpu_seconds_of_all": used,
        }
        p95 = scale_figures.p95
        say(f"one provider is {manner}: p95 {p95(so):.0f} ms, while all are well {p95(well):.0f} ms")
        if manner == "crowded":
            on.wait_told(last, "shows more than is held of one provider")
    return found


def measure(on: ScaleStage, figures: dict[str, Any], profile: Path | None) -> None:
    size = on.size
    say(f"{size.few} namespaces")
    figures["size"] = {**asdict(size), "twins": size.twins, "few": size.few}
    figures["rest_few"] = measure_few(on)
    say(f"at rest {cpu_of(figures['rest_few'])}; {size.namespaces} namespaces and {size.nodes} virtual nodes")
    on.add_stand_ins()
    on.offload(range(size.few, size.namespaces))
    say("they are made, and rome's liqod begins anew")
    on.home.start(ready_within=300)
    on.wait_nodes(size.nodes)
    on.wait_copies()
    on.settle()
    figures["empty_mb"] = measures.memory_mb(on)
    say(f"it has done what there was to do, and holds {figures['empty_mb']['rome']:.0f} MB")
    figures["steps"] = []
    with PodWatch(on.rome, None, lambda: on.home.running and on.away.running) as watch:
        for numbers in steps(size.pods):
            figures["steps"].append(step := measures.load(on, watch, numbers))
            say(f"{numbers.stop} pods: {step['requests_per_pod']:.2f} requests a pod, {step['seconds']:.0f} s")
    figures["loaded_mb"] = measures.memory_mb(on)
    figures["changes"] = measures.changes(on)
    say(f"one object after the other has changed; {figures['loaded_mb']['rome']:.0f} MB")
    figures["start_home"] = measures.start_home(on)
    figures["start_away"] = measures.start_away(on)
    say(f"both have begun anew, complete in {figures['start_home']['complete_seconds']:.1f} s")
    figures["rest_all"] = measures.at_rest(on)
    say(f"at rest {cpu_of(figures['rest_all'])}")
    if profile:
        profiler = Profiler(profile, on.daemons)
        time.sleep(measures.REST)
        profiler.stop()
    figures["connections"] = measures.connections(on)
    figures["held"] = measures.held(on)
    say(f"rome's liqod holds {scale_figures.counted(figures['held'])}")
    figures["foul"] = measure_foul(on)


def bench(size: Size, file: Path | None, profile: Path | None) -> dict[str, Any]:
    """What was measured until something failed is written to the file all the same."""
    run, on, figures = Run(), None, dict[str, Any]()
    try:
        say("starting two clusters")
        on = ScaleStage(run, size)
        measure(on, figures, profile)
        return figures
    except BaseException:
        if run.clusters:
            print(f"bench: logs are kept in {run.keep_logs('bench')}", file=sys.stderr, flush=True)
        raise
    finally:
        if file:
            file.write_text(json.dumps(figures, indent=1) + "\n")
        if on:
            on.stand_ins.close()
        run.close()


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench scale", description=__doc__)
    options.add_argument("--pods", type=int, default=10_000, help="default: 10000")
    options.add_argument("--nodes", type=int, default=100, help="virtual nodes of all providers (default: 100)")
    options.add_argument("--providers", type=int, default=10, help="one of them real (default: 10; 2 at least)")
    options.add_argument("--namespaces", type=int, default=5000, help="that are offloaded (default: 5000)")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    options.add_argument("--profile", type=Path, metavar="DIR", help="also profiles one more minute of rest, into DIR")
    chosen = options.parse_args()
    if chosen.providers < 2 or chosen.nodes < chosen.providers or chosen.namespaces < 2 * chosen.providers:
        options.error("there must be 2 providers, and for each a virtual node and 2 namespaces, at least")
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load = os.getloadavg()[0]
    size = Size(chosen.pods, chosen.nodes, chosen.providers, chosen.namespaces)
    figures = bench(size, chosen.json, chosen.profile)
    found = scale_figures.rows(figures)
    print(report.lay_out(found), scale_figures.explain(figures), f"load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
