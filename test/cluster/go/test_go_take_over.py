"""Our Liqo replaces the Go Liqo in a peering in use, first at the provider, then at the consumer; then both go back.

So each version is seen on each side. Pods, Services, Secrets and the volume of the beginning are those of the end:
nobody touches them. Each story is a step of one way and needs those before it; `tools/test go-peer` runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.cluster import audit
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.cluster.volumes import WITH_POD, Directories
from harness.liqo import chart
from harness.liqo.peers import Peer
from harness.run import Run
from harness.tools import go_stories
from harness.tools.go_liqo import GoPeer
from harness.tools.go_stories import ASKED, phase, pinned
from harness.wait import wait_for

pytestmark = pytest.mark.go_peer

SOON, LONG = 60.0, 120.0
HERE, THERE = "shop", "shop-malmo"
KUBELET_PORT = 10260
CLAIMS = "persistentvolumeclaims"
NAMES = {"configmaps": "words", "secrets": "hidden"}
OURS = {"storage.enabled": "true", "image.repository": "localhost/liqo/liqod"}
GOES = {"tag": "test", "networking.enabled": "false"}
STORAGE = ("--enable-storage=true", "--virtual-storage-class-name", "liqo", "--real-storage-class-name", WITH_POD)
# This patch removes the finalizer by which our provider sees how a pod has ended.
LET_GO = '{"metadata": {"$deleteFromPrimitiveList/finalizers": ["shadowpod.offloading.liqo.io/tracking"]}}'
# Kubernetes has a kind of the same name, so the group is given.
SLICES = "resourceslices.authentication.liqo.io"
# This patch leaves only the finalizer that the Go version knows, too.
REPLICATED = '{"metadata": {"finalizers": ["crdreplicator.liqo.io/resource"]}}'
# Each container writes one line when it starts: a second line shows a restart.
SCRIPT = "echo began >> /data/log; sleep 1000000"


@dataclass
class Living:
    """malmo's pods run in turku. Who runs Liqo in each of them changes from step to step."""

    consumer: GoPeer
    provider: GoPeer
    ours: dict[str, Peer]
    began: dict[str, Any]
    step: int = 0

    def __post_init__(self) -> None:
        self.home, self.away = self.consumer.cluster, self.provider.cluster


@pytest.fixture(scope="module")
def living(run: Run) -> Iterator[Living]:
    release = go_stories.release()
    with run.borrow(malmo=Options(kubelet=True), turku=Options(kubelet=True)) as (malmo, turku):
        volumes = [Directories(malmo), Directories(turku)]
        try:
            yield Living(GoPeer(malmo, release, WITH_POD), GoPeer(turku, release, WITH_POD), {}, {})
        finally:
            for directories in volumes:
                directories.stop()


def runs_everything(living: Living) -> None:
    """What lives on: a Deployment with a Service, a Secret and a ConfigMap, a pod that is run once, and a volume."""
    home = living.home
    home.namespace(HERE)
    living.consumer.liqoctl("offload", "namespace", HERE, "--pod-offloading-strategy", "Remote")
    ports = {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]}
    home.api.create("configmaps", HERE, {"kind": "ConfigMap", "metadata": {"name": "words"}, "data": {"step": "0"}})
    home.api.create("secrets", HERE, {"kind": "Secret", "metadata": {"name": "hidden"}, "stringData": {"step": "0"}})
    home.api.create("services", HERE, {"kind": "Service", "metadata": {"name": "web"}, "spec": ports})
    home.api.create(CLAIMS, HERE, claim("data"))
    spec = pinned("web", "turku", "sleep 1000000")["spec"]
    spec["volumes"] = [
        {"name": "hidden", "secret": {"secretName": "hidden"}}, {"name": "words", "configMap": {"name": "words"}},
    ]  # fmt: skip
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    home.api.create("deployments", HERE, {"kind": "Deployment", "metadata": {"name": "web"}, "spec": deployment})
    once = pinned("once", "turku", "sleep 1000000")
    once["spec"]["restartPolicy"] = "Never"
    home.api.create("pods", HERE, once)
    done = pinned("done", "turku", "echo done")
    done["spec"]["restartPolicy"] = "Never"
    home.api.create("pods", HERE, done)
    home.api.create("pods", HERE, with_volume("keeps", "data", SCRIPT))


def claim(name: str) -> dict[str, Any]:
    spec = {"storageClassName": "liqo", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def with_volume(name: str, used: str, script: str) -> dict[str, Any]:
    pod = pinned(name, "turku", script)
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": used}}]
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return pod


def instances(cluster: Cluster, namespace: str) -> dict[str, Any]:
    """For each pod its UID, start, phase and containers, which show whether it is still the same one."""
    return {
        pod["metadata"]["name"]: (
            pod["metadata"]["uid"],
            pod["status"].get("startTime"),
            pod["status"].get("phase"),
            [(one["containerID"], one["restartCount"]) for one in pod["status"].get("containerStatuses", [])],
        )
        for pod in cluster.pods(namespace)
    }


def copies(cluster: Cluster) -> dict[str, str]:
    """The UIDs of copies, of volumes, and of the orders of pods: none is made anew."""
    names = {"configmaps": "words", "secrets": "hidden", "services": "web", CLAIMS: "data"}
    found = {plural: cluster.api.get(plural, THERE, name)["metadata"]["uid"] for plural, name in names.items()}
    found |= {one["metadata"]["name"]: one["metadata"]["uid"] for one in cluster.api.list("shadowpods", THERE)}
    return found


def follows_the_volume(living: Living) -> None:
    """What the Go version has made records nothing: liqod notes where the data is, and has the volume grow."""
    home, away = living.home.api, living.away.api
    volume = lambda: home.get("persistentvolumes", None, living.began["volume"])  # noqa: E731
    noted = lambda: volume()["metadata"]["annotations"].get("storage.liqo.io/backing-claim")  # noqa: E731
    wait_for(lambda: noted() == f"{THERE}/data", LONG, "the volume to say where its data is")
    home.patch(CLAIMS, HERE, "data", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    behind = lambda: away.get(CLAIMS, THERE, "data")["status"]["capacity"]["storage"]  # noqa: E731
    wait_for(lambda: behind() == "2Gi", LONG, "the volume in turku to grow")
    wait_for(lambda: volume()["spec"]["capacity"]["storage"] == "2Gi", LONG, "its size to come back")


def everything(living: Living) -> dict[str, Any]:
    return {
        "home": instances(living.home, HERE),
        "away": instances(living.away, THERE),
        "copies": copies(living.away),
        "node": living.home.api.get("nodes", None, "turku")["metadata"]["uid"],
        "twin": living.away.api.get("namespaces", None, THERE)["metadata"]["uid"],
        "volume": living.home.api.get(CLAIMS, HERE, "data")["spec"]["volumeName"],
    }


def assert_nothing_was_touched(living: Living) -> None:
    now = everything(living)
    for part, before in living.began.items():
        assert now[part] == before, f"{part} after step {living.step}"


def assert_it_goes_on(living: Living) -> None:
    """What changes is followed, pods and volumes come and go, logs are read, and what is more than the quota waits."""
    living.step += 1
    home, away, step = living.home, living.away, str(living.step)
    node_ready = lambda: any(  # noqa: E731
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in home.api.get("nodes", None, "turku")["status"]["conditions"]
    )
    wait_for(node_ready, LONG, "the node of turku to be Ready")
    home.api.patch("configmaps", HERE, "words", {"data": {"step": step}})
    home.api.patch("secrets", HERE, "hidden", {"stringData": {"step": step}})
    ports = [{"name": "http", "port": 80}, {"name": "further", "port": 8000 + living.step}]
    home.api.patch("services", HERE, "web", {"spec": {"ports": ports}})
    for plural in ("configmaps", "secrets"):
        source = lambda plural=plural: home.api.get(plural, HERE, NAMES[plural])["data"]  # noqa: E731
        copy = lambda plural=plural: away.api.get(plural, THERE, NAMES[plural])["data"]  # noqa: E731
        wait_for(lambda copy=copy, source=source: copy() == source(), LONG, f"the copy in {plural} to follow")
    followed = lambda: {p["port"] for p in away.api.get("services", THERE, "web")["spec"]["ports"]}  # noqa: E731
    wait_for(lambda: followed() == {80, 8000 + living.step}, LONG, "the copy of the Service to follow")

    name = f"new-{step}"
    home.api.create(CLAIMS, HERE, claim(name))
    script = f"echo step {step} > /data/log; cat /data/log; sleep 1000000"
    home.api.create("pods", HERE, with_volume(name, name, script))
    wait_for(lambda: phase(home, HERE, name) == "Running", LONG, "a new pod to be Running at home")
    logged = lambda pod: home.kubectl("-n", HERE, "logs", pod, check=False)  # noqa: E731
    wait_for(lambda: logged(name) == f"step {step}\n", LONG, "the log of a new pod")
    wait_for(lambda: logged("done") == "done\n", LONG, "the log of a pod that has ended")
    greedy, mark = pinned("greedy", "turku", cpu="2"), away.audit.mark()
    greedy["spec"]["nodeName"] = "turku"
    home.api.create("pods", HERE, greedy)
    wait_for(lambda: refused(away, mark), LONG, "what is more than the quota to be refused")
    home.kubectl("-n", HERE, "delete", "pod", "greedy", "--grace-period=0", "--force")
    home.kubectl("-n", HERE, "delete", "pod", name, "--wait=false")
    for cluster, namespace in ((home, HERE), (away, THERE)):
        wait_for(lambda c=cluster, n=namespace: not c.pod(n, name), LONG, f"the new pod to be gone in {cluster.name}")
        wait_for(lambda c=cluster, n=namespace: not c.pod(n, "greedy"), LONG, f"no greedy pod in {cluster.name}")
    home.api.delete(CLAIMS, HERE, name)
    for cluster, namespace in ((home, HERE), (away, THERE)):
        gone = lambda c=cluster, n=namespace: not c.api.find(CLAIMS, n, name)  # noqa: E731
        wait_for(gone, LONG, f"the claim of the new pod to be gone in {cluster.name}")
    wrote = home.kubectl("-n", HERE, "exec", "keeps", "--", "cat", "/data/log")
    assert wrote == "began\n"
    assert_nothing_was_touched(living)


def refused(provider: Cluster, since: int) -> bool:
    """Whether a ShadowPod was refused by admission since then."""
    return any(
        audit.resource(entry) == "shadowpods" and "quota" in entry["responseStatus"].get("message", "").lower()
        for entry in provider.audit.refused(since)
    )


@pytest.mark.refusals("what is more than the quota is refused")
def test_a_go_consumer_has_pods_at_a_go_provider(living: Living) -> None:
    living.consumer.liqoctl(
        "peer", "--remote-kubeconfig", living.away.kubeconfig, "--networking-disabled", "--timeout=60s", *ASKED,
        "--create-virtual-node=true",
    )  # fmt: skip
    living.consumer.run_virtual_kubelet("turku", "liqo-tenant-turku", KUBELET_PORT)
    wait_for(lambda: living.consumer.node_ready("turku"), SOON, "the node of turku to be Ready in malmo")
    runs_everything(living)
    wanted = {"once": "Running", "keeps": "Running", "done": "Succeeded"}
    for name, word in wanted.items():
        wait_for(lambda name=name, word=word: phase(living.home, HERE, name) == word, LONG, f"{name} to be {word}")
    all_run = lambda: sum(p["status"].get("phase") == "Running" for p in living.home.pods(HERE, "app=web")) == 2  # noqa: E731
    wait_for(all_run, LONG, "the Deployment to run")
    living.began = everything(living)
    assert_it_goes_on(living)


@pytest.mark.refusals("rights are away between the two installations, and what is more than the quota is refused")
def test_the_provider_becomes_ours(living: Living) -> None:
    living.provider.uninstall()
    living.ours["turku"] = ours_comes(living.away)
    assert_it_goes_on(living)


@pytest.mark.refusals("rights are away between the two installations, and what is more than the quota is refused")
def test_the_consumer_becomes_ours(living: Living) -> None:
    living.consumer.uninstall()
    living.ours["malmo"] = ours_comes(living.home)
    assert_it_goes_on(living)
    follows_the_volume(living)


def helm_takes_it(cluster: Cluster, chart_directory: Path, **values: str) -> None:
    """Helm refuses to install over what it does not know as its own: nothing of that kind is left."""
    sets = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    command = ["helm", "install", "liqo", chart_directory, "-n", "liqo", "--no-hooks", "--dry-run=server", *sets]
    cluster.space.run(*command, "--kubeconfig", cluster.kubeconfig)


def ours_comes(cluster: Cluster) -> Peer:
    helm_takes_it(cluster, chart.CHART, clusterID=cluster.name, **OURS)
    # The chart makes the same StorageClass.
    spec = {"provisioner": "liqo.io/storage", "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True}
    cluster.api.apply("storageclasses", None, {"kind": "StorageClass", "metadata": {"name": "liqo"}, **spec})
    return Peer(cluster, STORAGE, storage=True)


def ours_goes(peer: Peer) -> None:
    """As docs/moving-from-go.md tells it: what Helm removes, and what liqod has made beside it."""
    peer.uninstall()
    peer.api.delete("storageclasses", None, "liqo")
    kubectl = peer.cluster.kubectl
    kubectl("-n", "liqo", "delete", "secret/liqo-webhook-certs", "configmap/liqo-clusterid-configmap")
    virtual = ("-l", "liqo.io/type=virtual-node")
    kubectl("taint", "nodes", *virtual, "virtual-node.liqo.io/closed:NoSchedule-", check=False)
    kubectl("delete", "resourcequotas", "-A", "-l", "app.kubernetes.io/managed-by=liqo")
    for namespace in kubectl("get", "namespaces", "-l", "liqo.io/tenant-namespace=true", "-o", "name").split():
        tenant = namespace.removeprefix("namespace/")
        own = ("rolebinding", "liqo-liqod-tenant")
        kubectl("-n", tenant, "patch", *own, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        kubectl("-n", tenant, "delete", *own)
        for slice_ in kubectl("-n", tenant, "get", SLICES, "-l", "!liqo.io/replicated", "-o", "name").split():
            kubectl("-n", tenant, "patch", slice_, "--type=merge", "-p", REPLICATED)
    columns = '{range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}'
    pods = kubectl("get", "pods", "-A", "-l", "liqo.io/managed-by=shadowpod", "-o", f"jsonpath={columns}")
    for line in pods.splitlines():
        namespace, name = line.split()
        kubectl("-n", namespace, "patch", "pod", name, "-p", LET_GO)


def test_pods_of_ours_are_there_when_it_goes_back(living: Living) -> None:
    """A pod that ours has made bears what the Go version does not know, such as a finalizer."""
    later = pinned("later", "turku", "sleep 1000000")
    later["spec"]["restartPolicy"] = "Never"
    living.home.api.create("pods", HERE, later)
    wait_for(lambda: phase(living.home, HERE, "later") == "Running", LONG, "a pod of ours to run")
    living.began = everything(living)


@pytest.mark.refusals("rights are away between the two installations, and what is more than the quota is refused")
def test_the_provider_goes_back(living: Living) -> None:
    ours_goes(living.ours["turku"])
    helm_takes_it(living.away, living.provider.release / "chart", **GOES, **{"discovery.config.clusterID": "turku"})
    living.provider.install()
    assert_it_goes_on(living)


@pytest.mark.refusals("rights are away between the two installations, and what is more than the quota is refused")
def test_the_consumer_goes_back(living: Living) -> None:
    ours_goes(living.ours["malmo"])
    helm_takes_it(living.home, living.consumer.release / "chart", **GOES, **{"discovery.config.clusterID": "malmo"})
    living.consumer.install()
    living.consumer.run_virtual_kubelet("turku", "liqo-tenant-turku", KUBELET_PORT)
    assert_it_goes_on(living)


@pytest.mark.refusals("its controllers write into twins that are ending")
def test_nothing_of_ours_holds_up_the_end(living: Living) -> None:
    """Its own liqoctl takes apart what was ours for a while."""
    living.home.kubectl("-n", HERE, "delete", "deployment", "web")
    living.home.kubectl("-n", HERE, "delete", "pod", "--all", "--wait=false")
    wait_for(lambda: not living.away.pods(THERE), LONG, "every pod to be gone in turku")
    wait_for(lambda: not living.home.pods(HERE), LONG, "every pod to be gone in malmo")
    living.consumer.liqoctl("unoffload", "namespace", HERE, "--skip-confirm")
    wait_for(lambda: not living.away.api.find("namespaces", None, THERE), LONG, "the twin namespace to be gone")
    living.consumer.liqoctl("unpeer", "--remote-kubeconfig", living.away.kubeconfig, "--timeout=100s")
    living.home.kubectl("delete", "namespace", "liqo-tenant-turku")
    living.away.kubectl("delete", "namespace", "liqo-tenant-malmo")
