"""A user who may edit one namespace at home reaches nothing of anybody else's at the provider.

RBAC at home bounds the user, and Liqo alone writes the labels and annotations by which it finds its own objects,
whatever a pod bears.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import objects
from harness.cluster import rights
from harness.cluster.api import Api, path
from harness.cluster.cluster import busybox
from harness.story import Story
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")


@pytest.fixture
def user(story: Story) -> Api:
    rights.bind(story.consumer, story.namespace, "mallory", rights.user("mallory"), "edit")
    return story.consumer.as_user(story.consumer.authority.issue(f"mallory-{story.namespace}", "mallory", []))


def test_no_kind_of_liqo_is_a_users_to_write(story: Story, user: Api) -> None:
    home, own = story.peering.home, story.namespace
    shadow = objects.liqo_object("offloading", "ShadowPod", "x", {"pod": busybox("x")["spec"]})
    virtual = objects.liqo_object("offloading", "VirtualNode", "x", {"clusterID": "milan"})
    mapping = {"spec": {"desiredMapping": {own: "kube-system"}}}
    extended = objects.offloading()
    labels = {"metadata": {"labels": {"security-tier": "high"}}}
    tries: list[tuple[str, str, Any]] = [
        ("GET", path("secrets", home), None),
        ("GET", path("secrets", home, story.peering.secret), None),
        ("GET", path("secrets", "liqo"), None),
        ("GET", path("secrets"), None),
        ("PATCH", path("nodes", None, story.peering.node), labels),
        ("PATCH", path("namespaces", None, own), labels),
        ("PATCH", path("namespacemaps", home, "milan"), mapping),
        ("POST", path("virtualnodes", own), virtual),
        ("POST", path("virtualnodes", home), virtual),
        ("POST", path("shadowpods", own), shadow),
        ("POST", path("namespaceoffloadings", "default"), extended),
        ("GET", path("pods", "default"), None),
    ]
    for verb, where, body in tries:
        data = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if verb == "PATCH" else "application/json"
        code, answer = user.raw(verb, where, data, kind)
        assert code == 403, f"{verb} {where}: {code} {answer!r}"


def test_a_pod_says_nothing_in_liqos_name(story: Story, user: Api) -> None:
    pod = story.peering.pinned(busybox("liar"))
    pod["metadata"]["labels"] = {
        "app": "web",
        "offloading.liqo.io/origin": "paris",
        "offloading.liqo.io/destination": "elsewhere",
        "offloading.liqo.io/nodename": "other",
        "liqo.io/creator-user": "pool-of-paris",
        "liqo.io/managed-by": "somebody",
    }
    pod["metadata"]["annotations"] = {
        "offloading.liqo.io/local-pod-uid": "0",
        "offloading.liqo.io/ordered-at": "2020-01-01T00:00:00Z",
        "offloading.liqo.io/reflected-keys": "app;note",
        "offloading.liqo.io/left-out": '["a lie"]',
        "k8s.v1.cni.cncf.io/networks": "kube-system/host-lan",
        "note": "kept",
    }
    pod["spec"]["tolerations"] += [{"key": "pool-of-paris", "operator": "Exists"}]
    user.request("POST", path("pods", story.namespace), {"apiVersion": "v1", "kind": "Pod", **pod})
    local = story.wait_ready("liar")
    shadow = story.shadow("liar")
    assert shadow
    metadata = shadow["metadata"]
    said = {key: metadata["labels"].get(f"offloading.liqo.io/{key}") for key in ("origin", "destination", "nodename")}
    assert said == {"origin": "rome", "destination": "milan", "nodename": story.peering.node}
    assert metadata["labels"]["liqo.io/creator-user"] == story.peering.user
    assert metadata["annotations"]["offloading.liqo.io/local-pod-uid"] == local["metadata"]["uid"]
    assert "offloading.liqo.io/left-out" not in metadata["annotations"]
    remote = story.remote("liar")
    assert remote["metadata"]["labels"]["liqo.io/managed-by"] == "shadowpod"
    assert "k8s.v1.cni.cncf.io/networks" not in remote["metadata"]["annotations"]
    assert "pool-of-paris" not in [entry.get("key") for entry in remote["spec"]["tolerations"]]

    # Home reports once what the provider has left out, also after a restart of liqod.
    def told() -> list[dict[str, Any]]:
        events = story.consumer.api.list("events", story.namespace)
        return [event for event in events if event["reason"] == "OffloadingLeftOut"]

    (event,) = wait_for(told, 60, "the Event of what was left out")
    assert event["involvedObject"]["name"] == "liar"
    for word in ("milan", "annotation k8s.v1.cni.cncf.io/networks", "toleration of pool-of-paris"):
        assert word in event["message"]
    assert story.home.stop() == 0
    story.home.start()
    user.request("DELETE", path("pods", story.namespace, "liar"))
    wait_for(lambda: story.shadow("liar") is None, 60, "the ShadowPod to go")
    (same,) = told()
    assert same.get("count", 1) == event.get("count", 1)


def test_a_pod_gets_no_other_account_and_no_other_runtime_of_the_provider(story: Story, user: Api) -> None:
    for name, annotation, value, word in (
        ("account", "liqo.io/remote-service-account-name", "admin", "serviceAccountName"),
        ("runtime", "liqo.io/remote-runtime-class-name", "privileged", "runtimeClassName"),
    ):
        pod = story.peering.pinned(busybox(name))
        pod["metadata"]["annotations"] = {annotation: value, "liqo.io/api-server-support": "remote"}
        user.request("POST", path("pods", story.namespace), {"apiVersion": "v1", "kind": "Pod", **pod})

        def refused(name: str = name, word: str = word) -> bool:
            conditions = story.local(name)["status"].get("conditions", [])
            return any(word in condition.get("message", "") for condition in conditions)

        wait_for(refused, 60, f"the refusal of {word} to be told")
        assert story.shadow(name) is None
        user.request("DELETE", path("pods", story.namespace, name))
