"""A load of pods: one is made after the other while something else happens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..cluster import audit
from ..wait import wait_for

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

# Ends of answers from a machine that is short of CPU: the request is sent again.
TOO_SLOW = (
    "; ask again",
    "; try again",
    "context deadline exceeded",
    "request did not complete within requested timeout - context canceled",
)


def refused_shadow_pods(provider: Cluster, since: int) -> list[str]:
    """What the provider answered since then to the creation of ShadowPods and was a refusal. A name that exists already is
    none."""
    answers = (
        audit.described(entry)
        for entry in provider.audit.entries(since)
        if audit.resource(entry) == "shadowpods" and entry["verb"] == "create" and audit.code(entry) not in (201, 409)
    )
    return [answer for answer in answers if not answer.endswith(TOO_SLOW)]


class Load:
    """Makes pods by `create`, which is given their names, until the block ends; `refused` are the answers that were no
    success."""

    def __init__(self, create: Callable[[str], object], pause: float = 0.05):
        self._create, self._pause, self._stop = create, pause, threading.Event()
        self.names: list[str] = []
        self.refused: list[str] = []
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(self._pause):
            name = f"load-{len(self.names)}"
            try:
                self._create(name)
                self.names.append(name)
            except Exception as failure:  # noqa: BLE001  whatever it is, it is what the user gets
                self.refused.append(f"{name}: {failure}")

    def wait_for_more(self, count: int, timeout: float = 60) -> None:
        """Waits until so many more are made."""
        made = len(self.names)
        wait_for(lambda: len(self.names) >= made + count, timeout, f"{count} more pods to be made")

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
