"""A hostile consumer's pods, and what it writes beside them, are refused, or what they may not say is left out.

All objects that a Go consumer sends are let in by the same default policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness import objects, settings
from harness.cluster import rights
from harness.cluster.api import Api, Refused, path
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.hostile import annotate_policy
from harness.liqo.liqod import Liqod
from harness.run import Run
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

USER = "milan-1f00"
TENANT, TWIN, FOREIGN = "liqo-tenant-rome", "shop-rome", "shop-paris"
POD = {"containers": [{"name": "main", "image": "busybox"}]}
LEFT_OUT = "offloading.liqo.io/left-out"
CORPUS = json.loads((settings.TREE / "test/fixtures/go-consumer/objects.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def oslo(run: Run, daemons: object) -> Iterator[Cluster]:
    """A provider with two tenants; rome was granted a slice with the storage class `standard`. Nothing runs pods."""
    with run.borrow(oslo=Options()) as (cluster,):
        for tenant, twin in (("rome", TWIN), ("paris", FOREIGN)):
            labels = {"liqo.io/remote-cluster-id": tenant}
            cluster.namespace(f"liqo-tenant-{tenant}", {**labels, "liqo.io/tenant-namespace": "true"})
            cluster.namespace(twin, labels)
        daemon = Liqod(cluster, chart.install(cluster))
        for name in ("standard", "gold"):
            cluster.api.create(
                "storageclasses", None,
                {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": "example.com/none"},
            )  # fmt: skip
        runtime = {"kind": "RuntimeClass", "metadata": {"name": "privileged"}, "handler": "privileged"}
        cluster.api.create("runtimeclasses", None, runtime)
        bind_consumer(cluster)
        amounts = {"cpu": "100", "memory": "100Gi", "pods": "100"}
        cluster.api.apply("quotas", TENANT, objects.unenforced_quota(USER, amounts))
        grant_slice(cluster)
        daemon.start()
        wait_for(lambda: asked(cluster.api), 60, "the API server to ask the webhooks")
        yield cluster


def bind_consumer(cluster: Cluster) -> None:
    rights.bind(cluster, TWIN, "rome", rights.group("rome"), chart.REMOTE_ROLE)


def grant_slice(cluster: Cluster) -> None:
    """Grants a slice of a class whose controller is somebody else's."""
    spec = {"class": "theirs", "providerClusterID": "oslo"}
    pool = objects.resource_slice("pool", objects.replica_labels("rome", "oslo"), **spec)
    cluster.api.create("resourceslices", TENANT, pool)
    status = {"status": {
        "storageClasses": [{"storageClassName": "standard", "default": True}],
        "ingressClasses": [{"ingressClassName": "nginx"}],
        "loadBalancerClasses": [{"loadBalancerClassName": "metallb"}],
    }}  # fmt: skip
    cluster.api.patch("resourceslices", TENANT, "pool", status, "status")


def asked(api: Api) -> bool:
    """Whether the API server asks the webhooks: only they refuse a ShadowPod without an origin."""
    try:
        api.request("POST", path("shadowpods", TWIN), shadow("probe", origin=""), query={"dryRun": "All"})
    except Refused as refusal:
        return "offloading.liqo.io/origin" in str(refusal)
    return False


@pytest.fixture(scope="module")
def rome(oslo: Cluster) -> Api:
    """The identity of a slice of rome."""
    return oslo.as_user(oslo.authority.issue("slice-of-rome", USER, ["rome"]))


def shadow(name: str, pod: dict[str, Any] | None = None, origin: str = "rome", **metadata: Any) -> dict[str, Any]:
    return objects.shadow_pod(name, origin, pod or POD, **metadata)


def with_template(**spec: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": "1Gi"}}
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}
    return {**POD, "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}]}


def claim(**spec: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": "1Gi"}}
    metadata = {"name": "more", "annotations": spec.pop("annotations", {}), "labels": spec.pop("labels", {})}
    return {"metadata": metadata, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}


def service(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "more", "annotations": annotations or {}}, "spec": {"ports": [{"port": 80}], **spec}}


def marked(**metadata: Any) -> dict[str, Any]:
    """A Secret or a ConfigMap."""
    return {"metadata": {"name": "more", **metadata}}


def named(external_name: str) -> dict[str, Any]:
    return service(type="ExternalName", externalName=external_name)


def ingress(backend: str = "web", **annotations: str) -> dict[str, Any]:
    to = {"service": {"name": backend, "port": {"number": 80}}}
    rule = {"host": "shop.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": to}]}}
    return {"metadata": {"name": "more", "annotations": annotations}, "spec": {"rules": [rule]}}


# What a hostile consumer tries: resource, object, words of the refusal.
HOSTILE: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "a runtime of the provider": (
        "shadowpods", shadow("more", {**POD, "runtimeClassName": "privileged"}),
        ("spec.runtimeClassName", "runtimeClasses in the policy", "liqo.io/remote-runtime-class-name"),
    ),
    "a place in the mesh": (
        "shadowpods", shadow("more", labels={"sidecar.istio.io/inject": "true"}),
        ("label sidecar.istio.io/inject", "the policy key labels"),
    ),
    "an identity of the network": (
        "shadowpods", shadow("more", labels={"io.cilium.k8s.policy.serviceaccount": "admin"}), ("label io.cilium",),
    ),
    "to pass for a pod of this cluster's consumer side": (
        "shadowpods", shadow("more", labels={"liqo.io/shadowPod": "true"}), ("label liqo.io/shadowPod",),
    ),
    "a template of a class that was not offered": (
        "shadowpods", shadow("more", with_template(storageClassName="gold")),
        ('storageClassName "gold"', "storageClasses in the policy"),
    ),
    "a template for anybody's volume": (
        "shadowpods", shadow("more", with_template(storageClassName="standard", volumeName="theirs")), ("volumeName",),
    ),
    "a claim of a class that was not offered": (
        "persistentvolumeclaims", claim(storageClassName="gold"), ('"gold"', "storageClasses in the policy"),
    ),
    "a claim without a class": ("persistentvolumeclaims", claim(storageClassName=""), ("anybody's",)),
    "a claim of the older form": (
        "persistentvolumeclaims",
        claim(storageClassName="standard", annotations={"volume.beta.kubernetes.io/storage-class": "gold"}),
        ("volume.beta.kubernetes.io/storage-class",),
    ),
    "anybody's volume": (
        "persistentvolumeclaims", claim(storageClassName="standard", volumeName="theirs"), ("spec.volumeName",),
    ),
    "any volume with a label": (
        "persistentvolumeclaims", claim(storageClassName="standard", selector={"matchLabels": {"a": "b"}}),
        ("spec.selector",),
    ),
    "another load balancer": (
        "services", service({"service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"}),
        ("annotation service.beta.kubernetes.io", "the policy key serviceAnnotations"),
    ),
    "a name in the provider's zone": (
        "services", service({"external-dns.alpha.kubernetes.io/hostname": "bank.example.com"}), ("external-dns",),
    ),
    "another's Service": ("services", named(f"theirs.{FOREIGN}"), ("what others have", "otherNamespaces")),
    "the API server": ("services", named("kubernetes.default"), ("what others have",)),
    "another's Service under any domain": (
        "services", named(f"theirs.{FOREIGN}.svc.corp.example"), ("what others have",),
    ),
    "a single label": ("services", named("theirs"), ("is no full name",)),
    "the metadata of the cloud": ("services", named("metadata.google.internal"), ("the network of this cluster",)),
    "an address in disguise": ("services", named("127.1"), ("is an address", "externalIPs")),
    "a piece of configuration": (
        "ingresses", ingress(**{"nginx.ingress.kubernetes.io/configuration-snippet": "return 200;"}),
        ("configuration-snippet", "the policy key ingressAnnotations"),
    ),
    "a certificate of the provider": (
        "ingresses", ingress(**{"cert-manager.io/cluster-issuer": "all"}), ("cert-manager",),
    ),
    "a Secret in namespaces of others": (
        "secrets", marked(annotations={"reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "true"}),
        ("annotation reflector.v1.k8s.emberstack.com", "Reflector", "the policy key objectAnnotations"),
    ),
    "what a Secret of others holds": (
        "secrets", marked(annotations={"replicator.v1.mittwald.de/replicate-from": "kube-system/x"}), ("replicate-from",),
    ),
    "a data source of the provider's Grafana": (
        "configmaps", marked(labels={"grafana_datasource": "1"}),
        ("label grafana_datasource", "Grafana", "the policy key objectLabels"),
    ),
    "a directory of others": (
        "persistentvolumeclaims",
        claim(storageClassName="standard", annotations={"nfs.io/storage-path": "../others"}),
        ("annotation nfs.io/storage-path", "the policy key objectAnnotations"),
    ),
    "backups of others' choosing": (
        "persistentvolumeclaims",
        claim(storageClassName="standard", labels={"recurring-job.longhorn.io/source": "enabled"}),
        ("label recurring-job.longhorn.io/source", "the policy key objectLabels"),
    ),
    "a load balancer that was not offered": (
        "services", service(type="LoadBalancer", loadBalancerClass="internal"),
        ('spec.loadBalancerClass "internal"', "loadBalancerClasses in the policy"),
    ),
    "an Ingress controller that was not offered": (
        "ingresses", ingress(**{"kubernetes.io/ingress.class": "internal"}),
        ('kubernetes.io/ingress.class "internal"', "ingressClasses in the policy"),
    ),
    "an Ingress to wherever a name leads": ("ingresses", ingress("outside"), ("the policy key externalNameBackends",)),
}  # fmt: skip


@pytest.fixture(scope="module")
def outside(rome: Api) -> None:
    """A public name, which rome may have a Service for."""
    rome.request("POST", path("services", TWIN), {**named("db.example.com"), "metadata": {"name": "outside"}})


@pytest.mark.parametrize("what", HOSTILE)
def test_it_does_not_get(rome: Api, outside: None, what: str) -> None:
    resource, body, words = HOSTILE[what]
    with pytest.raises(Refused) as raised:
        rome.request("POST", path(resource, TWIN), body)
    assert raised.value.code == 403, raised.value
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry["what"])
def test_a_go_consumer_brings(rome: Api, entry: dict[str, Any]) -> None:
    assert entry["object"]["metadata"]["namespace"] == TWIN
    made = rome.request("POST", path(entry["plural"], TWIN), entry["object"], query={"dryRun": "All"})
    sent = entry["object"]["metadata"]
    assert sent["labels"].items() <= made["metadata"]["labels"].items()
    assert sent.get("annotations", {}).items() <= made["metadata"].get("annotations", {}).items(), "nothing was taken"


def test_orders_to_the_provider_are_left_out_of_the_pod_and_stay_on_the_shadowpod(oslo: Cluster, rome: Api) -> None:
    orders = {
        "note": "kept",
        "v1.multus-cni.io/default-network": "kube-system/host-lan",
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        LEFT_OUT: '["a lie"]',
    }
    everywhere = [{"operator": "Exists"}, {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]
    claims = with_template(storageClassName="standard")["volumes"]
    claims[0]["ephemeral"]["volumeClaimTemplate"]["metadata"] = {"annotations": {"nfs.io/storage-path": "../others"}}
    spec = {**POD, "tolerations": everywhere, "volumes": claims}
    made = shadow("orders", spec, labels={"app": "web"}, annotations=orders)
    stored = rome.request("POST", path("shadowpods", TWIN), made)
    assert stored["metadata"]["annotations"] == orders
    assert stored["spec"]["pod"]["tolerations"] == everywhere
    assert stored["spec"]["pod"]["volumes"] == claims
    pod = wait_for(lambda: oslo.pod(TWIN, "orders"), 60, "the pod")
    annotations = pod["metadata"]["annotations"]
    assert {*orders} & {*annotations} == {"note", LEFT_OUT}
    assert json.loads(annotations[LEFT_OUT]) == [
        "annotation cluster-autoscaler.kubernetes.io/safe-to-evict",
        "annotation v1.multus-cni.io/default-network",
        "toleration of every taint",
        "toleration of node-role.kubernetes.io/control-plane",
        "annotation nfs.io/storage-path of the claim of volume v",
    ]
    assert pod["metadata"]["labels"]["app"] == "web"
    kept = {entry.get("key") for entry in pod["spec"].get("tolerations", [])}
    assert kept <= {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}, "those of Kubernetes itself"


def test_the_policy_lets_more_through_and_has_images_pulled(oslo: Cluster, rome: Api) -> None:
    def let_in(resource: str, body: dict[str, Any]) -> bool:
        return bool(rome.request("POST", path(resource, TWIN), body, query={"dryRun": "All"}))

    policy = {"runtimeClasses": ["privileged"], "annotations": ["v1.multus-cni.io/*"], "tolerations": ["pool"]}
    policy |= {"alwaysPullImages": True, "storageClasses": ["gold"], "externalNameBackends": True}
    policy |= {"objectLabels": ["grafana_datasource"], "ingressClasses": ["internal"]}
    try:
        annotate_policy(oslo, TENANT, json.dumps(policy))
        wait_for(lambda: let_in("shadowpods", HOSTILE["a runtime of the provider"][1]), 60, "the policy to hold")
        let_in("persistentvolumeclaims", HOSTILE["a claim of a class that was not offered"][1])
        let_in("ingresses", HOSTILE["an Ingress to wherever a name leads"][1])
        let_in("ingresses", HOSTILE["an Ingress controller that was not offered"][1])
        let_in("configmaps", HOSTILE["a data source of the provider's Grafana"][1])
        pod = {**POD, "tolerations": [{"key": "pool", "operator": "Exists"}]}
        orders = {"v1.multus-cni.io/default-network": "lan"}
        rome.request("POST", path("shadowpods", TWIN), shadow("let-through", pod, annotations=orders))
        made = wait_for(lambda: oslo.pod(TWIN, "let-through"), 60, "the pod")
        assert made["metadata"]["annotations"].items() >= orders.items()
        assert LEFT_OUT not in made["metadata"]["annotations"]
        assert "pool" in [entry.get("key") for entry in made["spec"]["tolerations"]]
        assert [container["imagePullPolicy"] for container in made["spec"]["containers"]] == ["Always"]
    finally:
        annotate_policy(oslo, TENANT, None)


def test_bad_objects_get_one_clear_line_and_the_others_go_on(oslo: Cluster, rome: Api) -> None:
    where = path("shadowpods", TWIN)
    with pytest.raises(Refused) as raised:
        rome.request("POST", where, shadow("large", {**POD, "schedulerName": "x" * 1_500_000}))
    assert raised.value.code == 403 and "can have 131072 bytes" in str(raised.value)
    assert len(str(raised.value)) < 2_500 and "\n" not in str(raised.value)
    # Fields that the kind does not have, however deep, do not reach admission: Kubernetes drops them.
    nested = '{"a":' * 1_000 + "1" + "}" * 1_000
    body = json.dumps(shadow("deep", {**POD, "affinity": {}})).replace('"affinity": {}', f'"affinity": {nested}')
    code, answer = rome.raw("POST", where + "?dryRun=All", body.encode())
    assert code == 201 and b'"a"' not in answer, answer
    tomorrow = {"containers": [{**POD["containers"][0], "teleport": {"to": "a node"}}]}
    stored = rome.request("POST", where, shadow("tomorrow", tomorrow), query={"dryRun": "All"})
    assert "teleport" not in stored["spec"]["pod"]["containers"][0]
