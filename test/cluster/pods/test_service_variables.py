"""Pods that start right after a Service have the variables of it, as on a node of home."""

from __future__ import annotations

from typing import Any

from harness.cluster.cluster import busybox
from harness.story import Story

TURNS = 5


def service(name: str) -> dict[str, Any]:
    spec = {"selector": {"app": name}, "ports": [{"name": "redis", "port": 6379}]}
    return {"kind": "Service", "metadata": {"name": name}, "spec": spec}


def test_a_pod_has_the_variables_of_the_service_that_was_made_just_before_it(story: Story) -> None:
    names = [f"cache{turn}" for turn in range(TURNS)]
    for name in names:
        variables = [f"{name}_{what}".upper() for what in ("service_host", "service_port_redis")]
        script = f"echo {' '.join('${%s:-missing}' % one for one in variables)}"
        story.consumer.api.create("services", story.namespace, service(name))
        story.create(busybox(f"reads-{name}", script, restartPolicy="Never"))
    for name in names:
        story.wait_phase(f"reads-{name}", "Succeeded")
        words = story.consumer.kubectl("logs", "-n", story.namespace, f"reads-{name}").split()
        there = story.provider.api.get("services", story.twin, name)["spec"]["clusterIP"]
        assert words == [there, "6379"]
        story.consumer.api.delete("services", story.namespace, name)
