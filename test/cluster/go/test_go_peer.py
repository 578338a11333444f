"""Clusters with this Liqo and clusters with the Go Liqo share with each other, since people move one cluster at a time.

Not part of a plain run: `tools/test go-peer` needs a release of the Go Liqo, which is not in this tree.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from harness.cluster import audit, metrics_server
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo.peers import Peer
from harness.run import Run
from harness.tools import go_stories
from harness.tools.go_liqo import GoPeer
from harness.tools.go_stories import ASKED, phase, pinned
from harness.tools.liqoctl import Liqoctl
from harness.wait import wait_for

pytestmark = pytest.mark.go_peer

SOON = 60.0


@dataclass
class Mixed:
    """malmo has the Go Liqo and turku has ours, each with a kubelet."""

    go: GoPeer
    ours: Peer


@pytest.fixture(scope="module")
def mixed(run: Run) -> Iterator[Mixed]:
    release = go_stories.release()
    with run.borrow(malmo=Options(kubelet=True), turku=Options(kubelet=True)) as (malmo, turku):
        for cluster in (malmo, turku):
            assert cluster.node
            cluster.node.name_containers()
        yield Mixed(GoPeer(malmo, release), Peer(turku, usage=True))


def refused(cluster: Cluster, word: str) -> list[audit.Entry]:
    """Requests about ShadowPods that were refused with this word."""
    return [
        entry for entry in cluster.audit.refused()
        if audit.resource(entry) == "shadowpods" and word in entry["responseStatus"].get("message", "")
    ]  # fmt: skip


def typed(cluster: Cluster, *arguments: object) -> subprocess.CompletedProcess[str]:
    """kubectl as a user types it."""
    return subprocess.run(cluster.space.entering(cluster.kubectl_command(*arguments)), capture_output=True, text=True)


def test_our_liqoctl_peers_with_a_go_provider(mixed: Mixed) -> None:
    ranges = ("--pod-cidr", mixed.go.cluster.pod_cidr)
    mixed.ours.liqoctl("peer", "--remote-kubeconfig", mixed.go.cluster.kubeconfig, *ranges, *ASKED)
    wait_for(lambda: mixed.ours.node_ready("malmo"), SOON, "the node of malmo to be Ready in turku")


def test_a_pod_of_ours_runs_at_a_go_provider(mixed: Mixed) -> None:
    home = mixed.ours.cluster
    home.namespace("moved")
    mixed.ours.liqoctl("offload", "namespace", "moved", "--pod-offloading-strategy", "Remote")
    words = {"kind": "ConfigMap", "metadata": {"name": "words"}, "data": {"word": "afar"}}
    home.api.create("configmaps", "moved", words)
    pod = pinned("one", "malmo", "echo hello from $WORD; sleep 1000000")
    reference = {"configMapKeyRef": {"name": "words", "key": "word"}}
    pod["spec"]["containers"][0]["env"] = [{"name": "WORD", "valueFrom": reference}]
    home.api.create("pods", "moved", pod)
    wait_for(lambda: phase(home, "moved", "one") == "Running", SOON, "the pod to be Running at home")
    assert phase(mixed.go.cluster, "moved-turku", "one") == "Running"
    assert home.pod("moved", "one")["status"]["podIP"]
    wait_for(lambda: home.kubectl("-n", "moved", "logs", "one") == "hello from afar\n", SOON, "its log")
    done = typed(home, "-n", "moved", "exec", "one", "--", "sh", "-c", "echo out; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n"), done.stderr


def test_a_go_provider_that_is_stopped_is_told_of(mixed: Mixed) -> None:
    """It shows no Lease, so home tells what it sees, and closes no node."""
    home = mixed.ours.cluster
    mixed.go.stop_program("liqo-controller-manager")
    home.api.create("pods", "moved", pinned("waiting", "malmo"))

    def told() -> str:
        conditions = home.pod("moved", "waiting")["status"].get("conditions", [])
        return next((c["message"] for c in conditions if c["type"] == "offloading.liqo.io/Offloaded"), "")

    wait_for(lambda: told().startswith("cluster malmo has not acted upon orders of yours since "), SOON, "the pod's word")
    assert "cluster malmo has not acted upon 1 order of yours since " in mixed.ours.liqoctl("info")
    mixed.go.start_program("liqo-controller-manager")
    wait_for(lambda: phase(home, "moved", "waiting") == "Running", SOON, "the pod to run")
    assert not told()
    home.api.delete("pods", "moved", "waiting", grace=0)
    wait_for(lambda: home.pod("moved", "waiting") is None, SOON, "the pod to go")


def test_services_ingresses_and_endpoints_of_ours_are_at_a_go_provider(mixed: Mixed) -> None:
    home, away = mixed.ours.cluster, mixed.go.cluster
    written = everything(home, "moved")
    for plural in ("services", "ingresses"):
        for name in written[plural]:
            wait_for(lambda: away.api.find(plural, "moved-turku", name), SOON, f"{plural} {name} in malmo")
    services = {name: away.api.get("services", "moved-turku", name) for name in written["services"]}
    assert services["headless"]["spec"]["clusterIP"] == "None"
    assert services["forced"]["spec"]["ports"][0]["nodePort"] == 30123
    assert services["public"]["spec"]["externalName"] == "db.example.com"
    ingresses = [one.api.get("ingresses", ns, "web") for one, ns in ((home, "moved"), (away, "moved-turku"))]
    assert ingresses[0]["spec"]["rules"] == ingresses[1]["spec"]["rules"]
    assert ingresses[1]["metadata"]["annotations"]["note"] == "kept"

    # malmo knows the endpoint of the pod that it runs; this endpoint would be at home.
    address = home.pod_cidr.rpartition(".")[0] + ".9"
    labels = {"kubernetes.io/service-name": "plain"}
    endpoint = {"addresses": [address], "conditions": {"ready": True}}
    slice_ = {"kind": "EndpointSlice", "metadata": {"name": "by-hand", "labels": labels}, "addressType": "IPv4"}
    home.api.create("endpointslices", "moved", {**slice_, "ports": [{"port": 8080}], "endpoints": [endpoint]})

    def led_to() -> dict[str, bool]:
        found = away.api.list("endpointslices", "moved-turku", "kubernetes.io/service-name=plain")
        ends = [end for one in found for end in one["endpoints"] or []]
        return {end["addresses"][0]: end["conditions"]["ready"] for end in ends}

    wait_for(lambda: led_to().get(address) is True, SOON, "the EndpointSlice in malmo")
    endpoint["conditions"]["ready"] = False
    home.api.patch("endpointslices", "moved", "by-hand", {"endpoints": [endpoint]})
    wait_for(lambda: led_to().get(address) is False, SOON, "the endpoint in malmo not to be ready")
    home.api.delete("endpointslices", "moved", "by-hand")
    wait_for(lambda: address not in led_to(), SOON, "the endpoint in malmo to be gone")

    for plural in ("services", "ingresses"):
        for name in written[plural]:
            home.api.delete(plural, "moved", name)
    for plural in ("services", "ingresses"):
        for name in written[plural]:
            wait_for(lambda: not away.api.find(plural, "moved-turku", name), SOON, f"{plural} {name} to go in malmo")


def test_a_door_that_home_keeps_shut_is_shut_at_a_go_provider(mixed: Mixed) -> None:
    home, away = mixed.ours.cluster, mixed.go.cluster
    keys = {
        "services": {"service.beta.kubernetes.io/aws-load-balancer-internal": "true", "kube-vip.io/vipHost": "node-1"},
        "ingresses": {"nginx.ingress.kubernetes.io/auth-url": "https://auth.example.com"},
    }
    backend = {"service": {"name": "door", "port": {"number": 80}}}
    rule = {"host": "shop.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    specs = {
        "services": ("Service", {"type": "LoadBalancer", "selector": {"app": "one"}, "ports": [{"port": 80}]}),
        "ingresses": ("Ingress", {"rules": [rule]}),
    }
    for plural, (kind, spec) in specs.items():
        metadata = {"name": "door", "annotations": keys[plural]}
        home.api.create(plural, "moved", {"kind": kind, "metadata": metadata, "spec": spec})
    for plural in specs:
        made = wait_for(lambda: away.api.find(plural, "moved-turku", "door"), SOON, f"{plural} in malmo")
        # A Go provider refuses none of it, so the copy brings all that its door is shut by.
        assert keys[plural].items() <= made["metadata"]["annotations"].items()
        home.api.delete(plural, "moved", "door")
    for plural in specs:
        wait_for(lambda: not away.api.find(plural, "moved-turku", "door"), SOON, f"{plural} to go in malmo")


def top(cluster: Cluster, *arguments: str) -> set[str]:
    """The names of which `kubectl top` has figures."""
    lines = cluster.kubectl("top", *arguments, "--no-headers").splitlines()
    return {line.split()[0] for line in lines if "<unknown>" not in line}


def wait_told(cluster: Cluster, namespace: str, node: str) -> None:
    """Waits until `kubectl top` shows pod `one` of the namespace and the virtual node that it runs on."""
    metrics_server.start(cluster)
    told = lambda: "one" in top(cluster, "pod", "-n", namespace) and node in top(cluster, "node")  # noqa: E731
    wait_for(told, 2 * SOON, f"what node {node} and its pod use", interval=1)


def test_a_go_provider_tells_what_our_pods_use(mixed: Mixed) -> None:
    mixed.go.serve_usage()
    wait_told(mixed.ours.cluster, "moved", "malmo")


def test_a_pod_of_ours_ends_at_a_go_provider(mixed: Mixed) -> None:
    home = mixed.ours.cluster
    home.kubectl("-n", "moved", "delete", "pod", "one", "--wait=false")
    wait_for(lambda: not home.pod("moved", "one"), SOON, "the pod to be gone at home")
    wait_for(lambda: not mixed.go.cluster.pod("moved-turku", "one"), SOON, "the pod to be gone in malmo")


def test_our_liqoctl_unpeers_from_a_go_provider(mixed: Mixed) -> None:
    mixed.ours.liqoctl("unoffload", "namespace", "moved", "--skip-confirm")
    wait_for(lambda: not mixed.go.api.find("namespaces", None, "moved-turku"), SOON, "the twin namespace to be gone")
    mixed.ours.liqoctl("unpeer", "--remote-kubeconfig", mixed.go.cluster.kubeconfig, "--skip-confirm")
    assert not mixed.ours.api.find("nodes", None, "malmo")
    assert not mixed.go.api.list("quotas", "liqo-tenant-turku")


def test_the_go_liqoctl_peers_with_a_provider_of_ours(mixed: Mixed) -> None:
    mixed.go.liqoctl(
        "peer", "--remote-kubeconfig", mixed.ours.cluster.kubeconfig, "--networking-disabled", "--timeout=60s", *ASKED,
        "--create-virtual-node=true",
    )  # fmt: skip
    mixed.go.run_virtual_kubelet("turku", "liqo-tenant-turku", 10260)
    wait_for(lambda: mixed.go.node_ready("turku"), SOON, "the node of turku to be Ready in malmo")


def test_the_slice_of_a_go_consumer_has_its_quota(mixed: Mixed) -> None:
    (quota,) = mixed.ours.api.list("quotas", "liqo-tenant-malmo")
    granted = quota["spec"]["resources"]
    assert {key: granted[key] for key in ("cpu", "memory", "pods")} == {"cpu": "2", "memory": "2Gi", "pods": "10"}
    allocatable = mixed.go.api.get("nodes", None, "turku")["status"]["allocatable"]
    assert (allocatable["cpu"], allocatable["pods"]) == ("2", "10")


def test_a_pod_of_a_go_consumer_runs_at_a_provider_of_ours(mixed: Mixed) -> None:
    home, away = mixed.go.cluster, mixed.ours.cluster
    home.namespace("shop")
    mixed.go.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    words = {"kind": "ConfigMap", "metadata": {"name": "words"}, "data": {"word": "from"}}
    hidden = {"kind": "Secret", "metadata": {"name": "hidden"}, "stringData": {"word": "afar"}}
    ports = {"selector": {"app": "one"}, "ports": [{"port": 80}]}
    home.api.create("configmaps", "shop", words)
    home.api.create("secrets", "shop", hidden)
    home.api.create("services", "shop", {"kind": "Service", "metadata": {"name": "web"}, "spec": ports})
    pod = pinned("one", "turku", "echo hello $FIRST $SECOND; sleep 1000000")
    pod["metadata"]["labels"] = {"app": "one"}
    pod["spec"]["containers"][0]["env"] = [
        {"name": "FIRST", "valueFrom": {"configMapKeyRef": {"name": "words", "key": "word"}}},
        {"name": "SECOND", "valueFrom": {"secretKeyRef": {"name": "hidden", "key": "word"}}},
    ]
    home.api.create("pods", "shop", pod)
    wait_for(lambda: phase(home, "shop", "one") == "Running", SOON, "the pod to be Running at home")
    assert phase(away, "shop-malmo", "one") == "Running"
    wait_for(lambda: home.kubectl("-n", "shop", "logs", "one") == "hello from afar\n", SOON, "its log")
    wait_for(lambda: away.api.find("services", "shop-malmo", "web"), SOON, "the Service in turku")
    # The Go virtual kubelet gives exit codes only in words.
    done = typed(home, "-n", "shop", "exec", "one", "--", "echo", "out")
    assert (done.returncode, done.stdout) == (0, "out\n"), done.stderr


def test_a_go_consumer_is_told_what_its_pods_use_at_a_provider_of_ours(mixed: Mixed) -> None:
    wait_told(mixed.go.cluster, "shop", "turku")


def everything(cluster: Cluster, namespace: str) -> dict[str, list[str]]:
    """Writes one object of each kind that a consumer reflects, with what is peculiar about them; their names."""
    def plain(kind: str, name: str, **fields: Any) -> dict[str, Any]:
        return {"kind": kind, "metadata": {"name": name, **fields.pop("metadata", {})}, **fields}

    port = {"name": "http", "port": 80, "targetPort": 8080}
    select = {"selector": {"app": "one"}, "ports": [port]}
    service = {"service": {"name": "plain", "port": {"number": 80}}}
    paths = {"paths": [{"path": "/", "pathType": "Prefix", "backend": service}]}
    objects = {
        "secrets": [
            plain("Secret", "registry", type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": "e30="}),
        ],
        "services": [
            plain("Service", "plain", spec={**select, "sessionAffinity": "ClientIP"},
                  metadata={"annotations": {"service.kubernetes.io/topology-mode": "Auto", "example.com/note": "ours"}}),
            plain("Service", "headless", spec={**select, "clusterIP": "None"}),
            plain("Service", "node-port", spec={**select, "type": "NodePort"}),
            plain("Service", "forced", spec={**select, "type": "NodePort", "ports": [{**port, "nodePort": 30123}]},
                  metadata={"annotations": {"liqo.io/force-remote-node-port": "true"}}),
            plain("Service", "balanced", spec={**select, "type": "LoadBalancer"}),
            plain("Service", "public", spec={"type": "ExternalName", "externalName": "db.example.com"}),
        ],
        "ingresses": [
            plain("Ingress", "web", spec={"rules": [{"host": "shop.example.com", "http": paths}]},
                  metadata={"annotations": {"nginx.ingress.kubernetes.io/rewrite-target": "/", "note": "kept"}}),
        ],
    }  # fmt: skip
    for plural, bodies in objects.items():
        for body in bodies:
            cluster.api.create(plural, namespace, body)
    return {plural: [body["metadata"]["name"] for body in bodies] for plural, bodies in objects.items()}


def test_what_a_go_consumer_reflects_is_taken_by_default(mixed: Mixed) -> None:
    home, away = mixed.go.cluster, mixed.ours.cluster
    written = everything(home, "shop")
    told = {"labels": {"app": "one", "app.kubernetes.io/part-of": "shop"}, "annotations": {
        "k8s.ovn.org/pod-networks": "{}", "cni.projectcalico.org/podIP": "10.42.1.7/32", "prometheus.io/scrape": "true",
    }}  # fmt: skip
    pod = pinned("peculiar", "turku")
    pod["metadata"].update(told)
    pod["spec"]["tolerations"] += [{"key": "example.com/pool", "operator": "Equal", "value": "gpu", "effect": "NoExecute"}]
    home.api.create("pods", "shop", pod)
    wait_for(lambda: phase(home, "shop", "peculiar") == "Running", SOON, "the pod to be Running at home")
    for plural, names in written.items():
        for name in names:
            wait_for(lambda: away.api.find(plural, "shop-malmo", name), SOON, f"{plural} {name} in turku")
    wait_for(lambda: away.api.list("shadowendpointslices", "shop-malmo"), SOON, "the endpoints in turku")


@pytest.mark.refusals("a cordoned tenant gets no new pods")
def test_a_go_consumer_is_cordoned_drained_and_let_in_again(mixed: Mixed) -> None:
    home, away = mixed.go.cluster, mixed.ours.cluster
    mixed.ours.liqoctl("cordon", "tenant", "malmo", "--skip-confirm")
    # The Go node still attracts pods; they wait.
    home.api.create("pods", "shop", pinned("waits", "turku"))
    wait_for(lambda: refused(away, "cordoned"), SOON, "the ShadowPod to be refused")
    assert not away.pod("shop-malmo", "waits")
    mixed.ours.liqoctl("drain", "tenant", "malmo", "--skip-confirm")
    wait_for(lambda: not away.pod("shop-malmo", "peculiar"), SOON, "the pod to be gone in turku")
    # Home still shows the pod as Running, and recreates its ShadowPod: it ends there only with the twin.
    wait_for(lambda: refused(away, "drained"), SOON, "the pod to be asked for again, and refused")
    home.kubectl("-n", "shop", "delete", "pod", "peculiar", "--grace-period=0", "--force")
    mixed.ours.liqoctl("uncordon", "tenant", "malmo", "--skip-confirm")
    wait_for(lambda: phase(home, "shop", "waits") == "Running", SOON, "the pod that waited to be Running at home")


@pytest.mark.refusals("what is more than the quota is refused")
def test_the_quota_of_a_go_consumer_holds(mixed: Mixed) -> None:
    home, away = mixed.go.cluster, mixed.ours.cluster
    # The scheduler would see that the node is full, so the pod is bound by hand.
    pod = pinned("greedy", "turku", cpu="2")
    home.api.create("pods", "shop", {**pod, "spec": {**pod["spec"], "nodeName": "turku"}})

    wait_for(lambda: refused(away, "cpu"), SOON, "the ShadowPod to be refused")
    assert not away.pod("shop-malmo", "greedy")
    home.kubectl("-n", "shop", "delete", "pod", "greedy", "--grace-period=0", "--force")


def test_a_pod_of_a_go_consumer_ends_at_a_provider_of_ours(mixed: Mixed) -> None:
    home, away = mixed.go.cluster, mixed.ours.cluster
    home.kubectl("-n", "shop", "delete", "pod", "one", "--wait=false")
    wait_for(lambda: not home.pod("shop", "one"), SOON, "the pod to be gone at home")
    wait_for(lambda: not away.pod("shop-malmo", "one"), SOON, "the pod to be gone in turku")


@pytest.mark.refusals("the Go virtual kubelet runs on when its rights are gone")
def test_the_go_liqoctl_unpeers_from_a_provider_of_ours(mixed: Mixed) -> None:
    mixed.go.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    wait_for(lambda: not mixed.ours.api.find("namespaces", None, "shop-malmo"), SOON, "the twin namespace to be gone")
    done = mixed.go.liqoctl.attempt("unpeer", "--remote-kubeconfig", mixed.ours.cluster.kubeconfig, "--timeout=100s")
    # Everything is done before it looks for gateways: that kind is not installed, so it ends with an error.
    assert done.code == 1 and 'no matches for kind "GatewayClient"' in done.out + done.err
    assert_parted(mixed)


@pytest.mark.refusals("the Go virtual kubelet runs on when its rights are gone")
def test_our_liqoctl_peers_and_unpeers_a_go_consumer(mixed: Mixed) -> None:
    liqoctl, remote = Liqoctl(mixed.go.cluster), mixed.ours.cluster.kubeconfig
    liqoctl("peer", "--remote-kubeconfig", remote, "--create-virtual-node=false", *ASKED)
    assert mixed.ours.api.list("quotas", "liqo-tenant-malmo")
    liqoctl("unpeer", "--remote-kubeconfig", remote, "--skip-confirm")
    assert_parted(mixed)


def assert_parted(mixed: Mixed) -> None:
    assert not mixed.ours.api.find("tenants", "liqo-tenant-malmo", "malmo")
    wait_for(lambda: not mixed.ours.api.list("quotas", "liqo-tenant-malmo"), SOON, "the quotas to be gone")
    assert not mixed.go.api.find("nodes", None, "turku")
    assert not mixed.go.api.list("identities", "liqo-tenant-turku")
