"""Clusters of different versions share with each other in both directions, since clusters are updated one at a time.

Not part of a plain run: `tools/test skew` says which version of Liqo or of Kubernetes is on the other side.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from harness import objects, settings
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.cluster.images import HELLO_IMAGE
from harness.cluster.node import is_ready
from harness.liqo.sides import SOON, Pair, Side
from harness.run import Run
from harness.story import condition
from harness.wait import stays, wait_for

pytestmark = pytest.mark.skew


@pytest.fixture(scope="module")
def sides(run: Run) -> Iterator[tuple[Side, Side]]:
    """bonn has the other version, and graz today's."""
    today = settings.liqod()
    if today is None or not (settings.skewed() or settings.skewed_kubernetes()):
        pytest.skip("no other version is named: tools/test skew does so")
    build = today.parents[2]
    other = Options(kubernetes=settings.skewed_kubernetes(), kubelet=True)
    with run.borrow(bonn=other, graz=Options(kubelet=True)) as (bonn, graz):
        yield Side(bonn, settings.skewed() or build), Side(graz, build)


@pytest.fixture(scope="module", params=["the other version consumes", "the other version provides"])
def pair(request: pytest.FixtureRequest, sides: tuple[Side, Side]) -> Pair:
    other, today = sides
    return Pair(other, today) if "consumes" in request.param else Pair(today, other)


def test_they_peer_and_a_pod_runs(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    asked = ("--cpu=2", "--memory=2Gi", "--pods=10")
    home.liqoctl("peer", "--remote-kubeconfig", away.cluster.kubeconfig, *asked)
    assert is_ready(home.api.get("nodes", None, away.name))
    home.cluster.namespace("shop")
    home.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    home.cluster.kubectl("create", "deployment", "web", "-n", "shop", "--image", HELLO_IMAGE)
    wait = ("rollout", "status", "deployment/web", "-n", "shop", f"--timeout={SOON:.0f}s")
    home.cluster.kubectl(*wait, timeout=SOON + 10)
    (pod,) = away.cluster.pods(f"shop-{home.name}")
    assert pod["status"]["phase"] == "Running"
    # The certificate of the kubelet API is asked for as the Node is made, and approved a second later.
    show = ("logs", "-n", "shop", "deployment/web")
    wait_for(lambda: "hello from web-" in home.cluster.kubectl(*show), SOON, "the logs of the pod")
    assert home.cluster.kubectl("exec", "-n", "shop", "deployment/web", "--", "hostname").startswith("web-")


@pytest.mark.refusals("what is more than the quota is refused")
def test_a_pod_beyond_the_quota_is_refused(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    pod = busybox("greedy")
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3"}}
    # The pod is bound by hand: the scheduler would see that the node is too small.
    home.api.create("pods", "shop", {**pod, "spec": {**pod["spec"], "nodeName": away.name}})

    def told() -> bool:
        said = condition(home.api.get("pods", "shop", "greedy"), "offloading.liqo.io/Offloaded")
        return said.get("reason") == "OffloadingRefused" and "cpu" in said.get("message", "")

    wait_for(told, SOON, "the pod at home to say that it is refused, and why")
    assert not away.cluster.pod(f"shop-{home.name}", "greedy")
    home.cluster.kubectl("delete", "pod", "greedy", "-n", "shop", timeout=SOON)


@pytest.mark.refusals("a pod is made again in a twin namespace that is about to go")
def test_they_part(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    home.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    home.cluster.kubectl("delete", "namespace", "shop", timeout=SOON)
    home.liqoctl("unpeer", "--remote-kubeconfig", away.cluster.kubeconfig, "--skip-confirm")
    assert not home.api.find("nodes", None, away.name)
    for kind in ("tenants", "quotas", "shadowpods", "namespacemaps"):
        assert not away.api.list(kind)
    for kind in ("virtualnodes", "resourceslices", "identities", "namespacemaps"):
        assert not home.api.list(kind)
    left = lambda: away.api.find("namespaces", None, f"shop-{home.name}")  # noqa: E731
    wait_for(lambda: left() is None, SOON, "the twin namespace to be gone")


@pytest.fixture(scope="module")
def loaded(run: Run) -> Iterator[Pair]:
    """padua borrows from verona, both with the other version of Liqo."""
    if not settings.skewed():
        pytest.skip("no other version of Liqo is named: tools/test skew --ref does so")
    with run.borrow(padua=Options(), verona=Options()) as (padua, verona):
        verona.add_kwok_nodes(1)
        yield Pair(Side(padua, settings.skewed()), Side(verona, settings.skewed()))


def second_virtual_node(home: Side) -> None:
    """A VirtualNode of a name that is taken, stored while nobody was asked."""
    first = home.api.get("virtualnodes", "liqo-tenant-verona", "verona")
    home.cluster.namespace("elsewhere")
    secret = home.api.get("secrets", "liqo-tenant-verona", first["spec"]["kubeconfigSecretRef"]["name"])
    home.api.create("secrets", "elsewhere", {key: secret[key] for key in ("kind", "type", "data")} | {
        "metadata": {"name": secret["metadata"]["name"], "labels": secret["metadata"].get("labels", {})}})  # fmt: skip
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        for found in home.api.list(kind):
            hooks = [hook | {"failurePolicy": "Ignore"} for hook in found["webhooks"]]
            home.api.patch(kind, None, found["metadata"]["name"], {"webhooks": hooks})
    namesake = objects.liqo_object("offloading", "VirtualNode", "verona", first["spec"], labels=objects.of_peer("verona"))
    home.api.create("virtualnodes", "elsewhere", namesake)


def running(home: Side) -> dict[str, tuple[str, str, int]]:
    """UID, phase and restarts of each pod that was offloaded."""
    return {
        pod["metadata"]["name"]: (
            pod["metadata"]["uid"],
            pod["status"]["phase"],
            sum(one["restartCount"] for one in pod["status"].get("containerStatuses", [])),
        )
        for pod in home.cluster.pods("shop")
    }


@pytest.mark.refusals("a pod on a node whose grant is gone, and data that would be lost")
def test_a_loaded_pair_is_upgraded_whose_objects_break_todays_bounds(loaded: Pair) -> None:
    home, away = loaded.consumer, loaded.provider
    today = settings.liqod().parents[2]
    home.liqoctl("peer", "--remote-kubeconfig", away.cluster.kubeconfig, "--cpu=4", "--memory=4Gi", "--pods=20")
    asked = ("--remote-cluster-id", "verona", "--class", "share", "--cpu=2", "--memory=2Gi", "--pods=10")
    home.liqoctl("create", "resourceslice", "spare", *asked)
    for namespace in ("shop", "vault"):
        home.cluster.namespace(namespace)
        home.liqoctl("offload", "namespace", namespace, "--pod-offloading-strategy", "Remote")
    for name, node in (("one", "verona"), ("two", "verona"), ("three", "spare")):
        pod = busybox(name)
        pod["spec"]["nodeName"] = node
        home.api.create("pods", "shop", pod)
    wait_for(lambda: {one[1] for one in running(home).values()} == {"Running"}, SOON, "the pods to run")

    # A slice that is too large now, a claim of which home knows nothing, a percentage that was none, two of one name.
    spec = {"class": "x" * 100_000, "providerClusterID": "verona"}
    large = objects.resource_slice("large", objects.of_peer("verona"), **spec)
    home.api.create("resourceslices", "liqo-tenant-verona", large)
    wait_for(lambda: away.api.find("resourceslices", "liqo-tenant-padua", "large"), SOON, "the large slice to be there")
    labels = {"offloading.liqo.io/origin": "padua", "offloading.liqo.io/destination": "verona"}
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "labels": labels}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}  # fmt: skip
    away.api.create("persistentvolumeclaims", "vault-padua", claim)
    none = {"metadata": {"annotations": {"liqo.io/sharing-percentage": "0"}}}
    away.api.patch("tenants", "liqo-tenant-padua", "padua", none)
    home.daemon.stop()
    second_virtual_node(home)
    before, node = running(home), home.api.get("nodes", None, "verona")["metadata"]["uid"]

    away.upgrade(today)
    home.upgrade(today)

    def granted_nothing() -> bool:
        quotas = [one for one in away.api.list("quotas", "liqo-tenant-padua") if one["metadata"]["name"].startswith("spare-")]
        return all(amount in ("0", 0) for one in quotas for amount in one["spec"]["resources"].values())

    wait_for(granted_nothing, SOON, "the slice of class share to get nothing more")
    told = lambda: condition(home.api.get("virtualnodes", "elsewhere", "verona"), "Node").get("reason")  # noqa: E731
    wait_for(lambda: told() == "NodeNameTaken", SOON, "the second virtual node to say why it has no Node")
    wait_for(lambda: is_ready(home.api.get("nodes", None, "verona")), SOON, "the node to be Ready")
    stays(lambda: running(home) == before, 5, "the pods, as they were")
    assert home.api.get("nodes", None, "verona")["metadata"]["uid"] == node
    pod = busybox("four")
    pod["spec"]["nodeName"] = "verona"
    home.api.create("pods", "shop", pod)
    wait_for(lambda: running(home)["four"][1] == "Running", SOON, "a new pod to run")

    kept = home.liqoctl.attempt("unoffload", "namespace", "vault", "--skip-confirm", "--timeout", "20s")
    assert "liqoctl unoffload namespace vault --delete-volumes" in kept.err, kept
    assert away.api.get("persistentvolumeclaims", "vault-padua", "data")
    home.liqoctl("unoffload", "namespace", "vault", "--skip-confirm", "--delete-volumes")
    gone = lambda: away.api.find("namespaces", None, "vault-padua") is None  # noqa: E731
    wait_for(gone, SOON, "the twin with the claim to be gone")
    # It may still go, at both ends.
    home.api.delete("resourceslices", "liqo-tenant-verona", "large")
    for side, namespace in ((home, "liqo-tenant-verona"), (away, "liqo-tenant-padua")):
        slices = lambda s=side, n=namespace: s.api.find("resourceslices", n, "large") is None  # noqa: E731
        wait_for(slices, SOON, f"the large slice to be gone in {side.name}")


@pytest.mark.refusals("an earlier version lets nothing in under a policy that it does not understand")
def test_keys_of_todays_policy_are_taken_off_before_a_rollback(loaded: Pair) -> None:
    home, away = loaded.consumer, loaded.provider
    later = {"objectLabels": ["grafana_dashboard"], "strictMetadata": True, "certificateSigners": ["example.com/mesh"],
             "disruptionBudgets": {"maxBlock": "10m"}}  # fmt: skip
    policy = json.dumps({"hostPorts": True, **later})
    away.cluster.kubectl("annotate", "namespace", "liqo-tenant-padua", f"liqo.io/pod-policy={policy}")
    away.upgrade(settings.skewed())
    pod = busybox("five")
    pod["spec"]["nodeName"] = "verona"
    home.api.create("pods", "shop", pod)

    def told() -> bool:
        return "liqo.io/pod-policy" in str(home.cluster.events("shop", "five"))

    wait_for(told, SOON, "the pod to say that the policy cannot be understood")
    away.type_documented("tojson")
    left = away.api.get("namespaces", None, "liqo-tenant-padua")["metadata"]["annotations"]["liqo.io/pod-policy"]
    assert json.loads(left) == {"hostPorts": True}
    wait_for(lambda: running(home)["five"][1] == "Running", SOON, "the pod to run")
