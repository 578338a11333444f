"""A hostile consumer gets nothing beyond its own, whatever it tries with each identity that a peering gives it.

The peering is a real one, by liqoctl, and the webhooks are on. Every row says who refuses: RBAC, which has the first
word, or admission, for what RBAC cannot tell apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster import audit, inventory
from harness.cluster.api import APPLY, MERGE, Api, path
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.cluster.pki import encoded
from harness.liqo import chart
from harness.liqo.handshake import Handshake
from harness.liqo.peers import SOON, Peer, as_identity, as_kubeconfig
from harness.required import require_programs
from harness.run import Run
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what this table is about")

SPARTA = "liqo-tenant-sparta"
TWIN = "shop-sparta"
# Namespaces of another consumer.
PARIS, FOREIGN = "liqo-tenant-paris", "shop-paris"

# Two slices: liqoctl makes the first, and nobody answers the second.
POOL, GOLD = "athens", "gold"
CONTROL_PLANE, SLICE, UNANSWERED, PEERING_USER = "control plane", "slice", "slice without a grant", "peering user"

# Who refuses, known by a word of the refusal.
RBAC = "cannot"


@dataclass(frozen=True)
class Row:
    """Somebody tries something. `says` is in the answer if it is a refusal."""

    who: str
    what: str
    verb: str
    where: str
    body: dict[str, Any] | None = None
    code: int = 403
    says: str = RBAC
    kind: str = ""  # of a PATCH: a merge patch if nothing else is said
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.who}: {self.what}"


def marks(**metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata}


def owned(name: str, origin: str = "sparta") -> dict[str, Any]:
    """Metadata as replication writes them."""
    return {"name": name, "labels": objects.replica_labels(origin, "athens")}


def a_slice(metadata: dict[str, Any], **spec: Any) -> dict[str, Any]:
    spec = {"class": "none", "providerClusterID": "athens", **spec}
    return objects.liqo_object("authentication", "ResourceSlice", spec=spec, **metadata)


def shadow(name: str, pod: dict[str, Any] | None = None, origin: str = "sparta") -> dict[str, Any]:
    return objects.shadow_pod(name, origin, pod)


def asking(**requests: str) -> dict[str, Any]:
    return objects.one_container(resources={"requests": requests})


def service(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "more"}, "spec": {"ports": [{"port": 80}], **spec}}


def secret(name: str, of_type: str = "Opaque", **labels: str) -> dict[str, Any]:
    metadata = {
        "name": name,
        "labels": {f"liqo.io/{key.replace('_', '-')}": value for key, value in labels.items()},
        "annotations": {"kubernetes.io/service-account.name": "default"},
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": of_type}


TOKEN_TYPE = "kubernetes.io/service-account-token"
A_POD = {"apiVersion": "v1", "kind": "Pod", **busybox("direct")}
ADMIN = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "metadata": {"name": "more"},
    "roleRef": ADMIN,
    "subjects": [{"kind": "User", "name": "sparta", "apiGroup": "rbac.authorization.k8s.io"}],
}
ROLE = {"metadata": {"name": "all"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
CSR = {
    "metadata": {"name": "more"},
    "spec": {"request": "", "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]},
}
TOKEN = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
QUOTA = {"metadata": {"name": "more"}, "spec": {"user": "sparta", "resources": {"cpu": "1000"}}}

ROWS: list[Row] = []


def rows(who: str, *told: tuple[Any, ...]) -> None:
    ROWS.extend(Row(who, *row) for row in told)


def of_everybody(who: str) -> None:
    """Rows that none of a consumer's identities may do, wherever it is."""
    rows(
        who,
        ("list namespaces", "GET", path("namespaces")),
        ("make a namespace", "POST", path("namespaces"), {"metadata": {"name": "more"}}),
        ("loosen its pod policy", "PATCH", path("namespaces", None, SPARTA),
         marks(annotations={"liqo.io/pod-policy": '{"privileged": true}'})),
        ("claim a namespace", "PATCH", path("namespaces", None, "default"),
         marks(labels={"liqo.io/remote-cluster-id": "sparta"})),
        ("drop the Pod Security level", "PATCH", path("namespaces", None, TWIN),
         marks(labels={"pod-security.kubernetes.io/enforce": "privileged"})),
        ("list nodes", "GET", path("nodes")),
        ("label a node", "PATCH", path("nodes", None, "athens-fake-0"), marks(labels={"mine": "true"})),
        ("reach a kubelet", "GET", path("nodes", None, "athens-fake-0", "proxy")),
        ("list all Secrets", "GET", path("secrets")),
        ("read the key of the cluster", "GET", path("secrets", "liqo", "authentication-keys")),
        ("read the key of the webhooks", "GET", path("secrets", "liqo", "liqo-webhook-certs")),
        ("read the certificate of its tenant", "GET", path("secrets", SPARTA, "liqo-remote-certificate")),
        ("list the Secrets of its tenant", "GET", path("secrets", SPARTA)),
        ("read a Secret of another tenant", "GET", path("secrets", PARIS, "theirs")),
        ("read the ledger", "GET", path("configmaps", "liqo")),
        ("change the ledger", "PATCH", path("configmaps", "liqo", "ledger"), {"data": {"ledger.json": "{}"}}),
        ("delete the ledger", "DELETE", path("configmaps", "liqo", "ledger")),
        ("change the sharing policy", "POST", path("configmaps", "liqo"), {"metadata": {"name": "liqo-sharing-policy"}}),
        ("take the lease", "PATCH", path("leases", "liqo", "liqo"), {"spec": {"holderIdentity": "me"}}),
        ("fake a heartbeat", "PATCH", path("leases", "kube-node-lease", "athens-fake-0"), {"spec": {}}),
        ("list quotas", "GET", path("quotas", SPARTA)),
        ("make a quota", "POST", path("quotas", SPARTA), {"kind": "Quota", **QUOTA}),
        ("raise its quota", "PATCH", path("quotas", SPARTA, "{quota}"), {"spec": {"resources": {"cpu": "1000"}}}),
        ("uncordon its quota", "PATCH", path("quotas", SPARTA, "{quota}"), {"spec": {"cordoned": False}}),
        ("delete its quota", "DELETE", path("quotas", SPARTA, "{quota}")),
        ("grant itself a slice", "PATCH", path("resourceslices", SPARTA, POOL, "status"),
         {"status": {"resources": {"cpu": "1000"}}}),
        ("answer a NamespaceMap", "PATCH", path("namespacemaps", SPARTA, "athens", "status"),
         {"status": {"currentMapping": {"a": {"remoteNamespace": "default", "phase": "Accepted"}}}}),
        ("answer a Renew", "PATCH", path("renews", SPARTA, "any", "status"), {"status": {}}),
        ("admit itself", "PATCH", path("tenants", SPARTA, "sparta", "status"), {"status": {}}),
        ("read another Tenant", "GET", path("tenants", PARIS, "paris")),
        ("ask in another's tenant namespace", "POST", path("resourceslices", PARIS), a_slice(owned("theirs"))),
        ("change another's mappings", "PATCH", path("namespacemaps", PARIS, "athens"), {"spec": {}}),
        ("look at another's pods", "GET", path("pods", FOREIGN)),
        ("run a pod in another's namespace", "POST", path("shadowpods", FOREIGN), shadow("more")),
        ("run a pod in default", "POST", path("shadowpods", "default"), shadow("more")),
        ("enter another's pod", "POST", path("pods", FOREIGN, "theirs", "exec") + "?command=sh&stdout=true"),
        ("read another's log", "GET", path("pods", FOREIGN, "theirs", "log")),
        ("enter a pod of the system", "POST", path("pods", "kube-system", "any", "exec") + "?command=sh"),
        ("request a certificate", "POST", path("certificatesigningrequests"),
         {"kind": "CertificateSigningRequest", **CSR}),
        ("approve a request", "PUT", path("certificatesigningrequests", None, "any", "approval"),
         {"kind": "CertificateSigningRequest", "metadata": {"name": "any"}}),
        ("switch the webhooks off", "DELETE", path("validatingwebhookconfigurations", None, "liqo-webhook")),
        ("weaken a webhook", "PATCH", path("mutatingwebhookconfigurations", None, "liqo-webhook"), {"webhooks": []}),
        ("bind itself as administrator", "POST", path("clusterrolebindings"), {"kind": "ClusterRoleBinding", **BINDING}),
        ("bind itself in its tenant namespace", "POST", path("rolebindings", SPARTA),
         {"kind": "RoleBinding", **BINDING}),
        ("bind itself in its twin", "POST", path("rolebindings", TWIN), {"kind": "RoleBinding", **BINDING}),
        ("make a role", "POST", path("clusterroles"), {"kind": "ClusterRole", **ROLE}),
        ("widen its role", "PATCH", path("clusterroles", None, "liqo-remote-controlplane"), {"rules": ROLE["rules"]}),
        ("ask as a token of Liqo", "POST", path("serviceaccounts", "liqo", "liqo", "token"), TOKEN),
        ("ask as a token of its twin", "POST", path("serviceaccounts", TWIN, "default", "token"), TOKEN),
        ("change a kind", "PATCH", path("customresourcedefinitions", None, "quotas.offloading.liqo.io"),
         marks(labels={"mine": "true"})),
        ("delete a kind", "DELETE", path("customresourcedefinitions", None, "quotas.offloading.liqo.io")),
        ("read metrics of the server", "GET", "/metrics"),
    )  # fmt: skip
    for target in ("liqo-test-admin", "system:serviceaccount:liqo:liqo"):
        impersonating = {"Impersonate-User": target}
        ROWS.append(Row(who, f"act as {target}", "GET", path("nodes"), headers=impersonating))


for identity in (CONTROL_PLANE, SLICE, PEERING_USER):
    of_everybody(identity)

# -- the control plane: it writes whole objects, of which parts are the provider's ------------------------------------

rows(
    CONTROL_PLANE,
    ("delete all slices at once", "DELETE", path("resourceslices", SPARTA)),
    ("activate itself", "PATCH", path("tenants", SPARTA, "sparta"), {"spec": {"tenantCondition": "Active"}}),
    ("raise its share", "PATCH", path("tenants", SPARTA, "sparta"),
     marks(annotations={"liqo.io/sharing-percentage": "100"})),
    ("look at its pods", "GET", path("pods", TWIN)),
    ("run a pod", "POST", path("shadowpods", TWIN), shadow("more")),
    ("take the identity of Liqo", "POST", path("secrets", SPARTA), secret("more")),
)  # fmt: skip
POOL_AT = path("resourceslices", SPARTA, POOL)
rows(
    CONTROL_PLANE,
    ("pass a slice off as another's", "PATCH", POOL_AT, marks(labels={"liqo.io/originID": "paris"}), 403,
     "liqo.io/originID cannot be changed"),
    ("drop the mark of a replica", "PATCH", POOL_AT, marks(labels={"liqo.io/replicated": None}), 403,
     "liqo.io/replicated cannot be removed"),
    ("have it replicated onwards", "PATCH", POOL_AT, marks(labels={"liqo.io/replication": "true"}), 403,
     "liqo.io/replication cannot be changed"),
    ("ask in another's name", "PATCH", POOL_AT, {"spec": {"consumerClusterID": "paris"}}, 403,
     "in the name of another cluster"),
    ("uncordon a slice", "PATCH", path("resourceslices", SPARTA, GOLD), marks(annotations={"liqo.io/cordon": None}),
     403, "only the provider cordons"),
    ("uncordon a slice by the other mark", "PATCH", path("resourceslices", SPARTA, GOLD),
     marks(annotations={"liqo.io/cordoned-resource": "false"}), 403, "only the provider cordons"),
    ("mark a slice as drained", "PATCH", POOL_AT,
     marks(annotations={"liqo.io/drain": "true"}), 403, "only the provider cordons"),
    ("mark a slice as cordoned with its tenant", "PATCH", POOL_AT,
     marks(annotations={"liqo.io/cordon-tenant": "true"}), 403, "only the provider cordons"),
    ("ask for less than nothing", "PATCH", POOL_AT, {"spec": {"resources": {"cpu": "-1"}}}, 422, "cannot be negative"),
    ("let go of a map that the provider holds", "PATCH", path("namespacemaps", SPARTA, "athens"),
     marks(finalizers=None), 403, "finalizer"),
    ("map to a namespace of the system", "PATCH", path("namespacemaps", SPARTA, "athens"),
     {"spec": {"desiredMapping": {"shop": "kube-system"}}}, 403, "keeps for itself"),
)  # fmt: skip
rows(
    CONTROL_PLANE,
    ("ask by something that is no replica", "POST", path("resourceslices", SPARTA), a_slice({"name": "more"}), 403,
     "liqo.io/replicated must be"),
    ("ask by a replica of another's", "POST", path("resourceslices", SPARTA), a_slice(owned("more", "paris")), 403,
     "must be"),
    ("ask for another", "POST", path("resourceslices", SPARTA), a_slice(owned("more"), consumerClusterID="paris"), 403,
     "in the name of another cluster"),
    ("renew another's", "POST", path("renews", SPARTA),
     {"apiVersion": "authentication.liqo.io/v1beta1", "kind": "Renew", "metadata": owned("more", "paris")}, 403,
     "must be"),
)  # fmt: skip
ROWS.append(
    Row(CONTROL_PLANE, "apply another origin", "PATCH", POOL_AT + "?fieldManager=me&force=true",
        a_slice({"name": POOL, "labels": {"liqo.io/originID": "paris"}}), 403, "liqo.io/originID cannot be changed",
        APPLY)
)  # fmt: skip

# -- a slice: pods by ShadowPods in twins, and what pods refer to -----------------------------------------------------

WEB = path("shadowpods", TWIN, "web")
rows(
    SLICE,
    ("run a pod directly", "POST", path("pods", TWIN), A_POD),
    ("delete a pod directly", "DELETE", path("pods", TWIN, "web")),
    ("bind a pod", "POST", path("pods", TWIN, "web", "binding"),
     {"kind": "Binding", "metadata": {"name": "web"}, "target": {"kind": "Node", "name": "athens-fake-1"}}),
    ("evict a pod", "POST", path("pods", TWIN, "web", "eviction"),
     {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}),
    ("delete all ShadowPods at once", "DELETE", path("shadowpods", TWIN)),
    ("delete all pods at once", "DELETE", path("pods", TWIN)),
    ("see its slice", "GET", path("resourceslices", SPARTA)),
    ("see its Tenant", "GET", path("tenants", SPARTA, "sparta")),
    ("see ServiceAccounts", "GET", path("serviceaccounts", TWIN)),
    ("make a ServiceAccount", "POST", path("serviceaccounts", TWIN), {"metadata": {"name": "more"}}),
    ("route by EndpointSlices", "POST", path("endpointslices", TWIN), {"metadata": {"name": "more"}}),
    ("loosen the limits", "POST", path("limitranges", TWIN), {"metadata": {"name": "more"}}),
    ("tell tales", "POST", path("events", TWIN), {"metadata": {"name": "more"}}),
    ("make Deployments", "POST", path("deployments", TWIN), {"metadata": {"name": "more"}}),
    ("make Jobs", "POST", path("jobs", TWIN), {"metadata": {"name": "more"}}),
)  # fmt: skip
rows(
    SLICE,
    ("change a pod directly", "PATCH", path("pods", TWIN, "web"), marks(labels={"a": "b"})),
    ("call a pod finished", "PATCH", path("pods", TWIN, "web", "status"), {"status": {"phase": "Succeeded"}}),
    ("call a ShadowPod finished", "PATCH", WEB + "/status", {"status": {"phase": "Succeeded"}}),
    ("add an ephemeral container", "PATCH", path("pods", TWIN, "web", "ephemeralcontainers"),
     {"spec": {"ephemeralContainers": [{"name": "more", "image": "busybox"}]}}),
    ("add rights to its twin's account", "PATCH", path("serviceaccounts", TWIN, "default"), {"secrets": []}),
)  # fmt: skip
rows(
    SLICE,
    ("run more than its quota", "POST", path("shadowpods", TWIN), shadow("more", asking(cpu="100")), 403,
     "has not enough cpu: asked 100"),
    ("give a pod an owner of the provider's", "PATCH", WEB,
     marks(ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "kube-root-ca.crt", "uid": "1"}]), 403,
     "metadata.ownerReferences"),
    ("give a pod its twin as an owner, by another UID", "PATCH", WEB,
     marks(ownerReferences=[{"apiVersion": "v1", "kind": "Namespace", "name": TWIN, "uid": "1"}]), 403,
     "of another UID"),
    ("bring a ConfigMap that waits for its twin", "POST", path("configmaps", TWIN),
     marks(name="more", ownerReferences=[{"apiVersion": "v1", "kind": "Namespace", "name": TWIN, "uid": "1",
                                          "blockOwnerDeletion": True}]), 403, "metadata.ownerReferences"),
    ("read a namespace that is not its twin", "GET", path("namespaces", None, "default")),
    ("run a pod of nobody", "POST", path("shadowpods", TWIN), shadow("more", origin=""), 403, "origin is missing"),
    ("run a pod of another", "POST", path("shadowpods", TWIN), shadow("more", origin="paris"), 403, "belongs to"),
    ("run in the node's network", "POST", path("shadowpods", TWIN), shadow("more", {**asking(), "hostNetwork": True}),
     403, "spec.hostNetwork"),
    ("run a pod that takes a year to end", "POST", path("shadowpods", TWIN),
     shadow("more", {**asking(), "terminationGracePeriodSeconds": 31536000}), 403,
     "spec.terminationGracePeriodSeconds"),
    ("run as another account", "POST", path("shadowpods", TWIN),
     shadow("more", {**asking(), "serviceAccountName": "admin"}), 403, "spec.serviceAccountName"),
    ("take the traffic of an address", "POST", path("services", TWIN), service(externalIPs=["192.0.2.1"]), 403,
     "spec.externalIPs"),
    ("take the address of the API server", "POST", path("services", TWIN),
     service(type="LoadBalancer", externalIPs=["10.96.0.1"]), 403, "spec.externalIPs"),
    ("choose the address of a load balancer", "POST", path("services", TWIN),
     service(type="LoadBalancer", loadBalancerIP="192.0.2.1"), 403, "spec.loadBalancerIP"),
    ("add an address to a Service that is there", "PATCH", path("services", TWIN, "front"),
     {"spec": {"externalIPs": ["192.0.2.1"]}}, 403, "spec.externalIPs"),
    ("apply an address to a Service that is there", "PATCH",
     path("services", TWIN, "front") + "?fieldManager=me&force=true",
     {"apiVersion": "v1", "kind": "Service", **service(externalIPs=["192.0.2.1"]), "metadata": {"name": "front"}}, 403,
     "spec.externalIPs", APPLY),
    ("give a name to another's Service", "POST", path("services", TWIN),
     service(type="ExternalName", externalName="theirs.shop-paris.svc.cluster.local"), 403, "spec.externalName"),
    ("give a name to the node itself", "POST", path("services", TWIN),
     service(type="ExternalName", externalName="localhost"), 403, "spec.externalName"),
    ("say that a load balancer has an address", "PATCH", path("services", TWIN, "front", "status"),
     {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}),
    ("route the endpoints of a Service", "POST", path("endpoints", TWIN), {"metadata": {"name": "front"}}),
    ("have a token made of its twin", "POST", path("secrets", TWIN),
     secret("more", TOKEN_TYPE), 403, TOKEN_TYPE),
)  # fmt: skip
rows(
    SLICE,
    ("pass a ShadowPod off as another's", "PATCH", WEB, marks(labels={"liqo.io/creator-user": "nobody"}), 403,
     "cannot be changed"),
    ("let a ShadowPod of another origin be", "PATCH", WEB, marks(labels={"offloading.liqo.io/origin": "paris"}), 403,
     "cannot be changed"),
    ("grow a pod that runs", "PATCH", WEB, {"spec": {"pod": {"containers": [
        {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "2"}}}]}}}, 403, "cannot be changed"),
    ("resize the Pod itself", "PATCH", path("pods", TWIN, "web", "resize"), {"spec": {"containers": [
        {"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}),
    ("debug a pod with rights over its node", "PATCH", WEB, {"spec": {"pod": {"ephemeralContainers": [
        {"name": "more", "image": "busybox", "securityContext": {"privileged": True}}]}}}, 403,
     "spec.ephemeralContainers[0].securityContext.privileged"),
    ("debug a pod by what looks like its container", "PATCH", WEB, {"spec": {"pod": {"ephemeralContainers": [
        {"name": "main", "image": "busybox"}]}}}, 403, "the name of another container"),
    ("fill a pod with debug containers", "PATCH", WEB, {"spec": {"pod": {"ephemeralContainers": [
        {"name": f"more-{number}", "image": "busybox"} for number in range(33)]}}}, 403, "maxEphemeralContainers"),
)  # fmt: skip
rows(
    UNANSWERED,
    ("run a pod", "POST", path("shadowpods", TWIN), shadow("more"), 403, "there is no quota for user"),
    ("change another slice's pod", "PATCH", WEB, marks(labels={"a": "b"}), 403, "belongs to the identity"),
)

# -- the peering user: it carries a handshake, and sets no policy -----------------------------------------------------

TENANT = path("tenants", SPARTA, "sparta")
rows(
    PEERING_USER,
    ("delete all Tenants at once", "DELETE", path("tenants", SPARTA)),
    ("become another's tenant", "POST", path("tenants", PARIS), {"metadata": {"name": "sparta"}}),
    ("ask for resources", "POST", path("resourceslices", SPARTA), a_slice(owned("more"))),
    ("map namespaces", "PATCH", path("namespacemaps", SPARTA, "athens"), {"spec": {}}),
    ("see its pods", "GET", path("pods", TWIN)),
    ("run a pod", "POST", path("shadowpods", TWIN), shadow("more")),
    ("bring credentials of its own", "PATCH", path("secrets", SPARTA, "liqo-nonce"), {"data": {}}),
)
rows(
    PEERING_USER,
    ("do without a handshake", "PATCH", TENANT, {"spec": {"authzPolicy": "TolerateNoHandshake"}}, 403,
     "spec.authzPolicy"),
    ("drain", "PATCH", TENANT, {"spec": {"tenantCondition": "Drained"}}, 403, "spec.tenantCondition"),
    ("raise its share", "PATCH", TENANT, marks(annotations={"liqo.io/sharing-percentage": "100"}), 403,
     "liqo.io/sharing-percentage"),
    ("keep its pods", "PATCH", TENANT, marks(annotations={"liqo.io/keep-pods": "true"}), 403, "liqo.io/keep-pods"),
    ("skip admission", "PATCH", TENANT, marks(labels={"liqo.io/webhook-skip": "true"}), 403, "liqo.io/webhook-skip"),
    ("become another", "PATCH", TENANT, {"spec": {"clusterID": "paris"}}, 422, "ClusterID is immutable"),
    ("let go of its Tenant", "PATCH", TENANT, marks(finalizers=None), 403, "finalizer"),
)  # fmt: skip
rows(
    PEERING_USER,
    ("be two tenants", "POST", path("tenants", SPARTA),
     objects.liqo_object("authentication", "Tenant", "second", {"clusterID": "sparta"}), 403, "has a Tenant already"),
    ("make Liqo connect to where it likes", "POST", path("secrets", SPARTA),
     secret("kubeconfig-controlplane-sparta", identity_type="ControlPlane", remote_cluster_id="sparta"), 403,
     "liqo-nonce"),
    ("have the provider sign something", "POST", path("secrets", SPARTA),
     secret("liqo-nonce", signed_nonce="true", remote_cluster_id="sparta"), 403, "liqo.io/signed-nonce"),
    ("have a token made of the tenant namespace", "POST", path("secrets", SPARTA),
     secret("liqo-nonce", TOKEN_TYPE), 403, TOKEN_TYPE),
)  # fmt: skip

# -- what they must be able to do, or a peering would not work --------------------------------------------------------

DRY = "?dryRun=All"
ALLOWED = [
    Row(CONTROL_PLANE, "list its slices", "GET", path("resourceslices", SPARTA), code=200),
    Row(CONTROL_PLANE, "list its maps", "GET", path("namespacemaps", SPARTA), code=200),
    Row(CONTROL_PLANE, "list its renewals", "GET", path("renews", SPARTA), code=200),
    Row(CONTROL_PLANE, "ask", "POST", path("resourceslices", SPARTA) + DRY, a_slice(owned("more")), 201),
    Row(CONTROL_PLANE, "ask for more", "PATCH", POOL_AT + DRY, {"spec": {"resources": {"cpu": "9"}}}, 200),
    Row(CONTROL_PLANE, "map a namespace", "PATCH", path("namespacemaps", SPARTA, "athens") + DRY,
        {"spec": {"desiredMapping": {"more": "more-sparta"}}}, 200),
    Row(CONTROL_PLANE, "ask no more", "DELETE", POOL_AT + DRY, code=200),
    Row(SLICE, "run a pod within its quota", "POST", path("shadowpods", TWIN) + DRY, shadow("more", asking(cpu="1")),
        201),
    Row(SLICE, "read its twin", "GET", path("namespaces", None, TWIN), code=200),
    Row(SLICE, "look at its pods", "GET", path("pods", TWIN), code=200),
    Row(SLICE, "change what it may of a pod", "PATCH", WEB + DRY, marks(labels={"a": "b"}), 200),
    Row(SLICE, "debug a pod of its own", "PATCH", WEB + DRY,
        {"spec": {"pod": {"ephemeralContainers": [{"name": "more", "image": "busybox"}]}}}, 200),
    Row(SLICE, "delete its pod", "DELETE", WEB + DRY, code=200),
    Row(SLICE, "bring a ConfigMap", "POST", path("configmaps", TWIN) + DRY, {"metadata": {"name": "more"}}, 201),
    Row(SLICE, "bring a Secret", "POST", path("secrets", TWIN) + DRY, secret("more"), 201),
    Row(SLICE, "bring a Service", "POST", path("services", TWIN) + DRY, service(selector={"app": "web"}), 201),
    Row(SLICE, "bring a Service as Go Liqo writes it", "PATCH",
        path("services", TWIN, "new") + DRY + "&fieldManager=liqo&force=true",
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "new"}, "spec": {
            "type": "LoadBalancer", "externalName": "", "externalTrafficPolicy": "Cluster", "sessionAffinity": "None",
            "selector": {"app": "web"}, "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080,
                                                   "nodePort": 0}]}}, 201, kind=APPLY),
    Row(SLICE, "bring a Service of the nodes", "POST", path("services", TWIN) + DRY, service(type="NodePort"), 201),
    Row(SLICE, "bring a name outside", "POST", path("services", TWIN) + DRY,
        service(type="ExternalName", externalName="db.example.com"), 201),
    Row(SLICE, "bring a name of its own", "POST", path("services", TWIN) + DRY,
        service(type="ExternalName", externalName=f"front.{TWIN}.svc.cluster.local"), 201),
    Row(SLICE, "take back a Service", "DELETE", path("services", TWIN, "front") + DRY, code=200),
    Row(SLICE, "bring an Ingress", "POST", path("ingresses", TWIN) + DRY,
        {"metadata": {"name": "more"}, "spec": {"rules": [{"host": "shop.example.com"}]}}, 201),
    Row(PEERING_USER, "read the ID of the cluster", "GET", path("configmaps", "liqo", "liqo-clusterid-configmap"),
        code=200),
    Row(PEERING_USER, "read its nonce", "GET", path("secrets", SPARTA, "liqo-nonce"), code=200),
    Row(PEERING_USER, "see its Tenant", "GET", TENANT, code=200),
    Row(PEERING_USER, "bring a new key", "PATCH", TENANT + DRY,
        {"spec": {"signature": "AAAA"}}, 200),
]  # fmt: skip


class Hostile:
    """sparta, peered with athens, and everything that it can show there."""

    def __init__(self, consumer: Peer, provider: Peer, directory: Path):
        self.consumer, self.provider = consumer, provider
        self._of_paris()
        consumer.peer_with(provider, "--cpu=4", "--memory=4Gi", "--pods=20")
        self._unanswered()
        self._pod()
        printed = provider.liqoctl("generate", "peering-user", "--consumer-cluster-id", "sparta")
        identity = f"controlplane-{provider.name}"
        self.apis = {
            CONTROL_PLANE: as_identity(consumer, provider, identity, directory),
            SLICE: as_identity(consumer, provider, f"resourceslice-{POOL}", directory),
            UNANSWERED: as_identity(consumer, provider, f"resourceslice-{GOLD}", directory),
            PEERING_USER: as_kubeconfig(provider, printed, directory / "peering-user"),
        }
        (quota,) = provider.api.list("quotas", SPARTA)
        self.quota = quota["metadata"]["name"]
        self.handshake = Handshake(consumer.cluster, provider.cluster, directory)
        # From here on an attacker has the consumer.
        consumer.daemon.stop()

    def _of_paris(self) -> None:
        """What another consumer has at the provider."""
        api, labels = self.provider.api, {"liqo.io/remote-cluster-id": "paris"}
        self.provider.cluster.namespace(PARIS, labels)
        self.provider.cluster.namespace(FOREIGN, labels)
        api.create("secrets", PARIS, {"kind": "Secret", "metadata": {"name": "theirs"}, "stringData": {"key": "x"}})
        api.create("secrets", FOREIGN, {"kind": "Secret", "metadata": {"name": "theirs"}, "stringData": {"key": "x"}})
        api.create("namespacemaps", PARIS, objects.namespace_map("athens"))
        api.create("pods", FOREIGN, {**busybox("theirs")})

    def _unanswered(self) -> None:
        """A slice that has an identity, and no quota: its class is not Liqo's to answer."""
        spec = {"class": "gold", "providerClusterID": "athens", "resources": {"cpu": "1"}}
        body = objects.resource_slice(GOLD, objects.of_peer("athens"), **spec)
        self.consumer.api.create("resourceslices", self.consumer.home(self.provider), body)
        wait_for(lambda: self.provider.api.find("resourceslices", SPARTA, GOLD), SOON, "its replica")
        # A consumer would like to remove this mark of the provider.
        self.provider.api.patch("resourceslices", SPARTA, GOLD, marks(annotations={"liqo.io/cordon": "true"}))

    def _pod(self) -> None:
        self.consumer.cluster.namespace("shop")
        self.consumer.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
        self.consumer.api.create("pods", "shop", busybox("web"))
        wait_for(lambda: self.provider.running(TWIN) == 1, 60, "the pod to run at the provider")
        # For pods that always restart, the record that they run comes up to a minute late.
        recorded = lambda: (self.provider.api.list("shadowpods", TWIN)[0].get("status") or {}).get("phase")  # noqa: E731
        wait_for(recorded, 90, "that it runs to be recorded")
        self.provider.api.create("services", TWIN, {**service(), "metadata": {"name": "front"}})

    def user_of(self, name: str) -> str:
        """The user of a slice: its name, and a hash of who asked."""
        return f"{name}-{self.quota.rpartition('-')[2]}"

    def tries(self, row: Row) -> tuple[int, str]:
        api: Api = self.apis[row.who]
        kind = row.kind or (MERGE if row.verb == "PATCH" else "application/json")
        data = None if row.body is None else json.dumps(row.body).encode()
        code, answer = api.raw(row.verb, row.where.format(quota=self.quota), data, kind, headers=row.headers)
        return code, answer.decode(errors="replace")


@pytest.fixture(scope="module")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    require_programs()
    with run.borrow(sparta=Options(), athens=Options()) as (sparta, athens):
        sparta.add_kwok_nodes(1), athens.add_kwok_nodes(2)
        yield Hostile(Peer(sparta), Peer(athens), tmp_path_factory.mktemp("identities"))


def everything(cluster: Cluster) -> inventory.Inventory:
    """All that is in the provider but the ledger's notes: that of the pod that runs is struck out when it is seen."""
    found = inventory.take(cluster)
    return {path: found[path] for path in found if "/configmaps/liqo-quota-" not in path}


@pytest.fixture(scope="module")
def before(hostile: Hostile) -> inventory.Inventory:
    return inventory.at_rest(hostile.provider.cluster, everything)


def test_the_table_is_large_enough_and_says_each_thing_once() -> None:
    assert len(ROWS) >= 25 and len(ALLOWED) >= 3
    names = [row.name for row in [*ROWS, *ALLOWED]]
    assert len(names) == len(set(names))
    assert {row.who for row in ROWS} == {CONTROL_PLANE, SLICE, UNANSWERED, PEERING_USER}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_may_not(hostile: Hostile, before: inventory.Inventory, row: Row) -> None:
    code, answer = hostile.tries(row)
    assert code == row.code, f"{row.verb} {row.where}: {code} {answer[:600]}"
    assert row.says in answer, f"{row.verb} {row.where}: {answer[:600]}"


@pytest.mark.parametrize("row", ALLOWED, ids=lambda row: row.name)
def test_it_may(hostile: Hostile, before: inventory.Inventory, row: Row) -> None:
    code, answer = hostile.tries(row)
    assert code == row.code, f"{row.verb} {row.where}: {code} {answer[:600]}"


def test_nothing_of_it_left_a_trace(hostile: Hostile, before: inventory.Inventory) -> None:
    """But for the list of what was refused it, which is for the provider's operator."""
    after = inventory.at_rest(hostile.provider.cluster, everything)
    assert inventory.differences(before, after) == [f"new: /api/v1/{SPARTA}/configmaps/liqo-refusals"]


def test_a_shadowpod_bears_the_name_of_who_made_it_whatever_it_says(hostile: Hostile) -> None:
    body = shadow("stamped")
    body["metadata"]["labels"]["liqo.io/creator-user"] = "somebody-else"
    made = hostile.apis[SLICE].request("POST", path("shadowpods", TWIN), body)
    assert made["metadata"]["labels"]["liqo.io/creator-user"] == hostile.quota
    hostile.apis[SLICE].delete("shadowpods", TWIN, "stamped")


@pytest.mark.parametrize(
    "kind, body",
    [
        ("resourceslices", a_slice(owned("more"))),
        ("namespacemaps", objects.namespace_map("more", owned("more")["labels"])),
        ("renews", {"apiVersion": "authentication.liqo.io/v1beta1", "kind": "Renew", "metadata": owned("more")}),
    ],
)
def test_it_asks_by_so_many_objects_as_it_may(hostile: Hostile, kind: str, body: dict[str, Any]) -> None:
    api = hostile.provider.api
    have = len(api.list(kind, SPARTA, "liqo.io/replicated=true"))

    def bound_by(policy: str | None, code: int) -> bool:
        api.patch("namespaces", None, SPARTA, marks(annotations={"liqo.io/pod-policy": policy}))
        row = Row(CONTROL_PLANE, "ask", "POST", path(kind, SPARTA) + DRY, body)

        def answered() -> bool:
            got, answer = hostile.tries(row)
            assert got == code and (code == 201 or f"there are {have} {kind}" in answer), f"{got} {answer}"
            return True

        return wait_for(answered, SOON, f"{kind} to be answered {code}")

    assert bound_by(json.dumps({"maxObjects": have}), 403)
    assert bound_by(None, 201)


@pytest.mark.parametrize("namespace", [FOREIGN, PARIS, "liqo", SPARTA])
def test_a_namespace_that_is_there_becomes_nobodys_twin(hostile: Hostile, namespace: str) -> None:
    """Admission sees a name only; whose namespace it is shows when the provider looks at it."""
    api, asks = hostile.provider.api, hostile.apis[CONTROL_PLANE]
    before = api.get("namespaces", None, namespace)["metadata"]
    bindings = api.list("rolebindings", namespace)
    asks.patch("namespacemaps", SPARTA, "athens", {"spec": {"desiredMapping": {"more": namespace}}})
    try:

        def phase() -> str:
            status = api.get("namespacemaps", SPARTA, "athens").get("status", {})
            return status.get("currentMapping", {}).get("more", {}).get("phase", "")

        wait_for(lambda: phase() == "CreationLoopBackOff", SOON, "the provider to say that the name is taken")
        after = api.get("namespaces", None, namespace)["metadata"]
        assert (after["labels"], after.get("annotations")) == (before["labels"], before.get("annotations"))
        assert api.list("rolebindings", namespace) == bindings
        code, _ = hostile.apis[SLICE].raw("GET", path("secrets", namespace))
        assert code == 403
    finally:
        asks.patch("namespacemaps", SPARTA, "athens", {"spec": {"desiredMapping": {"more": None}}})
    # This answer must not be taken for that of the next case.
    wait_for(lambda: phase() == "", SOON, "the answer to be taken back")
    assert api.find("namespaces", None, namespace)


@pytest.mark.parametrize(
    "subject",
    [
        "/O=sparta/O=liqo.io/CN={user}",
        "/O=sparta+O=system:masters/CN={user}",
        "/O=liqo.io/CN=sparta",
        "/O=system:masters/CN={user}",
        "/O=sparta/CN=system:admin",
        "/O=paris/CN={user}",
        "/O=sparta/CN=paris",
    ],
)
def test_a_slice_gets_no_certificate_for_more_than_itself(hostile: Hostile, subject: str) -> None:
    api, asks = hostile.provider.api, hostile.apis[CONTROL_PLANE]
    asked = hostile.provider.cluster.audit.mark()
    request = hostile.handshake.signing_request(subject.format(user=hostile.user_of("evil")))
    asks.create("resourceslices", SPARTA, a_slice(owned("evil"), consumerClusterID="sparta", csr=encoded(request)))
    try:

        def answered() -> str:
            conditions = api.get("resourceslices", SPARTA, "evil").get("status", {}).get("conditions", [])
            return next((one["status"] for one in conditions if one["type"] == "Authentication"), "")

        wait_for(lambda: answered() == "Denied", SOON, "the request to be denied")
        assert api.find("secrets", SPARTA, "liqo-remote-certificate-evil") is None
        assert not [
            entry for entry in hostile.provider.cluster.audit.entries(asked)
            if audit.is_write(entry) and audit.resource(entry) == "certificatesigningrequests"
            if audit.user(entry) == chart.USER
        ]  # fmt: skip
    finally:
        asks.delete("resourceslices", SPARTA, "evil")
        wait_for(lambda: api.find("resourceslices", SPARTA, "evil") is None, SOON, "the slice to go")


def test_a_slice_gets_a_certificate_for_itself(hostile: Hostile) -> None:
    """Shows that the table above could fail."""
    asks = hostile.apis[CONTROL_PLANE]
    request = hostile.handshake.signing_request(f"/O=sparta/CN={hostile.user_of('good')}")
    asks.create("resourceslices", SPARTA, a_slice(owned("good"), consumerClusterID="sparta", csr=encoded(request)))
    wait_for(
        lambda: hostile.provider.api.find("secrets", SPARTA, "liqo-remote-certificate-good"), SOON, "its certificate"
    )
    asks.delete("resourceslices", SPARTA, "good")


def test_a_tenant_that_is_made_anew_is_what_the_provider_has_made_of_it(hostile: Hostile) -> None:
    """The last of these stories: it takes the peering apart."""
    api, peering_user = hostile.provider.api, hostile.apis[PEERING_USER]
    decided = {"spec": {"tenantCondition": "Drained"}, **marks(annotations={"liqo.io/sharing-percentage": "10"})}
    api.patch("tenants", SPARTA, "sparta", decided)
    peering_user.delete("tenants", SPARTA, "sparta")
    wait_for(lambda: api.find("tenants", SPARTA, "sparta") is None, 60, "the Tenant to be gone")
    made = peering_user.create("tenants", SPARTA, objects.tenant("sparta", tenantCondition="Active"))
    assert made["spec"]["tenantCondition"] == "Drained"
    assert made["metadata"]["annotations"]["liqo.io/sharing-percentage"] == "10"
