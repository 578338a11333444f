"""A consumer's requests are copied to its provider, and the answer comes back, whatever gets in between.

The peering is made by hand: no liqod runs at the provider, whose answers the stories give themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness import objects
from harness.cluster import pki, rights
from harness.cluster.api import path
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.run import Run
from harness.wait import stays, wait_for

CONTROL_PLANE_ROLE = "liqo-remote-controlplane"
HELD = "crdreplicator.liqo.io/resource"
HOME, AWAY = "liqo-tenant-lucca", "liqo-tenant-pisa"
SECRET = "kubeconfig-controlplane-lucca"
GRANTED = {"conditions": [{"type": "Resources", "status": "Accepted"}], "resources": {"cpu": "4"}}


class Replication:
    """pisa asks, lucca is asked."""

    def __init__(self, home: Cluster, away: Cluster):
        self.home, self.away = home, away
        kubeconfig = chart.install(self.home)
        chart.install(self.away)
        self.daemon = Liqod(self.home, kubeconfig, flags=("--foreign-cluster-ping-interval", "2s"))
        self.connect()

    def connect(self) -> None:
        """Both tenant namespaces, our rights at lucca, and the Secret with a certificate for user pisa."""
        for cluster, namespace, peer in ((self.home, HOME, "lucca"), (self.away, AWAY, "pisa")):
            cluster.namespace(namespace, {"liqo.io/remote-cluster-id": peer})
        chart.bind(self.home, HOME, "ClusterRole", chart.TENANT_ROLE)
        self.grant()
        # The namespace becomes a tenant namespace only once liqod may read it.
        labels = {"liqo.io/tenant-namespace": "true"}
        self.home.api.patch("namespaces", None, HOME, {"metadata": {"labels": labels}})
        self.write_secret("first")

    def write_secret(self, certificate: str) -> None:
        pair = self.away.authority.issue(f"controlplane-{certificate}", "pisa", ["liqo.io"])
        user = pki.certificate_user(pair)
        text = pki.kubeconfig(self.away.server, self.away.authority.pair.certificate, user, "lucca")
        metadata = {
            "name": SECRET,
            "labels": {"liqo.io/remote-cluster-id": "lucca", "liqo.io/identity-type": "ControlPlane"},
            "annotations": {"liqo.io/remote-tenant-namespace": AWAY},
        }
        self.home.api.apply(
            "secrets", HOME, {"kind": "Secret", "metadata": metadata, "stringData": {"kubeconfig": text}}
        )

    def grant(self) -> None:
        name = f"liqo-binding-{CONTROL_PLANE_ROLE}"
        rights.bind(self.away, AWAY, name, rights.user("pisa"), CONTROL_PLANE_ROLE)

    def withdraw(self) -> None:
        self.away.api.delete("rolebindings", AWAY, f"liqo-binding-{CONTROL_PLANE_ROLE}")

    def ask(self, name: str, cpu: str = "4", **labels: str) -> None:
        marks = {"liqo.io/replication": "true", "liqo.io/remoteID": "lucca", "liqo.io/remote-cluster-id": "lucca"}
        spec = {"class": "ours", "consumerClusterID": "pisa", "providerClusterID": "lucca", "csr": "Q1NS"}
        body = objects.resource_slice(name, {**marks, **labels}, **{**spec, "resources": {"cpu": cpu}})
        self.home.api.apply("resourceslices", HOME, body)

    def local(self, name: str) -> dict | None:
        return self.home.api.find("resourceslices", HOME, name)

    def replica(self, name: str) -> dict | None:
        return self.away.api.find("resourceslices", AWAY, name)

    def wait_replica(self, name: str, timeout: float = 60) -> dict:
        return wait_for(lambda: self.replica(name), timeout, f"the replica of {name}")

    def answer(self, name: str, status: dict) -> None:
        self.away.api.patch("resourceslices", AWAY, name, {"status": status}, "status")

    def foreign_cluster(self) -> dict | None:
        return self.home.api.find("foreignclusters", None, "lucca")

    def events(self, reason: str) -> list[str]:
        return [event["message"] for event in self.home.api.list("events", HOME) if event["reason"] == reason]


@pytest.fixture(scope="module")
def made(run: Run, daemons: object) -> Iterator[Replication]:
    with run.borrow(pisa=Options(), lucca=Options()) as (pisa, lucca):
        replication = Replication(pisa, lucca)
        replication.daemon.start()
        yield replication
        replication.daemon.stop()


@pytest.fixture
def replication(made: Replication) -> Replication:
    made.daemon.ensure()
    return made


def test_the_spec_goes_and_the_status_comes_back(replication: Replication) -> None:
    replication.ask("pool", note="one")
    replication.wait_replica("pool")

    # The spec changes once more: liqod replaces the invalid signing request.
    def same() -> bool:
        local = replication.local("pool") or {}
        return local["spec"]["csr"] != "Q1NS" and (replication.replica("pool") or {})["spec"] == local["spec"]

    wait_for(same, 60, "the replica to have the spec of the slice")
    replica, local = replication.replica("pool"), replication.local("pool")
    assert local and HELD in local["metadata"]["finalizers"]
    assert replica and "finalizers" not in replica["metadata"]
    labels = replica["metadata"]["labels"]
    assert labels["liqo.io/originID"] == labels["liqo.io/remote-cluster-id"] == "pisa"
    assert (labels["liqo.io/replicated"], labels["liqo.io/replication"], labels["note"]) == ("true", "false", "one")
    replication.answer("pool", GRANTED)
    wait_for(lambda: (replication.local("pool") or {}).get("status") == GRANTED, 60, "the status to come back")


def test_changes_follow_and_marks_of_the_provider_stay(replication: Replication) -> None:
    replication.ask("edited", note="one")
    replication.wait_replica("edited")
    marks = {"annotations": {"liqo.io/cordon": "true"}, "labels": {"rack": "3"}}
    replication.away.api.patch("resourceslices", AWAY, "edited", {"metadata": marks})
    replication.ask("edited", cpu="8000m", more="two")

    def followed() -> bool:
        replica = replication.replica("edited") or {}
        labels = replica["metadata"]["labels"]
        return replica["spec"]["resources"] == {"cpu": "8000m"} and labels.get("more") == "two" and "note" not in labels

    wait_for(followed, 60, "the changes to follow")
    replica = replication.replica("edited") or {}
    assert replica["metadata"]["annotations"]["liqo.io/cordon"] == "true"
    assert replica["metadata"]["labels"]["rack"] == "3"


def test_a_deleted_object_takes_its_replica_with_it(replication: Replication) -> None:
    replication.ask("short")
    replication.wait_replica("short")
    replication.home.api.delete("resourceslices", HOME, "short")
    wait_for(lambda: replication.local("short") is None, 60, "it to be gone at home")
    assert replication.replica("short") is None, "held at home until the replica was gone"


def test_what_is_deleted_while_liqod_is_away_is_not_orphaned(replication: Replication) -> None:
    replication.ask("lost")
    replication.wait_replica("lost")
    replication.daemon.kill()
    replication.home.api.delete("resourceslices", HOME, "lost")
    replication.daemon.start()
    wait_for(lambda: replication.local("lost") is None, 60, "it to be gone at home")
    assert replication.replica("lost") is None


@pytest.mark.refusals("the provider drains the tenant")
def test_replication_resumes_by_itself_when_the_rights_are_back(replication: Replication) -> None:
    replication.ask("drained")
    replication.wait_replica("drained")
    replication.answer("drained", GRANTED)
    wait_for(lambda: (replication.local("drained") or {}).get("status") == GRANTED, 60, "the status to come back")
    replication.withdraw()
    wait_for(lambda: not _may_read(replication), 60, "the rights to be gone")
    replication.away.api.delete("resourceslices", AWAY, "drained")
    refused = lambda: any("forbidden" in text for text in replication.events("FailedReplication"))  # noqa: E731
    wait_for(refused, 60, "an Event that tells of the refusal")
    assert replication.replica("drained") is None
    assert (replication.local("drained") or {})["status"] == GRANTED, "what was granted still stands"
    replication.grant()
    replication.wait_replica("drained")


@pytest.mark.refusals("the provider has taken the rights away")
def test_what_ends_while_the_provider_refuses_is_not_held_for_ever(replication: Replication) -> None:
    replication.ask("stuck")
    replication.wait_replica("stuck")
    replication.withdraw()
    wait_for(lambda: not _may_read(replication), 60, "the rights to be gone")
    replication.home.api.delete("resourceslices", HOME, "stuck")
    stays(lambda: replication.local("stuck"), 5, "held, for a gap in the rights may be short")
    wait_for(lambda: replication.local("stuck") is None, 60, "it to be let go")
    replication.grant()
    wait_for(lambda: replication.replica("stuck") is None, 60, "its replica to be removed after all")


def _may_read(replication: Replication) -> bool:
    reading = {"verbs": ["get"], "apiGroups": ["authentication.liqo.io"], "resources": ["resourceslices"]}
    return rights.may(replication.away, rights.user("pisa"), AWAY, reading)


def test_new_credentials_are_taken_without_a_restart(replication: Replication) -> None:
    process = replication.daemon.process
    replication.write_secret("second")
    taken = lambda: "replication goes on with other credentials" in replication.daemon.log()  # noqa: E731
    wait_for(taken, 60, "liqod to take the new credentials")
    replication.ask("renewed")
    replication.wait_replica("renewed")
    assert replication.daemon.process is process


def test_the_foreign_cluster_tells_of_the_peer(replication: Replication) -> None:
    def established() -> dict | None:
        status = (replication.foreign_cluster() or {}).get("status", {})
        found = [c["status"] for c in status.get("conditions", []) if c["type"] == "APIServerStatus"]
        return status if found == ["Established"] and status["role"] == "Provider" else None

    status = wait_for(established, 60, "the API server of the provider to be shown as reachable")
    assert status["apiServerUrl"] == replication.away.server
    assert status["modules"]["authentication"]["enabled"] and not status["modules"]["offloading"]["enabled"]


def test_credentials_go_last_and_nothing_is_left(replication: Replication) -> None:
    replication.ask("last")
    replication.wait_replica("last")
    replication.home.api.delete("secrets", HOME, SECRET)
    told = lambda: any("last" in text for text in replication.events("CredentialsInUse"))  # noqa: E731
    wait_for(told, 60, "an Event that says what needs the credentials")
    replication.home.api.request("DELETE", path("resourceslices", HOME))
    secret = lambda: replication.home.api.find("secrets", HOME, SECRET)  # noqa: E731
    wait_for(lambda: secret() is None, 60, "the credentials to be gone")
    assert not replication.home.api.list("resourceslices", HOME)
    assert not replication.away.api.list("resourceslices", AWAY)
    wait_for(lambda: replication.foreign_cluster() is None, 60, "the ForeignCluster to go with the last of its peer")
    replication.write_secret("third")
    replication.ask("again")
    replication.wait_replica("again")


@pytest.mark.refusals("requests to a cluster that is gone")
def test_a_peer_that_is_given_up_holds_nothing(replication: Replication) -> None:
    replication.ask("hostage")
    replication.wait_replica("hostage")
    wait_for(replication.foreign_cluster, 60, "the ForeignCluster")
    replication.away.kill("kube-apiserver")
    try:
        replication.home.api.delete("resourceslices", HOME, "hostage")
        mark = {"metadata": {"annotations": {"liqo.io/foreign-cluster-permanently-unreachable": "true"}}}
        replication.home.api.patch("foreignclusters", None, "lucca", mark)
        wait_for(lambda: replication.local("hostage") is None, 60, "it to be let go")
    finally:
        replication.away.start_again("kube-apiserver")
