#!/usr/bin/env python3
"""tools/bench peers: a hundred providers, and a hundred consumers, of one liqod.

Its own cluster and its peers are API servers in memory, so that the machine holds them: CPU time is that of liqod alone.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test/cluster"))

import peers_consumer  # noqa: E402
import peers_drain  # noqa: E402
import peers_figures  # noqa: E402
import peers_provider  # noqa: E402
import report  # noqa: E402
from harness import settings  # noqa: E402
from harness.run import Run  # noqa: E402
from peers_consumer import ConsumerSize  # noqa: E402
from peers_profile import Profile  # noqa: E402
from peers_provider import ProviderSize  # noqa: E402
from peers_stage import PeersStage, say  # noqa: E402

PARTS = ("consumer", "provider", "drain")


def on_stage(name: str, peers: int, measure: Callable[[PeersStage], dict[str, Any]]) -> dict[str, Any]:
    """Each part has processes of its own, from nothing."""
    run, on = Run(), None
    try:
        on = PeersStage(run, name, peers)
        return measure(on)
    except BaseException:
        print(f"bench: logs are kept in {run.keep_logs('bench')}", file=sys.stderr, flush=True)
        raise
    finally:
        if on:
            on.close()
        run.close()


def bench(chosen: argparse.Namespace) -> dict[str, Any]:
    """What was measured until something failed is written to the file all the same."""
    parts = [part for part in PARTS if getattr(chosen, part)] or PARTS
    profile, figures = Profile(chosen.profile), dict[str, Any]()
    consumer = ConsumerSize(chosen.providers, chosen.nodes, chosen.namespaces, chosen.claims)
    provider = ProviderSize(chosen.tenants, chosen.machines)
    try:
        if "consumer" in parts:
            measure = lambda on: peers_consumer.run(on, consumer, chosen.seconds, profile)  # noqa: E731
            figures["consumer"] = {"size": asdict(consumer), **on_stage("rome", chosen.providers, measure)}
        if "provider" in parts:
            measure = lambda on: peers_provider.run(on, provider, chosen.seconds, profile)  # noqa: E731
            figures["provider"] = {"size": asdict(provider), **on_stage("milan", 0, measure)}
        if "drain" in parts:
            figures["drain"] = on_stage("rome", 1, lambda on: peers_drain.run(on, chosen.pods))
    finally:
        figures = plain(figures)
        if chosen.json:
            chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def plain(value: Any) -> Any:
    """As JSON can say it."""
    if isinstance(value, dict):
        return {name: plain(of) for name, of in value.items()}
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench peers", description=__doc__)
    for part in PARTS:
        options.add_argument(f"--{part}", action="store_true", help="this part alone, or those that are named (default: all)")
    options.add_argument("--providers", type=int, default=100, help="that the consumer borrows from (default: 100)")
    options.add_argument("--nodes", type=int, default=10, help="virtual nodes of each of them (default: 10)")
    options.add_argument("--namespaces", type=int, default=5000, help="of the consumer, that are offloaded (default: 5000)")
    options.add_argument("--claims", type=int, default=5000, help="of the consumer, that have their volumes (default: 5000)")
    options.add_argument("--tenants", type=int, default=100, help="that the provider lends to (default: 100)")
    options.add_argument("--machines", type=int, default=1000, help="nodes of the provider (default: 1000)")
    options.add_argument("--pods", type=int, default=1000, help="of the virtual node that goes (default: 1000)")
    options.add_argument("--seconds", type=float, default=60.0, help="of each load, and of rest (default: 60)")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    options.add_argument("--profile", type=Path, metavar="DIR", help="also repeats each load under perf, into DIR")
    chosen = options.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: networks of their own need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load = os.getloadavg()[0]
    figures = bench(chosen)
    say("done")
    found = peers_figures.rows(figures)
    print(report.lay_out(found), peers_figures.explain(figures), f"load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
