"""How long each turn of liqod's loop takes, by the histogram of turns: CPU time in which the loop does nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.liqo.liqod import Liqod

Turns = dict[float, float]


def turns(daemon: Liqod) -> Turns:
    """How many turns took no longer than each bound (seconds), until now."""
    return {
        float(name.split('le="')[1].split('"')[0]): count
        for name, count in daemon.metrics().items()
        if name.startswith("liqod_loop_turn_seconds_bucket")
    }


def longest_ms(now: Turns, before: Mapping[float, float] | None = None, left_out: int = 0) -> float:
    """Milliseconds that no turn was longer than since `before`; infinite if one was longer than the last bound. So
    many of the longest are left out."""
    grown = {bound: count - (before or {}).get(bound, 0) for bound, count in now.items()}
    wanted = grown.get(math.inf, 0) - left_out
    return 1000 * min((bound for bound, count in grown.items() if count >= wanted), default=0)
