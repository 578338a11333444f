"""The provider of `tools/bench peers`: liqod lends to a hundred consumers, by slices of class share.

What is free changes with each pod of the cluster, and each slice is granted a part of it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from harness import objects
from harness.wait import wait_for
from peers_profile import Profile
from peers_stage import PATIENCE, PeersStage, each, paced, say, wait_count

PLAIN = "plain"
CHANGES_A_SECOND = 20.0
# Pods of the cluster's own on each machine, which are there from the start.
PODS_PER_MACHINE = 5
# One machine in so many is cordoned: what is free jumps, and all grants follow.
CORDONED = 10
FREE_FOR = "liqo::core::Inventory::free_for"


@dataclass(frozen=True)
class ProviderSize:
    tenants: int
    machines: int


def tenant_of(number: int) -> str:
    return f"consumer-{number}"


def machine_of(number: int) -> str:
    return f"machine-{number}"


class Provider:
    def __init__(self, on: PeersStage, size: ProviderSize, seconds: float):
        self.on, self.size, self.seconds = on, size, seconds
        self._made = 0
        self._going: deque[str] = deque()

    def fill(self) -> None:
        self.on.api.create("namespaces", None, {"metadata": {"name": PLAIN}})
        each(range(self.size.machines), self._machine)
        each(range(self.size.machines * PODS_PER_MACHINE), lambda number: self._pod(f"steady-{number}", number))
        each(range(self.size.tenants), self._tenant)

    def _machine(self, number: int) -> None:
        name, api = machine_of(number), self.on.api
        resources = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
        ready = {"type": "Ready", "status": "True", "reason": "Bench", "message": ""}
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}
        api.create("nodes", None, {"metadata": {"name": name, "labels": labels}})
        api.patch("nodes", None, name, {"status": status}, "status")

    def _pod(self, name: str, number: int) -> None:
        container = {
            "name": "main",
            "image": "busybox",
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        }
        spec = {"nodeName": machine_of(number % self.size.machines), "containers": [container]}
        self.on.api.create("pods", PLAIN, {"metadata": {"name": name}, "spec": spec})

    def _tenant(self, number: int) -> None:
        name, api = tenant_of(number), self.on.api
        namespace, of_tenant = f"liqo-tenant-{name}", objects.of_peer(name)
        labels = {"liqo.io/tenant-namespace": "true", **of_tenant}
        api.create("namespaces", None, {"metadata": {"name": namespace, "labels": labels}})
        api.create("tenants", namespace, objects.tenant(name, of_tenant, authzPolicy="TolerateNoHandshake"))
        spec = {"class": "share", "consumerClusterID": name, "providerClusterID": self.on.name}
        labels = objects.replica_labels(name, self.on.name)
        api.create("resourceslices", namespace, objects.resource_slice("pool", labels, **spec))

    def _grants(self) -> dict[str, str]:
        """The CPU that each tenant is granted."""
        slices = self.on.api.list("resourceslices")
        granted = {found["metadata"]["namespace"]: found.get("status", {}).get("resources", {}) for found in slices}
        return {tenant: resources["cpu"] for tenant, resources in granted.items() if "cpu" in resources}

    def _change_pods(self) -> int:
        """One comes, one goes."""

        def change(number: int) -> None:
            if number % 2 == 0:
                self._made += 1
                self._going.append(f"short-{self._made}")
                self._pod(self._going[-1], 7 * self._made)
            else:
                self.on.api.delete("pods", PLAIN, self._going.popleft(), grace=0)

        return paced(self.seconds, CHANGES_A_SECOND, change)

    def _cordon(self) -> None:
        before = self._grants()
        for number in range(0, self.size.machines, CORDONED):
            self.on.api.patch("nodes", None, machine_of(number), {"spec": {"unschedulable": True}})

        def followed() -> bool:
            now = self._grants()
            same = [tenant for tenant, granted in before.items() if now.get(tenant) == granted]
            assert not same, f"{len(same)} grants are as before"
            return True

        wait_for(followed, PATIENCE, "all grants to follow", interval=1)

    def measure(self, profile: Profile) -> dict[str, Any]:
        on = self.on
        figures: dict[str, Any] = {"start": on.begun()}
        figures["rest"] = rest = on.at_rest(self.seconds)
        figures["reading_ms"] = on.reading_ms
        say(f"at rest {100 * rest.core:.1f} % of a core")
        figures["pods"] = pods = on.spend(self._change_pods)
        figures["pods_core"] = pods.beyond(rest) / pods.seconds
        say(f"while pods change, {100 * figures['pods_core']:.1f} % of a core more")
        found = profile.of(on.liqod, "pods", self._change_pods, always=True)
        figures["pods_profile"] = found
        if found:
            share = sum(part for name, part in found.items() if name.startswith(FREE_FOR))
            figures["free_for_core"] = share * pods.cpu_seconds / pods.seconds
        figures["cordon"] = cordon = on.spend(self._cordon)
        figures["cordon_seconds"] = cordon.beyond(rest)
        return figures


def run(on: PeersStage, size: ProviderSize, seconds: float, profile: Profile) -> dict[str, Any]:
    provider = Provider(on, size, seconds)
    say(f"provider: {size.tenants} tenants, {size.machines} nodes")
    provider.fill()
    say("its cluster is filled")
    on.start_liqod(webhooks=True)
    wait_count(lambda: len(provider._grants()), size.tenants, "grants")
    return provider.measure(profile)
