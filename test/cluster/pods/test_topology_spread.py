"""Pods that home has spread over nodes and zones run at a provider that has fewer of them, or says nothing of zones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.liqo.peering import TAINT
from harness.story import SOON, Story
from harness.wait import wait_for

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


@pytest.fixture
def zoned(story: Story) -> Iterator[Story]:
    """The virtual node has a zone; milan's machine says nothing of any."""
    label(story, "m")
    assert not any(ZONE in node["metadata"]["labels"] for node in story.provider.api.list("nodes"))
    yield story
    label(story, None)


def label(story: Story, zone: str | None) -> None:
    story.consumer.api.patch("nodes", None, story.peering.node, {"metadata": {"labels": {ZONE: zone}}})


def demand(app: str, key: str, **more: Any) -> dict[str, Any]:
    return {
        "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}}, **more,
    }  # fmt: skip


def told(story: Story, pod: dict[str, Any]) -> list[str]:
    events = story.consumer.events(story.namespace, pod["metadata"]["name"])
    return [event["message"] for event in events if event["reason"] == "OffloadingLeftOut"]


def test_pods_that_home_has_spread_over_zones_run_where_there_are_none(zoned: Story) -> None:
    # A demand and a wish of one key would be two wishes, which API servers refuse.
    wish = demand("zoned", ZONE) | {"whenUnsatisfiable": "ScheduleAnyway"}
    near = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "zoned"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    spread = [demand("zoned", ZONE, maxSkew=5, nodeTaintsPolicy="Honor"), wish]
    zoned.deployment("zoned", 2, busybox("zoned", topologySpreadConstraints=spread, affinity=affinity))
    for pod in zoned.wait_ready_replicas("zoned", 2, SOON):
        wait_for(lambda: told(zoned, pod), SOON, "an Event that milan has no zones")  # noqa: B023
        assert [f"nodes with label {ZONE}" in message for message in told(zoned, pod)] == [True]
        shadow = zoned.shadow(pod["metadata"]["name"])
        assert shadow and [one["whenUnsatisfiable"] for one in shadow["spec"]["pod"]["topologySpreadConstraints"]] == [
            "ScheduleAnyway"
        ]

    # The pod that wants the demand at its provider, too, gets it, and waits there.
    spec = [demand("kept", ZONE, minDomains=2, maxSkew=5)]
    kept = busybox("kept", topologySpreadConstraints=spec)
    kept["metadata"] |= {"annotations": {"liqo.io/topology-spread": "keep"}, "labels": {"app": "kept"}}
    zoned.create(kept)
    remote = wait_for(lambda: zoned.provider.pod(zoned.twin, "kept"), SOON, "the pod at milan")
    sent = remote["spec"]["topologySpreadConstraints"][0]
    assert (sent["whenUnsatisfiable"], sent["minDomains"]) == ("DoNotSchedule", 2)


def test_pods_that_home_has_spread_over_hosts_run_on_the_one_of_a_provider(story: Story) -> None:
    machine = story.consumer.api.list("nodes", selector="type=kwok")[0]["metadata"]["name"]
    places = {"key": HOST, "operator": "In", "values": [machine, story.peering.node]}
    term = {"nodeSelectorTerms": [{"matchExpressions": [places]}]}
    labels = {"app": "wide"}
    spec = busybox(
        "wide",
        topologySpreadConstraints=[demand("wide", HOST, minDomains=2)],
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}},
        tolerations=[{"key": TAINT, "operator": "Exists", "effect": "NoExecute"}],
    )["spec"]
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = {"replicas": 4, "selector": {"matchLabels": labels}, "template": template}
    story.consumer.api.create(
        "deployments", story.namespace, {"kind": "Deployment", "metadata": {"name": "wide"}, "spec": body}
    )
    pods = story.wait_ready_replicas("wide", 4, SOON)
    there = [pod for pod in pods if pod["spec"]["nodeName"] == story.peering.node]
    assert len(there) == 2
    # milan's node has a name, so there is nothing to say.
    assert [told(story, pod) for pod in there] == [[], []]
