"""Claims of StorageClass liqo have their volumes where their pods run, at home or in milan, and keep them there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.cluster.volumes import AT_ONCE, WITH_POD, Directories
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import TAINT
from harness.story import Story
from harness.tools.liqoctl import Liqoctl
from harness.wait import stays, wait_for

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
LONG = 90.0
REMOTE_CLASS = "liqo.io/remote-storage-class"
# The volume gets one line for each start of a pod, and the log shows all of them.
SCRIPT = "echo began >> /data/log; cat /data/log; sleep 1000000"


@pytest.fixture
def with_volumes(story: Story) -> Iterator[Story]:
    """Both clusters have volumes, milan offers its classes, and the daemon at home makes claims of class liqo work."""
    api = story.consumer.api
    made = [Directories(story.consumer), Directories(story.provider)]
    # The chart makes the same StorageClass.
    spec = {"provisioner": "liqo.io/storage", "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True}
    api.apply("storageclasses", None, {"kind": "StorageClass", "metadata": {"name": "liqo"}, **spec})
    policy = lambda text: {"metadata": {"annotations": {"liqo.io/pod-policy": text}}}  # noqa: E731
    classes = f'{{"storageClasses": ["{AT_ONCE}", "{WITH_POD}"]}}'
    story.provider.api.patch("namespaces", None, story.peering.away, policy(classes))
    offers = [{"storageClassName": AT_ONCE}, {"storageClassName": WITH_POD, "default": True}]
    story.peering.write_virtual_node(storageClasses=offers)
    assert story.home.stop() == 0
    chart.allow_storage(story.consumer)
    flags = ("--virtual-storage-class-name", "liqo", "--real-storage-class-name", WITH_POD)
    daemon = Liqod(story.consumer, story.home.command[2], story.home.listen_port, flags, "liqod-storage").start()
    usual, story.home = story.home, daemon
    try:
        yield story
        for kind in ("statefulsets", "pods", CLAIMS):
            api.delete_all(kind, story.namespace)
        wait_for(lambda: not api.list(CLAIMS, story.namespace), LONG, "the claims to be gone")
        gone = lambda: [volume["metadata"]["name"] for volume in api.list(VOLUMES) if not _is_kept(volume)]  # noqa: E731
        wait_for(lambda: not gone(), LONG, "their volumes to be gone")
    finally:
        story.home = usual
        daemon.stop()
        usual.start()
        for directories in made:
            directories.stop()
        api.delete("storageclasses", None, "liqo")
        story.peering.write_virtual_node()
        story.provider.api.patch("namespaces", None, story.peering.away, policy(None))


def _is_kept(volume: dict[str, Any]) -> bool:
    return volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


def claim(name: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"storageClassName": "liqo", "accessModes": ["ReadWriteOnce"], "resources": resources}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "annotations": annotations or {}}, "spec": spec}


def pod_with(name: str, used: str) -> dict[str, Any]:
    pod = busybox(name, SCRIPT, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": used}}])
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return pod


def stateful_set(replicas: int) -> dict[str, Any]:
    """Its pods may run at home and in milan."""
    template = busybox("web", SCRIPT, tolerations=[{"key": TAINT, "operator": "Exists", "effect": "NoExecute"}])
    template["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    labels = {"app": "web"}
    spec = {
        "serviceName": "web",
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim("data")["spec"]}],
    }
    return {"kind": "StatefulSet", "metadata": {"name": "web"}, "spec": spec}


def told(cluster: Cluster, namespace: str, about: str, reason: str) -> str:
    """The message of an Event, once there is one."""

    def found() -> str:
        return next((e["message"] for e in cluster.events(namespace, about) if e["reason"] == reason), "")

    return wait_for(found, LONG, f"{reason} to be told of {about}")


def test_a_stateful_set_keeps_its_data_at_home_and_in_milan(with_volumes: Story) -> None:
    story, api, there = with_volumes, with_volumes.consumer.api, with_volumes.provider.api
    fakes = [node["metadata"]["name"] for node in api.list("nodes", selector="type=kwok")]
    story.consumer.cordon(story.peering.node)
    api.create("statefulsets", story.namespace, stateful_set(1))
    story.wait_ready("web-0", LONG)
    story.consumer.cordon(story.peering.node, False)
    for fake in fakes:
        story.consumer.cordon(fake)
    api.patch("statefulsets", story.namespace, "web", {"spec": {"replicas": 3}})
    try:
        for name in ("web-1", "web-2"):
            story.wait_ready(name, LONG)
    finally:
        for fake in fakes:
            story.consumer.cordon(fake, False)

    def nodes() -> list[str]:
        return [story.local(f"web-{number}")["spec"]["nodeName"] for number in range(3)]

    before, milan = nodes(), story.peering.node
    assert before[0] in fakes and before[1:] == [milan, milan]
    found = {one["metadata"]["name"]: one for one in there.list(CLAIMS, story.twin)}
    assert set(found) == {"data-web-1", "data-web-2"}
    assert {one["spec"]["storageClassName"] for one in found.values()} == {WITH_POD}, "the default of those offered"
    real = [one for one in api.list(CLAIMS, "liqo-storage") if one["metadata"]["uid"]]
    assert [one["spec"]["storageClassName"] for one in real] == [WITH_POD]
    claims = {one["metadata"]["name"]: one["metadata"]["uid"] for one in api.list(CLAIMS, story.namespace)}

    # Each deleted pod comes back where its data is, and finds it.
    pods = {f"web-{number}": story.local(f"web-{number}")["metadata"]["uid"] for number in range(3)}
    api.delete_all("pods", story.namespace)
    for name, uid in pods.items():
        anew = lambda pod, uid=uid: pod["metadata"]["uid"] != uid  # noqa: E731
        story.wait_local(name, anew, "to be another one", LONG)
        story.wait_ready(name, LONG)
    assert nodes()[0] in fakes and nodes()[1:] == [milan, milan]
    assert claims == {one["metadata"]["name"]: one["metadata"]["uid"] for one in api.list(CLAIMS, story.namespace)}
    log = lambda: story.consumer.kubectl("-n", story.namespace, "logs", "web-1", check=False)  # noqa: E731
    wait_for(lambda: log().split() == ["began", "began"], LONG, "web-1 to find what it has written before")
    for event in story.consumer.events(story.namespace, "web-1"):
        assert event["reason"] != "OffloadingNotReflected", event["message"]

    # A volume grows with its claim, in either cluster.
    larger = {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
    for name in ("data-web-0", "data-web-1"):
        api.patch(CLAIMS, story.namespace, name, larger)
        grown = lambda name=name: api.get(CLAIMS, story.namespace, name)["status"]["capacity"]["storage"] == "3Gi"  # noqa: E731
        wait_for(grown, LONG, f"{name} to have grown")

    # The data of a deleted claim goes, unless its volume is to be retained.
    kept = api.get(CLAIMS, story.namespace, "data-web-2")["spec"]["volumeName"]
    api.patch(VOLUMES, None, kept, {"spec": {"persistentVolumeReclaimPolicy": "Retain"}})
    api.delete("statefulsets", story.namespace, "web")
    wait_for(lambda: not story.consumer.pods(story.namespace), LONG, "the pods to be gone")
    api.delete_all(CLAIMS, story.namespace)
    left = lambda: [one["metadata"]["name"] for one in there.list(CLAIMS, story.twin)]  # noqa: E731
    wait_for(lambda: left() == ["data-web-2"], LONG, "the claim in milan to be gone, and the other one to be kept")
    wait_for(lambda: not api.list(CLAIMS, "liqo-storage"), LONG, "the real claim at home to be gone")
    volumes = lambda: [one["metadata"]["name"] for one in api.list(VOLUMES)]  # noqa: E731
    wait_for(lambda: volumes() == [kept], LONG, "only the retained volume to be left")
    api.delete(VOLUMES, None, kept)
    _an_ephemeral_volume_lives_as_long_as_its_pod(story)


def _an_ephemeral_volume_lives_as_long_as_its_pod(story: Story) -> None:
    there = story.provider.api
    pod = pod_with("brief", "none")
    template = {"spec": claim("none")["spec"]}
    pod["spec"]["volumes"] = [{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}]
    story.create(pod)
    story.wait_ready("brief", LONG)
    names = [volume.get("persistentVolumeClaim") for volume in story.remote("brief")["spec"]["volumes"]]
    assert {"claimName": "brief-data"} in names, names
    assert there.find(CLAIMS, story.twin, "brief-data"), "the claim of the twin is that of home's claim"
    story.consumer.api.delete("pods", story.namespace, "brief")
    wait_for(lambda: not there.find(CLAIMS, story.twin, "brief-data"), LONG, "the claim in milan to go with the pod")


def test_a_class_that_is_bound_at_once_gives_its_size_and_one_that_is_not_offered_is_told(with_volumes: Story) -> None:
    story, api = with_volumes, with_volumes.consumer.api
    api.create(CLAIMS, story.namespace, claim("large", {REMOTE_CLASS: AT_ONCE}))
    api.create(CLAIMS, story.namespace, claim("gold", {REMOTE_CLASS: "gold"}))
    story.create(pod_with("one", "large"))
    story.create(pod_with("two", "gold"))
    story.wait_ready("one", LONG)
    assert api.get(CLAIMS, story.namespace, "large")["status"]["capacity"] == {"storage": "2Gi"}, "what milan gives"
    for about in ("gold", "two"):
        message = told(story.consumer, story.namespace, about, "ProvisioningFailed")
        assert f'does not offer the class "gold" that the annotation {REMOTE_CLASS}' in message
        assert f"it offers {AT_ONCE}, {WITH_POD}" in message
    stays(lambda: story.local("two")["status"]["phase"] == "Pending", 1, "the pod waits")
    _a_claim_is_made_once_its_name_is_free(story)
    # Unpeering would remove the twin with the data.
    liqoctl = Liqoctl(story.consumer)
    end = ("unpeer", "--remote-kubeconfig", story.provider.kubeconfig)
    for words in (("unoffload", "namespace", story.namespace), end):
        done = liqoctl.attempt(*words, "--skip-confirm")
        assert done.code != 0 and f"{story.namespace}/large in milan" in done.err, done
    done = liqoctl.attempt("unoffload", "namespace", story.namespace, "--delete-volumes", "--dry-run")
    assert done.code == 0 and f"would delete PersistentVolumeClaim {story.namespace}/large" in done.err, done
    _what_ends_the_offloading_leaves_data(story, liqoctl)
    # A claim that has no volume yet leaves nothing behind.
    api.delete("pods", story.namespace, "two")
    api.delete(CLAIMS, story.namespace, "gold")
    wait_for(lambda: api.find(CLAIMS, story.namespace, "gold") is None, LONG, "the claim to be gone")
    assert not story.provider.api.find(CLAIMS, story.twin, "gold")

    # With --delete-volumes the claims and their data go once no pod uses them.
    liqoctl("unoffload", "namespace", story.namespace, "--delete-volumes", "--skip-confirm", "--wait=false")
    api.delete("pods", story.namespace, "one")
    wait_for(lambda: not api.list(CLAIMS, story.namespace), LONG, "the claim to be gone")
    wait_for(lambda: not api.list(VOLUMES), LONG, "its volume to be gone")
    wait_for(lambda: not story.provider.api.list(CLAIMS, story.twin), LONG, "the claim in milan to be gone")
    wait_for(lambda: not _is_asked_for(story), LONG, "the twin to be asked for no more")


def _a_claim_is_made_once_its_name_is_free(story: Story) -> None:
    api, there, namespace = story.consumer.api, story.provider.api, story.namespace
    theirs = claim("busy")
    there.create(CLAIMS, story.twin, {**theirs, "spec": {**theirs["spec"], "storageClassName": AT_ONCE}})
    api.create(CLAIMS, namespace, claim("busy", {REMOTE_CLASS: AT_ONCE}))
    story.create(pod_with("three", "busy"))
    taken = f"the claim {story.twin}/busy in cluster milan belongs to something else: remove it, or take another name"
    assert told(story.consumer, namespace, "busy", "ProvisioningFailed") == taken
    there.delete(CLAIMS, story.twin, "busy")
    ours = lambda: "offloading.liqo.io/origin" in there.get(CLAIMS, story.twin, "busy")["metadata"]["labels"]  # noqa: E731
    wait_for(ours, 30, "the claim to be made once its name is free")
    story.wait_ready("three", LONG)
    api.delete("pods", namespace, "three")
    api.delete(CLAIMS, namespace, "busy")
    wait_for(lambda: not there.find(CLAIMS, story.twin, "busy"), LONG, "the claim to be gone")


def _is_asked_for(story: Story) -> bool:
    wish = story.consumer.api.get("namespacemaps", story.peering.home, story.provider.name)["spec"]
    return (wish.get("desiredMapping") or {}).get(story.namespace) == story.twin


def _what_ends_the_offloading_leaves_data(story: Story, liqoctl: Liqoctl) -> None:
    """The claim `large` has data in milan; pod `one` finds it again when the namespace is offloaded anew."""
    api, namespace = story.consumer.api, story.namespace
    volume = api.get(CLAIMS, namespace, "large")["spec"]["volumeName"]
    is_asked_for = lambda: _is_asked_for(story)  # noqa: E731
    name = ("--namespace-mapping-strategy", "SelectedName", "--remote-namespace-name", story.twin)
    done = liqoctl.attempt("offload", "namespace", namespace, *name, "--selector", "region=mars")
    assert done.code == 0 and f"{namespace}/large in milan" in done.err, done
    stays(is_asked_for, 1, "the twin is asked for, though it is not selected")

    api.delete("namespaceoffloadings", namespace, "offloading")
    gone = lambda: api.find("namespaceoffloadings", namespace, "offloading") is None  # noqa: E731
    wait_for(gone, LONG, "the NamespaceOffloading to be gone")
    assert f"{namespace}/large in milan" in told(story.consumer, "default", volume, "TwinHoldsData")
    stays(is_asked_for, 1, "the twin is asked for, though the namespace is not offloaded")

    assert story.peering.offload(namespace) == story.twin
    api.delete("pods", namespace, "one")
    wait_for(lambda: story.consumer.pod(namespace, "one") is None, LONG, "the pod to be gone")
    story.create(pod_with("one", "large"))
    story.wait_ready("one", LONG)
    log = lambda: story.consumer.kubectl("-n", namespace, "logs", "one", check=False)  # noqa: E731
    wait_for(lambda: log().split() == ["began", "began"], LONG, "the pod to find what was written before")
