"""A Job whose offloaded pod is deleted, suspended or lost goes on, also if it counts only pods that have Failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from harness.cluster.api import path
from harness.cluster.cluster import asking
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.story import condition
from harness.wait import wait_for

NAMESPACE = "batch"
POLICIES: dict[str, dict[str, Any]] = {
    "replacement": {"podReplacementPolicy": "Failed"},
    "failure": {
        "podFailurePolicy": {
            "rules": [
                {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        }
    },
}


class Pair:
    """imola borrows one CPU from fano, which has a fake node."""

    def __init__(self, run: Run, consumer: Peer, provider: Peer):
        self.run, self.consumer, self.provider = run, consumer, provider

    def job(self, name: str, **policy: Any) -> None:
        """A Job of one pod, which takes all of the CPU and does not end."""
        pod = {**asking(name, "1")["spec"], "nodeName": self.provider.name, "restartPolicy": "Never"}
        spec = {"template": {"spec": pod}, "backoffLimit": 6, **policy}
        self.consumer.api.create("jobs", NAMESPACE, {"kind": "Job", "metadata": {"name": name}, "spec": spec})

    def delete(self, name: str) -> None:
        """Deletes a Job with its pods, which its version of the API leaves behind unless it is told."""
        where = path("jobs", NAMESPACE, name)
        self.consumer.api.request("DELETE", where, query={"propagationPolicy": "Background"})

    def pods(self, job: str) -> list[dict[str, Any]]:
        return self.consumer.cluster.pods(NAMESPACE, f"batch.kubernetes.io/job-name={job}")

    def status(self, job: str) -> dict[str, Any]:
        return self.consumer.api.get("jobs", NAMESPACE, job)["status"]

    def waiting(self, job: str, but: str = "") -> dict[str, Any]:
        """The pod of a Job for which there is no room, another one than that of this UID."""

        def looked() -> dict[str, Any]:
            pod = the_only(pod for pod in self.pods(job) if pod["metadata"]["uid"] != but and not ending(pod))
            assert condition(pod, "offloading.liqo.io/Offloaded").get("reason") == "OffloadingRefused", pod["status"]
            return pod

        return wait_for(looked, 60, f"a pod of Job {job} to wait for room")

    def running(self, job: str) -> dict[str, Any]:
        def looked() -> dict[str, Any]:
            pod = the_only(pod for pod in self.pods(job) if not ending(pod))
            assert pod["status"].get("phase") == "Running", pod["status"]
            return pod

        return wait_for(looked, 60, f"the pod of Job {job} to run")

    def suspend(self, job: str, suspended: bool) -> None:
        self.consumer.api.patch("jobs", NAMESPACE, job, {"spec": {"suspend": suspended}})

    def wait_no_pods(self, job: str) -> None:
        def looked() -> bool:
            left, status = self.pods(job), self.status(job)
            assert not [pod for pod in left if ending(pod) or pod["status"].get("phase") != "Failed"], left
            assert not status.get("active") and not status.get("terminating"), status
            return True

        wait_for(looked, SOON, f"the pods of Job {job} to end")


def the_only(pods: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found = list(pods)
    assert len(found) == 1, found
    return found[0]


def ending(pod: dict[str, Any]) -> bool:
    return "deletionTimestamp" in pod["metadata"]


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    require_programs()
    with run.borrow(imola=Options(), fano=Options()) as (imola, fano):
        fano.add_kwok_nodes(1)
        consumer, provider = Peer(imola), Peer(fano)
        consumer.peer_with(provider, "--cpu", "1", "--memory", "1Gi", "--pods", "20")
        imola.namespace(NAMESPACE)
        consumer.liqoctl("offload", "namespace", NAMESPACE)
        yield Pair(run, consumer, provider)
        for peer in (consumer, provider):
            peer.daemon.stop()


@pytest.mark.refusals("there is no room for the pods of these Jobs")
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_job_goes_on_when_its_waiting_pod_is_deleted_or_suspended(pair: Pair, policy: str) -> None:
    first, second = f"first-{policy}", f"second-{policy}"
    pair.job(first)
    pair.running(first)
    pair.job(second, **POLICIES[policy])
    pod = pair.waiting(second)

    pair.consumer.api.delete("pods", NAMESPACE, pod["metadata"]["name"])
    other = pair.waiting(second, but=pod["metadata"]["uid"])
    gone = lambda: pod["metadata"]["uid"] not in {p["metadata"]["uid"] for p in pair.pods(second)}  # noqa: E731
    wait_for(gone, SOON, "the deleted pod to go")
    assert not pair.status(second).get("terminating")
    if policy == "failure":
        assert not pair.status(second).get("failed"), "a pod that never ran does not count as failed"

    pair.suspend(second, True)
    pair.wait_no_pods(second)
    assert other["metadata"]["uid"] not in {p["metadata"]["uid"] for p in pair.pods(second)}
    pair.delete(first)
    pair.suspend(second, False)
    pod = pair.running(second)

    # One that runs is suspended as well, and makes room.
    pair.suspend(second, True)
    pair.wait_no_pods(second)
    pair.delete(second)


@pytest.mark.refusals("there is no room for one of these pods")
def test_a_lost_provider_is_forgotten_with_the_pods_of_jobs(pair: Pair) -> None:
    """The last of the stories: fano is not peered any more."""
    jobs = {"lost": POLICIES["replacement"], "waits": POLICIES["failure"]}
    for name, policy in jobs.items():
        pair.job(name, **policy)
        pair.running(name) if name == "lost" else pair.waiting(name)
    before = {pod["metadata"]["uid"] for name in jobs for pod in pair.pods(name)}
    pair.run.network.cut("fano")
    try:
        wait_for(lambda: not pair.consumer.node_ready("fano"), 90, "imola to notice")
        done = pair.consumer.liqoctl.attempt("force", "unpeer", "fano", "--skip-confirm")
        assert done.code == 0, done.err
        assert pair.consumer.api.find("nodes", None, "fano") is None
        left = lambda: before & {pod["metadata"]["uid"] for name in jobs for pod in pair.pods(name)}  # noqa: E731
        wait_for(lambda: not left(), 60, "the lost pods to be counted and to go")
        assert not pair.status("waits").get("failed"), "what never ran, or nobody knows of, is no failure"
    finally:
        pair.run.network.heal("fano")
