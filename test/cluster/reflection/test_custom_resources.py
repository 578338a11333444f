"""Custom resources that a team names are copied to the provider, and the status that an operator writes comes home."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from harness.cluster import rights
from harness.cluster.api import Api
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.story import Story
from harness.wait import wait_for

CONDITION = "offloading.liqo.io/CustomResources"


def definition(plural: str, kind: str, *versions: str) -> dict:
    """A CustomResourceDefinition with the status subresource, stored in the last of the versions."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    shape = {"type": "object", "properties": {"spec": anything, "status": anything}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"plural": plural, "kind": kind, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": shape},
                    "subresources": {"status": {}},
                }
                for version in versions
            ],
        },
    }


@pytest.fixture
def with_custom(fake_story: Story) -> Iterator[Story]:
    """Runs another daemon at home for as long as the story lasts: one that reflects two kinds more."""
    told = fake_story
    assert told.home.stop() == 0
    chart.allow_custom(told.consumer, "example.org", "widgets", "gears")
    flags = ("--reflect-custom=widgets.example.org,status", "--reflect-custom=gears.example.org,workers=2")
    daemon = Liqod(told.consumer, told.home.command[2], told.home.listen_port, flags, "liqod-custom").start()
    usual, told.home = told.home, daemon
    try:
        yield told
    finally:
        told.home = usual
        daemon.stop()
        usual.start()
        for cluster in (told.consumer, told.provider):
            for name in ("widgets.example.org", "gears.example.org"):
                if cluster.api.find("customresourcedefinitions", None, name):
                    cluster.api.delete("customresourcedefinitions", None, name)


class Operator:
    """A team's operator in the twin: it says of each widget which size it has seen."""

    def __init__(self, api: Api, namespace: str):
        self.api, self.namespace, self._end = api, namespace, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Operator:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(0.2):
            try:
                for widget in self.api.list("widgets", self.namespace):
                    self._report(widget)
            except (AssertionError, OSError):
                continue  # changed meanwhile, or not served yet

    def _report(self, widget: dict) -> None:
        seen = widget["metadata"]["generation"]
        if widget.get("status", {}).get("observedGeneration") == seen:
            return
        ready = {"type": "Ready", "status": "True", "reason": "Made", "message": "", "observedGeneration": seen}
        ready["lastTransitionTime"] = widget["metadata"]["creationTimestamp"]
        status = {"observedGeneration": seen, "size": widget["spec"]["size"], "conditions": [ready]}
        patch = {"metadata": {"resourceVersion": widget["metadata"]["resourceVersion"]}, "status": status}
        self.api.patch("widgets", self.namespace, widget["metadata"]["name"], patch, "status")


def told(story: Story) -> str:
    """What the virtual node says of custom resources: the status of its condition, and why."""
    conditions = (story.peering.node_object() or {}).get("status", {}).get("conditions") or []
    found = next(one for one in [*conditions, {"type": CONDITION, "status": ""}] if one["type"] == CONDITION)
    return f"{found['status']}: {found.get('message', '')}"


def says(story: Story, *words: str) -> None:
    """Waits until the condition has these words, and none of those that begin with a `-`."""

    def looked() -> bool:
        text = told(story)
        assert all((word[1:] not in text) if word.startswith("-") else (word in text) for word in words), text
        return True

    wait_for(looked, 90, f"the virtual node to say {words}")


# liqod's requests are answered 403 until the provider grants the right.
@pytest.mark.refusals
def test_a_custom_resource_runs_at_the_provider_and_its_status_comes_home(with_custom: Story) -> None:
    story = with_custom
    home, away = story.consumer, story.provider
    says(story, "False: ", "widgets.example.org: this cluster has no definition of it")
    home.apply([definition("widgets", "Widget", "v2", "v1"), definition("gears", "Gear", "v1")])
    says(story, f"widgets.example.org: cluster {away.name} has no definition of it")
    away.apply([definition("widgets", "Widget", "v1"), definition("gears", "Gear", "v3")])
    says(
        story,
        f"widgets.example.org: cluster {away.name} gives no right to it",
        "gears.example.org: there is no version",
    )
    events = story.consumer.events(story.peering.home, story.peering.node)
    assert any(
        "widgets.example.org" in one["message"] for one in events if one["reason"] == "CustomResourcesNotReflected"
    )

    rules = [
        {"apiGroups": ["example.org"], "resources": ["widgets"], "verbs": ["get", "list", "create", "patch", "delete"]}
    ]
    away.api.apply("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "widgets"}, "rules": rules})
    rights.bind(away, story.twin, "widgets", rights.group(home.name), "widgets")
    says(story, "-widgets", "gears.example.org: there is no version that both clusters serve: this one has v1")

    with Operator(away.api, story.twin):
        widget = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 1}}
        home.api.create("widgets", story.namespace, widget)
        ready = ("wait", "-n", story.namespace, "widget.example.org/one", "--for=condition=Ready", "--timeout=90s")
        home.kubectl(*ready)
        for size in (2, 3):
            home.api.patch("widgets", story.namespace, "one", {"spec": {"size": size}})
            # kubectl accepts the condition only if it has the generation of the object.
            home.kubectl(*ready)
            assert home.api.get("widgets", story.namespace, "one")["status"]["size"] == size

        copy = away.api.get("widgets", story.twin, "one")
        assert copy["spec"] == {"size": 3}
        assert copy["metadata"]["labels"]["offloading.liqo.io/origin"] == home.name
        away.api.patch("widgets", story.twin, "one", {"spec": {"size": 99}})
        right = lambda: away.api.get("widgets", story.twin, "one")["spec"]["size"] == 3  # noqa: E731
        wait_for(right, 30, "the copy to be right again")
        away.api.delete("widgets", story.twin, "one")
        wait_for(right, 30, "the copy to be made again")

        theirs = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "two"}, "spec": {"size": 7}}
        away.api.create("widgets", story.twin, theirs)
        home.api.create("widgets", story.namespace, {**widget, "metadata": {"name": "two"}})
        reasons = lambda: [one["reason"] for one in home.events(story.namespace, "two")]  # noqa: E731
        wait_for(lambda: "FailedReflection" in reasons(), 30, "it to be told that the name is taken")
        assert away.api.get("widgets", story.twin, "two")["spec"] == {"size": 7}
        away.api.delete("widgets", story.twin, "two")
        copied = lambda: (away.api.find("widgets", story.twin, "two") or {}).get("spec") == {"size": 1}  # noqa: E731
        wait_for(copied, 30, "the copy to be made once its name is free")

    home.api.delete("widgets", story.namespace, "one")
    gone = lambda: away.api.find("widgets", story.twin, "one") is None  # noqa: E731
    wait_for(gone, 30, "the copy to go with its object")
