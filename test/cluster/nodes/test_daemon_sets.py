"""DaemonSets that tolerate everything have a pod on each virtual node; Liqo names them, and keeps them off."""

from __future__ import annotations

from typing import Any

import pytest

from harness.cluster.images import BUSYBOX_IMAGE
from harness.story import Story
from harness.tools.liqoctl import Liqoctl
from harness.wait import wait_for

SOON = 90.0


def daemon_set(version: str) -> dict[str, Any]:
    container = {"name": "main", "image": BUSYBOX_IMAGE, "command": ["sh", "-c", f": {version}; sleep 3600"]}
    container["resources"] = {"requests": {"cpu": "10m", "memory": "8Mi"}}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}], "terminationGracePeriodSeconds": 0}
    labels = {"app": "agent"}
    return {
        "kind": "DaemonSet", "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }  # fmt: skip


@pytest.mark.refusals("the pod on the virtual node is in a namespace that is not offloaded")
def test_a_daemon_set_is_named_kept_off_and_rolled(story: Story) -> None:
    home, liqoctl = story.consumer, Liqoctl(story.consumer)
    namespace = home.namespace("agents")
    home.api.create("daemonsets", namespace, daemon_set("one"))

    def nodes() -> set[str]:
        return {pod["spec"].get("nodeName", "") for pod in home.pods(namespace)}

    def counts() -> tuple[int, int]:
        status = home.api.get("daemonsets", namespace, "agent")["status"]
        return status["desiredNumberScheduled"], status.get("numberAvailable", 0)

    machines = {node["metadata"]["name"] for node in home.api.list("nodes")} - {"milan"}
    wait_for(lambda: nodes() == machines | {"milan"}, SOON, "a pod on each node, the virtual one among them")
    wait_for(lambda: counts() == (len(machines) + 1, len(machines)), SOON, "the pods at home to be available")
    told = liqoctl.attempt("check")
    assert f"{namespace}/agent (cpu 10m, memory 8Mi)" in told.out + told.err

    before = home.api.get("daemonsets", namespace, "agent")["metadata"]["generation"]
    shown = liqoctl("exclude", "daemonsets", f"{namespace}/agent", "--dry-run")
    assert "+ nodeSelectorTerms:" in shown and "every other one is replaced (maxUnavailable 1)" in shown
    assert home.api.get("daemonsets", namespace, "agent")["metadata"]["generation"] == before
    liqoctl("exclude", "daemonsets", f"{namespace}/agent", "--skip-confirm")
    wait_for(lambda: nodes() == machines, SOON, "the pod on the virtual node to be gone")
    # An update reaches every machine: none of what may be unavailable is used up by a virtual node.
    spec = {"spec": {"template": {"spec": {"containers": daemon_set("two")["spec"]["template"]["spec"]["containers"]}}}}
    home.api.patch("daemonsets", namespace, "agent", spec)
    home.kubectl("rollout", "status", "daemonset/agent", "-n", namespace, f"--timeout={SOON:.0f}s", timeout=SOON + 10)
    assert nodes() == machines
    assert f"{namespace}/agent" not in liqoctl.attempt("check").out

    liqoctl("exclude", "daemonsets", f"{namespace}/agent", "--undo", "--skip-confirm")
    wait_for(lambda: "milan" in nodes(), SOON, "a pod on the virtual node again")
    home.kubectl("delete", "namespace", namespace, timeout=SOON)


def test_a_daemon_set_of_an_offloaded_namespace_is_told_with_what_keeps_it_off(story: Story) -> None:
    home, liqoctl, namespace = story.consumer, Liqoctl(story.consumer), story.namespace
    home.api.create("daemonsets", namespace, daemon_set("one"))
    try:

        def nodes() -> set[str]:
            return {pod["spec"].get("nodeName", "") for pod in home.pods(namespace)}

        def told() -> list[str]:
            return [one["message"] for one in home.events(namespace, "agent") if one["reason"] == "DaemonSetElsewhere"]

        wait_for(told, SOON, "the DaemonSet to be told that it has a pod on the virtual node")
        assert len(told()) == 1 and f"liqoctl exclude daemonsets {namespace}/agent" in told()[0]
        shown = liqoctl.attempt("check")
        assert f"{namespace}/agent (cpu 10m, memory 8Mi)" in shown.out + shown.err
        liqoctl("exclude", "daemonsets", f"{namespace}/agent", "--skip-confirm")
        wait_for(lambda: story.peering.node not in nodes(), SOON, "the pod on the virtual node to be gone")
    finally:
        home.api.delete("daemonsets", namespace, "agent")
        wait_for(lambda: not home.pods(namespace), SOON, "the pods of the DaemonSet to be gone")
