"""liqoctl and Helm install Liqo, bring it up to date and remove it without a trace."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import objects, settings
from harness.cluster import inventory, rights
from harness.cluster.api import Refused
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo.chart import METRIC_AGENT_ROLE
from harness.liqo.deployed import daemon_of
from harness.required import require_programs, unavailable
from harness.run import Run
from harness.tools.liqoctl import Done, Liqoctl
from harness.tools.release import REPOSITORY
from harness.wait import patient, wait_for

CHART = settings.TREE / "charts/liqo"
# Fields of a Node's status, all of them required.
NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip
IMAGE = f"image.repository={REPOSITORY}"
VIRTUAL_KUBELET = "offloading.liqo.io/component=virtual-kubelet"


@pytest.fixture(scope="module")
def lodi(run: Run) -> Iterator[Cluster]:
    require_programs()
    with run.borrow(lodi=Options()) as (cluster,):
        cluster.add_kwok_nodes(0)  # they come where a story needs them
        yield cluster


@pytest.fixture(scope="module")
def before(lodi: Cluster) -> inventory.Inventory:
    return inventory.of_new_cluster(lodi)


@pytest.fixture
def liqoctl(lodi: Cluster, before: inventory.Inventory) -> Liqoctl:
    return Liqoctl(lodi)


def refused(done: Done, *words: str) -> None:
    # During a long wait liqoctl also says what it waits for.
    errors = [line for line in done.err.splitlines() if not line.startswith("INFO: ")]
    assert done.code == 1 and not done.out and len(errors) == 1, done.err
    for word in words:
        assert word in done.err, done.err


def is_removed(before: inventory.Inventory, cluster: Cluster) -> bool:
    """Nothing is there that was not, but for the kinds, and where Kubernetes itself notes that they are served."""
    left = inventory.differences(before, inventory.take(cluster))
    assert [line for line in left if "/customresourcedefinitions/" not in line and "/apiservices/" not in line] == []
    return True


def remove_kinds(cluster: Cluster) -> None:
    """Deletes the kinds of the chart, and waits until they are gone.

    The finalizer of Kubernetes gives a kind up whose storage was just being set up (a conflict ends its attempts), and
    takes it up again when the kind changes.
    """
    cluster.kubectl("delete", "--wait=false", "-f", CHART / "crds")
    looks = itertools.count(1)

    def are_gone() -> bool:
        kinds = [kind for kind in cluster.api.list("customresourcedefinitions") if "liqo.io" in kind["spec"]["group"]]
        left, look = [kind["metadata"]["name"] for kind in kinds], next(looks)
        if look % 5 == 0:
            for name in left:
                change = {"metadata": {"annotations": {"example.com/look": str(look)}}}
                cluster.api.patch("customresourcedefinitions", None, name, change)
        assert not left, left
        return True

    wait_for(are_gone, 60, "the kinds to go", interval=1)


def wait_until_as(before: inventory.Inventory, cluster: Cluster) -> None:
    """Until nothing differs; for a moment the server names groups of kinds that are gone."""

    def is_as_before() -> bool:
        try:
            assert inventory.differences(before, inventory.take(cluster)) == []
        except Refused:
            return False
        return True

    wait_for(is_as_before, 60, "the cluster to be as it was before")


@pytest.mark.refusals("somebody without rights tries to install it")
def test_nothing_is_half_done_where_something_is_in_the_way(lodi: Cluster, before: inventory.Inventory) -> None:
    nobody = Liqoctl(lodi, lodi.service_account("default", "nobody"))
    done = nobody.attempt("install", "--cluster-id", "lodi", "--set", IMAGE)
    assert done.code == 1 and "clusterrolebindings" in done.err and "forbidden" in done.err
    admin = Liqoctl(lodi)
    refused(admin.attempt("install", "--set", IMAGE), "the cluster needs an ID")
    refused(admin.attempt("install", "--cluster-id", "lodi"), "load it on the nodes or push it to a registry")
    refused(admin.attempt("install", "--cluster-id", "lodi", "--set", "replica=1"), "did you mean replicas?")
    lodi.kubectl("delete", "serviceaccount", "nobody")
    wait_until_as(before, lodi)


def test_who_may_look_and_not_write_is_told_before_anything_is_written(
    lodi: Cluster, before: inventory.Inventory
) -> None:
    kubeconfig = lodi.service_account("default", "reader")
    lodi.kubectl("create", "clusterrole", "reader", "--verb=get,list", "--resource=*.*")
    rights.bind(lodi, None, "reader", rights.service_account("default", "reader"), "reader")
    refused(Liqoctl(lodi, kubeconfig).attempt("install", "--cluster-id", "lodi", "--set", IMAGE), "you may not create namespaces")
    lodi.kubectl("delete", "clusterrolebinding/reader", "clusterrole/reader", "serviceaccount/reader")
    wait_until_as(before, lodi)


def test_what_a_kind_of_cluster_tells_of_itself_is_taken_over(
    lodi: Cluster, liqoctl: Liqoctl, before: inventory.Inventory
) -> None:
    def ranges(platform: str, *more: str, words: str = "") -> list[str]:
        chosen = ("--print", "-o", "json", "--cluster-id", "lodi", "--set", IMAGE)
        done = liqoctl.attempt("install", platform, *chosen, *more)
        assert done.code == 0 and words in done.err and bool(words) == bool(done.err), done.err
        made = {(one["kind"], one["metadata"]["name"]): one for one in json.loads(done.out)["items"]}
        assert made["ConfigMap", "liqo-sharing-policy"]["data"]["cluster-labels"] == f"liqo.io/provider={platform}"
        daemon = made["Deployment", "liqod"]["spec"]["template"]["spec"]
        assert ("runAsUser" in daemon["securityContext"]) == (platform != "openshift")
        return [word for word in daemon["containers"][0]["args"] if word.startswith("--pod-cidr=")]

    unknown = "does not report the range of its pods"
    assert ranges("kubeadm", words=unknown) == []
    manager = busybox("kube-controller-manager")
    manager["metadata"]["labels"] = {"component": "kube-controller-manager"}
    manager["spec"]["containers"][0]["command"] = ["kube-controller-manager", "--cluster-cidr=10.20.0.0/16"]
    lodi.api.create("pods", "kube-system", manager)
    assert ranges("kubeadm") == ["--pod-cidr=10.20.0.0/16"]
    assert ranges("kubeadm", "--pod-cidr", "10.30.0.0/16") == ["--pod-cidr=10.30.0.0/16"], "the user's goes before it"
    lodi.api.delete("pods", "kube-system", manager["metadata"]["name"], grace=0)

    told = {"k3s.io/node-args": json.dumps(["server", "--cluster-cidr", "10.40.0.0/16"])}
    lodi.api.create("nodes", None, {"kind": "Node", "metadata": {"name": "server", "annotations": told}})
    info = {"nodeInfo": {**dict.fromkeys(NODE_INFO, ""), "kubeletVersion": "v1.35.4+k3s1"}}
    lodi.api.patch("nodes", None, "server", {"status": info}, subresource="status")
    assert ranges("k3s", words="--egress-selector-mode=disabled") == ["--pod-cidr=10.40.0.0/16"]
    lodi.api.delete("nodes", None, "server")

    assert ranges("openshift", words=unknown) == []
    wait_until_as(before, lodi)


def test_it_is_installed_and_says_what_it_waits_for(lodi: Cluster, liqoctl: Liqoctl) -> None:
    # The cluster has no node, so the pods wait.
    refused(
        liqoctl.attempt("install", "--cluster-id", "lodi", "--set", IMAGE, "--timeout", "15s"),
        "gave up waiting for liqod to run",
        "no nodes available",
    )
    daemon = daemon_of(lodi).start()
    try:
        wait_for(lambda: lodi.api.list("validatingwebhookconfigurations"), 60, "the webhooks")
        wait_for(lambda: lodi.api.find("configmaps", "liqo", "liqo-clusterid-configmap"), 60, "the ID of the cluster")
        assert lodi.api.find("poddisruptionbudgets", "liqo", "liqod") and lodi.api.find("runtimeclasses", None, "liqo")

        # The ID and all values stay that are not given again; objects of other values go.
        liqoctl("upgrade", "--wait=false", "--set", IMAGE, "--set", "replicas=1,webhook.allowedCIDRs={10.0.0.0/8}")
        deployment = lodi.api.get("deployments", "liqo", "liqod")
        assert deployment["spec"]["replicas"] == 1
        assert "--cluster-id=lodi" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        assert lodi.api.find("networkpolicies", "liqo", "liqod")
        assert not lodi.api.find("poddisruptionbudgets", "liqo", "liqod")
        done = liqoctl.attempt("upgrade", "--wait=false", "--set", "webhook.allowedCIDRs={10.9.0.0/16}")
        assert "keeps the values that it was given: " in done.err and "image.repository" in done.err, done
        assert lodi.api.get("deployments", "liqo", "liqod")["spec"]["replicas"] == 1
        policy = lodi.api.get("networkpolicies", "liqo", "liqod")
        assert "10.9.0.0/16" in str(policy) and "10.0.0.0/8" not in str(policy)
        # An installation that has no record shows some of them.
        lodi.kubectl("delete", "secret", "liqo-given-values", "-n", "liqo")
        done = liqoctl.attempt("upgrade", "--wait=false")
        assert "give again what else it had" in done.err and "replicas" in done.err, done
        assert lodi.api.get("deployments", "liqo", "liqod")["spec"]["replicas"] == 1
        assert not lodi.api.find("networkpolicies", "liqo", "liqod"), "which nothing shows"
        liqoctl("install", "--wait=false", "--reset-values", "--cluster-id", "lodi", "--set", IMAGE)
        assert not lodi.api.find("networkpolicies", "liqo", "liqod")
        assert lodi.api.find("poddisruptionbudgets", "liqo", "liqod")

        refused(liqoctl.attempt("install", "--cluster-id", "other"), "installed as lodi")
        refused(liqoctl.attempt("install", "--cluster-id", "lodi", "-n", "other"), "in namespace liqo")

        for name in ("helm3", "helm4"):
            # Helm checks whose the objects are before it writes any or runs its hook.
            with pytest.raises(AssertionError, match="cannot be imported into the current release"):
                helm(lodi, name, "install", "liqo", CHART, "--set", f"clusterID=lodi,{IMAGE}")
            assert not lodi.kubectl("get", "secrets", "-n", "liqo", "-l", "owner=helm", "-o", "name")

        lodi.namespace("shop")
        liqoctl("offload", "namespace", "shop", "--wait=false")
        for how in ("--skip-confirm", "--prepare"):
            refused(liqoctl.attempt("uninstall", how), "in use: NamespaceOffloading shop/offloading")
        assert lodi.api.find("clusterroles", None, METRIC_AGENT_ROLE)
        liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
        lodi.kubectl("delete", "namespace", "shop")
    finally:
        daemon.stop()


def test_a_kind_whose_fields_are_of_other_types_is_told_and_stays(lodi: Cluster, liqoctl: Liqoctl) -> None:
    where = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/networks.ipam.liqo.io"
    kind = lodi.api.request("GET", where)
    spec = kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["properties"]["preAllocated"]["type"] == "integer"
    spec["properties"]["preAllocated"] = {"type": "string"}
    lodi.api.request("PUT", where, kind)

    def told() -> str:
        checks = json.loads(liqoctl.attempt("check", "-o", "json").out)["checks"]
        return next(one["text"] for one in checks if one["about"] == "CRDs")

    path = "v1alpha1.spec.preAllocated"
    assert f"networks.ipam.liqo.io (it does not take {path} as integer, and takes {path} as string)" in told()
    done = liqoctl.attempt("upgrade", "--kinds")
    assert done.code == 0 and "networks.ipam.liqo.io stays as it is" in done.err, done.err
    lodi.kubectl("replace", "-f", CHART / "crds/ipam.liqo.io_networks.yaml")
    assert "are served" in told()


def test_it_is_removed_without_a_trace(lodi: Cluster, liqoctl: Liqoctl, before: inventory.Inventory) -> None:
    refused(liqoctl.attempt("uninstall"), "--skip-confirm")
    assert "its CRDs stay" in liqoctl.attempt("uninstall", "--skip-confirm").err
    assert not lodi.api.find("namespaces", None, "liqo")
    wait_for(lambda: is_removed(before, lodi), 60, "everything but the kinds to go")
    # A second uninstall removes the rest.
    liqoctl("uninstall", "--purge", "--skip-confirm")
    wait_until_as(before, lodi)
    assert liqoctl.attempt("uninstall", "--skip-confirm").err.endswith("Liqo is removed\n")


def test_kinds_of_the_go_version_with_objects_are_taken_over(
    lodi: Cluster, liqoctl: Liqoctl, before: inventory.Inventory
) -> None:
    lodi.kubectl("create", "-f", settings.TREE / "test/fixtures/liqo-crds")
    wait_for(lambda: "liqo.io/v1beta1" in lodi.kubectl("api-resources"), 60, "the kinds to be served")
    lodi.namespace("liqo-tenant-asti")
    tenant = objects.tenant("asti", authzPolicy="TolerateNoHandshake")
    lodi.api.create("tenants", "liqo-tenant-asti", tenant)
    install = ("install", "--wait=false", "--cluster-id", "lodi", "--set", IMAGE)
    lodi.kubectl("create", "deployment", "vk-asti", "-n", "liqo-tenant-asti", "--image=liqo", "--replicas=0")
    lodi.kubectl("label", "deployment", "vk-asti", "-n", "liqo-tenant-asti", VIRTUAL_KUBELET)
    refused(liqoctl.attempt(*install), "virtual kubelets of the Go version are there")
    lodi.kubectl("delete", "deployments", "-A", "-l", VIRTUAL_KUBELET)
    liqoctl(*install)
    (quotas,) = [
        one["spec"]
        for one in lodi.api.list("customresourcedefinitions")
        if one["metadata"]["name"] == "quotas.offloading.liqo.io"
    ]
    assert "used" in json.dumps(quotas), "what this version adds"
    assert lodi.api.get("tenants", "liqo-tenant-asti", "asti")["spec"].items() >= tenant["spec"].items()
    refused(liqoctl.attempt("uninstall", "--skip-confirm"), "Tenant liqo-tenant-asti/asti")
    refused(liqoctl.attempt("uninstall", "--check"), "Tenant liqo-tenant-asti/asti")
    lodi.kubectl("delete", "namespace", "liqo-tenant-asti")
    liqoctl("uninstall", "--check")
    liqoctl("uninstall", "--purge", "--skip-confirm")
    wait_until_as(before, lodi)


def test_two_at_once_and_one_that_is_interrupted_harm_nothing(
    lodi: Cluster, liqoctl: Liqoctl, before: inventory.Inventory
) -> None:
    install = ("install", "--cluster-id", "lodi", "--set", IMAGE)

    def start() -> subprocess.Popen[str]:
        command = lodi.space.entering([liqoctl.binary, *install])
        env = {**os.environ, "KUBECONFIG": str(lodi.kubeconfig)}
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    # Neither command ends by itself, because no node takes the pods.
    both = [start(), start()]
    wait_for(lambda: lodi.api.find("deployments", "liqo", "liqod"), 60, "the Deployment")
    for one in both:
        wait_for(lambda pid=one.pid: handles(pid, signal.SIGINT), 60, "it to be ready for an interruption")
        one.send_signal(signal.SIGINT)
        _, told = one.communicate(timeout=patient(60))
        # A long wait has also said for what.
        lines = [line for line in told.splitlines() if not line.startswith("INFO: ")]
        assert one.returncode == 130 and len(lines) == 1 and "the same command goes on" in told, told
    liqoctl(*install, "--wait=false")
    assert lodi.api.find("deployments", "liqo", "liqod") and lodi.api.find("clusterrolebindings", None, "liqo-liqod")
    liqoctl("uninstall", "--purge", "--skip-confirm")
    wait_until_as(before, lodi)


def handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for this signal."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def helm(cluster: Cluster, name: str, *arguments: object) -> str:
    command = [settings.tool(name), *arguments, "--namespace", "liqo"]
    done = subprocess.run(
        cluster.space.entering(command),
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=patient(120),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_helm_does_the_same(lodi: Cluster, liqoctl: Liqoctl, before: inventory.Inventory, name: str) -> None:
    if not settings.tool(name).exists():
        unavailable("test/cluster/build-tools builds Helm")
    values = f"clusterID=lodi,telemetry.enabled=true,{IMAGE}"
    # The cluster has no node, so no hook can run (test_dist.py has nodes). The objects of its Job go with it.
    with pytest.raises(AssertionError, match="pre-install"):
        helm(lodi, name, "install", "liqo", CHART, "--create-namespace", "--timeout", "3s", "--set", values)
    assert not lodi.api.find("clusterroles", None, "liqo-kinds")
    helm(lodi, name, "uninstall", "liqo", "--no-hooks")
    said = helm(lodi, name, "install", "liqo", CHART, "--create-namespace", "--no-hooks", "--set", values)
    assert "Liqo runs as cluster lodi" in said and "have no effect here" in said and "telemetry" in said
    refused(liqoctl.attempt("install", "--cluster-id", "lodi"), "helm upgrade liqo -n liqo")
    refused(liqoctl.attempt("uninstall", "--skip-confirm"), "helm uninstall liqo -n liqo")
    daemon = daemon_of(lodi).start()
    wait_for(lambda: lodi.api.list("validatingwebhookconfigurations"), 60, "the webhooks")
    # The hook before a removal does this. Helm undoes it if nothing is removed after all.
    liqoctl("uninstall", "--prepare")
    assert not lodi.api.find("clusterroles", None, METRIC_AGENT_ROLE)
    helm(lodi, name, "upgrade", "liqo", CHART, "--no-hooks", "--set", f"clusterID=lodi,replicas=1,{IMAGE}")
    assert lodi.api.find("clusterroles", None, METRIC_AGENT_ROLE)
    assert lodi.api.get("deployments", "liqo", "liqod")["spec"]["replicas"] == 1
    assert lodi.api.list("validatingwebhookconfigurations")
    daemon.stop()
    # Helm does not check the cluster's ID. A liqod with another ID ends, and those that run go on.
    helm(lodi, name, "upgrade", "liqo", CHART, "--no-hooks", "--set", f"clusterID=other,{IMAGE}")
    renamed = daemon_of(lodi).start(ready_within=0)
    wait_for(lambda: not renamed.running, 60, "liqod to end")
    assert renamed.process and renamed.process.exit_code() == 1
    assert "this cluster is installed as lodi" in renamed.log()
    helm(lodi, name, "rollback", "liqo", "1")
    assert lodi.api.get("deployments", "liqo", "liqod")["spec"]["replicas"] == 2
    helm(lodi, name, "uninstall", "liqo", "--no-hooks")
    lodi.kubectl("delete", "namespace", "liqo")
    wait_for(lambda: is_removed(before, lodi), 60, "everything but the kinds to go")
    remove_kinds(lodi)
    wait_until_as(before, lodi)


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_helm_removes_what_it_failed_to_install(lodi: Cluster, before: inventory.Inventory, name: str) -> None:
    if not settings.tool(name).exists():
        unavailable("test/cluster/build-tools builds Helm")
    with pytest.raises(AssertionError, match="pre-install"):
        values = f"clusterID=lodi,{IMAGE}"
        helm(lodi, name, "install", "liqo", CHART, "--create-namespace", "--timeout", "3s", "--set", values)
    assert not lodi.api.find("serviceaccounts", "liqo", "liqo"), "nothing of the chart is there but its hooks"
    # Now there is a node: the Job that asks before a removal runs, with the objects that it needs.
    lodi.add_kwok_nodes(1)
    helm(lodi, name, "uninstall", "liqo", "--timeout", "60s")
    assert not lodi.api.find("jobs", "liqo", "liqo-pre-delete")
    assert not lodi.api.find("clusterrolebindings", None, "liqo-pre-delete")
    lodi.kubectl("delete", "nodes", "-l", "type=kwok")
    lodi.kubectl("delete", "namespace", "liqo")
    remove_kinds(lodi)
    wait_until_as(before, lodi)
