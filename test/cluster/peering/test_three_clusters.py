"""Three clusters share in both directions at once, with certificates of two minutes, and in the end nothing remains.

vienna consumes from graz and from linz, and graz consumes from vienna at the same time. The stories follow each other:
peer, run, kill, renew, unpeer one, unpeer all.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster import inventory, rights
from harness.cluster.api import Api, Refused
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer, as_identity, certificate_of
from harness.required import require_programs
from harness.run import Run
from harness.story import container
from harness.wait import patient, stays, wait_for

SEED = 4


@dataclass
class Three:
    vienna: Peer
    graz: Peer
    linz: Peer
    before: dict[str, inventory.Inventory]
    # vienna's certificates at graz when the pods began to run, and these pods.
    certificates: dict[str, str] = field(default_factory=dict)
    pods: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def peers(self) -> list[Peer]:
        return [self.vienna, self.graz, self.linz]

    def unlike_before(self, peer: Peer) -> list[str]:
        return inventory.differences(self.before[peer.name], inventory.take(peer.cluster))

    def wait_as_before(self, peer: Peer) -> None:
        def same() -> bool:
            changed = self.unlike_before(peer)
            assert not changed, "\n".join(changed)
            return True

        wait_for(same, 60, f"{peer.name} to be as it was", interval=0.5)


@pytest.fixture(scope="module")
def three(run: Run) -> Iterator[Three]:
    require_programs()
    short = Options(kubelet=True, signing_duration="2m")
    with run.borrow(vienna=Options(), graz=short, linz=Options()) as started:
        for cluster in started:
            if not cluster.options.kubelet:
                cluster.add_kwok_nodes(2)
        with ThreadPoolExecutor(3) as pool:
            vienna, graz, linz = pool.map(Peer, started)
        vienna.cluster.namespace("shop")
        graz.cluster.namespace("lab")
        before = {peer.name: inventory.of_new_cluster(peer.cluster) for peer in (vienna, graz, linz)}
        yield Three(vienna, graz, linz, before)


def quotas(provider: Peer, consumer: Peer) -> dict[str, dict[str, Any]]:
    """Of each slice, what its Quota says."""
    found = provider.api.list("quotas", f"liqo-tenant-{consumer.name}")
    return {quota["metadata"]["name"].rpartition("-")[0]: quota["spec"] for quota in found}


def pinned(name: str, node: str, cpu: str = "100m", script: str = "sleep 1000000") -> dict[str, Any]:
    pod = busybox(name, script, nodeSelector={"kubernetes.io/hostname": node})
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "8Mi"}}
    return pod


def pod_is(phase: str, peer: Peer, namespace: str, name: str) -> bool:
    return (peer.cluster.pod(namespace, name) or {}).get("status", {}).get("phase") == phase


def role_of(peer: Peer, other: Peer) -> str:
    return (peer.api.find("foreignclusters", None, other.name) or {}).get("status", {}).get("role", "")


def test_one_peers_with_two_and_one_of_them_with_it(three: Three) -> None:
    vienna, graz, linz = three.peers
    vienna.peer_with(graz, "--cpu=2", "--memory=1Gi", "--pods=10")
    graz.peer_with(vienna, "--cpu=3", "--memory=3Gi", "--pods=30")
    vienna.peer_with(linz, "--cpu=4", "--memory=4Gi", "--pods=40")
    assert vienna.node_ready("graz") and vienna.node_ready("linz") and graz.node_ready("vienna")
    assert quotas(graz, vienna)["graz"]["resources"]["cpu"] == "2"
    assert quotas(vienna, graz)["vienna"]["resources"]["cpu"] == "3"
    assert quotas(linz, vienna)["linz"]["resources"]["cpu"] == "4"
    assert quotas(graz, vienna).keys() == {"graz"} and not quotas(graz, linz) and not quotas(vienna, linz)
    wait_for(lambda: role_of(vienna, graz) == "ConsumerAndProvider", SOON, "vienna to know both roles of graz")
    wait_for(lambda: role_of(graz, vienna) == "ConsumerAndProvider", SOON, "graz to know both roles of vienna")
    wait_for(lambda: role_of(vienna, linz) == "Provider", SOON, "vienna to know the role of linz")
    wait_for(lambda: role_of(linz, vienna) == "Consumer", SOON, "linz to know the role of vienna")


def test_pods_run_in_both_directions_and_never_bounce(three: Three) -> None:
    vienna, graz, linz = three.peers
    vienna.liqoctl("offload", "namespace", "shop")
    graz.liqoctl("offload", "namespace", "lab")
    vienna.api.create("pods", "shop", pinned("one", "graz", script="while true; do date +%s; sleep 1; done"))
    vienna.api.create("pods", "shop", pinned("two", "linz"))
    graz.api.create("pods", "lab", pinned("three", "vienna"))
    for peer, namespace, name in ((vienna, "shop", "one"), (vienna, "shop", "two"), (graz, "lab", "three")):
        wait_for(lambda: pod_is("Running", peer, namespace, name), 60, f"{name} to run")  # noqa: B023
    assert [pod["metadata"]["name"] for pod in graz.cluster.pods("shop-vienna")] == ["one"]
    assert [pod["metadata"]["name"] for pod in linz.cluster.pods("shop-vienna")] == ["two"]
    (there,) = vienna.cluster.pods("lab-graz")
    # vienna has virtual nodes too, and one of them leads back to graz.
    assert there["spec"]["nodeName"].startswith("vienna-fake-")
    three.pods = {name: vienna.api.get("pods", "shop", name) for name in ("one", "two")}
    three.certificates = {name: certificate_of(vienna, graz, name) for name in ("controlplane-graz", "resourceslice-graz")}
    assert printed(vienna)


def kubelet_port(peer: Peer, node: str) -> int:
    return peer.api.get("nodes", None, node)["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]


def asked(peer: Peer, node: str, path: str) -> tuple[int, str]:
    """What the kubelet API of a node answers to the API server, for an administrator."""
    code, body = peer.api.raw("GET", f"/api/v1/nodes/{node}/proxy{path}")
    return code, body.decode()


def pods_of(peer: Peer, node: str, path: str = "/pods") -> set[str]:
    code, body = asked(peer, node, path)
    assert code == 200, (code, body)
    found = json.loads(body)
    assert (found["kind"], found["apiVersion"]) == ("PodList", "v1")
    return {item["metadata"]["name"] for item in found["items"]}


def test_each_node_answers_for_itself_at_a_port_of_its_own(three: Three) -> None:
    """Two nodes of one provider, and one of another; as the API server asks them, and as somebody who may only see pods."""
    vienna, graz, _ = three.peers
    vienna.liqoctl("create", "resourceslice", "annex", "--remote-cluster-id", "graz", "--cpu", "1", "--pods", "5")
    wait_for(lambda: vienna.node_ready("annex"), SOON, "the second node of graz to be Ready")
    vienna.api.create("pods", "shop", pinned("four", "annex", script="echo four; sleep 1000000"))
    wait_for(lambda: pod_is("Running", vienna, "shop", "four"), 60, "the pod on it to run")
    nodes = {"graz": "one", "linz": "two", "annex": "four"}
    ports = {node: kubelet_port(vienna, node) for node in nodes}
    assert len(set(ports.values())) == 3, ports

    def none_mixes() -> bool:
        for node, pod in nodes.items():
            assert pods_of(vienna, node) == pods_of(vienna, node, "/runningpods/") == {pod}
            assert asked(vienna, node, "/healthz") == (200, "ok")
        return True

    wait_for(none_mixes, SOON, "each node to answer for itself")
    code, words = asked(vienna, "annex", "/containerLogs/shop/one/main")
    assert code == 404 and "pod shop/one does not run on node annex" in words
    code, words = asked(vienna, "annex", "/configz")
    assert code == 200 and json.loads(words)["kubeletconfig"]["port"] == ports["annex"], (code, words)
    code, words = asked(vienna, "annex", "/run/shop/four/main")
    assert code == 501 and len(words.strip().splitlines()) == 1, (code, words)

    # The right for one node is enough for that node, and for nothing else.
    vienna.cluster.service_account("shop", "viewer")
    rules = [{"apiGroups": [""], "resources": ["nodes/pods"], "resourceNames": ["annex"], "verbs": ["get"]}]
    vienna.api.apply("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "pods-of-annex"}, "rules": rules})
    viewer = rights.service_account("shop", "viewer")
    rights.bind(vienna.cluster, None, "pods-of-annex", viewer, "pods-of-annex")
    token = vienna.cluster.kubectl("-n", "shop", "create", "token", "viewer").strip()
    authority = vienna.cluster.authority.pair.certificate

    def codes(path: str) -> dict[str, int]:
        apis = {node: Api(vienna.cluster.space, vienna.cluster.address, ports[node], authority, token) for node in nodes}
        return {node: api.raw("GET", path)[0] for node, api in apis.items()}

    only_annex = {"graz": 403, "linz": 403, "annex": 200}
    wait_for(lambda: codes("/pods") == only_annex, SOON, "the viewer to see the pods of one node")
    assert codes("/healthz") == dict.fromkeys(nodes, 403)
    vienna.api.delete("clusterrolebindings", None, "pods-of-annex")
    vienna.api.delete("clusterroles", None, "pods-of-annex")
    vienna.api.delete("serviceaccounts", "shop", "viewer")

    vienna.daemon.restart()
    wait_for(none_mixes, SOON, "each node to answer for itself after a restart")
    assert {node: kubelet_port(vienna, node) for node in nodes} == ports
    assert printed(vienna)
    logs = lambda: vienna.cluster.kubectl("-n", "shop", "logs", "four")  # noqa: E731
    assert wait_for(logs, SOON, "the log of the pod on the second node") == "four\n"
    assert vienna.cluster.kubectl("-n", "shop", "exec", "four", "--", "echo", "here") == "here\n"

    # The port of a node that has gone is free again.
    vienna.api.delete("pods", "shop", "four")
    vienna.liqoctl("delete", "resourceslice", "annex", "--skip-confirm")

    def refused() -> bool:
        try:
            vienna.cluster.space.connect(vienna.cluster.address, ports["annex"], 5).close()
        except ConnectionRefusedError:
            return True
        return False

    wait_for(refused, SOON, "the port of the node that has gone to be closed")
    wait_for(lambda: quotas(graz, vienna).keys() == {"graz"}, SOON, "its Quota to be gone")


@pytest.mark.refusals("a second virtual node of one name")
def test_a_second_virtual_node_of_one_name_harms_nobody(three: Three, tmp_path: Path) -> None:
    """It is refused; one that is stored all the same ends its own pods alone, and goes without the Node and its pods."""
    vienna, graz, linz = three.peers
    home = vienna.home(linz)
    spec = {"createNode": True, "disableNetworkCheck": True, "resourceQuota": {"hard": {"cpu": "1"}}}
    secret = {"name": "kubeconfig-resourceslice-linz"}
    second = objects.virtual_node("graz", "linz", kubeconfigSecretRef=secret, **spec)
    said = vienna.liqoctl.attempt("create", "virtualnode", "graz", "--remote-cluster-id", "linz", "--resource-slice-name", "linz")
    assert said.code and "liqoctl delete virtualnode graz --remote-cluster-id graz" in said.err, said
    with pytest.raises(Refused, match="there is a VirtualNode of that name already, liqo-tenant-graz/graz"):
        vienna.api.create("virtualnodes", home, second)
    said = vienna.liqoctl.attempt("create", "resourceslice", "graz", "--remote-cluster-id", "linz", "--cpu", "1")
    assert said.code and "already" in said.err, said

    # As it may be stored from before: made while nobody was asked, and with a pod of its own at the other provider.
    one, node = vienna.api.get("pods", "shop", "one"), vienna.api.get("nodes", None, "graz")["metadata"]["uid"]
    shadow = graz.api.get("shadowpods", "shop-vienna", "one")
    labels = shadow["metadata"]["labels"] | {"offloading.liqo.io/destination": "linz"}
    labels.pop("liqo.io/creator-user", None)
    annotations = dict(shadow["metadata"]["annotations"])
    # Ordered long ago, it would be too late for a new pod.
    annotations.pop("offloading.liqo.io/ordered-at", None)
    double = objects.liqo_object("offloading", "ShadowPod", "one", shadow["spec"], labels=labels, annotations=annotations)
    vienna.daemon.stop()
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        for found in vienna.api.list(kind):
            hooks = [hook | {"failurePolicy": "Ignore"} for hook in found["webhooks"]]
            vienna.api.patch(kind, None, found["metadata"]["name"], {"webhooks": hooks})
    vienna.api.create("virtualnodes", home, second)
    as_vienna = as_identity(vienna, linz, "resourceslice-linz", tmp_path)
    as_vienna.create("shadowpods", "shop-vienna", double)
    wait_for(lambda: pod_is("Running", linz, "shop-vienna", "one"), 60, "the double to run")
    vienna.daemon.start()

    gone = lambda: linz.api.find("shadowpods", "shop-vienna", "one") is None and not linz.cluster.pod("shop-vienna", "one")  # noqa: E731
    wait_for(gone, 60, "the double to end")

    def told() -> bool:
        found = vienna.api.get("virtualnodes", home, "graz").get("status", {}).get("conditions", [])
        reasons = {one["type"]: (one["status"], one.get("reason")) for one in found}
        return reasons == dict.fromkeys(("Node", "VirtualKubelet"), ("None", "NodeNameTaken"))

    wait_for(told, SOON, "the second virtual node to say why it has no Node")
    assert [event for event in vienna.cluster.events(home, "graz") if event["reason"] == "NodeNameTaken"]
    assert "liqo-tenant-linz/graz has no Node: VirtualNode liqo-tenant-graz/graz" in vienna.liqoctl.attempt("check").out

    def unharmed() -> bool:
        found = vienna.api.get("nodes", None, "graz")
        assert found["metadata"]["uid"] == node and not found["spec"].get("unschedulable")
        assert found["metadata"]["labels"]["liqo.io/remote-cluster-id"] == "graz"
        now = vienna.api.get("pods", "shop", "one")
        return now["metadata"]["uid"] == one["metadata"]["uid"] and now["status"]["phase"] == "Running"

    wait_for(lambda: vienna.node_ready("graz"), SOON, "the node of graz to be Ready")
    stays(unharmed, 3, "the Node of graz and its pod")
    vienna.liqoctl("delete", "virtualnode", "graz", "--remote-cluster-id", "linz", "--skip-confirm")
    assert vienna.api.find("virtualnodes", home, "graz") is None
    stays(unharmed, 3, "the Node of graz and its pod")
    assert graz.api.get("shadowpods", "shop-vienna", "one")["metadata"]["uid"] == shadow["metadata"]["uid"]
    assert pod_is("Running", vienna, "shop", "two")
    vienna.daemon.wait_asked()


@pytest.mark.refusals("a pod that does not fit")
def test_each_quota_holds_for_its_own_slice(three: Three) -> None:
    vienna, graz, _ = three.peers
    # The pods exceed graz's 2 cores, not linz's 4. Both nodes are as large, so the scheduler does not refuse them.
    vienna.api.create("pods", "shop", pinned("half", "graz", "1500m"))
    wait_for(lambda: pod_is("Running", vienna, "shop", "half"), 60, "what fits into graz's quota to run")
    vienna.api.create("pods", "shop", pinned("large", "linz", "3"))
    wait_for(lambda: pod_is("Running", vienna, "shop", "large"), 60, "what fits into linz's quota to run")
    shadow = objects.shadow_pod("more", "vienna", pinned("more", "", "1")["spec"] | {"nodeSelector": {}})
    # An administrator's ShadowPod counts for nobody, so this request is made as the consumer's user.
    user = next(quota["spec"]["user"] for quota in graz.api.list("quotas", "liqo-tenant-vienna"))
    as_vienna = graz.cluster.as_user(graz.cluster.authority.issue("vienna-slice", user, ["vienna"]))

    def told() -> bool:
        """A busy API server says that it is to be asked again."""
        try:
            as_vienna.create("shadowpods", "shop-vienna", shadow)
        except Refused as refusal:
            assert "has not enough cpu: asked 1, used 1600m of 2" in str(refusal)
            return True
        pytest.fail("what does not fit was let in")

    wait_for(told, 60, "graz to say that there is no room")
    vienna.api.delete("pods", "shop", "half")
    vienna.api.delete("pods", "shop", "large")


def test_slices_quotas_and_pods_survive_daemons_that_are_killed_meanwhile(three: Three) -> None:
    """kill -9 on either side while slices are made, edited and deleted, and pods with them: the end is the same."""
    vienna, linz = three.vienna, three.linz
    dice = random.Random(SEED)
    print(f"seed {SEED}")
    home = vienna.home(linz)
    names = [f"wave-{number}" for number in range(5)]

    def kill_one() -> None:
        time.sleep(dice.uniform(0.1, 1.0))
        victim = dice.choice([vienna.daemon, linz.daemon])
        if victim.running:
            victim.kill()
        time.sleep(dice.uniform(0, 0.3))
        victim.start(0)

    def insist(action: Any, *arguments: Any) -> None:
        """Tries again while liqod, and so admission, is away for a moment."""

        def done() -> bool:
            try:
                action(*arguments)
            except Refused as refusal:
                assert refusal.code in (409, 429, 500, 503, 504), refusal
                return refusal.code == 409
            return True

        wait_for(done, 60, "the API server to take it", interval=0.2)

    def ensure() -> None:
        vienna.daemon.ensure(), linz.daemon.ensure()

    def sizes() -> dict[str, str]:
        return {name: spec["resources"]["cpu"] for name, spec in quotas(linz, vienna).items() if name in names}

    for name in names:
        spec = {"class": "default", "providerClusterID": "linz", "resources": {"cpu": "1", "pods": "5"}}
        body = objects.resource_slice(name, objects.of_peer("linz"), **spec)
        insist(vienna.api.create, "resourceslices", home, body)
        kill_one()
    ensure()
    wait_for(lambda: sizes() == dict.fromkeys(names, "1"), 60, "a quota for each slice")
    for name in names:
        wait_for(lambda: vienna.node_ready(name), 60, f"node {name} to be ready")  # noqa: B023
        insist(vienna.api.create, "pods", "shop", pinned(f"on-{name}", name))
        insist(vienna.api.patch, "resourceslices", home, name, {"spec": {"resources": {"cpu": "2"}}})
        kill_one()
    ensure()
    wait_for(lambda: sizes() == dict.fromkeys(names, "2"), 60, "each quota to follow its slice")
    for name in names:
        wait_for(lambda: pod_is("Running", vienna, "shop", f"on-{name}"), 60, f"the pod on {name} to run")  # noqa: B023
    assert len(quotas(linz, vienna)) == len(names) + 1
    for name in names:
        vienna.api.delete("pods", "shop", f"on-{name}")
        insist(vienna.api.delete, "resourceslices", home, name)
        kill_one()
    ensure()
    gone = lambda: not any(vienna.api.find("resourceslices", home, name) for name in names)  # noqa: E731
    wait_for(gone, 90, "the slices to be gone")
    wait_for(lambda: not any(vienna.api.find("nodes", None, name) for name in names), SOON, "their nodes to be gone")
    wait_for(lambda: quotas(linz, vienna).keys() == {"linz"}, SOON, "their quotas to be gone")
    wait_for(lambda: len(linz.cluster.pods("shop-vienna")) == 1, SOON, "their pods to be gone")
    assert untouched(three, "one") and untouched(three, "two")


def untouched(three: Three, name: str) -> bool:
    """Whether the pod is the one that it was, and its container has not been restarted."""
    was, now = three.pods[name], three.vienna.cluster.pod("shop", name)
    assert now, f"pod {name} is gone"
    assert now["metadata"]["uid"] == was["metadata"]["uid"] and now["status"]["phase"] == "Running"
    assert container(now).get("restartCount", 0) == 0
    return container(now).get("containerID") == container(was).get("containerID")


def lasting(peer: Peer) -> set[str]:
    """The paths of what is there; certificates are renewed all the while, and the ledger strikes out its notes."""
    found = inventory.take(peer.cluster)
    return {path for path in found if "/renews/" not in path and "/configmaps/liqo-quota-" not in path}


def test_a_provider_that_is_unpeered_leaves_the_other_alone(three: Three) -> None:
    vienna, graz, linz = three.peers
    there = graz.cluster.pod("shop-vienna", "one")
    kept = lasting(graz)
    vienna.unpeer_from(linz)
    three.wait_as_before(linz)
    assert not vienna.api.find("nodes", None, "linz") and not vienna.api.find("foreignclusters", None, "linz")
    stays(lambda: untouched(three, "one") and vienna.node_ready("graz"), 2, "the pod in graz")
    assert (graz.cluster.pod("shop-vienna", "one") or {})["metadata"]["uid"] == (there or {})["metadata"]["uid"]
    assert kept == lasting(graz)
    assert pod_is("Running", graz, "lab", "three")


def ends(certificate: str) -> float:
    """When a certificate (PEM) ends, in seconds since 1970."""
    command = ["openssl", "x509", "-noout", "-enddate", "-dateopt", "iso_8601"]
    done = subprocess.run(command, input=certificate, capture_output=True, text=True, check=True)
    return datetime.fromisoformat(done.stdout.strip().removeprefix("notAfter=")).timestamp()


def printed(vienna: Peer) -> list[int]:
    """The seconds that pod one has printed; once the kubelet API has a certificate, which comes after each start."""
    look = lambda: vienna.cluster.kubectl("-n", "shop", "logs", "one").split()  # noqa: E731
    return [int(line) for line in wait_for(look, 30, "the log of pod one")]


def test_certificates_are_renewed_while_pods_run(three: Three) -> None:
    """The certificates of the control plane and of the slice with which the pods began have ended, and the pods do not
    notice."""
    vienna, graz = three.vienna, three.graz

    def renewed() -> bool:
        now = {name: certificate_of(vienna, graz, name) for name in three.certificates}
        return all(now[name] != was and time.time() > ends(was) for name, was in three.certificates.items())

    wait_for(renewed, 150, "both certificates to be new ones, and the old ones to have ended", interval=0.5)
    assert untouched(three, "one")
    seconds = printed(vienna)
    gaps = [later - earlier for earlier, later in zip(seconds, seconds[1:], strict=False)]
    assert max(gaps) <= patient(15), "the pod ran on all the while"
    vienna.api.create("pods", "shop", pinned("late", "graz"))
    wait_for(lambda: pod_is("Running", vienna, "shop", "late"), 60, "a new pod to run with the new certificate")
    vienna.api.delete("pods", "shop", "late")
    vienna.liqoctl("create", "resourceslice", "second", "--remote-cluster-id", "graz", "--cpu", "1")
    assert quotas(graz, vienna)["second"]["resources"]["cpu"] == "1"
    vienna.liqoctl("delete", "resourceslice", "second", "--skip-confirm")


def test_one_direction_ends_and_the_other_goes_on(three: Three) -> None:
    vienna, graz = three.vienna, three.graz
    there = graz.cluster.pod("lab", "three")
    vienna.api.delete_all("pods", "shop")
    vienna.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    vienna.unpeer_from(graz)
    assert not vienna.api.find("nodes", None, "graz")
    wait_for(lambda: graz.node_ready("vienna"), SOON, "the node of the other direction to be Ready")
    stays(lambda: pod_is("Running", graz, "lab", "three"), 2, "the pod of the other direction")
    assert (graz.cluster.pod("lab", "three") or {})["metadata"]["uid"] == (there or {})["metadata"]["uid"]
    wait_for(lambda: not quotas(graz, vienna), SOON, "the Quota of graz to be gone")
    assert quotas(vienna, graz).keys() == {"vienna"}


def test_nothing_is_left_in_any_of_them(three: Three) -> None:
    """All objects, with all that is in them: labels, annotations and finalizers that were left behind would show."""
    vienna, graz = three.vienna, three.graz
    graz.api.delete_all("pods", "lab")
    graz.liqoctl("unoffload", "namespace", "lab", "--skip-confirm")
    graz.unpeer_from(vienna)
    for peer in three.peers:
        three.wait_as_before(peer)
    stays(lambda: not any(three.unlike_before(peer) for peer in three.peers), 2, "all as they were", interval=0.5)
