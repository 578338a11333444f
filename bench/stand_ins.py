"""Providers of which a bench needs many: API servers in memory behind real sockets (stand_in/).

rome's liqod has ordinary virtual nodes at them. They run no pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cluster import pki
from harness.cluster.cluster import Cluster
from harness.cluster.namespace import Namespace, Process
from harness.liqo.peering import RESOURCES, Peering
from harness.run import Run
from harness.wait import wait_for

ROOT = Path(__file__).resolve().parent.parent
# Clusters have addresses with smaller numbers.
ADDRESS = "192.168.251.1"
FIRST_PORT = 7001


@dataclass(frozen=True)
class StandIn:
    """As much of a cluster as a peering needs to know of a provider."""

    name: str
    port: int
    authority: pki.Authority
    pod_cidr: str
    nodes: Sequence[str]

    @property
    def server(self) -> str:
        return f"https://{ADDRESS}:{self.port}"


class StandIns:
    """Each is a process of its own, in a network of their own."""

    def __init__(self, run: Run, consumer: Cluster, count: int, nodes: int):
        directory = run.directory / "stand-ins"
        self.consumer, self.space = consumer, Namespace("stand-ins", directory)
        run.network.attach(self.space, "stand-ins", ADDRESS)
        authority = pki.Authority(directory / "pki", "stand-ins")
        self._serving = authority.issue("serving", "stand-in", names=[f"IP:{ADDRESS}"])
        self.providers = [
            StandIn(
                name := f"provider-{number}", FIRST_PORT + number, authority, f"10.{100 + number}.0.0/16",
                [f"{name}-{node}" for node in range(nodes // count + (number < nodes % count))],
            )
            for number in range(count)
        ]  # fmt: skip
        self.processes: dict[str, Process] = {}

    def start(self, provider: StandIn, manner: str = "well", dense: Path | None = None) -> None:
        """Starts it, in place of what was there. `dense`: what one that is so answers every list with, as gzip."""
        if running := self.processes.pop(provider.name, None):
            running.kill()
        command = [
            ROOT / "build/release/bench/provider_stand_in", "--address", ADDRESS, "--port", provider.port,
            "--certificate", self._serving.certificate, "--key", self._serving.key, "--manner", manner,
            *(["--dense", dense] if dense else []),
        ]  # fmt: skip
        self.processes[provider.name] = process = self.space.start(provider.name, command)

        def listens() -> bool:
            assert process.running(), process.log.read_text()[-500:]
            self.space.connect(ADDRESS, provider.port, 3).close()
            return True

        wait_for(listens, 20, f"{provider.name} to listen")

    def peer(self, provider: StandIn) -> None:
        """What a peering leaves at the consumer, with all virtual nodes."""
        for number, node in enumerate(provider.nodes):
            peering = Peering(self.consumer, provider, node)
            if number == 0:
                peering.establish_home(RESOURCES)
            else:
                peering.write_secret(peering.kubeconfig())
                peering.write_virtual_node(RESOURCES)

    def cpu_seconds(self) -> float:
        return sum(process.cpu_seconds() for process in self.processes.values())

    def close(self) -> None:
        self.space.close()
