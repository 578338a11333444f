"""Strangers in the network get nothing from the ports of liqod, and nobody else notices them."""

from __future__ import annotations

import contextlib
import http.client
import json
import resource
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import objects
from harness.cluster.api import Refused
from harness.cluster.callers import WEBHOOK_PORT
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import HEALTH_PORT, METRICS_PORT, Liqod
from harness.monitoring.load import TOO_SLOW
from harness.required import require_liqod
from harness.run import Run
from harness.wait import patient, wait_for

KUBELET_PORT = 10250
MIB = 1 << 20
# The chart gives liqod 512 MiB; two thousand TLS connections take a quarter of that.
MAX_MEMORY = 400 * MIB
REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}


@pytest.fixture(scope="module")
def argos(run: Run) -> Iterator[Cluster]:
    require_liqod()
    with run.borrow(argos=Options()) as (cluster,):
        yield cluster


@pytest.fixture(scope="module")
def liqod(argos: Cluster) -> Liqod:
    # This process holds the other end of every connection.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    daemon = Liqod(argos, chart.install(argos)).start()
    wait_for(lambda: is_refused(argos, "-1"), 60, "the API server to ask the webhooks")
    return daemon


class Stranger:
    """Somebody in the network of a cluster, and what they keep open."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.sockets: list[socket.socket] = []
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def connect(self, port: int) -> socket.socket:
        opened = self.cluster.space.connect(self.cluster.address, port, patient(30))
        self.sockets.append(opened)
        return opened

    def crowds(self, port: int, count: int) -> None:
        """Opens so many connections and says nothing, faster than the server ends those that do (10 s)."""
        self.sockets += self.cluster.space.connect_often(self.cluster.address, port, count, patient(30))

    def secured(self, port: int) -> socket.socket:
        opened = self.connect(port)
        if port in (METRICS_PORT, HEALTH_PORT):
            return opened
        opened = self.tls.wrap_socket(opened)
        self.sockets.append(opened)
        return opened

    def begins_a_body(self, port: int, path: str, announced: int, sent: int) -> None:
        head = f"POST {path} HTTP/1.1\r\nhost: liqod\r\ncontent-length: {announced}\r\n\r\n"
        with contextlib.suppress(OSError):  # it is cut off
            self.secured(port).sendall(head.encode() + b" " * sent)

    def asks(self, port: int, method: str, path: str, body: str | None = None) -> int:
        connection = http.client.HTTPConnection(self.cluster.address, port)
        connection.sock = self.secured(port)
        try:
            connection.request(method, path, body)
            return connection.getresponse().status
        finally:
            connection.close()

    def tries(self, port: int, method: str, path: str, body: str) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):  # it may have to make room for others
            self.asks(port, method, path, body)

    def leave(self) -> None:
        for each in self.sockets:
            each.close()


@pytest.fixture
def stranger(argos: Cluster) -> Iterator[Stranger]:
    somebody = Stranger(argos)
    yield somebody
    somebody.leave()


class Watcher:
    """Uses the webhooks through the API server and looks at the memory, time and again, until the block ends."""

    def __init__(self, liqod: Liqod):
        self.liqod, self.memory = liqod, 0.0
        self.passed = self.refused = 0
        self._end = threading.Event()
        self._failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._repeat, args=(each,)) for each in (self._write, self._look)]

    def __enter__(self) -> Watcher:
        for thread in self._threads:
            thread.start()
        wait_for(lambda: self.passed > 0 or self._failures, 60, "the first answer")
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _repeat(self, action: Callable[[], None]) -> None:
        try:
            while not self._end.is_set():
                try:
                    action()
                except Refused as refusal:
                    # The machine is short of CPU: a caller that is turned away gets another answer, and at once.
                    if not str(refusal).endswith(TOO_SLOW):
                        raise
        except BaseException as failure:  # noqa: BLE001 (it is raised where the block ends)
            self._failures.append(failure)

    def _write(self) -> None:
        assert not is_refused(self.liqod.cluster, "1")
        self.passed += 1
        assert is_refused(self.liqod.cluster, "-1")
        self.refused += 1

    def _look(self) -> None:
        self.memory = max(self.memory, self.liqod.metrics()["process_resident_memory_bytes"])
        self._end.wait(0.1)


def is_refused(cluster: Cluster, cpu: str) -> bool:
    """Whether the webhooks refuse a Quota of so much; any other failure raises."""
    body = objects.quota("q", "pool", {"cpu": cpu})
    where = "/apis/offloading.liqo.io/v1beta1/namespaces/default/quotas"
    try:
        cluster.api.request("POST", where, body, query={"dryRun": "All"})
    except Refused as refusal:
        if "cannot be negative" in str(refusal):
            return True
        raise
    return False


def in_parallel(actions: list[Callable[[], object]]) -> None:
    with ThreadPoolExecutor(16) as pool:
        for each in [pool.submit(action) for action in actions]:
            each.result()


@pytest.mark.refusals("a Quota of less than nothing")
def test_a_flood_of_connections_and_bodies_takes_no_memory_and_nobody_elses_place(
    liqod: Liqod, stranger: Stranger
) -> None:
    with Watcher(liqod) as watcher:
        # More connections than the servers take, all of them silent.
        for port, count in ((WEBHOOK_PORT, 1300), (KUBELET_PORT, 1300), (METRICS_PORT, 200), (HEALTH_PORT, 200)):
            stranger.crowds(port, count)
        # 400 MB of bodies that never end.
        bodies = [
            lambda: stranger.begins_a_body(WEBHOOK_PORT, "/validate/quotas", 6 * MIB, 6 * MIB - 1) for _ in range(60)
        ]
        for port, path in ((KUBELET_PORT, "/exec/a/b/c"), (METRICS_PORT, "/metrics")):
            bodies += [
                lambda port=port, path=path: stranger.begins_a_body(port, path, 3 * MIB, 3 * MIB - 1) for _ in range(20)
            ]
        in_parallel(bodies)
        # Reviews that take more memory parsed than as text.
        ones = json.dumps({**REVIEW, "request": [1] * 1_900_000}, separators=(",", ":"))
        in_parallel([lambda: stranger.tries(WEBHOOK_PORT, "POST", "/validate/quotas", ones) for _ in range(20)])
        assert stranger.asks(WEBHOOK_PORT, "POST", "/validate/quotas", ones) == 400
        assert stranger.asks(KUBELET_PORT, "GET", "/containerLogs/a/b/c") == 401
        before = watcher.passed, watcher.refused
        wait_for(lambda: watcher.passed > before[0] and watcher.refused > before[1], 60, "an answer after the flood")
    assert watcher.memory < MAX_MEMORY, f"{watcher.memory / MIB:.0f} MiB"
    metrics = liqod.metrics()
    for server in ("kubelet", "webhook", "metrics", "health"):
        assert metrics[f'liqod_server_connections_evicted_total{{server="{server}"}}'] > 0, server
        assert metrics[f'liqod_server_connections_refused_total{{server="{server}"}}'] == 0, server
    assert metrics['liqod_server_held_bytes{server="webhook"}'] <= 32 * MIB
    print(f"\nat most {watcher.memory / MIB:.0f} MiB, {watcher.passed + watcher.refused} writes passed")


@pytest.mark.parametrize(
    ("port", "method", "path", "status"),
    [
        (KUBELET_PORT, "GET", "/containerLogs/a/b/c", 401),
        (KUBELET_PORT, "GET", "/no/such/path", 401),
        (KUBELET_PORT, "POST", "/exec/a/b/c?command=sh", 401),
        (WEBHOOK_PORT, "GET", "/validate/quotas", 405),
        (WEBHOOK_PORT, "POST", "/no/such/path", 404),
        (HEALTH_PORT, "GET", "/healthz", 200),
        (HEALTH_PORT, "GET", "/metrics", 404),
        (METRICS_PORT, "GET", "/healthz", 404),
        (METRICS_PORT, "POST", "/metrics", 405),
        (METRICS_PORT, "GET", "/debug", 404),
    ],
)
def test_what_each_port_answers_a_stranger(
    liqod: Liqod, stranger: Stranger, port: int, method: str, path: str, status: int
) -> None:
    assert stranger.asks(port, method, path) == status


@pytest.mark.parametrize("port", [KUBELET_PORT, METRICS_PORT, HEALTH_PORT])
def test_bodies_that_nobody_needs_are_refused_on_announcement(liqod: Liqod, stranger: Stranger, port: int) -> None:
    opened = stranger.secured(port)
    opened.sendall(b"POST / HTTP/1.1\r\nhost: liqod\r\ncontent-length: 16385\r\n\r\n")
    assert opened.recv(12) == b"HTTP/1.1 413"
