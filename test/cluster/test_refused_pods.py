"""What a provider refuses after it took a ShadowPod is told at home once, in the provider's words, and mends by
itself."""

from __future__ import annotations

from typing import Any

import pytest

from harness import audit
from harness.api import Refused, path
from harness.cluster import busybox
from harness.story import Story, condition
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


@pytest.mark.refusals("that is what it is about")
@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("pod security", 'violates PodSecurity "restricted:latest"'),
        ("resource quota", "exceeded quota: none"),
        ("limit range", "maximum cpu usage per Container is 100m"),
    ],
    ids=["pod-security", "resource-quota", "limit-range"],
)
def test_a_refusal_of_the_provider_is_told_at_home(story: Story, rule: str, words: str) -> None:
    forbid(story, rule, words)
    story.create(asking("one"))

    def told() -> dict[str, Any]:
        found = condition(story.local("one"), "offloading.liqo.io/Offloaded")
        assert found.get("reason") == "OffloadingRefused" and words in found["message"], f"condition {found}"
        return found

    message = wait_for(told, 60, "the refusal to be told at home")["message"]
    assert message.startswith("cluster milan refuses the pod: ")
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

    allow(story, rule)
    story.wait_ready("one", 90)
    wait_for(lambda: REFUSED not in story.shadow("one")["metadata"]["annotations"], 60, "the ShadowPod to forget it")
    forgotten = lambda pod: not condition(pod, "offloading.liqo.io/Offloaded")  # noqa: E731
    story.wait_local("one", forgotten, "not to say so any more")
    assert REFUSED not in story.remote("one")["metadata"].get("annotations", {})
