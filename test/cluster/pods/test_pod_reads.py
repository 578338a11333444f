"""Pods in milan read about themselves what home would tell: their fields, labels and annotations, and how these change."""

from __future__ import annotations

import time
from typing import Any

from harness.cluster.cluster import busybox
from harness.story import SOON, Story
from harness.wait import patient, wait_for

READY = "tekton.dev/ready"
INDEX = "jobset.sigs.k8s.io/job-index"
ONE_OF = "metadata.annotations['{}']"
FIELDS = {
    "UID": "metadata.uid",
    "NODE": "spec.nodeName",
    "ACCOUNT": "spec.serviceAccountName",
    "NAMESPACE": "metadata.namespace",
    "RANK": ONE_OF.format(INDEX),
    "ABSENT": ONE_OF.format("example.org/absent"),
}


def variables(fields: dict[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()]


def files(fields: dict[str, str]) -> dict[str, Any]:
    """A volume `info` with a file for each field."""
    items = [{"path": name, "fieldRef": {"fieldPath": path}} for name, path in fields.items()]
    return {"name": "info", "downwardAPI": {"items": items}}


def reader() -> dict[str, Any]:
    """A pod of which two containers print what they read."""
    told = "echo $UID $NODE $ACCOUNT $NAMESPACE rank=$RANK absent=$ABSENT"
    pod = busybox("reader", f"{told}; sleep 1000000", serviceAccountName="robot")
    (main,) = pod["spec"]["containers"]
    main["env"] = variables(FIELDS)
    # The directory of a replica, by an annotation.
    main["volumeMounts"] = [
        {"name": "info", "mountPath": "/info"},
        {"name": "data", "mountPath": "/data", "subPathExpr": "replica-$(RANK)"},
    ]
    first = {key: main[key] for key in ("image", "imagePullPolicy", "env")}
    pod["spec"]["initContainers"] = [{**first, "name": "first", "command": ["/bin/sh", "-c", told]}]
    every = {"labels": "metadata.labels", "annotations": "metadata.annotations", "uid": "metadata.uid"}
    pod["spec"]["volumes"] = [files({**every, "queue": "metadata.labels['app']"}), {"name": "data", "emptyDir": {}}]
    pod["metadata"]["annotations"] = {INDEX: "3", "example.org/text": 'two\n"lines"'}
    pod["metadata"]["labels"] = {"app": "train"}
    return pod


def task() -> dict[str, Any]:
    """A pod as Tekton makes it: its step begins when an annotation says so."""
    pod = busybox("task", "until grep -q READY /info/ready; do sleep 0.2; done", restartPolicy="Never")
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "info", "mountPath": "/info"}]
    pod["spec"]["volumes"] = [files({"ready": ONE_OF.format(READY)})]
    pod["metadata"]["annotations"] = {READY: "", "pipeline.tekton.dev/release": "v1"}
    return pod


def events(story: Story, pod: str, reason: str) -> list[str]:
    return [one["message"] for one in story.consumer.events(story.namespace, pod) if one["reason"] == reason]


def owned_by(story: Story, name: str, uid: str) -> None:
    """Writes what a step of Argo Workflows writes: an object whose owner is the pod, by the UID that the pod knows."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "reader", "uid": uid}
    made = {"kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": [owner]}, "data": {"outputs": "42"}}
    story.consumer.api.create("configmaps", story.namespace, made)


def test_a_pod_reads_about_itself_what_home_would_tell(story: Story) -> None:
    home = story.consumer.api
    home.create("serviceaccounts", story.namespace, {"kind": "ServiceAccount", "metadata": {"name": "robot"}})
    uid = story.create(reader())["metadata"]["uid"]
    story.create(task())
    story.wait_ready("reader")

    # Without a token for home's API server the namespace is that of the twin, and an Event says so.
    expected = f"{uid} {story.local('reader')['spec']['nodeName']} robot {story.twin} rank=3 absent=\n"
    for container in ("first", "main"):
        said = story.provider.kubectl("-n", story.twin, "logs", "reader", "-c", container)
        assert said == expected, f"what {container} reads"
    told = lambda: events(story, "reader", "OffloadingTwinNamespace")  # noqa: E731
    assert story.namespace in wait_for(told, SOON, "the Event about the namespace")[0]

    def read(name: str) -> str:
        return story.provider.kubectl("-n", story.twin, "exec", "reader", "--", "cat", f"/info/{name}")

    assert read("uid") == uid and read("queue") == "train" and read("labels") == 'app="train"'
    lines = read("annotations").split("\n")
    assert f'{INDEX}="3"' in lines and 'example.org/text="two\\n\\"lines\\""' in lines
    assert not [line for line in lines if line.startswith("offloading.liqo.io/")]
    # What a pod reads is not reported as missing.
    assert not events(story, "reader", "OffloadingLeftOut")
    left_out = wait_for(lambda: events(story, "task", "OffloadingLeftOut"), SOON, "what is left out")
    assert READY not in left_out[0] and "pipeline.tekton.dev/release" in left_out[0]

    # The garbage collector of home takes what belongs to no pod there.
    owned_by(story, "of-remote", story.remote("reader")["metadata"]["uid"])
    owned_by(story, "of-home", uid)
    wait_for(lambda: home.find("configmaps", story.namespace, "of-remote") is None, SOON, "its owner to be missed")
    assert home.find("configmaps", story.namespace, "of-home")

    # A change at home is in the Pod within a second, and in the file when the kubelet looks at the pod.
    story.wait_phase("task", "Running")
    home.patch("pods", story.namespace, "task", {"metadata": {"annotations": {READY: "READY"}}})
    began = time.monotonic()
    wait_for(lambda: "READY" in story.remote("task")["metadata"]["annotations"].values(), SOON, "the Pod to have it")
    assert time.monotonic() - began < patient(1)
    story.wait_phase("task", "Succeeded", 120)
    assert story.times_run("task") == story.times_run("reader") == 1
