"""Customers of an application: each sends one request after the other, and counts those that fail."""

from __future__ import annotations

import http.client
import threading
import time
from dataclasses import dataclass

from ..cluster.cluster import Cluster
from ..wait import wait_for

# Longer than parts of an application wait for each other.
_SECONDS = 8.0


@dataclass(frozen=True)
class Answer:
    """One request: when it was sent (time.monotonic), and what came of it: 0 is no answer."""

    sent: float
    code: int
    text: str

    @property
    def failed(self) -> bool:
        return self.code != 200


class Customers:
    """Several threads that ask `http://HOST/` at an Ingress of a cluster, or at another address that its node reaches,
    each ten times a second at most, until the block ends."""

    def __init__(self, cluster: Cluster, host: str, threads: int = 3, address: str = ""):
        self._cluster, self._host, self._address = cluster, host, address or cluster.address
        self.answers: list[Answer] = []
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def __enter__(self) -> Customers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    @property
    def failed(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.failed]

    def served(self, since: float = 0) -> set[str]:
        """The first words of what was answered well to requests sent since then."""
        return {answer.text.split()[0] for answer in list(self.answers) if not answer.failed and answer.sent >= since}

    def wait_for_more(self, count: int) -> None:
        """Waits until that many more requests have been answered, well or not."""
        wanted = len(self.answers) + count
        wait_for(lambda: len(self.answers) >= wanted, 60, f"{count} more requests to be answered")

    def _run(self) -> None:
        while not self._ends.wait(0.1):
            self.answers.append(self._ask())

    def _ask(self) -> Answer:
        sent = time.monotonic()
        connection = http.client.HTTPConnection(self._address, 80)
        try:
            connection.sock = self._cluster.space.connect(self._address, 80, _SECONDS)
            connection.request("GET", "/", headers={"Host": self._host})
            answer = connection.getresponse()
            return Answer(sent, answer.status, answer.read().decode(errors="replace").strip())
        except (http.client.HTTPException, OSError) as error:
            return Answer(sent, 0, repr(error))
        finally:
            connection.close()
