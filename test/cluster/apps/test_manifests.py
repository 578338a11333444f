"""Manifests that people reported to fail on virtual nodes run unchanged, or their users read at once why they do not.

trento, which has no node of its own, offloads to verona's real node with the default settings of both. Each try has a
number, and a file in manifests/ that is applied as it is, unless another story shows the same: STORIES says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster.components import Options
from harness.liqo.peers import Peer
from harness.required import require_programs
from harness.run import Run
from harness.story import condition, container, is_ready
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("the provider refuses the label of one pod, and is asked again")

SOON = 60.0
MANIFESTS = Path(__file__).with_name("manifests")
# The story of each try, by its number. Those without one here (21, 26 to 33) passed as they were from the beginning.
STORIES = {
    "01": "test_doors_and_marks.py",
    "02": "test_pod_reads.py",
    "03": "test_pod_reads.py",
    "04": "test_pod_reads.py",
    "05": "test_manifests.py::test_each_pod_computes_the_shard_that_it_is_told",
    "06": "test_manifests.py::test_a_job_that_wants_no_sidecar_runs_and_one_that_wants_an_identity_says_why_not",
    "07": "test_audience_tokens.py::test_a_token_for_vault_comes_without_an_address_of_the_api_server",
    "08": "test_audience_tokens.py::test_a_token_made_by_hand_is_copied_as_annotated_and_goes_with_its_pod",
    "09": "test_reach.py::test_a_leader_that_writes_its_own_address_is_reached_at_the_provider",
    "10": "test_home_names.py",
    "11": "test_manifests.py::test_a_pod_that_wants_the_network_of_its_node_runs_without_and_says_so",
    "12": "test_topology_spread.py",
    "13": "test_daemon_sets.py",
    "14": "test_topology_hints.py",
    "15": "test_twin_owners.py",
    "16": "test_disruption_budgets.py",
    "17": "test_reach.py::test_a_namespace_with_networkpolicies_is_told_that_they_do_not_hold_there",
    "18": "test_reach.py::test_the_addresses_of_doors_are_shown_at_home_and_go_with_the_copies",
    "19": "test_audience_tokens.py::test_the_account_default_with_rights_and_the_ca_of_home",
    "20": "test_manifests.py::test_a_pod_of_a_backup_runs_and_has_never_restarted",
    "22": "test_manifests.py::test_a_job_of_a_queue_of_home_runs",
    "23": "test_contested_copies.py",
    "24": "test_manifests.py::test_a_pod_has_the_directory_that_its_annotation_names",
    "25": "test_service_variables.py",
}


class Try:
    """A namespace of home with what the file of that number makes, and its twin."""

    def __init__(self, home: Peer, away: Peer, file: Path):
        self.home, self.away, self._file = home, away, file
        number = file.name.partition("-")[0]
        self.namespace, self.twin = f"try-{number}", f"try-{number}-{home.name}"

    def offload(self) -> None:
        self.home.cluster.namespace(self.namespace)
        self.home.api.create("namespaceoffloadings", self.namespace, objects.offloading(podOffloadingStrategy="Remote"))

    def is_offloaded(self) -> bool:
        status = self.home.api.get("namespaceoffloadings", self.namespace, "offloading").get("status", {})
        return status.get("offloadingPhase") == "Ready"

    def apply(self) -> None:
        self.home.cluster.kubectl("apply", "-n", self.namespace, "-f", "-", stdin=self._file.read_text())

    def local(self, selector: str) -> dict[str, Any]:
        """The one pod at home with that label."""
        (pod,) = self.home.cluster.pods(self.namespace, selector)
        return pod

    def wait_ready(self, selector: str) -> dict[str, Any]:
        def ready() -> dict[str, Any]:
            pod = self.local(selector)
            assert is_ready(pod), f"{pod['status']}"
            return pod

        return wait_for(ready, SOON, f"the pod of {selector} to be ready at home")

    def wait_complete(self, job: str) -> None:
        def complete() -> bool:
            status = self.home.api.get("jobs", self.namespace, job).get("status", {})
            true = [one["type"] for one in status.get("conditions", []) if one["status"] == "True"]
            assert "Complete" in true, status
            return True

        wait_for(complete, SOON, f"Job {job} to be complete")

    def remote(self, name: str) -> dict[str, Any]:
        return self.away.api.get("pods", self.twin, name)

    def logs(self) -> list[str]:
        """What the pods of the twin have said."""
        names = [pod["metadata"]["name"] for pod in self.away.cluster.pods(self.twin)]
        return sorted(self.away.cluster.kubectl("logs", "-n", self.twin, name).strip() for name in names)

    def told(self, pod: str, reason: str) -> str:
        """The first Event about a pod for that reason."""

        def found() -> list[str]:
            events = self.home.cluster.events(self.namespace, pod)
            return [event["message"] for event in events if event["reason"] == reason]

        return wait_for(found, SOON, f"an Event {reason} about pod {pod}")[0]


@pytest.fixture(scope="module")
def tries(run: Run) -> Iterator[dict[str, Try]]:
    """By their numbers: all are applied at once, and each story looks at its own."""
    require_programs()
    with run.borrow(trento=Options(), verona=Options(kubelet=True)) as (trento, verona):
        home, away = Peer(trento), Peer(verona)
        home.peer_with(away, "--cpu=2", "--memory=2Gi", "--pods=60")
        made = {file.name.partition("-")[0]: Try(home, away, file) for file in sorted(MANIFESTS.glob("*.yaml"))}
        for each in made.values():
            each.offload()
        for each in made.values():
            wait_for(each.is_offloaded, SOON, f"{each.namespace} to be offloaded")
            each.apply()
        yield made


def test_each_pod_computes_the_shard_that_it_is_told(tries: dict[str, Try]) -> None:
    tries["05"].wait_complete("train")
    assert tries["05"].logs() == ["shard 3 0 of team ml", "shard 3 1 of team ml"]


def test_a_job_that_wants_no_sidecar_runs_and_one_that_wants_an_identity_says_why_not(tries: dict[str, Try]) -> None:
    mesh = tries["06"]
    mesh.wait_complete("train")

    def refused() -> dict[str, Any]:
        pod = mesh.local("job-name=identity")
        assert condition(pod, "offloading.liqo.io/Offloaded").get("reason") == "OffloadingRefused", pod["status"]
        return pod

    pod = wait_for(refused, SOON, "the pod to say that it was refused")
    for words in (
        condition(pod, "offloading.liqo.io/Offloaded")["message"],
        mesh.told(pod["metadata"]["name"], "FailedReflection"),
    ):
        assert "azure.workload.identity/use" in words and "the policy key labels would allow it" in words, words


def test_a_pod_that_wants_the_network_of_its_node_runs_without_and_says_so(tries: dict[str, Try]) -> None:
    host = tries["11"]
    find = host.home.api.get
    wait_for(lambda: find("pods", host.namespace, "fast")["status"]["phase"] == "Running", SOON, "the pod to run")
    assert not {"hostNetwork", "hostPID"} & {key for key, value in host.remote("fast")["spec"].items() if value}
    words = host.told("fast", "OffloadingFieldsDropped")
    assert words.startswith("these fields have no effect in cluster verona: hostNetwork, hostPID, hostPort"), words


def test_a_pod_of_a_backup_runs_and_has_never_restarted(tries: dict[str, Try]) -> None:
    backup = tries["20"]
    pod = backup.wait_ready("velero.io/restore-name=nightly")
    assert container(pod)["restartCount"] == 0
    assert "liqo.io/local-pod" not in backup.remote("restored")["metadata"]["labels"]


def test_a_job_of_a_queue_of_home_runs(tries: dict[str, Try]) -> None:
    queue = tries["22"]
    queue.wait_complete("batch")
    labels = queue.remote(queue.local("job-name=batch")["metadata"]["name"])["metadata"]["labels"]
    assert "kueue.x-k8s.io/queue-name" not in labels, labels


def test_a_pod_has_the_directory_that_its_annotation_names(tries: dict[str, Try]) -> None:
    tries["24"].wait_ready("app=store")
    wait_for(lambda: tries["24"].logs() == ["/all/tenant-gold/here"], SOON, "the directory to be there")


def test_each_manifest_is_looked_at() -> None:
    own = {number for number, story in STORIES.items() if story.startswith("test_manifests.py::")}
    assert {file.name.partition("-")[0] for file in MANIFESTS.glob("*.yaml")} == own
