"""Watches the pods of a namespace and records when each reached which state; polling would make these times coarse."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.cluster.api import path
from harness.cluster.cluster import PORT, Cluster
from harness.cluster.node import is_ready


@dataclass
class Milestones:
    """When a pod was first seen to be there, bound, Running, Ready, and gone again (monotonic seconds)."""

    seen: float | None = None
    bound: float | None = None
    running: float | None = None
    ready: float | None = None
    gone: float | None = None


class PodWatch:
    """A watch from now on, in a thread of its own; use as a context manager. Without a namespace it is of all, among which
    no two pods may have one name."""

    def __init__(self, cluster: Cluster, namespace: str | None, alive: Callable[[], bool] = lambda: True):
        """`alive` says whether it is still worth waiting."""
        self.pods: dict[str, Milestones] = {}
        self._cluster, self._namespace, self._alive = cluster, namespace, alive
        self._changed = threading.Condition()
        self._failure: Exception | None = None
        self._closed = False
        admin = cluster.directory / "pki/admin"
        self._tls = ssl.create_default_context(cafile=str(cluster.authority.pair.certificate))
        self._tls.load_cert_chain(f"{admin}.crt", f"{admin}.key")
        self._version = cluster.api.get("pods", namespace)["metadata"]["resourceVersion"]
        self._answer = self._open()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _open(self) -> http.client.HTTPResponse:
        """Watches from the version that was seen last."""
        address = self._cluster.address
        connection = http.client.HTTPConnection(address, PORT)
        self._socket = self._tls.wrap_socket(self._cluster.space.connect(address, PORT), server_hostname=address)
        self._socket.settimeout(None)
        connection.sock = self._socket
        where = path("pods", self._namespace) + f"?watch=true&timeoutSeconds=3600&resourceVersion={self._version}"
        connection.request("GET", where, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200, f"watching pods: {answer.status} {answer.read(500)!r}"
        return answer

    def __enter__(self) -> PodWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def wait(self, count: int, milestone: str, timeout: float) -> float:
        """Waits until `count` pods have passed the milestone; returns when the last of them did."""
        return self._wait(lambda: self._last(count, milestone), timeout, f"{count} pods to be {milestone}")

    def wait_pod(self, name: str, milestone: str, timeout: float) -> float:
        """Waits until one pod has passed the milestone; returns when it did."""
        none = Milestones()
        return self._wait(
            lambda: getattr(self.pods.get(name, none), milestone), timeout, f"pod {name} to be {milestone}"
        )

    def _last(self, count: int, milestone: str) -> float | None:
        times = [at for pod in self.pods.values() if (at := getattr(pod, milestone)) is not None]
        return max(times) if len(times) >= count else None

    def _wait(self, found: Callable[[], float | None], timeout: float, what: str) -> float:
        until = time.monotonic() + timeout
        with self._changed:
            while (at := found()) is None:
                if self._failure:
                    raise self._failure
                left = until - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"waited {timeout:g} s for {what}")
                assert self._alive(), f"nobody works any more; waited for {what}"
                self._changed.wait(min(left, 1))
            return at

    def _run(self) -> None:
        """Reads; opens the watch anew if the server ends it, as a busy one does with readers that it finds slow."""
        try:
            while True:
                self._read()
                if self._closed:
                    return
                self._socket.close()
                self._answer = self._open()
        except Exception as error:  # whoever waits must hear of it
            if not self._closed:
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()

    def _read(self) -> None:
        while line := self._answer.readline():
            now = time.monotonic()
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise RuntimeError(f"the watch of pods ended: {event['object']}")
            self._version = event["object"]["metadata"]["resourceVersion"]
            with self._changed:
                if self._note(event, now):
                    self._changed.notify_all()

    def _note(self, event: dict[str, Any], now: float) -> bool:
        """Takes an event; true if it brought a milestone that somebody may wait for."""
        pod = event["object"]
        of = self.pods.setdefault(pod["metadata"]["name"], Milestones())
        passed = {
            "seen": True,
            "bound": bool(pod["spec"].get("nodeName")),
            "running": pod["status"].get("phase") == "Running",
            "ready": is_ready(pod),
            "gone": event["type"] == "DELETED",
        }
        news = [name for name, is_so in passed.items() if is_so and getattr(of, name) is None]
        for name in news:
            setattr(of, name, now)
        return bool(news)
