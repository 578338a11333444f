"""liqoctl does not believe the other cluster unasked, and either side can end a peering alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cluster import inventory
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.cluster.node import is_ready
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.required import require_programs
from harness.run import Run
from harness.tools.liqoctl import Done, Liqoctl
from harness.wait import wait_for

ID_MAP = ("configmaps", "liqo", "liqo-clusterid-configmap")


@dataclass
class Two:
    """pisa consumes, lucca provides; before is what both were."""

    run: Run
    pisa: Cluster
    lucca: Cluster
    before: dict[str, object]

    def peer(self, *arguments: object, remote: Path | None = None) -> Done:
        return Liqoctl(self.pisa).attempt("peer", "--remote-kubeconfig", remote or self.lucca.kubeconfig, *arguments)

    def changed(self, cluster: Cluster) -> list[str]:
        return inventory.differences(self.before[cluster.name], inventory.take(cluster))


@pytest.fixture(scope="module")
def two(run: Run) -> Iterator[Two]:
    require_programs()
    with run.borrow(pisa=Options(), lucca=Options()) as (pisa, lucca):
        daemons = []
        for cluster in (pisa, lucca):
            cluster.add_kwok_nodes(1)
            daemons.append(Liqod(cluster, chart.install(cluster), 10250).start())
            wait_for(lambda: cluster.api.find(*ID_MAP), 60, "the cluster ID")
            wait_for(lambda: cluster.api.find("secrets", "liqo", "authentication-keys"), 60, "the keys")
        yield Two(run, pisa, lucca, {cluster.name: inventory.of_new_cluster(cluster) for cluster in (pisa, lucca)})
        for daemon in daemons:
            daemon.stop()


def test_a_cluster_that_gives_itself_a_name_that_is_none_is_refused(two: Two) -> None:
    for name in ("Lucca", "x\x1b[2J", "a" * 52, "kube-system/../pisa"):
        two.lucca.api.patch(*ID_MAP, {"data": {"CLUSTER_ID": name}})
        done = two.peer()
        assert done.code == 1 and "which no cluster ID is" in done.err and "\x1b" not in done.err
    two.lucca.api.patch(*ID_MAP, {"data": {"CLUSTER_ID": "lucca"}})
    assert not two.changed(two.pisa)


def test_a_cluster_that_is_not_the_one_that_is_meant_is_refused(two: Two) -> None:
    done = two.peer("--remote-cluster-id", "milan")
    assert done.code == 1 and "leads to cluster lucca, not to milan" in done.err
    assert not two.changed(two.pisa)


def test_a_remote_kubeconfig_runs_nothing_unasked(two: Two, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "touch",
        "args": [str(ran)],
        "interactiveMode": "Never",
    }
    remote = two.lucca.write_kubeconfig("plugged", {"exec": plugin})
    for arguments in ((), ("--skip-confirm",)):
        done = two.peer(*arguments, remote=remote)
        assert done.code == 1 and f"touch {ran}" in done.err and "--remote-allow-exec" in done.err
        assert not ran.exists()
    done = two.peer("--remote-allow-exec", remote=remote)
    assert done.code == 1 and ran.exists()

    remote = two.lucca.write_kubeconfig("filed", {"tokenFile": "/etc/hostname"})
    done = two.peer(remote=remote)
    assert done.code == 1 and "sends the content of the file /etc/hostname" in done.err


def test_an_identity_goes_on_leading_where_it_led(two: Two) -> None:
    """Whoever calls itself lucca does not become what pisa knows by that name."""
    Liqoctl(two.pisa)("create", "nonce", "--remote-cluster-id", "lucca")
    elsewhere = {"apiServer": "https://192.0.2.7:6443", "ca": "eA==", "signedCRT": "eA=="}
    two.pisa.api.apply(
        "identities",
        "liqo-tenant-lucca",
        {
            "kind": "Identity",
            "metadata": {"name": "controlplane-lucca", "labels": {"liqo.io/remote-cluster-id": "lucca"}},
            "spec": {"clusterID": "lucca", "type": "ControlPlane", "authParams": elsewhere},
        },
    )
    done = two.peer()
    assert done.code == 1 and "leads to https://192.0.2.7:6443" in done.err and "--replace" in done.err
    kept = two.pisa.api.get("identities", "liqo-tenant-lucca", "controlplane-lucca")
    assert kept["spec"]["authParams"]["apiServer"] == "https://192.0.2.7:6443"
    done = two.peer("--replace", "--cpu=2", "--memory=1Gi", "--pods=20")
    assert done.code == 0, done.err
    assert is_ready(two.pisa.api.find("nodes", None, "lucca"))


def test_home_forgets_a_provider_that_does_not_answer(two: Two) -> None:
    ours = Liqoctl(two.pisa)
    two.pisa.namespace("shop")
    ours("offload", "namespace", "shop")
    two.pisa.api.apply("pods", "shop", busybox("web", nodeName="lucca"))
    wait_for(lambda: two.lucca.pods("shop-pisa"), 60, "the pod at lucca")

    done = ours.attempt("force", "unpeer", "nobody", "--skip-confirm")
    assert done.code == 1 and "is not a peer of pisa" in done.err
    done = ours.attempt("force", "unpeer", "lucca")
    assert done.code == 1 and "--skip-confirm" in done.err and two.pisa.api.find("nodes", None, "lucca")

    two.run.network.cut("lucca")
    try:
        wait_for(lambda: not is_ready(two.pisa.api.find("nodes", None, "lucca")), 90, "pisa to notice")
        conditions = two.pisa.api.get("nodes", None, "lucca")["status"]["conditions"]
        why = next(one["message"] for one in conditions if one["type"] == "Ready")
        assert re.search("^the provider does not answer: .*: (no answer in time|no connection in time|No route to host)", why), why

        def is_told(*words: str) -> bool:
            told = ours("info", *words)
            return bool(re.search(r"^ *!  lucca does not answer since 20\d\d-", told, re.M)) and "Healthy" not in told

        wait_for(is_told, 60, "info to say since when lucca does not answer")
        wait_for(lambda: is_told("peer", "lucca"), 60, "info of the peer to say it, too")
        done = ours.attempt("force", "unpeer", "lucca", "--skip-confirm")
        assert done.code == 0, done.err
        assert "the Tenant pisa stays" in done.err and "liqoctl delete tenant pisa" in done.err
        two.pisa.api.delete("namespaces", None, "shop")
        wait_for(lambda: not two.changed(two.pisa), 60, "nothing of lucca to be left at home")
    finally:
        two.run.network.heal("lucca")


@pytest.mark.refusals("the pods of a twin that is being removed are made again until their ShadowPods are gone, too")
def test_a_provider_forgets_a_consumer_that_is_gone(two: Two) -> None:
    theirs = Liqoctl(two.lucca)
    assert two.lucca.pods("shop-pisa"), "what runs at the provider goes on until it ends it"
    done = theirs.attempt("force", "unpeer", "pisa", "--skip-confirm")
    assert done.code == 0, done.err
    assert "credentials of lucca stay" in done.err
    wait_for(lambda: not two.changed(two.lucca), 60, "nothing of pisa to be left")


def test_a_peering_user_is_made_while_the_namespace_of_the_last_one_goes(two: Two) -> None:
    theirs = Liqoctl(two.lucca)
    for _ in range(2):
        kubeconfig = theirs("generate", "peering-user", "--consumer-cluster-id", "pisa")
        assert "client-certificate-data" in kubeconfig
        theirs("delete", "peering-user", "--consumer-cluster-id", "pisa")
    wait_for(lambda: not two.changed(two.lucca), 60, "nothing to be left")
