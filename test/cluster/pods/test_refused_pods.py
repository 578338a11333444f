"""A provider's refusal after it took a ShadowPod is reported at home once, in the provider's words, and mends by
itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cluster import audit
from harness.cluster.api import Refused, path
from harness.cluster.cluster import busybox
from harness.monitoring.streams import kubectl
from harness.story import Story, condition
from harness.tools.liqoctl import Liqoctl
from harness.wait import stays, wait_for

REFUSED = "offloading.liqo.io/refused"
RESTRICTED = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
UNRESTRICTED = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": None}}}


def forbid(story: Story, rule: str, words: str) -> None:
    """Once it returns, the API server of the provider holds everybody to the rule."""
    api, twin = story.provider.api, story.twin
    if rule == "pod security":
        api.patch("namespaces", None, twin, RESTRICTED)
    elif rule == "resource quota":
        spec: dict[str, Any] = {"hard": {"pods": "0"}}
        api.create("resourcequotas", twin, {"kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": spec})
    else:
        spec = {"limits": [{"type": "Container", "max": {"cpu": "100m"}}]}
        api.create("limitranges", twin, {"kind": "LimitRange", "metadata": {"name": "small"}, "spec": spec})

    def holds() -> bool:
        try:
            api.request("POST", path("pods", twin), asking("probe"), query={"dryRun": "All"})
        except Refused as refusal:
            return words in str(refusal)
        return False

    wait_for(holds, 60, "the rule to hold")


def allow(story: Story, rule: str) -> None:
    api, twin = story.provider.api, story.twin
    if rule == "pod security":
        api.patch("namespaces", None, twin, UNRESTRICTED)
    elif rule == "resource quota":
        api.delete("resourcequotas", twin, "none")
    else:
        api.delete("limitranges", twin, "small")


def asking(name: str) -> dict[str, Any]:
    pod = busybox(name)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "200m"}, "limits": {"cpu": "200m"}}
    return pod


def listed(story: Story, name: str, words: str) -> dict[str, Any]:
    """Waits until the provider's administrator finds the refusal of the pod, once, and returns it."""
    liqoctl = Liqoctl(story.provider)

    def found() -> dict[str, Any]:
        told = json.loads(liqoctl("get", "refusals", "--remote-cluster-id", "rome", "--since", "1h", "-o", "json"))
        mine = [one for one in told if (one["namespace"], one["name"]) == (story.twin, name)]
        assert len(mine) == 1 and words in mine[0]["reason"], mine
        return mine[0]

    return wait_for(found, 60, "the refusal to be listed")


def says_why(story: Story, *command: object) -> str:
    """The one sentence with which kubectl fails at home."""
    done = kubectl(story, *command)
    words = done.stderr.decode()
    assert done.returncode != 0 and "does not run at cluster milan: " in words, done
    # API servers since 1.36 put that before what a kubelet answers to an upgrade.
    words = words.replace("Internal error occurred: unable to upgrade connection: ", "")
    assert "Internal error" not in words and "could not find" not in words, words
    return words


@pytest.mark.refusals("that is what it is about")
def test_a_refused_pod_says_why_to_whoever_asks_for_its_log_and_the_provider_lists_it(story: Story) -> None:
    pod = busybox("hostpath")
    pod["spec"]["volumes"] = [{"name": "node", "hostPath": {"path": "/"}}]
    story.create(pod)
    story.wait_local(
        "hostpath",
        lambda one: condition(one, "offloading.liqo.io/Offloaded").get("reason") == "OffloadingRefused",
        "to be refused",
    )
    for command in (("logs", "hostpath"), ("exec", "hostpath", "--", "true"), ("attach", "hostpath")):
        assert "hostPath" in says_why(story, *command)
    refused = listed(story, "hostpath", "hostPath")
    assert (refused["cluster"], refused["kind"]) == ("rome", "ShadowPod")
    table = Liqoctl(story.provider)("get", "refusals")
    assert "REASON" in table and f"{story.twin}/hostpath" in table


def test_a_pod_whose_image_is_missing_says_so_to_whoever_wants_to_run_a_command_in_it(story: Story) -> None:
    pod = busybox("noimage")
    pod["spec"]["containers"][0]["image"] = "example.invalid/no/such:image"
    story.create(pod)

    def waits() -> str:
        # Until its kubelet has tried, the pod is only being created.
        done = kubectl(story, "exec", "noimage", "--", "true")
        words = done.stderr.decode()
        assert done.returncode != 0 and "ErrImageNeverPull" in words, words
        return words

    words = wait_for(waits, 60, "the missing image to be told")
    assert f'container "main" of pod {story.namespace}/noimage waits at cluster milan: ' in words
    assert b"is waiting to start: ErrImageNeverPull" in kubectl(story, "logs", "noimage").stderr


@pytest.mark.refusals("that is what it is about")
@pytest.mark.parametrize(
    ("rule", "words", "remedy"),
    [
        ("pod security", 'violates PodSecurity "restricted:latest"', "offloading.liqo.io/twin-pod-security"),
        ("resource quota", "exceeded quota: none", "more in this ResourceQuota"),
        ("limit range", "maximum cpu usage per Container is 100m", "change this LimitRange"),
    ],
    ids=["pod-security", "resource-quota", "limit-range"],
)
def test_a_refusal_of_the_provider_is_told_at_home(story: Story, rule: str, words: str, remedy: str) -> None:
    forbid(story, rule, words)
    story.create(asking("one"))

    def told() -> dict[str, Any]:
        found = condition(story.local("one"), "offloading.liqo.io/Offloaded")
        assert found.get("reason") == "OffloadingRefused" and words in found["message"], f"condition {found}"
        return found

    message = wait_for(told, 60, "the refusal to be told at home")["message"]
    assert message.startswith("cluster milan refuses the pod: ") and remedy in message
    assert words in (story.shadow("one") or {})["metadata"]["annotations"][REFUSED]
    assert story.phase("one") == "Pending"

    def events() -> list[dict[str, Any]]:
        return [
            event
            for event in story.consumer.events(story.namespace, "one")
            if event["reason"] == "FailedReflection" and words in event["message"]
        ]

    wait_for(lambda: len(events()) == 1, 60, "one Event at home")
    writes = story.provider.audit.mark()
    stays(lambda: len(events()) == 1, 6, "the one Event")
    told_again = [
        entry
        for entry in story.provider.audit.entries(writes)
        if entry["verb"] == "patch" and audit.resource(entry) == "shadowpods"
    ]
    assert not told_again, "what has been told is not written again"

    listed(story, "one", words)

    allow(story, rule)
    story.wait_ready("one", 90)
    wait_for(lambda: REFUSED not in story.shadow("one")["metadata"]["annotations"], 60, "the ShadowPod to forget it")
    forgotten = lambda pod: not condition(pod, "offloading.liqo.io/Offloaded")  # noqa: E731
    story.wait_local("one", forgotten, "not to say so any more")
    assert REFUSED not in story.remote("one")["metadata"].get("annotations", {})
