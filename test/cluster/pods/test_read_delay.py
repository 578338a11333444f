"""How soon a pod in milan reads what changes at home, compared with a plain pod of milan on the same kubelet."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.story import SOON, Story, is_ready
from harness.wait import patient, stays, wait_for

KEY = "tekton.dev/ready"
CHANGES = 7
# A kubelet that has looked at a pod looks at it again only after its next list of containers.
RELISTS = 1.2
# It looks ten times a second which volumes to write anew, and ten times a second it writes. Where a plain pod is faster
# than that, the two looks would be all that is compared.
LOOKS = 0.3


def reader(name: str) -> dict[str, Any]:
    """A pod with the value of an annotation in a file."""
    pod = busybox(name)
    items = [{"path": "ready", "fieldRef": {"fieldPath": f"metadata.annotations['{KEY}']"}}]
    pod["spec"]["volumes"] = [{"name": "info", "downwardAPI": {"items": items}}]
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "info", "mountPath": "/info"}]
    pod["metadata"]["annotations"] = {KEY: "step-0"}
    return pod


def file_of(cluster: Cluster, pod: dict[str, Any]) -> Path:
    """That file as the kubelet writes it, seen from outside of the cluster."""
    assert cluster.node
    volumes = cluster.node.directory / "kubelet/pods" / pod["metadata"]["uid"] / "volumes"
    return Path(f"/proc/{cluster.space.pid}/root{volumes}/kubernetes.io~downward-api/info/ready")


def delays(cluster: Cluster, where: tuple[str, str], value: str, *seen: Callable[[], bool]) -> list[float]:
    """Writes the annotation of a pod, and returns after how many seconds each of `seen` holds."""
    began, after = time.monotonic(), dict[int, float]()
    cluster.api.patch("pods", *where, {"metadata": {"annotations": {KEY: value}}})

    def all_seen() -> bool:
        for index, holds in enumerate(seen):
            if index not in after and holds():
                after[index] = time.monotonic() - began
        return len(after) == len(seen)

    wait_for(all_seen, 100, f"the change of {'/'.join(where)} to arrive", interval=0.002)
    return [after[index] for index in range(len(seen))]


@pytest.mark.alone("it compares delays")
def test_a_change_at_home_is_read_almost_as_soon_as_in_a_plain_pod(story: Story) -> None:
    there = story.provider
    space = there.namespace(f"{story.namespace}-plain")
    there.api.create("pods", space, reader("plain"))
    story.create(reader("far"))
    story.wait_ready("far")
    plain = wait_for(
        lambda: (pod := there.pod(space, "plain")) and is_ready(pod) and pod, SOON, "the plain pod to be ready"
    )
    own, theirs = file_of(there, story.remote("far")), file_of(there, plain)
    assert own.read_text() == theirs.read_text() == "step-0"

    in_pod, in_file, in_plain_file = [], [], []
    for number in range(1, CHANGES + 1):
        before, value = f"step-{number - 1}", f"step-{number}"
        stays(lambda: own.read_text() == theirs.read_text() == before, RELISTS, "both files")  # noqa: B023

        def has_come() -> bool:
            return value in story.remote("far")["metadata"]["annotations"].values()  # noqa: B023

        in_plain_file += delays(there, (space, "plain"), value, lambda: theirs.read_text() == value)  # noqa: B023
        of_pod, of_file = delays(
            story.consumer, (story.namespace, "far"), value, has_come, lambda: own.read_text() == value  # noqa: B023
        )
        in_pod.append(of_pod)
        in_file.append(of_file)
    there.api.delete("pods", space, "plain", grace=0)
    figures = f"in the Pod after {in_pod}, in the file after {in_file}, in that of a plain pod after {in_plain_file}"
    assert max(in_pod) <= patient(1), figures
    assert median(in_file) <= 1.5 * max(median(in_plain_file), LOOKS), figures
