"""liqod's webhooks admit, change and refuse what an API server, a user and an attacker send them."""

from __future__ import annotations

import base64
import contextlib
import copy
import hashlib
import json
import re
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster import pki, rights
from harness.cluster.api import Api, Refused, path
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.hostile import annotate_policy
from harness.liqo.liqod import METRICS_PORT, WEBHOOK_PORT, Liqod
from harness.run import Run
from harness.tools import firewall
from harness.wait import patient, wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

USER, OTHER = "milan-1f00", "turin-2e00"
TENANT, TWIN, FOREIGN = "liqo-tenant-rome", "shop-rome", "shop-paris"
SECRET = ("secrets", "liqo", "liqo-webhook-certs")
POD = {"containers": [{"name": "main", "image": "busybox"}]}


@pytest.fixture(scope="module")
def oslo(run: Run) -> Iterator[Cluster]:
    """A provider with two tenants, rome and paris; nothing in it runs pods."""
    with run.borrow(oslo=Options()) as (cluster,):
        for tenant, twin in (("rome", TWIN), ("paris", FOREIGN)):
            labels = {"liqo.io/remote-cluster-id": tenant}
            cluster.namespace(f"liqo-tenant-{tenant}", {**labels, "liqo.io/tenant-namespace": "true"})
            cluster.namespace(twin, labels)
        yield cluster


@pytest.fixture(scope="module")
def liqod(oslo: Cluster, daemons: object) -> Liqod:
    daemon = Liqod(oslo, chart.install(oslo))
    for twin in (TWIN, FOREIGN):
        rights.bind(oslo, twin, "rome", rights.group("rome"), chart.REMOTE_ROLE)
    rules = [
        {"apiGroups": ["authentication.liqo.io"], "resources": ["resourceslices", "resourceslices/status", "tenants"],
         "verbs": ["*"]},
        {"apiGroups": ["offloading.liqo.io"], "resources": ["namespacemaps", "namespacemaps/status"], "verbs": ["*"]},
    ]  # fmt: skip
    oslo.api.apply("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "too-much"}, "rules": rules})
    # The tenant has too many rights, so that only admission bounds it.
    rights.bind(oslo, TENANT, "too-much", rights.group("liqo.io"), "too-much")
    daemon.start()
    configured(oslo)
    for user in (USER, OTHER):
        quota(oslo, user)
    return daemon


def quota(cluster: Cluster, user: str, **spec: Any) -> None:
    resources = {"cpu": "100", "memory": "100Gi", "pods": "1000"}
    cluster.api.apply("quotas", TENANT, objects.unenforced_quota(user, resources, **spec))


def configured(cluster: Cluster) -> None:
    """Waits until the API server asks the webhooks: only they refuse a ShadowPod without an origin."""

    def asked() -> bool:
        try:
            create(cluster.api, "probe", origin="", dry_run=True)
        except Refused as refusal:
            return "offloading.liqo.io/origin" in str(refusal)
        return False

    wait_for(asked, 60, "the API server to ask the webhooks")


@pytest.fixture(scope="module")
def rome(oslo: Cluster, liqod: Liqod) -> Api:
    """The identity of a slice of rome."""
    return oslo.as_user(oslo.authority.issue("slice-of-rome", USER, ["rome"]))


@pytest.fixture(scope="module")
def control_plane(oslo: Cluster, liqod: Liqod) -> Api:
    return oslo.as_user(oslo.authority.issue("control-plane-of-rome", "rome", ["liqo.io"]))


def shadow(name: str, origin: str = "rome", pod: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return objects.shadow_pod(name, origin, copy.deepcopy(POD if pod is None else pod), **metadata)


def create(
    api: Api, name: str, origin: str = "rome", pod: dict[str, Any] | None = None, namespace: str = TWIN,
    dry_run: bool = False, **metadata: Any,
) -> dict[str, Any]:  # fmt: skip
    query = {"dryRun": "All"} if dry_run else {}
    return api.request("POST", path("shadowpods", namespace), shadow(name, origin, pod, **metadata), query=query)


def refused(action: Any, *words: str, code: int = 403) -> bool:
    """Fails, as an assertion does, unless the call is refused with these words; may be waited for."""
    try:
        action()
    except Refused as refusal:
        assert refusal.code == code, refusal
        for word in words:
            assert word in str(refusal)
        return True
    raise AssertionError("it was not refused")


# -- the pod firewall -------------------------------------------------------------------------------------------------


def test_every_field_of_the_pods_that_this_kubernetes_serves_has_a_row(oslo: Cluster) -> None:
    document = oslo.api.request("GET", "/openapi/v3/api/v1")
    resolve = firewall.resolver(document)
    schema = document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]
    assert firewall.fields_without_a_row(schema, resolve) == []


def container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "busybox", **fields}]}


def with_volume(**source: Any) -> dict[str, Any]:
    return {**POD, "volumes": [{"name": "v", **source}]}


# What a hostile pod asks for, and the field that the refusal names.
HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "host network": ({**POD, "hostNetwork": True}, "spec.hostNetwork"),
    "host processes": ({**POD, "hostPID": True}, "spec.hostPID"),
    "host IPC": ({**POD, "hostIPC": True}, "spec.hostIPC"),
    "a path of the node": (with_volume(hostPath={"path": "/"}), "spec.volumes[0].hostPath"),
    "git on the node": (with_volume(gitRepo={"repository": "x"}), "spec.volumes[0].gitRepo"),
    "a port of the node": (container(ports=[{"containerPort": 80, "hostPort": 80}]), "ports[0].hostPort"),
    "privileges": (container(securityContext={"privileged": True}), "securityContext.privileged"),
    "a capability": (container(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}), "capabilities.add"),
    "no seccomp": ({**POD, "securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccompProfile.type"),
    "an unmasked /proc": (container(securityContext={"procMount": "Unmasked"}), "securityContext.procMount"),
    "a sysctl": (
        {**POD, "securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
        "spec.securityContext.sysctls",
    ),
    "a node by name": ({**POD, "nodeName": "control-plane-1"}, "spec.nodeName"),
    "another ServiceAccount": ({**POD, "serviceAccountName": "admin"}, "spec.serviceAccountName"),
    "a priority": ({**POD, "priorityClassName": "system-node-critical"}, "spec.priorityClassName"),
    "another runtime": ({**POD, "runtimeClassName": "privileged"}, "spec.runtimeClassName"),
    "a probe of others": (
        container(livenessProbe={"httpGet": {"host": "169.254.169.254", "port": 80}}),
        "livenessProbe.httpGet.host",
    ),
    "to keep others away": (
        {
            **POD,
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}, "labelSelector": {}}
                    ]
                }
            },
        },
        "namespaceSelector",
    ),
    "a scheduling gate": ({**POD, "schedulingGates": [{"name": "example.com/never"}]}, "spec.schedulingGates"),
    "a gang": ({**POD, "schedulingGroup": {"podGroupName": "gang"}}, "spec.schedulingGroup"),
    "a certificate of this cluster": (
        with_volume(
            projected={"sources": [{"podCertificate": {"signerName": "milan.example/mesh", "keyType": "ED25519"}}]}
        ),
        "podCertificate.signerName",
    ),
    "a device": (
        {**POD, "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        "spec.resourceClaims",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_pod_that_asks_for(rome: Api, what: str) -> None:
    pod, field = HOSTILE[what]
    refused(lambda: create(rome, "hostile", pod=pod), "may not run in this cluster", field)


def test_an_administrator_can_make_exceptions_for_one_tenant(oslo: Cluster, rome: Api) -> None:
    def let_in(pod: dict[str, Any]) -> bool:
        return bool(create(rome, "exception", pod=pod, dry_run=True))

    try:
        annotate_policy(oslo, TENANT, json.dumps({"hostPorts": True, "capabilities": ["NET_ADMIN"]}))
        wait_for(lambda: let_in(HOSTILE["a port of the node"][0]), 60, "the exception to hold")
        let_in(container(securityContext={"capabilities": {"add": ["NET_ADMIN"]}}))
        refused(lambda: let_in(HOSTILE["a capability"][0]), "capabilities.add")
        wrong = lambda: annotate_policy(oslo, TENANT, '{"hostPort": true}')  # noqa: E731
        refused(wrong, "liqo.io/pod-policy", '"hostPort" is not a key', "hostPorts?", code=422)
    finally:
        annotate_policy(oslo, TENANT, None)
    wait_for(lambda: let_in(POD), 60, "the default to hold again")


# -- ShadowPods -------------------------------------------------------------------------------------------------------


def test_a_shadowpod_is_stamped_with_its_creator(oslo: Cluster, rome: Api) -> None:
    made = create(rome, "stamped", labels={"liqo.io/creator-user": "somebody-else"})
    assert made["metadata"]["labels"]["liqo.io/creator-user"] == USER
    rome.delete("shadowpods", TWIN, "stamped")


def test_a_shadowpod_comes_from_the_owner_of_the_namespace(rome: Api) -> None:
    refused(lambda: create(rome, "x", origin=""), "offloading.liqo.io/origin is missing")
    refused(lambda: create(rome, "x", origin="paris"), 'belongs to the consumer "rome"')
    refused(lambda: create(rome, "x", namespace=FOREIGN), 'belongs to the consumer "paris"')


def test_without_a_quota_or_with_a_cordoned_one_nothing_comes_in(oslo: Cluster, rome: Api) -> None:
    unknown = oslo.as_user(oslo.authority.issue("without-quota", "nobody-00", ["rome"]))
    refused(lambda: create(unknown, "x"), 'there is no quota for user "nobody-00"')
    quota(oslo, USER, cordoned=True)
    try:
        wait_for(
            lambda: refused(lambda: create(rome, "x", dry_run=True), f"{TENANT}/{USER}", "cordoned"),
            60, "the cordon to hold",
        )  # fmt: skip
    finally:
        quota(oslo, USER, cordoned=False)
    wait_for(lambda: create(rome, "x", dry_run=True), 60, "pods to come in again")


def test_of_a_shadowpod_only_some_fields_change(oslo: Cluster, rome: Api) -> None:
    create(rome, "kept")
    other = oslo.as_user(oslo.authority.issue("other-slice", OTHER, ["rome"]))
    try:

        def change(body: dict[str, Any], by: Api = rome) -> dict[str, Any]:
            return by.patch("shadowpods", TWIN, "kept", body)

        image = {"name": "main", "image": "busybox:2"}
        change({"spec": {"pod": {"containers": [image], "activeDeadlineSeconds": 99}}})
        refused(lambda: change({"spec": {"pod": {"hostNetwork": True}}}), "spec.hostNetwork cannot be changed")
        refused(lambda: change({"spec": {"pod": {"containers": []}}}), "spec.containers cannot be changed")
        refused(
            lambda: change({"spec": {"pod": {"containers": [{**image, "command": ["sh"]}]}}}),
            "spec.containers[0].command cannot be changed",
        )
        refused(lambda: change({"metadata": {"labels": {"offloading.liqo.io/origin": "paris"}}}), "cannot be changed")
        refused(lambda: change({"metadata": {"labels": {"liqo.io/creator-user": OTHER}}}), "cannot be changed")
        refused(lambda: change({"metadata": {"labels": {"a": "b"}}}, other), "belongs to the identity", USER)
        # Others with the right may change it, as the garbage collector does; and a dropped label comes back.
        changed = change({"metadata": {"labels": {"liqo.io/creator-user": None}, "finalizers": ["a.b/c"]}}, oslo.api)
        assert changed["metadata"]["labels"]["liqo.io/creator-user"] == USER
        change({"metadata": {"finalizers": None}}, oslo.api)
    finally:
        rome.delete("shadowpods", TWIN, "kept")


def test_while_liqod_is_away_only_what_it_decides_about_is_refused(oslo: Cluster, liqod: Liqod, rome: Api) -> None:
    create(rome, "left")
    offloaded = oslo.namespace("offloaded")
    liqod.stop()
    try:
        # Somebody offloads namespaces on which the cluster itself depends.
        for name in ("kube-system", "liqo", offloaded):
            oslo.api.patch("namespaces", None, name, {"metadata": {"labels": {"liqo.io/scheduling-enabled": "true"}}})
        refused(lambda: create(rome, "x"), "failed calling webhook", code=500)
        rome.request("DELETE", path("shadowpods", TWIN, "left"))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"}, "spec": POD}
        where = path("pods", offloaded)
        ask = lambda: oslo.api.request("POST", where, pod, query={"dryRun": "All"})  # noqa: E731
        # The API server learns of the labels by a watch, so it may take a moment.
        wait_for(lambda: refused(ask, "failed calling webhook", code=500), 60, "pods to be asked about")
        for namespace in ("default", "kube-system", "liqo", TWIN):
            oslo.api.create("pods", namespace, pod)
            oslo.api.delete("pods", namespace, "alone", grace=0)
    finally:
        liqod.start()
        for name in ("kube-system", "liqo", offloaded):
            oslo.api.patch("namespaces", None, name, {"metadata": {"labels": {"liqo.io/scheduling-enabled": None}}})
    create(rome, "back", dry_run=True)


def test_kubectl_shows_the_reason(oslo: Cluster, rome: Api, tmp_path: Path) -> None:
    user = pki.certificate_user(oslo.authority.issue("kubectl-of-rome", USER, ["rome"]))
    config = tmp_path / "kubeconfig"
    config.write_text(pki.kubeconfig(oslo.server, oslo.authority.pair.certificate, user))
    command = oslo.space.entering(
        [oslo.kube, "kubectl", "--kubeconfig", config, "-n", TWIN, "create", "--validate=false", "-f", "-"]
    )
    pod = {**POD, "hostPID": True, "nodeName": "x"}
    done = subprocess.run(
        command, input=json.dumps(shadow("web", pod=pod)), capture_output=True, text=True, timeout=patient(60)
    )
    assert done.returncode != 0
    assert done.stderr.strip() == (
        'Error from server (Forbidden): error when creating "STDIN": admission webhook "shadowpod.validate.liqo.io" '
        "denied the request: pod web may not run in this cluster: spec.hostPID opens the namespaces of the node; "
        "the policy key hostNamespaces would allow it; spec.nodeName goes past the scheduler of this cluster; the policy "
        "key nodeName would allow it"
    )


# -- pods and the other kinds -----------------------------------------------------------------------------------------


def test_pods_of_an_offloaded_namespace_may_go_to_virtual_nodes(oslo: Cluster, liqod: Liqod) -> None:
    for strategy in ("Remote", "LocalAndRemote", "Local"):
        namespace = oslo.namespace(f"pods-{strategy.lower()}", {"liqo.io/scheduling-enabled": "true"})
        oslo.api.create("namespaceoffloadings", namespace, objects.offloading(podOffloadingStrategy=strategy))
        pod = {"kind": "Pod", "metadata": {"name": "web"}, "spec": POD}
        made = oslo.api.create("pods", namespace, pod)["spec"]
        tolerated = [entry for entry in made["tolerations"] if entry.get("key") == "virtual-node.liqo.io/not-allowed"]
        assert len(tolerated) == (strategy != "Local")
        required = (
            made.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
        )
        if strategy == "Remote":
            expression = {"key": "liqo.io/type", "operator": "In", "values": ["virtual-node"]}
            assert required == {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        else:
            assert required is None
    plain = oslo.namespace("pods-plain")
    made = oslo.api.create("pods", plain, {"kind": "Pod", "metadata": {"name": "web"}, "spec": POD})["spec"]
    assert "virtual-node.liqo.io/not-allowed" not in json.dumps(made)


def test_wrong_objects_are_refused_with_the_reason(oslo: Cluster, liqod: Liqod) -> None:
    api = oslo.api

    def made(
        resource: str, kind: str, name: str, spec: dict[str, Any], namespace: str = TENANT, **metadata: Any
    ) -> Any:
        return lambda: api.create(
            resource, namespace, {"kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        )

    refused(made("namespaceoffloadings", "NamespaceOffloading", "other", {}), 'must be called "offloading"')
    selected = {"namespaceMappingStrategy": "SelectedName"}
    refused(
        made("namespaceoffloadings", "NamespaceOffloading", "offloading", selected), "remoteNamespaceName is needed"
    )
    api.create("namespaceoffloadings", TENANT, objects.offloading())
    refused(
        lambda: api.patch("namespaceoffloadings", TENANT, "offloading",
                          {"spec": {"namespaceMappingStrategy": "EnforceSameName"}}),
        "namespaceMappingStrategy cannot be changed",
    )  # fmt: skip
    api.delete("namespaceoffloadings", TENANT, "offloading")

    refused(made("resourceslices", "ResourceSlice", "s" * 51, {}), "50 characters", code=422)
    refused(made("resourceslices", "ResourceSlice", "s", {"resources": {"cpu": "-4"}}), "cannot be negative", code=422)
    made("resourceslices", "ResourceSlice", "twice", {})()
    refused(made("resourceslices", "ResourceSlice", "twice", {}, "liqo-tenant-paris"), f"{TENANT}/twice")
    api.delete("resourceslices", TENANT, "twice")

    refused(made("tenants", "Tenant", "rome", {"clusterID": "rome"}, "default"), "not the tenant namespace", code=422)
    refused(made("tenants", "Tenant", "paris", {"clusterID": "paris"}), 'tenant namespace of "rome"')
    made("tenants", "Tenant", "rome", {"clusterID": "rome"})()
    labels = api.get("tenants", TENANT, "rome")["metadata"]["labels"]
    assert labels["liqo.io/remote-cluster-id"] == "rome"
    refused(made("tenants", "Tenant", "second", {"clusterID": "rome"}), "has a Tenant already, rome")

    refused(made("quotas", "Quota", "again", {"user": USER, "resources": {}}), f"has a Quota already, {TENANT}/{USER}")
    refused(made("quotas", "Quota", "less", {"user": "x", "resources": {"cpu": "-1"}}), "cannot be negative", code=422)

    api.apply("nodes", None, {"kind": "Node", "metadata": {"name": "worker"}})
    refused(made("virtualnodes", "VirtualNode", "worker", {"clusterID": "milan"}), "is not virtual")
    node = made("virtualnodes", "VirtualNode", "virtual", {"clusterID": "milan", "createNode": False})()
    assert node["spec"]["createNode"] is False and node["spec"]["disableNetworkCheck"] is False
    api.delete("virtualnodes", TENANT, "virtual")
    # Fields that the VirtualNode leaves open come from its template.
    reference = {"vkOptionsTemplateRef": {"name": "reflection-only", "namespace": TENANT}}
    open_one = made("virtualnodes", "VirtualNode", "virtual", {"clusterID": "milan", **reference})
    refused(open_one, "the VkOptionsTemplate")
    said = {"containerImage": "none", "createNode": False, "disableNetworkCheck": True, "metricsEnabled": False}
    made("vkoptionstemplates", "VkOptionsTemplate", "reflection-only", said)()
    node = open_one()
    assert node["spec"]["createNode"] is False and node["spec"]["disableNetworkCheck"] is True
    api.delete("virtualnodes", TENANT, "virtual")

    stranger = objects.liqo_object("core", "ForeignCluster", "lima", {"clusterID": "lima"})
    foreign = api.create("foreignclusters", None, stranger)
    assert foreign["metadata"]["labels"]["liqo.io/remote-cluster-id"] == "lima"
    api.delete("foreignclusters", None, "lima")


REPLICA = objects.replica_labels("rome", "oslo")


def test_a_tenant_writes_replicas_of_its_own_and_nothing_of_the_provider(oslo: Cluster, control_plane: Api) -> None:
    def make(labels: dict[str, str], spec: dict[str, Any] | None = None) -> Any:
        body = objects.resource_slice("pool", labels, **(spec or {}))
        return lambda: control_plane.create("resourceslices", TENANT, body)

    refused(make({}), "liqo.io/replicated must be")
    refused(make({**REPLICA, "liqo.io/originID": "paris"}), "liqo.io/originID must be")
    refused(make(REPLICA, {"consumerClusterID": "paris"}), "in the name of another cluster")
    make(REPLICA, {"consumerClusterID": "rome"})()
    # The mark is not cordon-tenant, which liqod itself removes while the Tenant is not cordoned.
    mark = {"metadata": {"annotations": {"liqo.io/cordon": "true"}}}
    oslo.api.patch("resourceslices", TENANT, "pool", mark)

    def change(body: dict[str, Any], part: str | None = None) -> Any:
        return lambda: control_plane.patch("resourceslices", TENANT, "pool", body, part)

    for annotation, value in (("cordon", None), ("cordon", "false"), ("cordon-tenant", "true"),
                              ("cordoned-resource", "true")):  # fmt: skip
        refused(
            change({"metadata": {"annotations": {f"liqo.io/{annotation}": value}}}), f"liqo.io/{annotation} cannot be"
        )
    for label in ("originID", "replicated", "remote-cluster-id", "replication"):
        refused(change({"metadata": {"labels": {f"liqo.io/{label}": None}}}), f"liqo.io/{label} cannot be removed")
    refused(change({"status": {"resources": {"cpu": "1000"}}}, "status"), "is the provider's answer")
    refused(change({"metadata": {"finalizers": ["example.com/wait"]}}), "finalizers of resourceslices")
    change({"spec": {"resources": {"cpu": "8"}}})()
    control_plane.request("DELETE", path("resourceslices", TENANT, "pool"))

    bad = objects.namespace_map("oslo", REPLICA, desiredMapping={"a": "kube-system"})
    refused(lambda: control_plane.create("namespacemaps", TENANT, bad), "keeps for itself")
    control_plane.create("namespacemaps", TENANT, objects.namespace_map("oslo", REPLICA, desiredMapping={"a": "a-rome"}))
    status = {"status": {"currentMapping": {"a": {"remoteNamespace": "default", "phase": "Accepted"}}}}
    refused(lambda: control_plane.patch("namespacemaps", TENANT, "oslo", status, "status"), "is the provider's answer")
    control_plane.request("DELETE", path("namespacemaps", TENANT, "oslo"))


def test_a_peering_user_sets_no_policy(oslo: Cluster, liqod: Liqod) -> None:
    oslo.api.delete("tenants", TENANT, "rome")
    wait_for(lambda: oslo.api.find("tenants", TENANT, "rome") is None, 60, "the Tenant of before to go")
    peer = oslo.as_user(oslo.authority.issue("peering-user", "liqo-peer-user-rome-0011", ["liqo.io"]))
    loose = objects.tenant("rome", authzPolicy="TolerateNoHandshake")
    refused(lambda: peer.create("tenants", TENANT, loose), "spec.authzPolicy")
    skipping = objects.tenant("rome", {"liqo.io/webhook-skip": "true"})
    refused(lambda: peer.create("tenants", TENANT, skipping), "liqo.io/webhook-skip")
    peer.create("tenants", TENANT, objects.tenant("rome"))
    oslo.api.patch("tenants", TENANT, "rome", {"spec": {"tenantCondition": "Drained"}})
    refused(lambda: peer.patch("tenants", TENANT, "rome", {"spec": {"tenantCondition": "Active"}}), "tenantCondition")
    peer.patch("tenants", TENANT, "rome", {"spec": {"proxyURL": "http://proxy"}})
    marks = {"liqo.io/sharing-percentage": "50", "liqo.io/keep-pods": "true"}
    for mark, value in marks.items():
        set_mark = {"metadata": {"annotations": {mark: value}}}
        refused(lambda body=set_mark: peer.patch("tenants", TENANT, "rome", body), f"{mark} cannot be set")
    oslo.api.patch("tenants", TENANT, "rome", {"metadata": {"annotations": marks}})
    for mark in marks:
        for value in ("100", None):
            change = {"metadata": {"annotations": {mark: value}}}
            refused(lambda body=change: peer.patch("tenants", TENANT, "rome", body), f"{mark} cannot be set")
    held = lambda: oslo.api.get("tenants", TENANT, "rome")["metadata"]["finalizers"]  # noqa: E731
    wait_for(held, 60, "the Tenant to be held")
    refused(lambda: peer.patch("tenants", TENANT, "rome", {"metadata": {"finalizers": None}}), "finalizer")
    peer.patch("tenants", TENANT, "rome", {"spec": {"proxyURL": "http://other"}})


# -- the port ---------------------------------------------------------------------------------------------------------


def secret(cluster: Cluster) -> dict[str, str]:
    found = cluster.api.find(*SECRET)
    assert found, "the Secret with the certificates"
    return {key: base64.b64decode(value).decode() for key, value in found["data"].items()}


# Less than the 60 s that the server waits for a body: it does not wait for a body that it refuses.
AT_ONCE = 45


def dial(cluster: Cluster, authority: str, port: int = WEBHOOK_PORT) -> ssl.SSLSocket:
    tls = ssl.create_default_context(cadata=authority)
    return tls.wrap_socket(cluster.space.connect(cluster.address, port, AT_ONCE), server_hostname=cluster.address)


def post(cluster: Cluster, where: str, body: bytes, length: int | None = None, method: str = "POST") -> str:
    """What the port answers to a request of that many bytes, of which only `body` is sent."""
    head = f"{method} {where} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body) if length is None else length}\r\n\r\n"
    with dial(cluster, secret(cluster)["ca"]) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(head.encode() + body)
        answer = b""
        with contextlib.suppress(OSError):
            while not is_whole(answer) and (piece := connection.recv(65536)):
                answer += piece
    return answer.decode(errors="replace")


def is_whole(answer: bytes) -> bool:
    """Whether an answer is there with as much of a body as it announces."""
    head, end, body = answer.partition(b"\r\n\r\n")
    announced = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return bool(end) and len(body) >= int(announced[1] if announced else 0)


def review(**fields: Any) -> bytes:
    request = {"uid": "1", "operation": "CREATE", "object": shadow("x"), **fields}
    document = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("body", "length", "status", "word"),
    [
        (b"", None, 400, "cannot be read"),
        (review()[:200], None, 400, "cannot be read"),
        (review().replace(b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1"), None, 400, "v1beta1"),
        (b"[" * 100_000, None, 400, "cannot be read"),
        (b"\x00\xff" * 1000, None, 400, "cannot be read"),
        (review(object=None), None, 400, "no object"),
        (b"x", 100 << 20, 413, ""),
        (b"x" * (7 << 20), None, 413, ""),
    ],
    ids=["nothing", "cut", "v1beta1", "deep", "bytes", "no object", "100 MB promised", "7 MB"],
)
def test_a_bad_review_is_refused_and_harms_nobody(
    oslo: Cluster, liqod: Liqod, rome: Api, body: bytes, length: int | None, status: int, word: str
) -> None:
    began = time.monotonic()
    answer = post(oslo, "/validate/shadowpods", body, length)
    assert answer.startswith(f"HTTP/1.1 {status} ") and word in answer
    assert time.monotonic() - began < AT_ONCE
    create(rome, "still", dry_run=True)


def test_other_paths_and_methods_are_refused(oslo: Cluster, liqod: Liqod) -> None:
    assert post(oslo, "/", b"{}").startswith("HTTP/1.1 404 ")
    assert post(oslo, "/validate/shadowpods", b"", method="GET").startswith("HTTP/1.1 405 ")


def fingerprint(cluster: Cluster) -> str:
    """The fingerprint of the certificate that is shown, which one of the authorities in the Secret must have signed."""
    authority = secret(cluster)["ca"]
    try:
        with dial(cluster, authority) as connection:
            certificate = connection.getpeercert(binary_form=True)
            assert certificate
            return hashlib.sha256(certificate).hexdigest()
    except ssl.SSLCertVerificationError:
        # A test that stood still while the authority changed trusts the old one, and asks again.
        if authority == secret(cluster)["ca"]:
            raise
        return fingerprint(cluster)


@pytest.fixture
def short_lived(oslo: Cluster, liqod: Liqod) -> Iterator[Liqod]:
    """The same daemon with certificates for 36 seconds, under an authority for 144.

    A third of that is what it may be late: a busy machine stands still for some seconds.
    """
    command = list(liqod.command)
    liqod.stop()
    oslo.api.delete(*SECRET)
    liqod.command = [*command, "--webhook-certificate-lifetime", "36s"]
    liqod.start()
    yield liqod
    liqod.stop()
    oslo.api.delete(*SECRET)
    liqod.command = command
    liqod.start()
    configured(oslo)


def test_certificates_and_authorities_change_and_no_request_notices(
    oslo: Cluster, short_lived: Liqod, rome: Api
) -> None:
    configured(oslo)
    served, authorities, asked = set[str](), set[str](), 0
    until = time.monotonic() + patient(150)
    while time.monotonic() < until and not (len(served) >= 4 and len(authorities) >= 2):
        create(rome, "asking", dry_run=True)
        asked += 1
        authorities.add(hashlib.sha256(secret(oslo)["ca"].encode()).hexdigest())
        served.add(fingerprint(oslo))
        time.sleep(0.2)
    assert len(served) >= 4 and len(authorities) >= 2, (len(served), len(authorities), asked)
    assert asked > 20

    def trusted() -> bool:
        configuration = oslo.api.get("validatingwebhookconfigurations", None, "liqo-webhook")
        bundle = base64.b64encode(secret(oslo)["ca"].encode()).decode()
        return {hook["clientConfig"]["caBundle"] for hook in configuration["webhooks"]} == {bundle}

    wait_for(trusted, 60, "the configuration to have the authorities of the Secret")


def test_two_replicas_that_start_at_once_share_one_authority(oslo: Cluster, liqod: Liqod, rome: Api) -> None:
    liqod.stop()
    oslo.api.delete(*SECRET)
    flags = ("--leader-elect",)
    first = Liqod(oslo, liqod.command[2], flags=(*flags, "--identity", "one"), name="first")
    ports = {"listen_port": 11250, "metrics_port": METRICS_PORT + 1}
    second = Liqod(oslo, liqod.command[2], flags=(*flags, "--identity", "two"), name="second", **ports)
    moved = {f"https://{oslo.address}:{WEBHOOK_PORT}": f"https://{oslo.address}:9444"}
    second.command = [moved.get(str(word), word) for word in second.command] + ["--webhook-port", "9444"]
    try:
        first.start(0), second.start(0)

        def both() -> bool:
            authority = secret(oslo)["ca"]
            for port in (WEBHOOK_PORT, 9444):
                with dial(oslo, authority, port):
                    pass
            return authority.count("BEGIN CERTIFICATE") == 1

        wait_for(both, 60, "both replicas to serve under the one authority")
        configured(oslo)
        create(rome, "two", dry_run=True)
    finally:
        first.stop(), second.stop()
        liqod.start()
        configured(oslo)


def test_a_changed_configuration_is_put_right(oslo: Cluster, liqod: Liqod) -> None:
    name = ("validatingwebhookconfigurations", None, "liqo-webhook")
    oslo.api.patch(*name, {"webhooks": []})
    wait_for(lambda: oslo.api.get(*name).get("webhooks"), 60, "the webhooks to be back")
    oslo.api.delete(*name)
    wait_for(lambda: oslo.api.find(*name), 60, "the configuration to be back")
    configured(oslo)
