"""A hostile consumer fills neither the provider's database with large objects nor the memory of its liqod.

How many objects it may have is bounded elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster.api import MERGE, Refused, path
from harness.cluster.components import Options
from harness.liqo.hostile import HostileConsumer
from harness.liqo.peers import SOON, Peer, as_identity
from harness.required import require_programs
from harness.run import Run
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

TWIN, TENANT = "shop-sparta", "liqo-tenant-sparta"
MIB = 1 << 20


class Hostile(HostileConsumer):
    def __init__(self, consumer: Peer, provider: Peer, directory: Path):
        super().__init__(consumer, provider, directory)
        self.control_plane = as_identity(consumer, provider, f"controlplane-{provider.name}", directory)

    def held(self) -> int:
        """How many objects Kubernetes has counted in the twin."""
        used = self.provider.api.get("resourcequotas", TWIN, "liqo-twin")["status"]["used"]
        return sum(int(amount) for name, amount in used.items() if name.startswith("count/"))

    def refused(self, kind: str, body: dict[str, Any]) -> bool:
        """Whether the creation is refused for its size; what gets in is taken away."""
        try:
            self.slice.create(kind, TWIN, body)
        except Refused as refusal:
            return "(maxTwinBytes in the policy)" in str(refusal)
        self.slice.delete(kind, TWIN, body["metadata"]["name"])
        return False


def of_size(kind: str, name: str, size: int) -> dict[str, Any]:
    text = "x" * size
    content: dict[str, Any] = {"stringData": {"key": text}} if kind == "Secret" else {"data": {"key": text}}
    if kind == "Service":
        # No field of a Service can be that long, but an annotation can.
        content = {"spec": {"ports": [{"port": 80}]}}
    annotations = {"note": text} if kind == "Service" else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "annotations": annotations}, **content}


@pytest.fixture(scope="module")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    require_programs()
    with run.borrow(sparta=Options(), delphi=Options()) as (sparta, delphi):
        sparta.add_kwok_nodes(1), delphi.add_kwok_nodes(1)
        yield Hostile(Peer(sparta), Peer(delphi), tmp_path_factory.mktemp("identities"))


def test_its_objects_are_as_large_as_their_number_lets_them_be(hostile: Hostile) -> None:
    secret = of_size("Secret", "large", 500_000)
    hostile.slice.create("secrets", TWIN, secret)
    # One object of this size would fit, but not if all objects had it.
    most = 100_000
    hostile.set_policy(maxTwinBytes=(hostile.held() + 1) * most)
    wait_for(lambda: hostile.refused("secrets", of_size("Secret", "more", most)), SOON, "a large Secret to be refused")
    for kind, plural in (("ConfigMap", "configmaps"), ("Service", "services")):
        more = of_size(kind, "more", most)
        wait_for(lambda one=plural, more=more: hostile.refused(one, more), SOON, f"a large {kind} to be refused")
        hostile.slice.create(plural, TWIN, of_size(kind, "less", most // 10))
        if kind != "Service":
            # Kubernetes counts the new object a moment later.
            wait_for(lambda one=plural: grows_no_more(hostile, one), SOON, f"a {kind} that grows to be refused")
        hostile.slice.delete(plural, TWIN, "less")

    # Stored objects stay and may be written, as long as they do not grow.
    patch = {"metadata": {"labels": {"seen": "yes"}}, "stringData": {"key": "x" * 400_000}}
    hostile.slice.patch("secrets", TWIN, "large", patch)
    with pytest.raises(Refused, match="maxTwinBytes"):
        hostile.slice.patch("secrets", TWIN, "large", {"stringData": {"key": "x" * 500_000}})
    # The bound holds for the consumer alone.
    hostile.provider.api.create("secrets", TWIN, of_size("Secret", "own", 500_000))
    hostile.provider.api.delete("secrets", TWIN, "own")
    hostile.slice.delete("secrets", TWIN, "large")
    hostile.set_policy()


def grows_no_more(hostile: Hostile, plural: str) -> bool:
    try:
        where = path(plural, TWIN, "less") + "?dryRun=All"
        hostile.slice.request("PATCH", where, {"data": {"more": "x" * 100_000}}, MERGE)
    except Refused as refusal:
        return "maxTwinBytes" in str(refusal)
    return False


def asking(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    """What a consumer replicates into its tenant namespace."""
    group = "offloading" if kind == "NamespaceMap" else "authentication"
    return objects.liqo_object(group, kind, name, spec, labels=objects.replica_labels("sparta", "delphi"))


def test_what_it_asks_by_is_small(hostile: Hostile) -> None:
    asks, api = hostile.control_plane, hostile.provider.api
    written = "a consumer may write 32768 of them"
    with pytest.raises(Refused, match=written):
        asks.create("resourceslices", TENANT, asking("ResourceSlice", "large", **{"class": "x" * 100_000}))
    with pytest.raises(Refused, match="may not be more than 16384 bytes"):
        asks.create("resourceslices", TENANT, asking("ResourceSlice", "large", csr="YWFh" * 25_000))
    with pytest.raises(Refused, match=written):
        asks.create("renews", TENANT, asking("Renew", "large", identityType="x" * 100_000))
    mapping = {f"namespace-{number}": "x" * 1_000 for number in range(600)}
    with pytest.raises(Refused, match="a consumer may write 524288 of them"):
        asks.create("namespacemaps", TENANT, asking("NamespaceMap", "large", desiredMapping=mapping))

    # What an earlier version has stored may be written, as long as it does not grow, and go.
    body = asking("ResourceSlice", "stored", **{"class": "x" * 100_000})
    body["metadata"]["finalizers"] = ["example.com/held"]
    api.create("resourceslices", TENANT, body)
    asks.patch("resourceslices", TENANT, "stored", {"spec": {"class": "x" * 90_000}})
    with pytest.raises(Refused, match=written):
        asks.patch("resourceslices", TENANT, "stored", {"spec": {"class": "x" * 100_000}})
    asks.delete("resourceslices", TENANT, "stored")
    api.patch("resourceslices", TENANT, "stored", {"metadata": {"finalizers": None}})
    wait_for(lambda: api.find("resourceslices", TENANT, "stored") is None, SOON, "the large slice to go")

    # The consumer reads it at home.
    home, namespace = hostile.consumer.api, hostile.consumer.home(hostile.provider)
    spec = {"class": "x" * 40_000, "providerClusterID": "delphi"}
    home.create("resourceslices", namespace, objects.resource_slice("more", objects.of_peer("delphi"), **spec))

    def told() -> bool:
        events = home.list("events", namespace, fields="reason=FailedReplication")
        return any(written in event["message"] for event in events)

    wait_for(told, SOON, "the refusal to come home")
    home.delete("resourceslices", namespace, "more")
    wait_for(lambda: home.find("resourceslices", namespace, "more") is None, SOON, "the slice at home to go")


def test_large_objects_of_an_earlier_version_take_no_memory(hostile: Hostile) -> None:
    """An administrator makes them, whose writes are not bounded, as no consumer's once were."""
    api, process = hostile.provider.api, hostile.provider.daemon.process
    assert process
    hostile.consumer.daemon.stop()
    before = process.private_bytes()
    held = lambda: process.private_bytes() - before  # noqa: E731
    names = [f"large-{number}" for number in range(64)]

    def make(name: str) -> None:
        api.create("resourceslices", TENANT, asking("ResourceSlice", name, **{"class": "x" * 1_400_000}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, names))
    most = 0
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "more"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}}  # fmt: skip

    def try_out(_: int) -> bool:
        try:
            hostile.slice.request("POST", path("persistentvolumeclaims", TWIN) + "?dryRun=All", claim)
        except Refused as refusal:
            return "storageClassName" in str(refusal)
        return False

    for _ in range(3):
        with ThreadPoolExecutor(20) as pool:
            answers = [pool.submit(try_out, number) for number in range(20)]
            while wait(answers, timeout=0.02).not_done:
                most = max(most, held())
        assert all(answer.result() for answer in answers)
    assert max(most, held()) < 64 * MIB, f"liqod took {max(most, held()) / MIB:.0f} MiB more"
    assert process is hostile.provider.daemon.process and hostile.provider.daemon.running
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: api.delete("resourceslices", TENANT, name), names))
    hostile.consumer.daemon.start()
