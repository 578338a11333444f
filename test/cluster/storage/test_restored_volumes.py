"""A database is restored from a snapshot that is older than offloaded namespaces, their pods and their volumes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.cluster.volumes import WITH_POD, Directories
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.required import require_programs
from harness.run import Run
from harness.tools.liqoctl import Liqoctl
from harness.wait import stays, wait_for

CLAIMS = "persistentvolumeclaims"
LONG = 120.0
# The volume gets one line for each start of a pod, and the log shows all of them.
SCRIPT = "echo began >> /data/log; cat /data/log; sleep 1000000"


class Pair:
    """como offloads to lodi, whose volumes are directories."""

    def __init__(self, home: Cluster, away: Cluster, daemons: tuple[Liqod, Liqod]):
        self.home, self.away, self.daemons = home, away, daemons
        self.liqoctl = Liqoctl(home)

    def restore(self, cluster: Cluster, snapshot: Any) -> None:
        for daemon in self.daemons:
            daemon.freeze()
        try:
            cluster.restore(snapshot)
            # As whoever restores a database does with all that watch.
            if "kubelet" in cluster.processes:
                cluster.restart("kubelet")
        finally:
            for daemon in self.daemons:
                daemon.thaw()

    def offload(self, namespace: str) -> str:
        self.home.namespace(namespace)
        self.liqoctl("offload", "namespace", namespace, "--pod-offloading-strategy", "Remote", "--timeout", "90s")
        return f"{namespace}-{self.home.name}"

    def with_volume(self, namespace: str) -> None:
        spec = {"storageClassName": "liqo", "accessModes": ["ReadWriteOnce"]}
        spec["resources"] = {"requests": {"storage": "1Gi"}}
        claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}
        self.home.api.create(CLAIMS, namespace, claim)
        pod = busybox("writer", SCRIPT, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
        pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        self.home.api.create("pods", namespace, pod)

    def phase(self, namespace: str, name: str) -> str:
        pod = self.home.pod(namespace, name)
        return pod["status"].get("phase", "") if pod else ""

    def runs(self, namespace: str, name: str) -> None:
        wait_for(lambda: self.phase(namespace, name) == "Running", LONG, f"{namespace}/{name} to run")

    def log(self, namespace: str) -> list[str]:
        return self.home.kubectl("-n", namespace, "logs", "writer", check=False).split()

    def kept(self) -> str:
        found = self.home.api.find("namespacemaps", f"liqo-tenant-{self.away.name}", self.away.name) or {}
        return found.get("metadata", {}).get("annotations", {}).get("offloading.liqo.io/holds-data", "")


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    require_programs()
    with run.borrow(como=Options(), lodi=Options(kubelet=True)) as (como, lodi):
        como.add_kwok_nodes(1)
        spec = {"provisioner": "liqo.io/storage", "volumeBindingMode": "WaitForFirstConsumer"}
        como.api.apply("storageclasses", None, {"kind": "StorageClass", "metadata": {"name": "liqo"}, **spec})
        directories = Directories(lodi)
        flags = ("--virtual-storage-class-name", "liqo", "--real-storage-class-name", WITH_POD)
        offers = ("--enable-storage=true", "--real-storage-class-name", WITH_POD)
        kubeconfig = chart.install(como)
        chart.allow_storage(como)
        daemons = (
            Liqod(como, kubeconfig, 10250, flags, "liqod-storage").start(),
            Liqod(lodi, chart.install(lodi), 10260, offers, "liqod-offers").start(),
        )
        for cluster in (como, lodi):
            wait_for(lambda: cluster.api.find("configmaps", "liqo", "liqo-clusterid-configmap"), 60, "the cluster ID")
            wait_for(lambda: cluster.api.find("secrets", "liqo", "authentication-keys"), 60, "the keys")
        pair = Pair(como, lodi, daemons)
        pair.liqoctl("peer", "--remote-kubeconfig", lodi.kubeconfig, "--cpu=8", "--memory=16Gi", "--pods=100")
        policy = {"metadata": {"annotations": {"liqo.io/pod-policy": f'{{"storageClasses": ["{WITH_POD}"]}}'}}}
        lodi.api.patch("namespaces", None, "liqo-tenant-como", policy)
        node = lambda: como.api.get("virtualnodes", "liqo-tenant-lodi", "lodi")["spec"]  # noqa: E731
        wait_for(lambda: node().get("storageClasses"), 60, "lodi to offer its class")
        yield pair
        for daemon in daemons:
            daemon.stop()
        directories.stop()


@pytest.mark.refusals("liqod begins in a namespace before the restored server knows its rights, and blog-como ends")
def test_a_restored_home_finds_the_data_of_namespaces_that_it_did_not_know(pair: Pair) -> None:
    snapshot = pair.home.snapshot()
    twins = {name: pair.offload(name) for name in ("shop", "blog")}
    for namespace in twins:
        pair.with_volume(namespace)
        pair.runs(namespace, "writer")
        wait_for(lambda: pair.log(namespace) == ["began"], LONG, "the file to be written")
    data = {twin: pair.away.api.get(CLAIMS, twin, "data")["metadata"]["uid"] for twin in twins.values()}
    # What holds nothing goes, as nobody at home wants it.
    empty = pair.offload("empty")

    pair.restore(pair.home, snapshot)
    wait_for(lambda: pair.kept() == "blog,shop", LONG, "como to say what lodi keeps")
    wait_for(lambda: pair.away.api.find("namespaces", None, empty) is None, LONG, "the twin without data to be gone")
    said = pair.liqoctl.attempt("check").out
    assert "liqoctl unoffload namespace blog --delete-volumes" in said
    there = lambda: {twin: pair.away.api.get(CLAIMS, twin, "data")["metadata"]["uid"] for twin in data} == data  # noqa: E731
    stays(there, 5, "the data is there")

    # It is applied anew, and finds its data.
    pair.offload("shop")
    pair.with_volume("shop")
    pair.runs("shop", "writer")
    wait_for(lambda: pair.log("shop") == ["began", "began"], LONG, "the pod to find what was written before")
    assert pair.away.api.get(CLAIMS, twins["shop"], "data")["metadata"]["uid"] == data[twins["shop"]]
    wait_for(lambda: pair.kept() == "blog", LONG, "shop to be kept no more against anybody's wish")

    # A namespace that home does not know is given up by name.
    pair.liqoctl("unoffload", "namespace", "blog", "--delete-volumes", "--yes", "--timeout", "90s")
    gone = lambda: pair.away.api.find("namespaces", None, twins["blog"]) is None  # noqa: E731
    wait_for(gone, LONG, "the twin of blog to be gone")
    assert pair.kept() == ""


@pytest.mark.refusals("the rights in a twin are newer than the restored database")
def test_a_restored_provider_makes_pods_of_newer_namespaces_again(pair: Pair) -> None:
    snapshot = pair.away.snapshot()
    pair.offload("news")
    pair.home.api.create("pods", "news", busybox("bare"))
    pair.with_volume("news")
    for name in ("bare", "writer"):
        pair.runs("news", name)
    uids = {name: pair.home.pod("news", name)["metadata"]["uid"] for name in ("bare", "writer")}
    phases: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            try:
                phases.update(pair.phase("news", name) for name in uids)
            except OSError:
                continue

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    pair.restore(pair.away, snapshot)
    again = lambda: any(p["metadata"]["name"] == "bare" for p in pair.away.pods("news-como"))  # noqa: E731
    wait_for(again, LONG, "the pod to be made again")
    pair.runs("news", "bare")
    done.set()
    watcher.join()
    assert "Failed" not in phases and "Succeeded" not in phases, phases
    assert {name: pair.home.pod("news", name)["metadata"]["uid"] for name in uids} == uids
    # The provider's record of the volume is lost: home says so, and gets no empty one in its place.
    lost = lambda: [e for e in pair.home.events("news", "data") if e["reason"] == "VolumeLost"]  # noqa: E731
    wait_for(lost, 400, "the loss of the volume to be told")
    assert not pair.away.api.find(CLAIMS, "news-como", "data")
