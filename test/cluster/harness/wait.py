"""Waits until something is true; a failure says what was awaited and what was seen last."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# The factor for time-outs: above one if several files of stories share the machine.
_PATIENCE = float(os.environ.get("LIQO_TEST_PATIENCE") or 1)


class TimedOut(AssertionError):
    """What was awaited did not happen in time."""


def patient(timeout: float) -> float:
    """How many seconds to wait on this machine for what an idle one does within `timeout` seconds."""
    return timeout * _PATIENCE


def wait_for(predicate: Callable[[], T], timeout: float, what: str, interval: float = 0.05) -> T:
    """Calls `predicate` until its result is true, and returns that; fails after `patient(timeout)` seconds.

    An AssertionError, LookupError or OSError out of the predicate means "not yet": the failure tells it if it was the
    last thing that happened.
    """
    started, timeout = time.monotonic(), patient(timeout)
    seen: object = None
    while True:
        try:
            seen = predicate()
            if seen:
                return seen
        except (AssertionError, LookupError, OSError) as error:
            seen = error
        if time.monotonic() - started > timeout:
            raise TimedOut(f"waited {timeout:g} s for {what}; last seen: {_short(seen)}")
        # A long wait asks less often: each look is work for an API server, and others need the machine.
        time.sleep(max(interval, min(0.25, (time.monotonic() - started) / 20)))


def _short(seen: object) -> str:
    text = f"{type(seen).__name__}: {seen}" if isinstance(seen, BaseException) else repr(seen)
    return text if len(text) <= 600 else text[:600] + " …"


def stays(predicate: Callable[[], object], seconds: float, what: str, interval: float = 0.25) -> None:
    """Fails if `predicate` stops being true within the next `seconds` seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        seen = predicate()
        assert seen, f"{what} did not stay so for {seconds:g} s: {_short(seen)}"
        time.sleep(interval)
