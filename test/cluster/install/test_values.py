"""Values of the chart take effect in running clusters, not only in the objects that are made of them.

carpi consumes from fano. Each is installed by liqoctl with a file of values. Their nodes are fake, so that the pods of
the Deployment are placed and shown, and liqod itself runs by the command line that stands in it.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import objects
from harness.cluster import callers, pki
from harness.cluster.api import Refused
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.deployed import daemon_of
from harness.liqo.liqod import Liqod
from harness.required import require_programs
from harness.run import Run
from harness.tools.liqoctl import Liqoctl
from harness.wait import wait_for

SOON = 60.0
IMAGE = {"repository": "localhost/liqo/liqod"}
# Nobody has these addresses; they only show in flags.
NODE_IP = "192.0.2.10"
API_SERVERS = "192.0.2.32/28"
SCRAPERS = {"namespaceSelector": {"matchLabels": {"team": "monitoring"}}, "podSelector": {}}
USAGE_PORT = 8543
DEDICATED = {"key": "dedicated", "operator": "Equal", "value": "liqo", "effect": "NoSchedule"}
AWAY = {"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists"}
ZONE_A = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
MONITORS = ("ServiceMonitor", "PodMonitor", "PrometheusRule")

CONSUMER: dict[str, Any] = {
    "image": {**IMAGE, "tag": "v1"},
    "pullPolicy": "Never",
    "imagePullSecrets": [{"name": "my-registry"}],
    "authentication": {"tlsCompatibilityMode": True},
    "networking": {"reflectIPs": False},
    "enableAPIServerSupport": True,
    "nodeIP": NODE_IP,
    "listenPort": 10270,
    "healthPort": 8181,
    "webhook": {"port": 9543, "allowedCIDRs": [API_SERVERS]},
    "ipam": {"podCIDR": "10.77.0.0/16", "podCIDRs": ["10.78.0.0/16"]},
    "offloading": {
        "disableNetworkCheck": True,
        "reflection": {
            "pod": {"workers": 7},
            "configmap": {"workers": 6, "type": "AllowList"},
            "endpointslice": {"workers": 5},
            "ingress": {"workers": 0},
            "secret": {"workers": 4, "type": "All"},
            "service": {"workers": 3},
            "skip": {"labels": ["example.org/internal"], "annotations": ["example.org/secret-note"]},
        },
        "runtimeClass": {
            "handler": "runc",
            "labels": {"pool": "remote"},
            "annotations": {"note": "away"},
            "nodeSelector": {"labels": {"liqo.io/type": "virtual-node", "example.org/pool": "remote"}},
            "tolerations": {"tolerations": [AWAY]},
        },
        "namespaces": {
            "selector": "team in (ml, ai),!private",
            "podOffloadingStrategy": "Remote",
            "namespaceMappingStrategy": "EnforceSameName",
            "clusterSelectors": ["example.org/tier=gold"],
        },
    },
    "virtualKubelet": {
        "virtualNode": {
            "extra": {"labels": {"example.org/pool": "remote"}, "annotations": {"example.org/owner": "ops"}},
        },
    },
    "extraArgs": ["--node-lease-duration=80s"],
    "metrics": {
        "port": 8182,
        "certificateSecret": "metrics-certificate",
        "service": {"labels": {"scraped": "yes"}, "annotations": {"example.org/note": "ours"}},
        "prometheusOperator": {"enabled": True, "interval": "40s", "scrapeTimeout": "9s", "labels": {"release": "q"}},
        "serviceMonitor": {"enabled": True, "interval": "20s", "scrapeTimeout": "4s", "labels": {"release": "p"}},
        "rules": {"enabled": True, "labels": {"release": "r"}},
        "dashboards": {"enabled": True, "labels": {"grafana_dashboard": "yes"}},
    },
    "metricAgent": {"enabled": False},
    "networkPolicy": {"kubelet": [{"ipBlock": {"cidr": API_SERVERS}}], "metrics": [SCRAPERS]},
    "resources": {"requests": {"cpu": "70m"}, "limits": {"memory": "300Mi"}},
    "nodeSelector": {"pool": "system"},
    "tolerations": [DEDICATED],
    "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": ZONE_A}},
    },
    "priorityClassName": "important",
    "podLabels": {"team": "network"},
    "podAnnotations": {"example.org/note": "a: b"},
    "common": {"globalLabels": {"owner": "ops"}, "globalAnnotations": {"example.org/ticket": "42"}},
    "openshiftConfig": {"enabled": True},
}
PROVIDER: dict[str, Any] = {
    "image": IMAGE,
    "replicas": 1,
    "discovery": {"config": {"clusterLabels": {"example.org/tier": "gold"}}},
    "offloading": {
        "defaultNodeResources": {
            "cpu": 3, "memory": "5Gi", "pods": 17, "example.org/gpu": 1, "ephemeral-storage": None,
        },
        "sharingPercentage": 25,
        "runtimeClass": {"nodeSelector": {"enabled": False}, "tolerations": {"enabled": False}},
        "reflection": {
            "ingress": {"ingressClasses": [{"name": "nginx", "default": True}, {"name": "internal"}]},
            "service": {"loadBalancerClasses": [{"name": "metallb"}]},
        },
    },
    "storage": {
        "enabled": True, "realStorageClassName": "fast", "reclaimPolicy": "Retain",
        "virtualStorageClassName": "liqo-volumes", "storageNamespace": "real-claims",
    },
    "controllerManager": {"config": {"defaultLimitsEnforcement": "Soft"}},
    "twinNames": ["*"],
    "apiServer": {"trustedCA": True},
    "webhook": {"failurePolicy": "Ignore", "clientCAConfigMap": "webhook-callers"},
    "metrics": {"secure": False, "enabled": False},
    "metricAgent": {"port": USAGE_PORT, "kubeletCAConfigMap": "kubelet-authority"},
    "networkPolicy": {"metricAgent": [{"ipBlock": {"cidr": API_SERVERS}}]},
}


# The workers of each controller.
WORKERS = {
    "pod": 7, "configmap-reflection": 6, "endpointslice-reflection": 5, "secret-reflection": 4, "service-reflection": 3,
}


@dataclass
class Installed:
    carpi: Cluster
    fano: Cluster
    daemons: list[Liqod]

    @property
    def home(self) -> str:
        return "liqo-tenant-fano"

    def slice(self) -> dict[str, Any]:
        return self.carpi.api.get("resourceslices", self.home, "fano")

    def node(self) -> dict[str, Any]:
        return self.carpi.api.get("nodes", None, "fano")

    def pods(self) -> list[dict[str, Any]]:
        """The pods of the Deployment of carpi."""
        return [pod for pod in self.carpi.pods("liqo") if "deletionTimestamp" not in pod["metadata"]]

    def shown(self, kind: str, name: str, namespace: str = "liqo") -> dict[str, Any]:
        return json.loads(self.carpi.kubectl("get", kind, name, "-n", namespace, "-o", "json"))


def is_limit(metric: str, controller: str) -> bool:
    return "max_concurrent_reconciles" in metric and f'"{controller}"' in metric


def prepare(cluster: Cluster) -> None:
    """What the values of carpi speak of: three nodes, of which one fits, a priority, and the kinds of the operator."""
    cluster.add_kwok_nodes(3)
    taints = [{key: DEDICATED[key] for key in ("key", "value", "effect")}]
    for number, labels in enumerate(({"pool": "system", "zone": "a"}, {"pool": "system", "zone": "b"}, {"zone": "a"})):
        change = {"metadata": {"labels": labels}, "spec": {"taints": taints}}
        cluster.api.patch("nodes", None, f"{cluster.name}-fake-{number}", change)
    cluster.kubectl("create", "priorityclass", "important", "--value", "1000")
    for kind in MONITORS:
        plural = f"{kind.lower()}s"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        spec = {"group": "monitoring.coreos.com", "scope": "Namespaced", "versions": [version]}
        spec["names"] = {"kind": kind, "plural": plural, "singular": kind.lower()}
        metadata = {"name": f"{plural}.{spec['group']}"}
        definition = {"kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}
        cluster.api.create("customresourcedefinitions", None, definition)
        wait_for(lambda p=plural: cluster.kubectl("get", p, "-A") is not None, SOON, f"{plural} to be served")


def give_certificates(carpi: Cluster, fano: Cluster, directory: Path) -> None:
    """What values of certificates name: one for the metrics of carpi, and who may ask the webhooks of fano."""
    authority = pki.Authority(directory / "metrics", "metrics")
    pair = authority.issue("tls", "liqod-metrics", names=["DNS:liqod-metrics.liqo.svc"])
    files = {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": authority.pair.certificate}
    carpi.namespace("liqo")
    secret = {"metadata": {"name": "metrics-certificate"}, "type": "kubernetes.io/tls"}
    texts = {name: file.read_text() for name, file in files.items()}
    carpi.api.create("secrets", "liqo", {"kind": "Secret", **secret, "stringData": texts})
    fano.namespace("liqo")
    known = callers.authority_of(fano.directory).pair.certificate.read_text()
    for name in ("webhook-callers", "kubelet-authority"):
        told = {"kind": "ConfigMap", "metadata": {"name": name}, "data": {"ca.crt": known}}
        fano.api.create("configmaps", "liqo", told)


def authorities_of(cluster: Cluster) -> str:
    """The authority of a cluster twice, as no cluster tells it by itself."""
    return base64.b64encode(cluster.authority.pair.certificate.read_bytes() * 2).decode()


def make_objects(cluster: Cluster) -> None:
    """Of each kind that may be reflected one that is, or would be if the values did not keep it."""
    marks = {"liqo.io/allow-reflection": "", "example.org/secret-note": "x", "example.org/open-note": "y"}
    labels = {"example.org/internal": "x", "example.org/open": "y"}
    backend = {"service": {"name": "front", "port": {"number": 80}}}
    rule = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    data = {"data": {"a": "b"}}
    api = cluster.api
    api.create("ingresses", "shop", {"kind": "Ingress", "metadata": {"name": "front"}, "spec": {"rules": [rule]}})
    api.create("configmaps", "shop", {"kind": "ConfigMap", "metadata": {"name": "plain"}, **data})
    marked = {"name": "front", "annotations": marks, "labels": labels}
    api.create("configmaps", "shop", {"kind": "ConfigMap", "metadata": marked, **data})
    # Nothing refers to this Secret.
    api.create("secrets", "shop", {"kind": "Secret", "metadata": {"name": "front"}, "stringData": data["data"]})
    ports = {"ports": [{"port": 80}], "selector": {"app": "front"}}
    api.create("services", "shop", {"kind": "Service", "metadata": {"name": "front"}, "spec": ports})


def install(cluster: Cluster, values: dict[str, Any], directory: Path, trusted: Path) -> Liqod:
    file = directory / f"{cluster.name}.yaml"
    address = {**values.get("apiServer", {"ca": authorities_of(cluster)})}
    file.write_text(yaml.safe_dump({"clusterID": cluster.name, **values, "apiServer": address}))
    # The pods are kwok's, and ready as soon as they have a node.
    Liqoctl(cluster)("install", "-f", file)
    daemon = daemon_of(cluster, usage=True)
    # This file stands for the authorities that the system trusts.
    daemon.environment["SSL_CERT_FILE"] = str(trusted)
    daemon.start()
    if cluster.api.find("services", "liqo", chart.METRIC_AGENT):
        chart.serve_usage(cluster, USAGE_PORT)
    return daemon


@pytest.fixture(scope="module")
def installed(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    require_programs()
    directory = tmp_path_factory.mktemp("values")
    with run.borrow(carpi=Options(), fano=Options(shows_certificate=True)) as (carpi, fano):
        fano.add_kwok_nodes(1)
        for name in ("fast", "slow"):
            storage = {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": "none"}
            fano.api.create("storageclasses", None, storage)
        prepare(carpi)
        give_certificates(carpi, fano, directory)
        trusted = fano.authority.pair.certificate
        with ThreadPoolExecutor(2) as pool:
            chosen = ((carpi, fano), (CONSUMER, PROVIDER), (directory, directory), (trusted, trusted))
            daemons = list(pool.map(install, *chosen))
        try:
            Liqoctl(carpi)("peer", "--remote-kubeconfig", fano.kubeconfig)
            carpi.namespace("shop")
            mapping = ("--namespace-mapping-strategy", "EnforceSameName", "--pod-offloading-strategy", "LocalAndRemote")
            Liqoctl(carpi)("offload", "namespace", "shop", *mapping)
            make_objects(carpi)
            yield Installed(carpi, fano, daemons)
        finally:
            for daemon in daemons:
                daemon.kill()


def test_pods_of_the_daemon_run_where_and_as_the_values_say(installed: Installed) -> None:
    wait_for(lambda: len(installed.pods()) == 2, SOON, "both replicas")
    for pod in installed.pods():
        metadata, spec, (container,) = pod["metadata"], pod["spec"], pod["spec"]["containers"]
        # Each of the other two nodes lacks what one of the values asks for, and all keep away who tolerates nothing.
        assert spec["nodeName"] == "carpi-fake-0"
        assert (spec["priorityClassName"], spec["priority"]) == ("important", 1000)
        assert spec["imagePullSecrets"] == [{"name": "my-registry"}]
        assert (container["image"], container["imagePullPolicy"]) == (f"{IMAGE['repository']}:v1", "Never")
        assert container["resources"] == {"requests": {"cpu": "70m", "memory": "32Mi"}, "limits": {"memory": "300Mi"}}
        assert "runAsUser" not in spec["securityContext"] and spec["securityContext"]["runAsNonRoot"]
        assert (metadata["labels"]["team"], metadata["annotations"]["example.org/note"]) == ("network", "a: b")
        assert metadata["labels"]["owner"] == "ops"


def test_every_object_of_the_chart_bears_the_labels_of_all(installed: Installed) -> None:
    kinds = "deployment,pdb,service,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding,configmap,secret"
    selector = ("-l", "app.kubernetes.io/part-of=liqo,app.kubernetes.io/name=liqod", "-A", "-o", "json")
    found = json.loads(installed.carpi.kubectl("get", kinds, *selector))["items"]
    assert len(found) > 20
    for one in found:
        metadata = one["metadata"]
        assert metadata["labels"]["owner"] == "ops", metadata["name"]
        assert metadata["annotations"]["example.org/ticket"] == "42", metadata["name"]


def test_the_virtual_node_is_as_both_sides_say(installed: Installed) -> None:
    node = installed.node()
    metadata, status = node["metadata"], node["status"]
    assert metadata["labels"]["example.org/pool"] == "remote"
    assert metadata["annotations"]["example.org/owner"] == "ops"
    assert metadata["labels"]["example.org/tier"] == "gold"
    assert installed.carpi.api.get("virtualnodes", installed.home, "fano")["spec"]["disableNetworkCheck"] is True
    assert {"type": "InternalIP", "address": NODE_IP} in status["addresses"]
    assert status["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 10270
    assert status["capacity"] == {"cpu": "3", "memory": "5Gi", "pods": "17", "example.org/gpu": "1"}
    lease = installed.carpi.api.get("leases", "kube-node-lease", "fano")
    assert lease["spec"]["leaseDurationSeconds"] == 80


def test_what_the_provider_offers_is_what_its_values_say(installed: Installed) -> None:
    status = installed.slice()["status"]
    nginx = {"ingressClassName": "nginx", "default": True}
    assert status["ingressClasses"] == [nginx, {"ingressClassName": "internal"}]
    assert status["loadBalancerClasses"] == [{"loadBalancerClassName": "metallb"}]
    assert status["storageClasses"] == [{"storageClassName": "fast", "default": True}, {"storageClassName": "slow"}]
    (quota,) = installed.fano.api.list("quotas", "liqo-tenant-carpi")
    assert quota["spec"]["limitsEnforcement"] == "Soft"
    assert installed.fano.api.find("namespaces", None, "shop"), "twinNames lets in what has the same name"


def test_a_claim_of_the_class_of_liqo_gets_a_real_one_of_the_class_that_is_named(installed: Installed) -> None:
    api = installed.fano.api
    made = api.get("storageclasses", None, "liqo-volumes")
    assert (made["provisioner"], made["volumeBindingMode"]) == ("liqo.io/storage", "WaitForFirstConsumer")
    assert made["reclaimPolicy"] == "Retain" and made["allowVolumeExpansion"]
    spec = {"storageClassName": "liqo-volumes", "accessModes": ["ReadWriteOnce"]}
    claim = {"metadata": {"name": "data"}, "spec": {**spec, "resources": {"requests": {"storage": "1Gi"}}}}
    uid = api.create("persistentvolumeclaims", "default", {"kind": "PersistentVolumeClaim", **claim})["metadata"]["uid"]
    used = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    api.create("pods", "default", busybox("uses-data", volumes=[used]))
    real = wait_for(lambda: api.find("persistentvolumeclaims", "real-claims", uid), SOON, "the real claim")
    assert real["spec"]["storageClassName"] == "fast"
    # Nobody provisions that class, so the claim has no volume yet: it leaves nothing behind.
    api.delete("pods", "default", "uses-data")
    api.delete("persistentvolumeclaims", "default", "data")
    gone = lambda: not api.list("persistentvolumeclaims")  # noqa: E731
    wait_for(gone, SOON, "both claims to be gone")


def test_a_pod_of_the_runtime_class_runs_there_and_shows_no_address(installed: Installed) -> None:
    runtime = installed.carpi.api.get("runtimeclasses", None, "liqo")
    assert (runtime["handler"], runtime["metadata"]["labels"]["pool"]) == ("runc", "remote")
    assert runtime["metadata"]["annotations"]["note"] == "away"
    assert "scheduling" not in installed.fano.api.get("runtimeclasses", None, "liqo"), "where both are switched off"
    pod = busybox("web", runtimeClassName="liqo")
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "8Mi"}}
    installed.carpi.api.create("pods", "shop", pod)

    def runs() -> bool:
        return installed.carpi.api.get("pods", "shop", "web")["status"].get("phase") == "Running"

    wait_for(runs, SOON, "the pod to run")
    shown = installed.carpi.api.get("pods", "shop", "web")
    assert shown["spec"]["nodeName"] == "fano" and "podIP" not in shown["status"]
    # Kubernetes adds both to pods of the RuntimeClass.
    assert shown["spec"]["nodeSelector"]["example.org/pool"] == "remote" and AWAY in shown["spec"]["tolerations"]
    assert installed.fano.api.get("pods", "shop", "web")["status"]["podIP"]
    # The pod has a token for the API server at home: liqod has the right to issue it only with this value.
    (token,) = [s for s in installed.fano.api.list("secrets", "shop") if s["metadata"]["name"] == "web-token"]
    assert token["data"]


@pytest.mark.refusals("a pod without requests, and an offloading of another name")
def test_admission_is_as_the_values_say(installed: Installed) -> None:
    hooks = installed.carpi.api.list("validatingwebhookconfigurations")
    urls = [hook["clientConfig"]["url"] for one in hooks for hook in one["webhooks"]]
    assert urls and all(f"{installed.carpi.address}:9543/" in url for url in urls)
    with pytest.raises(Refused, match='must be called "offloading"'):
        wrong = objects.offloading("other")
        installed.carpi.api.create("namespaceoffloadings", "shop", wrong)
    policies = {
        hook["failurePolicy"]
        for one in installed.fano.api.list("validatingwebhookconfigurations")
        for hook in one["webhooks"]
    }
    assert policies == {"Ignore"}


def test_consumers_check_the_api_server_by_the_authorities_that_their_system_trusts(installed: Installed) -> None:
    (tenant,) = installed.fano.api.list("tenants", "liqo-tenant-carpi")
    assert not tenant["status"]["authParams"].get("ca")
    (identity, *_) = installed.carpi.api.list("identities", installed.home)
    assert not identity["spec"]["authParams"].get("ca")

    def ready() -> str:
        return next(one["status"] for one in installed.node()["status"]["conditions"] if one["type"] == "Ready")

    wait_for(lambda: ready() == "True", SOON, "the node to be ready")
    # fano's authority belongs to this test, and a system that has not been told of it does not trust it.
    consumer = installed.daemons[0]
    trusted = consumer.environment.pop("SSL_CERT_FILE")
    consumer.restart()
    try:
        wait_for(lambda: ready() != "True", SOON, "the node to have lost its provider")
    finally:
        consumer.environment["SSL_CERT_FILE"] = trusted
        consumer.restart()
    wait_for(lambda: ready() == "True", SOON, "the node to be ready again")


@pytest.mark.refusals("an offloading of another name")
def test_webhooks_answer_who_shows_a_certificate_of_the_configmap(installed: Installed) -> None:
    fano = installed.fano
    assert callers.ask(fano) == (401, "close")
    assert callers.ask(fano, callers.authority_of(fano.directory).issue("again", callers.NAME))[0] == 200
    wrong = objects.offloading("other")
    with pytest.raises(Refused, match='must be called "offloading"'):
        fano.api.create("namespaceoffloadings", "default", wrong)


def test_the_port_of_metrics_shows_the_certificate_of_the_secret(installed: Installed) -> None:
    """What the monitor says is enough to verify it."""
    (endpoint,) = installed.shown("servicemonitors", "liqod")["spec"]["endpoints"]
    tls = endpoint["tlsConfig"]
    key = tls["ca"]["secret"]
    authority = base64.b64decode(installed.carpi.api.get("secrets", "liqo", key["name"])["data"][key["key"]]).decode()
    plain = installed.carpi.space.connect(installed.carpi.address, installed.daemons[0].metrics_port)
    context = ssl.create_default_context(cadata=authority)
    with context.wrap_socket(plain, server_hostname=tls["serverName"]) as shown:
        assert ("DNS", "liqod-metrics.liqo.svc") in shown.getpeercert()["subjectAltName"]


def test_the_network_policy_is_about_the_daemon_and_the_ports_that_it_has(installed: Installed) -> None:
    """Nothing in these clusters enforces one: what it would close and leave open is all that can be seen."""
    spec = installed.shown("networkpolicies", "liqod")["spec"]
    selector = ",".join(f"{key}={value}" for key, value in spec["podSelector"]["matchLabels"].items())
    of_daemon = {pod["metadata"]["name"] for pod in installed.pods()}
    assert {pod["metadata"]["name"] for pod in installed.carpi.pods("liqo", selector)} == of_daemon
    rules = {rule["ports"][0]["port"]: rule.get("from") for rule in spec["ingress"]}
    asked = [{"ipBlock": {"cidr": API_SERVERS}}]
    assert rules == {9543: asked, 10270: asked, 8182: [SCRAPERS]}
    theirs = json.loads(installed.fano.kubectl("get", "networkpolicies", "liqod", "-n", "liqo", "-o", "json"))["spec"]
    assert {rule["ports"][0]["port"]: rule.get("from") for rule in theirs["ingress"]} == {
        USAGE_PORT: asked, 9443: None, 10250: None, 8082: None,
    }  # fmt: skip


def test_figures_are_told_where_that_is_switched_on(installed: Installed) -> None:
    """fano has an API of its own for them, at the port that its values name; carpi has nothing of it."""
    assert chart.usage_served(installed.fano)
    plain = installed.fano.space.connect(installed.fano.address, USAGE_PORT)
    plain.close()
    for kind, name in (("services", chart.METRIC_AGENT), ("clusterroles", chart.METRIC_AGENT_ROLE)):
        assert not installed.carpi.api.find(kind, "liqo" if kind == "services" else None, name)
    assert not installed.carpi.api.find("apiservices", None, chart.USAGE_API)


def test_what_is_reflected_is_what_the_values_say(installed: Installed) -> None:
    away = installed.fano.api
    for plural in ("secrets", "services", "configmaps"):
        wait_for(lambda p=plural: away.find(p, "shop", "front"), SOON, f"what may be reflected of {plural}")
    copy = away.get("configmaps", "shop", "front")["metadata"]
    assert copy["labels"]["example.org/open"] == "y" and "example.org/internal" not in copy["labels"]
    assert copy["annotations"]["example.org/open-note"] == "y" and "example.org/secret-note" not in copy["annotations"]
    assert not away.find("configmaps", "shop", "plain"), "what an AllowList has not got"
    assert not away.list("ingresses", "shop"), "of a kind without workers"


def test_namespaces_are_offloaded_by_their_labels_as_the_values_say(installed: Installed) -> None:
    api = installed.carpi.api
    for name, labels in (("private", {"team": "ml", "private": "yes"}), ("lab", {"team": "ml"})):
        api.create("namespaces", None, {"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    made = wait_for(lambda: api.find("namespaceoffloadings", "lab", "offloading"), SOON, "lab to be offloaded")
    assert made["spec"]["podOffloadingStrategy"] == "Remote"
    assert made["spec"]["namespaceMappingStrategy"] == "EnforceSameName"
    (term,) = made["spec"]["clusterSelector"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "example.org/tier", "operator": "In", "values": ["gold"]}]
    wait_for(lambda: installed.fano.api.find("namespaces", None, "lab"), SOON, "its twin")
    assert not api.find("namespaceoffloadings", "private", "offloading")


def test_a_slice_of_class_share_gets_the_part_that_the_values_say(installed: Installed) -> None:
    spec = {"class": "share", "providerClusterID": "fano"}
    annotations = {"liqo.io/create-virtual-node": "false"}
    part = objects.resource_slice("part", objects.of_peer("fano"), annotations=annotations, **spec)
    api = installed.carpi.api
    api.create("resourceslices", installed.home, part)
    (node,) = installed.fano.api.list("nodes")
    whole = int(node["status"]["allocatable"]["cpu"])

    def cores() -> float:
        status = api.get("resourceslices", installed.home, "part").get("status", {})
        told = status.get("resources", {}).get("cpu", "0")
        return float(told[:-1]) / 1000 if told.endswith("m") else float(told)

    # The share is a quarter, less what the pods there request.
    granted = wait_for(cores, SOON, "the slice to be granted")
    assert 0.24 * whole <= granted <= 0.25 * whole


def test_consumers_are_told_the_authority_that_the_values_name(installed: Installed) -> None:
    """In the other direction: carpi provides, and fano asks who it is."""
    Liqoctl(installed.fano)("authenticate", "--remote-kubeconfig", installed.carpi.kubeconfig)
    identity = next(one for one in installed.fano.api.list("identities") if one["spec"]["clusterID"] == "carpi")
    assert identity["spec"]["authParams"]["ca"] == authorities_of(installed.carpi)


def test_the_cluster_tells_its_ranges_and_has_an_rsa_key(installed: Installed) -> None:
    told = installed.carpi.api.get("configmaps", "liqo", "liqo-clusterid-configmap")["data"]
    assert any("10.77.0.0/16" in value and "10.78.0.0/16" in value for value in told.values()), told
    keys = installed.carpi.api.get("secrets", "liqo", "authentication-keys")["data"]
    parts = [base64.b64decode(value).decode() for value in keys.values()]
    # An RSA key of 2048 bits has some 1,700 characters in PKCS #8, one of Ed25519 about a hundred.
    assert max(map(len, parts)) > 1000


def test_monitors_and_their_token_let_a_scraper_in(installed: Installed) -> None:
    consumer, provider = installed.daemons
    (endpoint,) = installed.shown("servicemonitors", "liqod")["spec"]["endpoints"]
    assert (endpoint["interval"], endpoint["scrapeTimeout"], endpoint["scheme"]) == ("20s", "4s", "https")
    assert installed.shown("servicemonitors", "liqod")["metadata"]["labels"]["release"] == "p"
    credentials = endpoint["authorization"]["credentials"]
    (pods,) = installed.shown("podmonitors", "liqod")["spec"]["podMetricsEndpoints"]
    assert pods["authorization"]["credentials"] == credentials
    assert (pods["interval"], pods["scrapeTimeout"]) == ("40s", "9s")
    assert installed.shown("podmonitors", "liqod")["metadata"]["labels"]["release"] == "q"
    service = installed.carpi.api.get("services", "liqo", "liqod-metrics")["metadata"]
    assert (service["labels"]["scraped"], service["annotations"]["example.org/note"]) == ("yes", "ours")
    assert not installed.fano.api.find("services", "liqo", "liqod-metrics"), "where metrics are switched off"

    def token() -> str:
        data = installed.carpi.api.get("secrets", "liqo", credentials["name"]).get("data", {})
        return base64.b64decode(data.get(credentials["key"], "")).decode()

    assert consumer.get("/metrics")[0] == 401
    consumer.token = wait_for(token, SOON, "the token in the Secret")
    wait_for(lambda: consumer.get("/metrics")[0] == 200, SOON, "it to be let in")
    assert consumer.metrics_port == 8182 and consumer.health_port == 8181
    found = consumer.metrics().items()
    workers = {of: value for of in WORKERS for name, value in found if is_limit(name, of)}
    assert workers == WORKERS
    # Everybody may read metrics that are not secure.
    assert provider.get("/metrics")[0] == 200
    rules = installed.shown("prometheusrules", "liqo")
    assert rules["spec"]["groups"] and rules["metadata"]["labels"]["release"] == "r"
    boards = ("get", "configmaps", "-n", "liqo", "-l", "grafana_dashboard=yes", "-o", "name")
    assert len(installed.carpi.kubectl(*boards).split()) == 3


def test_values_are_shown_as_given_and_as_in_force(installed: Installed) -> None:
    shown = json.loads(Liqoctl(installed.carpi)("get", "values", "-o", "json"))
    assert shown["given"]["clusterID"] == "carpi" and shown["given"]["listenPort"] == 10270
    assert shown["given"]["apiServer"]["ca"] == "(set, not shown)" == shown["inForce"]["apiServer"]["ca"]
    assert "webhook" in shown["given"] and "replicas" not in shown["given"]
    assert (shown["inForce"]["replicas"], shown["inForce"]["listenPort"]) == (2, 10270)
    text = Liqoctl(installed.carpi)("get", "values")
    assert yaml.safe_load(text) == shown and authorities_of(installed.carpi) not in text


def test_a_dry_run_shows_what_an_upgrade_would_change_and_changes_nothing(installed: Installed) -> None:
    liqoctl = Liqoctl(installed.carpi)

    def versions() -> dict[tuple[str, str], str]:
        found = json.loads(installed.carpi.kubectl("get", "deployment,configmap,secret", "-n", "liqo", "-o", "json"))
        # liqod renews what is its own.
        labels = lambda one: one["metadata"].get("labels", {})  # noqa: E731
        ours = [one for one in found["items"] if labels(one).get("app.kubernetes.io/instance") == "liqo"]
        name = lambda one: (one["kind"], one["metadata"]["name"])  # noqa: E731
        return {name(one): one["metadata"].get("generation", 0) or one["data"] for one in ours}

    before = versions()
    same = liqoctl.attempt("upgrade", "--dry-run")
    assert same.code == 0 and same.out == "" and "nothing would change; nothing was written" in same.err, same
    changes = "replicas=3,offloading.sharingPercentage=50,metrics.dashboards.enabled=false"
    shown = liqoctl.attempt("upgrade", "--dry-run", "--set", changes)
    assert shown.code == 0, shown
    for line in (
        "~ values\n",
        "    replicas: (none) → 3\n",
        "    metrics.dashboards.enabled: true → false\n",
        "~ Deployment liqo/liqod\n    spec.replicas: 2 → 3\n",
        "~ ConfigMap liqo/liqo-sharing-policy\n    data.sharing-percentage: 90 → 50\n",
        "~ Secret liqo/liqo-given-values\n    data.values: changed (not shown)\n",
        "- ConfigMap liqo/liqo-dashboard-consumer\n",
    ):
        assert line in shown.out, f"{line}\n{shown.out}"
    assert authorities_of(installed.carpi) not in shown.out
    assert "3 objects would be changed, 3 removed; nothing was written" in shown.err, shown
    assert versions() == before


def test_the_last_line_of_an_upgrade_names_no_step_where_none_is_due(installed: Installed) -> None:
    done = Liqoctl(installed.carpi).attempt("upgrade")
    assert done.code == 0 and done.err.endswith("Liqo runs as cluster carpi\n"), done
    users = Liqoctl(installed.fano).attempt("get", "peering-user")
    assert users.code == 0 and "there are no peering users" in users.err, users


def test_values_of_the_policy_hold_without_a_restart(installed: Installed) -> None:
    closed = f"image.repository={IMAGE['repository']},authentication.defaultResourceSliceClassEnabled=false"
    Liqoctl(installed.fano)("upgrade", "--set", closed, "--wait=false")
    spec = {"class": "default", "providerClusterID": "fano", "resources": {"cpu": "1"}}
    slices = installed.carpi.api
    slices.create("resourceslices", installed.home, objects.resource_slice("more", objects.of_peer("fano"), **spec))

    def answered() -> str:
        status = slices.get("resourceslices", installed.home, "more").get("status", {})
        return next((one["status"] for one in status.get("conditions", []) if one["type"] == "Resources"), "")

    wait_for(lambda: answered() == "Denied", SOON, "a slice of the class that is switched off to be refused")


def test_without_the_daemon_only_its_rights_are_left(installed: Installed) -> None:
    # The handler of a RuntimeClass cannot change.
    same = "offloading.runtimeClass.handler=runc"
    Liqoctl(installed.carpi)("upgrade", "--set", f"deployment=false,{same}")
    assert not installed.carpi.api.find("deployments", "liqo", "liqod")
    assert installed.carpi.api.find("clusterroles", None, "liqo-liqod")
    assert not installed.carpi.api.find("secrets", "liqo", "liqo-metrics-reader")
