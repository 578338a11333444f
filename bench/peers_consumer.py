"""The consumer of `tools/bench peers`: liqod borrows from a hundred providers, by slices of class share.

The bench answers for the providers what their liqods would: grants, and twin namespaces. It changes grants, lets all
providers fall silent together, and changes what claims of class liqo may wait for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from harness.cluster import pki
from harness.cluster.node import is_ready
from harness.wait import wait_for
from peers_profile import Profile
from peers_stage import (
    PeersStage,
    certificate_for,
    each,
    ed25519_key,
    paced,
    public_half,
    say,
    wait_count,
)

# Our tenant namespace at each provider.
AWAY = "liqo-tenant-rome"
CLASS = "liqo"
# Of a CPU; each change of a grant adds one to what the change before it has given.
FIRST_GRANT = 16_001
# Rest is as many loads long: in four minutes each virtual node says once that it is there.
REST_TIMES = 4
GRANTS_A_SECOND, CLASS_CHANGES_A_SECOND = 10.0, 20.0
# Peers are asked every 15 s and have 5 s to answer; a virtual node may miss two answers, 10 s apart.
SILENT_SECONDS = 21.0
# Claims that have no volume yet, and wait for their pods.
WAITING_CLAIMS = 10
_FOREIGN = "liqod PUT foreignclusters/status 2"


@dataclass(frozen=True)
class ConsumerSize:
    providers: int
    nodes: int  # of each provider
    namespaces: int
    claims: int  # that are bound


def _named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **more}}


def provider_of(number: int) -> str:
    return f"provider-{number}"


def slice_of(provider: int, node: int) -> str:
    return f"{provider_of(provider)}-{node}"


def milli(quantity: str) -> int:
    return int(quantity[:-1]) if quantity.endswith("m") else 1000 * int(quantity)


class Consumer:
    def __init__(self, on: PeersStage, size: ConsumerSize, seconds: float):
        self.on, self.size, self.seconds, self._changed = on, size, seconds, 0
        key = ed25519_key(on.directory / "liqod.key")
        self._certificate = certificate_for(key, on.authority, on.directory / "liqod.crt")
        self._user = {
            "client-certificate-data": pki.encoded(self._certificate),
            "client-key-data": pki.encoded(key.read_bytes()),
        }
        data = {"privateKey": pki.encoded(key.read_bytes()), "publicKey": pki.encoded(public_half(key))}
        on.api.create("secrets", "liqo", {**_named("authentication-keys"), "data": data})

    # -- what is there ---------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """What users and `liqoctl peer` would leave in the cluster."""
        on, size = self.on, self.size
        on.api.create("storageclasses", None, {**_named(CLASS), "provisioner": "liqo.io/storage"})
        each(range(size.providers), self._peer)
        each(range(size.namespaces), self._offload)
        each(range(size.claims + WAITING_CLAIMS), self._claim)

    def _peer(self, number: int) -> None:
        name, api = provider_of(number), self.on.api
        home, of_peer = f"liqo-tenant-{name}", {"liqo.io/remote-cluster-id": name}
        api.create("namespaces", None, _named(home, labels={"liqo.io/tenant-namespace": "true", **of_peer}))
        self.on.peers.apis[number].create("namespaces", None, _named(AWAY))
        metadata = {
            "name": f"kubeconfig-controlplane-{name}",
            "labels": {"liqo.io/identity-type": "ControlPlane", **of_peer},
            "annotations": {"liqo.io/remote-tenant-namespace": AWAY},
        }
        kubeconfig = self.on.kubeconfig(self.on.peers.server(number), self._user)
        api.create("secrets", home, {"metadata": metadata, "data": {"kubeconfig": pki.encoded(kubeconfig)}})
        for node in range(self.size.nodes):
            spec = {"class": "share", "providerClusterID": name}
            api.create("resourceslices", home, {**_named(slice_of(number, node), labels=of_peer), "spec": spec})

    def _offload(self, number: int) -> None:
        name, provider = f"work-{number}", provider_of(number % self.size.providers)
        self.on.api.create("namespaces", None, _named(name))
        chosen = {"key": "liqo.io/remote-cluster-id", "operator": "In", "values": [provider]}
        spec = {
            "namespaceMappingStrategy": "DefaultName",
            "clusterSelector": {"nodeSelectorTerms": [{"matchExpressions": [chosen]}]},
        }
        # The finalizer is the one that liqod would set.
        metadata = {"name": "offloading", "finalizers": ["namespaceoffloading-controller.liqo.io/finalizer"]}
        self.on.api.create("namespaceoffloadings", name, {"metadata": metadata, "spec": spec})

    def _claim(self, number: int) -> None:
        bound, namespace = number < self.size.claims, f"work-{number % self.size.namespaces}"
        spec = {
            "storageClassName": CLASS,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            **({"volumeName": f"volume-{number}"} if bound else {}),
        }
        name, api = f"data-{number}", self.on.api
        api.create("persistentvolumeclaims", namespace, {**_named(name), "spec": spec})
        status = {"phase": "Bound", "capacity": {"storage": "1Gi"}} if bound else {"phase": "Pending"}
        api.patch("persistentvolumeclaims", namespace, name, {"status": status}, "status")

    # -- the providers ---------------------------------------------------------------------------------------------

    def _grant(self, number: int, cpu: str) -> dict[str, Any]:
        accepted = [
            {"type": kind, "status": "Accepted", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Authentication", "Resources")
        ]
        params = {
            "ca": pki.encoded(self.on.authority.pair.certificate.read_bytes()),
            "signedCRT": pki.encoded(self._certificate),
            "apiServer": self.on.peers.server(number),
        }
        resources = {"cpu": cpu, "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
        return {"conditions": accepted, "authParams": params, "resources": resources}

    def _answer(self, number: int) -> int:
        """Answers what the provider has been asked and has not answered; returns how many twins it has promised."""
        api, twins = self.on.peers.apis[number], 0
        for asked in api.list("resourceslices", AWAY):
            if not asked.get("status"):
                grant = self._grant(number, "16")
                api.patch("resourceslices", AWAY, asked["metadata"]["name"], {"status": grant}, "status")
        for asked in api.list("namespacemaps", AWAY):
            wanted = asked.get("spec", {}).get("desiredMapping") or {}
            told = asked.get("status", {}).get("currentMapping") or {}
            if wanted.keys() != told.keys():
                answer = {name: {"remoteNamespace": twin, "phase": "Accepted"} for name, twin in wanted.items()}
                status = {"currentMapping": {**dict.fromkeys(told), **answer}}
                api.patch("namespacemaps", AWAY, asked["metadata"]["name"], {"status": status}, "status")
            twins += len(wanted)
        return twins

    def _ready_nodes(self) -> int:
        return sum(map(is_ready, self.on.api.list("nodes", selector="liqo.io/type=virtual-node")))

    def start(self) -> None:
        """Starts liqod, and answers it until all that it wants is there."""
        self.on.start_liqod(("--virtual-storage-class-name", CLASS))
        count = self.size.providers
        twins = lambda: sum(map(self._answer, range(count)))  # noqa: E731
        wait_count(twins, self.size.namespaces, "twins")
        wait_count(self._ready_nodes, count * self.size.nodes, "virtual nodes")
        say("all twins are promised, and all virtual nodes are Ready")

    # -- figures ---------------------------------------------------------------------------------------------------

    def _place(self, grant: int) -> tuple[int, int]:
        """The provider that changes this grant, and which of its slices."""
        return grant % self.size.providers, grant // self.size.providers % self.size.nodes

    def _change_grant(self, grant: int) -> None:
        provider, node = self._place(grant)
        status = {"resources": {"cpu": f"{FIRST_GRANT + grant}m"}}
        self.on.peers.apis[provider].patch("resourceslices", AWAY, slice_of(provider, node), {"status": status}, "status")

    def _change_grants(self) -> int:
        """Returns how many, once the last of them have come to their Nodes."""
        before = self._changed
        count = paced(self.seconds, GRANTS_A_SECOND, lambda number: self._change_grant(before + number))
        self._changed += count
        for grant in range(max(before, self._changed - 20), self._changed):
            node = slice_of(*self._place(grant))

            def shown(node: str = node, wanted: int = FIRST_GRANT + grant) -> bool:
                seen = self.on.api.get("nodes", None, node)["status"]["allocatable"]["cpu"]
                # A later change may have been the same node's.
                assert milli(seen) >= wanted, f"{seen} instead of {wanted}m"
                return True

            wait_for(shown, 60, f"the grant of {node} to come to its Node")
        return count

    def _blink(self) -> dict[str, float]:
        home, count = self.on.home, self.size.providers
        mark = home.writes().next
        self.on.peers.be_silent(True)
        time.sleep(SILENT_SECONDS)
        lost = home.writes(mark).count(_FOREIGN)
        self.on.peers.be_silent(False)
        wait_for(lambda: home.writes(mark).count(_FOREIGN) >= 2 * lost, 120, "the ForeignClusters to be well again")
        time.sleep(10)
        return {"lost": min(lost, count), "nodes": self._ready_nodes()}

    def _change_class(self, number: int) -> None:
        annotations = {"example.com/changed": str(number)}
        self.on.api.patch("storageclasses", None, CLASS, {"metadata": {"annotations": annotations}})

    def measure(self, profile: Profile) -> dict[str, Any]:
        on = self.on
        figures: dict[str, Any] = {"start": on.begun()}
        figures["rest"] = rest = on.at_rest(REST_TIMES * self.seconds)
        figures["reading_ms"] = on.reading_ms
        say(f"at rest {100 * rest.core:.1f} % of a core, a heartbeat {1000 * rest.heartbeat_seconds:.1f} ms")
        counted: list[int] = []
        grants = on.spend(lambda: counted.append(self._change_grants()))
        figures["grants"], figures["grant_count"] = grants, counted[0]
        figures["grant_ms"] = 1000 * grants.beyond(rest, counted[0]) / counted[0]
        say(f"{counted[0]} grants have changed, {figures['grant_ms']:.1f} ms each")
        figures["grants_profile"] = profile.of(on.liqod, "grants", self._change_grants)
        on.wait_calm()
        blinked: list[dict[str, float]] = []
        figures["blink"] = blink = on.spend(lambda: blinked.append(self._blink()))
        figures |= {"blinked": blinked[0], "blink_seconds": blink.beyond(rest)}
        say(f"{blinked[0]['lost']} peers have blinked, {figures['blink_seconds']:.1f} s")
        figures["blink_profile"] = profile.of(on.liqod, "blink", self._blink)
        on.wait_calm()
        changed: list[int] = []
        figures["claims"] = claims = on.spend(
            lambda: changed.append(paced(20, CLASS_CHANGES_A_SECOND, self._change_class))
        )
        figures["claims_ms"] = max(0.0, 1000 * claims.beyond(rest) / changed[0])
        return figures


def run(on: PeersStage, size: ConsumerSize, seconds: float, profile: Profile) -> dict[str, Any]:
    consumer = Consumer(on, size, seconds)
    say(f"consumer: {size.providers} providers with {size.nodes} virtual nodes each, {size.namespaces} namespaces")
    consumer.fill()
    say("its cluster is filled")
    consumer.start()
    return consumer.measure(profile)
