"""The daemon under test, running inside a cluster's namespaces as the ServiceAccount that the chart gives it."""

from __future__ import annotations

import http.client
import re
import signal
import ssl
from pathlib import Path

from .. import objects, settings
from ..cluster.api import Refused, path
from ..cluster.callers import WEBHOOK_PORT
from ..cluster.cluster import Cluster
from ..cluster.namespace import Process
from ..wait import TimedOut, wait_for

METRICS_PORT = 9090
# The port of probes of each replica is as far below that of its metrics.
HEALTH_PORT = 8090


class Liqod:
    """One liqod of one cluster. `kubeconfig` is what chart.install returned; `flags` are added to its command line.

    The API server asks its webhooks by URL, as in a user's installation; with `service_port` by the Service of a story.
    It opens few ports for nodes, to keep clear of the control plane and of other replicas on this machine.
    A story does not wait for the webhooks of a daemon that stops, unless it is about that: `stop_delay`. Metrics are
    plain, unless the story is about who may read them: `secure_metrics`.
    """

    def __init__(
        self,
        cluster: Cluster,
        kubeconfig: Path,
        listen_port: int = 10250,
        flags: tuple[str, ...] = (),
        name: str = "liqod",
        webhooks: bool = True,
        service_port: int = 0,
        metrics_port: int = METRICS_PORT,
        stop_delay: str = "0",
        binary: Path | None = None,
        health_port: int = 0,
        secure_metrics: bool = False,
        listen_ports: int = 4,
    ):
        binary = binary or settings.liqod()
        assert binary and binary.exists(), f"there is no liqod to run ({binary or 'none built, and $LIQOD is not set'})"
        self.cluster, self.name, self.listen_port, self.metrics_port = cluster, name, listen_port, metrics_port
        self.secure_metrics, self.token = secure_metrics, ""
        self.health_port = health_port or metrics_port - METRICS_PORT + HEALTH_PORT
        webhook: tuple[object, ...] = ("--webhook-port", service_port)
        if webhooks and not service_port:
            webhook = ("--webhook-url", f"https://{cluster.address}:{WEBHOOK_PORT}")
        self.command = [
            binary, "--kubeconfig", kubeconfig, "--cluster-id", cluster.name, "--liqo-namespace", "liqo",
            "--node-ip", cluster.address, "--listen-port", listen_port, "--listen-port-count", listen_ports, "--pod-cidr", cluster.pod_cidr,
            "--metrics-address", f"{cluster.address}:{metrics_port}", f"--metrics-secure={str(secure_metrics).lower()}",
            "--health-probe-address", f"{cluster.address}:{self.health_port}", "--stop-delay", stop_delay,
            "--namespace-withdrawal-grace", "15s",
            *webhook,
            *flags,
        ]  # fmt: skip
        self.process: Process | None = None
        # Variables that are added to its environment at the next start.
        self.environment: dict[str, str] = {}

    def start(self, ready_within: float = 60) -> Liqod:
        """Starts it and waits until it says that it is ready; 0 does not wait."""
        self.process = self.cluster.space.start(self.name, self.command, self.environment)
        if ready_within:
            wait_for(
                self.ready, ready_within, f"liqod of {self.cluster.name} to be ready (its log: {self.process.log})"
            )
        return self

    def ensure(self) -> None:
        """Starts it if an earlier story left it dead, and anew if it hangs."""
        if self.running:
            try:
                wait_for(self.ready, 30, "it to be ready")
                return
            except TimedOut:
                self.kill()
        self.start()

    def wait_asked(self) -> None:
        """Waits until the API server asks the webhooks, which it does a moment after their configuration is there: a
        ShadowPod without an origin is refused, as nothing else would."""

        def asked() -> bool:
            body = objects.shadow_pod("probe", "")
            try:
                self.cluster.api.request("POST", path("shadowpods", "default"), body, query={"dryRun": "All"})
            except Refused as refusal:
                return "offloading.liqo.io/origin" in str(refusal)
            return False

        wait_for(asked, 60, f"the API server of {self.cluster.name} to ask the webhooks")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.running()

    def kill(self) -> None:
        """kill -9."""
        assert self.process
        self.process.kill()

    def stop(self, timeout: float = 20) -> int:
        """SIGTERM; returns the exit code. What does not end in time is killed, and that is a failure."""
        assert self.process
        try:
            return self.process.stop(timeout)
        except TimedOut:
            self.process.kill()
            raise

    def restart(self) -> None:
        self.stop()
        self.start()

    def freeze(self) -> None:
        """Stops it in its tracks (SIGSTOP), as a swapping machine would."""
        assert self.process
        self.process.send(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process
        self.process.send(signal.SIGCONT)

    def get(self, where: str, timeout: float = 30) -> tuple[int, str]:
        """A GET on the port for metrics, by `token` if they are not for everybody, or on that for probes."""
        port = self.metrics_port if where == "/metrics" else self.health_port
        secure = self.secure_metrics and port == self.metrics_port
        connection = http.client.HTTPConnection(self.cluster.address, port)
        plain = self.cluster.space.connect(self.cluster.address, port, timeout)
        connection.sock = ssl._create_unverified_context().wrap_socket(plain) if secure else plain  # noqa: S323
        try:
            connection.request("GET", where, headers={"Authorization": f"Bearer {self.token}"} if secure else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except http.client.HTTPException as error:
            raise OSError(f"GET {where}: {error!r}") from error
        finally:
            connection.close()

    def ready(self) -> bool:
        if not self.running:
            assert self.process
            raise RuntimeError(
                f"liqod of {self.cluster.name} ended with {self.process.exit_code()}: {self.log()[-1500:]}"
            )
        return self.get("/readyz", timeout=5)[0] == 200

    def metrics(self) -> dict[str, float]:
        """Every sample of /metrics by its name with labels, e.g. `workqueue_depth{controller="pod",name="pod"}`."""
        code, text = self.get("/metrics")
        assert code == 200, f"/metrics answered {code}"
        samples = re.findall(r"^([^#\s]\S*?(?:\{.*\})?)\s+(\S+)$", text, re.MULTILINE)
        return {name: float(value) for name, value in samples}

    def log(self) -> str:
        assert self.process
        return self.process.log.read_text(errors="replace")
