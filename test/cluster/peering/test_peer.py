"""A user peers two clusters, runs a Deployment of one in the other, and unpeers them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster import audit, inventory
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.cluster.node import is_ready
from harness.liqo import chart
from harness.liqo.hostile import annotate_policy
from harness.liqo.liqod import Liqod
from harness.required import require_programs
from harness.run import Run
from harness.tools.liqoctl import Liqoctl
from harness.wait import patient, stays, wait_for

GRANTED = {"cpu": "8", "memory": "16Gi", "pods": "200", "ephemeral-storage": "20Gi"}


class Pair:
    """Two clusters that know nothing of each other, each with its liqod, and a user with both kubeconfigs."""

    def __init__(self, consumer: Cluster, provider: Cluster, daemons: tuple[Liqod, Liqod]):
        self.consumer, self.provider = consumer, provider
        self.daemons = daemons
        self.at_home, self.away = Liqoctl(consumer), Liqoctl(provider)
        self.before = {cluster.name: inventory.of_new_cluster(cluster) for cluster in (consumer, provider)}

    def both(self, command: str, *arguments: object, remote: Path | None = None) -> str:
        """Runs a command on two clusters, as the consumer's user."""
        return self.at_home(command, "--remote-kubeconfig", remote or self.provider.kubeconfig, *arguments)

    def slices(self) -> dict[str, dict]:
        return {s["metadata"]["name"]: s for s in self.consumer.api.list("resourceslices", f"liqo-tenant-{self.provider.name}")}

    def quotas(self) -> dict[str, dict]:
        found = self.provider.api.list("quotas", f"liqo-tenant-{self.consumer.name}")
        return {quota["metadata"]["name"].rpartition("-")[0]: quota["spec"] for quota in found}

    def node(self, name: str) -> dict | None:
        return self.consumer.api.find("nodes", None, name)

    def new(self, cluster: Cluster) -> list[str]:
        """What has come, gone or changed in the cluster, except parts that change by themselves."""
        return inventory.differences(self.before[cluster.name], inventory.take(cluster))


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    """genoa consumes, bonn provides with a real kubelet."""
    require_programs()
    with run.borrow(genoa=Options(), bonn=Options(kubelet=True)) as (genoa, bonn):
        genoa.add_kwok_nodes(1)
        started = tuple(
            Liqod(cluster, chart.install(cluster), port).start() for cluster, port in ((genoa, 10250), (bonn, 10260))
        )
        for cluster in (genoa, bonn):
            wait_for(lambda: cluster.api.find("configmaps", "liqo", "liqo-clusterid-configmap"), 60, "the cluster ID")
            wait_for(lambda: cluster.api.find("secrets", "liqo", "authentication-keys"), 60, "the keys")
        yield Pair(genoa, bonn, started)
        for daemon in started:
            daemon.stop()


def test_a_dry_run_says_what_would_be_made_and_makes_nothing(pair: Pair) -> None:
    done = pair.at_home.attempt("peer", "--remote-kubeconfig", pair.provider.kubeconfig, "--cpu=8", "--dry-run")
    assert done.code == 0, done.err
    for words in ("would create Namespace liqo-tenant-bonn", "would create Tenant", "would create ResourceSlice"):
        assert words in done.err
    assert "bonn: would create Secret liqo-tenant-genoa/liqo-nonce" in done.err
    assert not pair.new(pair.consumer) and not pair.new(pair.provider)


def test_peer_makes_a_ready_node_of_the_size_that_was_asked_for(pair: Pair) -> None:
    done = pair.at_home.attempt(
        "peer", "--remote-kubeconfig", pair.provider.kubeconfig, "--cpu=8", "--memory=16Gi", "--pods=200"
    )
    assert done.code == 0, done.err
    assert "Node bonn is Ready" in done.err and "\x1b" not in done.err
    node = pair.node("bonn")
    assert is_ready(node) and node
    assert {key: node["status"]["allocatable"].get(key) for key in GRANTED} == GRANTED
    assert pair.quotas()["bonn"]["resources"] == GRANTED


def test_peering_again_changes_nothing(pair: Pair) -> None:
    slices, tenant = pair.slices(), pair.provider.api.get("tenants", "liqo-tenant-genoa", "genoa")
    pair.both("peer")
    again = pair.slices()
    assert {n: s["metadata"]["generation"] for n, s in again.items()} == {
        n: s["metadata"]["generation"] for n, s in slices.items()
    }
    assert pair.provider.api.get("tenants", "liqo-tenant-genoa", "genoa")["spec"] == tenant["spec"]


def test_info_peer_shows_slice_and_node(pair: Pair) -> None:
    wait_for(lambda: pair.at_home("info", "peer", "bonn", "--get", "info.role") == "Provider\n", 60, "the role")
    shown = pair.at_home("info", "peer", "bonn", "--get", "authentication.resourceslices")
    assert shown.splitlines()[0].startswith("─ Resource slices ─")
    assert "  ✔  Resource slice accepted" in shown and "      memory:               16Gi" in shown
    wait_for(lambda: pair.away("info", "peer", "genoa", "--get", "info.role") == "Consumer\n", 60, "the other role")
    assert json.loads(pair.away("info", "peer", "-o", "json"))["genoa"]["authentication"]["tenantCondition"] == "Active"


def test_a_deployment_runs_in_the_provider(pair: Pair) -> None:
    pair.consumer.namespace("demo")
    assert "is offloaded" in pair.at_home.attempt("offload", "namespace", "demo", "--pod-offloading-strategy", "Remote").err
    pod = busybox("web", "echo hello from afar; sleep 1000000")
    tolerations = [{"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoExecute"}]
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {**pod["spec"], "tolerations": tolerations, "nodeSelector": {"liqo.io/type": "virtual-node"}},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    pair.consumer.api.create("deployments", "demo", {"kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})

    wait_for(lambda: pair.consumer.running("demo") == 2, 60, "two pods to run, as seen from the consumer")
    assert pair.provider.running("demo-genoa") == 2
    assert {pod["spec"]["nodeName"] for pod in pair.consumer.pods("demo")} == {"bonn"}


def test_copies_of_the_go_version_that_nothing_refers_to_go_on_request(pair: Pair) -> None:
    labels = {"offloading.liqo.io/origin": "genoa", "offloading.liqo.io/destination": "bonn"}
    for name, marks in {"left": labels, "used": labels, "own": {}}.items():
        body = {"kind": "Secret", "metadata": {"name": name, "labels": marks}, "stringData": {"word": "ciao"}}
        pair.provider.api.create("secrets", "demo-genoa", body)
    puller = {"kind": "ServiceAccount", "metadata": {"name": "puller"}, "imagePullSecrets": [{"name": "used"}]}
    pair.consumer.api.create("serviceaccounts", "demo", puller)

    def there() -> set[str]:
        names = {secret["metadata"]["name"] for secret in pair.provider.api.list("secrets", "demo-genoa")}
        return names & {"left", "used", "own"}

    prune = ("prune", "secrets", "--remote-kubeconfig", pair.provider.kubeconfig)
    assert pair.at_home(*prune, "--dry-run").split() == ["NAMESPACE", "TWIN", "SECRET", "demo", "demo-genoa", "left"]
    refused = pair.at_home.attempt(*prune)
    assert refused.code == 1 and "pass --skip-confirm to proceed" in refused.err
    nowhere = pair.at_home.attempt(*prune, "--skip-confirm", "--offloaded-namespace", "default")
    assert nowhere.code == 1 and "namespace default has no twin in cluster bonn" in nowhere.err
    assert there() == {"left", "used", "own"}
    assert pair.at_home(*prune, "--skip-confirm", "--offloaded-namespace", "demo").split()[-1] == "left"
    assert there() == {"used", "own"}
    assert "there is no Secret" in pair.at_home.attempt(*prune, "--skip-confirm").err
    pair.consumer.api.delete("serviceaccounts", "demo", "puller")
    for name in ("used", "own"):
        pair.provider.api.delete("secrets", "demo-genoa", name)


def test_a_second_slice_is_a_second_node(pair: Pair) -> None:
    pair.at_home("create", "resourceslice", "pool", "--remote-cluster-id", "bonn", "--cpu", "2")
    wait_for(lambda: is_ready(pair.node("pool")), 60, "node pool to be Ready")
    assert pair.quotas()["pool"]["resources"]["cpu"] == "2"
    listed = pair.at_home("get", "resourceslice").splitlines()
    assert [line.split()[1] for line in listed[1:]] == ["bonn", "pool"]
    done = pair.at_home.attempt("create", "resourceslice", "pool", "--remote-cluster-id", "bonn", "--cpu", "3")
    assert done.code == 0 and "granted cpu 3" in done.err, done.err
    assert "Resource slice accepted" in pair.at_home("info", "peer", "--get", "authentication.resourceslices")


def test_the_answer_to_another_class_is_waited_for(pair: Pair) -> None:
    slice_of = ("create", "resourceslice", "pool", "--remote-cluster-id", "bonn", "--cpu", "3")
    done = pair.at_home.attempt(*slice_of, "--class", "nosuch", "--timeout", "20s")
    assert done.code == 1 and "class default → nosuch" in done.err, done.err
    assert "granted" not in done.err and "class nosuch" in done.err.splitlines()[-1], done.err
    assert "granted cpu 3" in pair.at_home.attempt(*slice_of, "--class", "default").err
    wait_for(lambda: is_ready(pair.node("pool")), 60, "node pool to be Ready")


def test_other_amounts_are_waited_for_on_the_node(pair: Pair) -> None:
    # A node that shares the slice and sorts before the slice's own keeps the size that it was made with.
    second = ("--remote-cluster-id", "bonn", "--resource-slice-name", "bonn", "--create-node=false")
    pair.at_home("create", "virtualnode", "alpha", *second)
    for pods in ("20", "200"):
        done = pair.at_home.attempt("peer", "--remote-kubeconfig", pair.provider.kubeconfig, "--pods", pods)
        assert done.code == 0 and f"pods {pods}" in done.err.splitlines()[-2], done.err
        assert pair.node("bonn")["status"]["allocatable"]["pods"] == pods
    done = pair.at_home.attempt("peer", "--remote-kubeconfig", pair.provider.kubeconfig, "--cpu", "1000")
    assert "bonn: granted more than the cluster has: cpu 1000 (its nodes have " in done.err, done.err
    assert "cpu 8 → 1000" in done.err
    pair.both("peer", "--cpu", "8")
    pair.at_home("delete", "virtualnode", "alpha", "--skip-confirm")


def test_a_selector_that_nothing_has_is_told_and_can_be_taken_back(pair: Pair) -> None:
    pair.consumer.namespace("typo")
    done = pair.at_home.attempt("offload", "namespace", "typo", "--selector", "regoin=south")
    assert done.code == 0, done.err
    assert "no virtual node has regoin=south; there is bonn (liqo.io/remote-cluster-id=bonn" in done.err
    assert "keeps its selector regoin=south" in pair.at_home.attempt("offload", "namespace", "typo").err
    done = pair.at_home.attempt("offload", "namespace", "typo", "--selector", "")
    assert done.code == 0 and "genoa: namespace typo is offloaded\n" in done.err, done.err
    pair.at_home("unoffload", "namespace", "typo", "--skip-confirm")
    pair.consumer.api.delete("namespaces", None, "typo")


def test_a_pod_that_uses_a_claim_says_what_is_not_copied(pair: Pair) -> None:
    pod = busybox("needy")
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "web-data"}}]
    tolerations = [{"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoExecute"}]
    pod["spec"] |= {"nodeName": "bonn", "tolerations": tolerations}
    pair.consumer.api.create("pods", "demo", pod)

    def told() -> bool:
        events = pair.consumer.api.list("events", "demo")
        return any(e["reason"] == "OffloadingNotReflected" and "PersistentVolumeClaim web-data" in e["message"] for e in events)

    wait_for(told, 60, "an Event to name the claim")
    pair.consumer.api.delete("pods", "demo", "needy")
    wait_for(lambda: pair.consumer.api.find("pods", "demo", "needy") is None, 90, "the pod to go")


def test_pods_are_named_before_they_lose_their_node(pair: Pair) -> None:
    done = pair.at_home.attempt("unpeer", "--remote-kubeconfig", pair.provider.kubeconfig)
    assert done.code == 1 and "demo (web-" in done.err, done.err
    assert "cannot ask for confirmation without a terminal: pass --skip-confirm to proceed. Pods" in done.err
    assert set(pair.slices()) == {"bonn", "pool"}


def test_slices_are_cordoned_and_uncordoned_by_the_provider(pair: Pair) -> None:
    refused = pair.away.attempt("cordon", "resourceslice", "pool", "--remote-cluster-id", "genoa")
    assert refused.code == 1 and "--skip-confirm" in refused.err
    pair.away("cordon", "resourceslice", "pool", "--remote-cluster-id", "genoa", "--skip-confirm")
    wait_for(lambda: pair.quotas()["pool"].get("cordoned") is True, 60, "the quota to be cordoned")
    assert not pair.quotas()["bonn"].get("cordoned")
    pair.away("uncordon", "resourceslice", "pool", "--remote-cluster-id", "genoa", "--skip-confirm")
    wait_for(lambda: not pair.quotas()["pool"].get("cordoned"), 60, "the quota to be open again")


@pytest.mark.refusals("the consumer tries on while its slices are drained")
def test_a_drained_slice_loses_its_pods_and_gets_back_to_work(pair: Pair) -> None:
    def running() -> set[str]:
        return {pod["metadata"]["uid"] for pod in pair.provider.pods("demo-genoa") if "deletionTimestamp" not in pod["metadata"]}

    before = running()
    assert before
    for name in ("bonn", "pool"):
        pair.away("drain", "resourceslice", name, "--remote-cluster-id", "genoa", "--skip-confirm")
    wait_for(lambda: not before & running(), 60, "the pods of the slices to go")
    wait_for(lambda: "has drained this slice" in json.dumps(pair.slices()["bonn"]["status"]), 60, "home to hear of it")
    for name in ("bonn", "pool"):
        pair.away("uncordon", "resourceslice", name, "--remote-cluster-id", "genoa", "--skip-confirm")
    wait_for(lambda: len(running()) == len(before), 90, "as many pods to be back")


def test_a_cordoned_tenant_gets_nothing_new_and_peering_again_leaves_it_so(pair: Pair) -> None:
    pair.away("cordon", "tenant", "genoa", "--skip-confirm")
    wait_for(lambda: all(quota.get("cordoned") for quota in pair.quotas().values()), 60, "all quotas to be cordoned")
    done = pair.at_home.attempt("create", "resourceslice", "more", "--remote-cluster-id", "bonn", "--timeout", "20s")
    assert done.code == 1 and "denied" in done.err, done.err
    pair.both("peer")
    assert pair.provider.api.get("tenants", "liqo-tenant-genoa", "genoa")["spec"]["tenantCondition"] == "Cordoned"
    pair.away("uncordon", "tenant", "genoa")
    wait_for(lambda: not any(quota.get("cordoned") for quota in pair.quotas().values()), 60, "all quotas to be open")
    pair.at_home("create", "resourceslice", "another", "--remote-cluster-id", "bonn", "--wait=false")
    gone = pair.at_home.attempt("delete", "resourceslice", "more", "another", "--skip-confirm").err
    assert "ResourceSlice more deleted" in gone and "ResourceSlice another deleted" in gone, gone


@pytest.mark.refusals("the consumer tries on, and its quota is cordoned while it is drained")
def test_a_drained_tenant_loses_its_pods_and_gets_back_to_work(pair: Pair) -> None:
    pair.away("drain", "tenant", "genoa", "--skip-confirm")

    def resources_of(name: str) -> str:
        conditions = pair.slices()[name]["status"].get("conditions", [])
        return next((c["status"] for c in conditions if c["type"] == "Resources"), "")

    wait_for(lambda: resources_of("bonn") == "Denied", 60, "the slice to be denied")
    wait_for(lambda: not pair.provider.pods("demo-genoa"), 60, "the pods to go")
    taints = lambda: {taint["key"]: taint.get("value") for taint in pair.node("bonn")["spec"]["taints"]}  # noqa: E731
    wait_for(lambda: taints().get("virtual-node.liqo.io/closed") == "denied", 60, "the node to be closed")
    assert "the provider has drained this cluster" in pair.at_home("info", "peer", "bonn")

    def told() -> bool:
        events = [(event["reason"], event["message"]) for event in pair.consumer.api.list("events", "demo")]
        refused = any("is drained: the provider takes no new pods, and" in text for _, text in events)
        return refused and any(why == "OffloadingAborted" and "the provider ended the pod" in text for why, text in events)

    wait_for(told, 60, "Events to say why pods ended, and why others do not run")
    pair.away("activate", "tenant", "genoa")
    wait_for(lambda: resources_of("bonn") == "Accepted", 60, "the slice to be accepted again")
    wait_for(lambda: len(pair.provider.pods("demo-genoa")) == 2, 60, "the pods to be back")


def hold_a_budget(pair: Pair) -> None:
    """Has the provider hold a budget of namespace `demo`."""
    annotate_policy(pair.provider, "liqo-tenant-genoa", '{"disruptionBudgets": {"maxBlock": "10m"}}')

    def offers() -> bool:
        twin = pair.provider.api.get("namespaces", None, "demo-genoa")["metadata"]
        return twin["annotations"].get("offloading.liqo.io/holds-budgets") == "true"

    wait_for(offers, 60, "the twin to say that budgets hold")
    spec = {"minAvailable": 0, "selector": {"matchLabels": {"app": "web"}}}
    budget = {"kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
    pair.consumer.api.create("poddisruptionbudgets", "demo", budget)
    wait_for(lambda: pair.provider.api.find("poddisruptionbudgets", "demo-genoa", "web"), 60, "the copy of the budget")


def test_unpeer_leaves_both_clusters_as_they_were(pair: Pair) -> None:
    hold_a_budget(pair)
    pair.consumer.api.delete("deployments", "demo", "web")
    wait_for(lambda: not pair.consumer.pods("demo"), 60, "the pods of the Deployment to go")
    tokens = lambda: pair.consumer.api.find("rolebindings", "demo", "liqo-liqod-tokens")  # noqa: E731
    assert tokens(), "liqod may make tokens in an offloaded namespace"
    pair.at_home("unoffload", "namespace", "demo", "--skip-confirm")
    wait_for(lambda: not tokens(), 60, "that right to go with the offloading")
    pair.both("unpeer")
    pair.consumer.api.delete("namespaces", None, "demo")
    wait_for(lambda: not pair.new(pair.consumer), 60, "nothing to be left in the consumer")
    wait_for(lambda: not pair.new(pair.provider), 60, "nothing to be left in the provider")
    stays(lambda: not pair.new(pair.consumer) and not pair.new(pair.provider), 2, "both as they were")
    pair.both("unpeer")


@pytest.mark.refusals("a peering user is refused what it need not see, and liqoctl goes on without")
def test_a_peering_user_is_enough_to_peer(pair: Pair, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "peering.yaml"
    generate = ("generate", "peering-user", "--consumer-cluster-id", "genoa")
    # An interrupted run leaves bindings, and nobody has a kubeconfig.
    pair.away(*generate)
    pair.provider.api.delete("rolebindings", "liqo", "liqo-peer-user-genoa-liqo-ns-reader")
    since = pair.provider.audit.mark()
    kubeconfig.write_text(pair.away(*generate))
    asked = [e for e in pair.provider.audit.entries(since) if audit.resource(e) == "subjectaccessreviews"]
    assert asked, "it is shown once its rights are in force, so that it can be used at once"
    done = pair.away.attempt(*generate)
    assert done.code == 1 and "there is a peering user for genoa already" in done.err
    done = pair.at_home.attempt("peer", "--remote-kubeconfig", kubeconfig, "--cpu", "8")
    assert done.code == 0 and "whether its nodes have that much is not shown to this user" in done.err, done.err
    assert is_ready(pair.node("bonn"))
    # After an administrator has ended the peering, the user can begin another.
    pair.both("unpeer")
    pair.both("peer", remote=kubeconfig)
    forget = ("delete", "peering-user", "--consumer-cluster-id", "genoa")
    done = pair.away.attempt(*forget)
    assert done.code == 1 and "genoa is still peered" in done.err
    pair.both("unpeer", remote=kubeconfig)
    pair.away(*forget)
    done = pair.at_home.attempt("unpeer", "--remote-kubeconfig", kubeconfig)
    assert done.code == 1 and "liqoctl generate peering-user" in done.err, done.err
    # The user's namespace is gone by now, so another user can be made at once.
    pair.away(*generate)
    pair.away(*forget)
    wait_for(lambda: not pair.new(pair.consumer), 60, "nothing to be left in the consumer")
    wait_for(lambda: not pair.new(pair.provider), 60, "nothing to be left in the provider")


def test_the_handshake_by_hand(pair: Pair, tmp_path: Path) -> None:
    nonce = pair.away("create", "nonce", "--remote-cluster-id", "genoa").strip()
    assert pair.away("get", "nonce", "--remote-cluster-id", "genoa") == nonce
    tenant, identity = tmp_path / "tenant.yaml", tmp_path / "identity.yaml"
    tenant.write_text(pair.at_home("generate", "tenant", "--remote-cluster-id", "bonn", "--nonce", nonce))
    pair.away("create", "tenant", "-f", tenant)
    identity.write_text(pair.away("generate", "identity", "--remote-cluster-id", "genoa"))
    pair.at_home("create", "identity", "-f", identity, "--pod-cidr", pair.provider.pod_cidr)
    declared = pair.consumer.api.get("foreignclusters", None, "bonn")["metadata"]["annotations"]
    assert declared["liqo.io/remote-pod-cidrs"] == pair.provider.pod_cidr
    assert "client-certificate-data" in pair.at_home("get", "kubeconfig", "controlplane-bonn")
    pair.at_home("create", "resourceslice", "bonn", "--remote-cluster-id", "bonn")
    wait_for(lambda: is_ready(pair.node("bonn")), 60, "node bonn to be Ready")
    pair.both("unpeer")
    wait_for(lambda: not pair.new(pair.consumer) and not pair.new(pair.provider), 60, "both to be as they were")


@pytest.mark.refusals("the consumer tries on after its Tenant was deleted")
def test_a_tenant_that_is_deleted_is_told_at_home_and_nothing_waits_for_it(pair: Pair) -> None:
    pair.both("peer", "--cpu", "1")
    wait_for(lambda: is_ready(pair.node("bonn")), 60, "node bonn to be Ready")
    logged_before = len(pair.daemons[0].log())
    pair.away("delete", "tenant", "genoa", "--skip-confirm")

    def said() -> bool:
        conditions = (pair.node("bonn") or {}).get("status", {}).get("conditions", [])
        return any(c["type"] == "Ready" and "has withdrawn the rights" in c["message"] for c in conditions)

    wait_for(said, 120, "the Node to say that rights were withdrawn")
    assert not is_ready(pair.node("bonn"))
    status = ("info", "peer", "bonn", "--get", "authentication.status")
    wait_for(lambda: pair.at_home(*status) == "Unhealthy\n", 60, "liqoctl to say so, too")

    def told() -> list[str]:
        events = pair.consumer.api.list("events", "default")
        return [event["message"] for event in events if event["reason"] == "RightsWithdrawn"]

    assert "liqoctl unpeer" in wait_for(told, 60, "an Event about it")[0]
    pair.both("unpeer", "--timeout", f"{patient(60):.0f}s")
    wait_for(lambda: not pair.new(pair.consumer) and not pair.new(pair.provider), 60, "both to be as they were")
    assert pair.daemons[0].log()[logged_before:].count("withdrawn our rights") == 1


def test_the_logs_tell_each_step_once(pair: Pair) -> None:
    at_home, away = (daemon.log() for daemon in pair.daemons)
    decisions = ("slice granted", "slice denied", "slice gone", "quota made", "quota changed", "certificate issued")
    conditions = ("tenant admitted", "tenant cordoned", "tenant drained", "tenant active again", "tenant deleted")
    for line in (*decisions, *conditions):
        assert line in away, line
    for line in ("Node is Ready", "Node is not Ready", "selects no provider"):
        assert line in at_home, line


def test_the_key_of_a_cluster_is_replaced(pair: Pair) -> None:
    """As docs/operations.md says: nobody knows the old key afterwards, and the peering is made anew."""
    home = pair.daemons[0]

    def key() -> str:
        found = pair.consumer.api.find("secrets", "liqo", "authentication-keys")
        return found["data"]["publicKey"] if found else ""

    pair.both("peer")
    before = key()
    pair.both("unpeer")
    home.stop()
    pair.consumer.kubectl("delete", "secret", "authentication-keys", "-n", "liqo")
    home.start()
    wait_for(lambda: key() not in ("", before), 60, "another key")
    pair.both("peer")
    assert is_ready(pair.node("bonn"))
    assert pair.provider.api.get("tenants", "liqo-tenant-genoa", "genoa")["spec"]["publicKey"] == key()
    pair.both("unpeer")
