"""When a worker of the provider dies, no replica is lost, and two pods of one name never run at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import Peering
from harness.required import require_liqod
from harness.run import Run
from harness.story import Story, is_ready
from harness.wait import stays, wait_for

# Kubernetes takes pods from a silent node after five minutes, unless they ask for less.
IMPATIENT = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
    for what in ("not-ready", "unreachable")
]


@pytest.fixture(scope="module")
def lucca(run: Run) -> Iterator[tuple[Cluster, Cluster]]:
    """bari, which borrows, and lucca with a real worker and fake ones, which are dead after 20 s of silence.

    Less, and a busy machine that stands still for some seconds kills the others, too.
    """
    require_liqod()
    with run.borrow(bari=Options(), lucca=Options(kubelet=True, node_grace_seconds=20)) as (consumer, provider):
        provider.add_kwok_nodes(1)
        yield consumer, provider


@pytest.fixture(scope="module")
def home(lucca: tuple[Cluster, Cluster]) -> Liqod:
    return Liqod(lucca[0], chart.install(lucca[0])).start()


def daemon(provider: Cluster, *flags: str) -> Liqod:
    return Liqod(provider, chart.install(provider), 10260, flags=flags).start()


@pytest.fixture
def away(lucca: tuple[Cluster, Cluster], request: pytest.FixtureRequest) -> Iterator[Liqod]:
    started = daemon(lucca[1], *getattr(request, "param", ()))
    yield started
    started.stop()


@pytest.fixture
def story(lucca: tuple[Cluster, Cluster], home: Liqod, away: Liqod, namespace: str) -> Iterator[Story]:
    told = Story(Peering(*lucca).establish().wait_ready(), namespace, home, away)
    yield told
    told.consumer.api.delete_all("statefulsets", told.namespace)
    told.close()


def fake_nodes(cluster: Cluster) -> list[str]:
    names = [node["metadata"]["name"] for node in cluster.api.list("nodes")]
    return [name for name in names if "-fake-" in name]


def cordon(cluster: Cluster, unschedulable: bool) -> None:
    for name in fake_nodes(cluster):
        cluster.cordon(name, unschedulable)


def template(name: str) -> dict[str, Any]:
    return busybox(name, terminationGracePeriodSeconds=2, tolerations=IMPATIENT)


def stateful_set(story: Story, name: str) -> None:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": story.peering.pinned(template(name))["spec"]}
    spec = {"replicas": 1, "serviceName": name, "selector": {"matchLabels": labels}, "template": pod}
    body = {"kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}
    story.consumer.api.create("statefulsets", story.namespace, body)


def uid(pod: dict[str, Any]) -> str:
    return pod["metadata"]["uid"]


def of_app(story: Story, app: str) -> list[dict[str, Any]]:
    return story.consumer.pods(story.namespace, f"app={app}")


def test_a_dead_worker_costs_no_replica(story: Story) -> None:
    cordon(story.provider, True)
    story.deployment("web", 1, template("web"))
    stateful_set(story, "db")
    [web] = story.wait_ready_replicas("web", 1, 60)
    db = story.wait_ready("db-0", 60)
    kubelet = story.provider.process("kubelet")
    kubelet.send(signal.SIGSTOP)
    try:
        cordon(story.provider, False)
        remote = lambda: story.remote(web["metadata"]["name"])["metadata"]  # noqa: E731
        wait_for(lambda: remote().get("deletionTimestamp"), 90, "milan to give the pod up")

        def replaced() -> dict[str, Any]:
            new = [pod for pod in of_app(story, "web") if uid(pod) != uid(web)]
            assert new and new[0]["status"].get("phase") == "Running", f"{new and new[0]['status']}"
            return new[0]

        wait_for(replaced, 120, "another pod of web to run elsewhere")
        told = wait_for(
            lambda: [e for e in story.consumer.events(story.namespace, "db-0") if e["reason"] == "RemotePodStuck"],
            60,
            "the Event",
        )
        assert "its node there is probably dead" in told[0]["message"]
        # A pod of the same name waits: nobody knows whether the old one still runs.
        going = lambda: story.local("db-0")["metadata"]  # noqa: E731
        wait_for(lambda: going().get("deletionTimestamp"), 60, "db-0 to be deleted at home")
        stays(lambda: going()["uid"] == uid(db) and story.times_run("db-0") == 1, 5, "the old db-0, alone,")
        old = next(pod for pod in of_app(story, "web") if uid(pod) == uid(web))
        assert old["metadata"]["deletionTimestamp"] and old["metadata"]["deletionGracePeriodSeconds"] == 2
    finally:
        kubelet.send(signal.SIGCONT)
    wait_for(lambda: len(of_app(story, "web")) == 1, 60, "the old pod of web to be gone")
    wait_for(lambda: uid(story.local("db-0")) != uid(db), 60, "another db-0")
    story.wait_ready("db-0", 60)
    assert story.times_run("db-0") == 2


@pytest.mark.parametrize("away", [("--enable-node-failure-controller",)], indirect=True, ids=["switched-on"])
def test_the_provider_lets_pods_of_a_dead_worker_go_where_it_is_told_to(story: Story) -> None:
    cordon(story.provider, True)
    created = story.create(template("one"))
    story.wait_ready("one", 60)
    before = uid(story.remote("one"))
    own = {"kind": "Pod", **template("own")}
    own["spec"]["nodeSelector"] = {"kubernetes.io/hostname": story.provider.node.name}
    story.provider.api.create("pods", "default", own)
    wait_for(lambda: is_ready(story.provider.pod("default", "own") or {"status": {}}), 60, "a pod of lucca itself")
    kubelet = story.provider.process("kubelet")
    kubelet.send(signal.SIGSTOP)
    try:
        cordon(story.provider, False)
        wait_for(lambda: uid(story.remote("one")) != before, 90, "another pod to be made")
        shown = "offloading.liqo.io/remote-pod-uid"
        anew = story.wait_local("one", lambda pod: pod["metadata"]["annotations"][shown] != before, "to run anew", 60)
        assert uid(anew) == uid(created), "the pod at home is the same"
        wait_for(lambda: "-fake-" in story.remote("one")["spec"]["nodeName"], 60, "it to run on another worker")
        assert story.times_run("one") == 2
        # Kubernetes keeps the provider's own pod until somebody acts.
        own_pod = lambda: story.provider.pod("default", "own")["metadata"]  # noqa: E731
        wait_for(lambda: own_pod()["deletionTimestamp"], 60, "Kubernetes to give its own pod up")
        stays(own_pod, 2, "lucca's own pod")
        reasons = lambda: [event["reason"] for event in story.provider.events(story.twin, "one")]  # noqa: E731
        wait_for(lambda: "NodeFailed" in reasons(), 60, "the Event of the provider")
    finally:
        kubelet.send(signal.SIGCONT)
    wait_for(lambda: story.provider.pod("default", "own") is None, 60, "lucca's own pod to end")
