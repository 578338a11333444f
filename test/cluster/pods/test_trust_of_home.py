"""Pods in milan mount trust bundles of home as they would at home."""

from __future__ import annotations

from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.pki import Authority
from harness.story import Story
from harness.wait import wait_for

SIGNER = "example.com/mesh"
REASON = "NoTrustBundleOfHome"


def bundle(name: str, pem: str, **labels: str) -> dict[str, Any]:
    """A bundle; one with labels is of the signer, whose bundles have its name as a prefix."""
    spec = {"trustBundle": pem, **({"signerName": SIGNER} if labels else {})}
    return {"kind": "ClusterTrustBundle", "metadata": {"name": name, "labels": labels}, "spec": spec}


def trusting(name: str, *sources: dict[str, Any]) -> dict[str, Any]:
    """A pod that mounts these, each as a file of its number."""
    projected = [{"clusterTrustBundle": {**source, "path": str(number)}} for number, source in enumerate(sources)]
    pod = busybox(name, volumes=[{"name": "trust", "projected": {"sources": projected}}])
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "trust", "mountPath": "/trust"}]
    return pod


def copies(story: Story) -> list[dict[str, Any]]:
    """The ConfigMaps in the twin with trust bundles."""
    label = "offloading.liqo.io/trust-of-home"
    return [one for one in story.provider.api.list("configmaps", story.twin) if label in one["metadata"].get("labels", {})]


def test_pods_trust_what_home_trusts(story: Story, tmp_path: Any) -> None:
    served = story.consumer.api.raw("GET", "/apis/certificates.k8s.io/v1/clustertrustbundles?limit=1")[0] == 200
    if not served:
        pytest.skip("Kubernetes before 1.37 serves no ClusterTrustBundles by default")
    create = lambda one: story.consumer.api.create("clustertrustbundles", None, one)  # noqa: E731
    first, second, third = (Authority(tmp_path / name, name).pair.certificate.read_text() for name in ("a", "b", "c"))
    prefix = SIGNER.replace("/", ":")
    made = ["root-ca", f"{prefix}:one", f"{prefix}:two", "late-ca"]
    # The provider trusts somebody else by that name.
    theirs = story.provider.api.create("clustertrustbundles", None, bundle("root-ca", third))
    try:
        create(bundle("root-ca", first))
        create(bundle(made[1], first, alive="true"))
        create(bundle(made[2], second + first, alive="true"))
        of_signer = {"signerName": SIGNER, "labelSelector": {"matchLabels": {"alive": "true"}}}
        absent = {"name": "nobody", "optional": True}
        for name in ("one", "two"):
            story.create(trusting(name, {"name": "root-ca"}, of_signer, absent))
        story.create(trusting("late", {"name": "late-ca"}))
        in_milan = lambda pod, command: story.provider.kubectl(  # noqa: E731
            "-n", story.twin, "exec", pod, "--", "sh", "-c", command
        )
        for name in ("one", "two"):
            story.wait_ready(name)
            assert in_milan(name, "cat /trust/0").strip() == first.strip()
            both = in_milan(name, "cat /trust/1")
            assert both.count("BEGIN CERTIFICATE") == 2 and first.strip() in both and second.strip() in both
            assert in_milan(name, "cat /trust/2") == ""
        assert len(copies(story)) == 2, "pods that ask for the same share one"

        told = lambda: [  # noqa: E731
            event["message"] for event in story.consumer.events(story.namespace, "late") if event["reason"] == REASON
        ]
        (words,) = wait_for(told, 30, "the missing bundle to be reported")
        assert 'ClusterTrustBundle "late-ca"' in words
        assert not any(event["reason"] == REASON for event in story.consumer.events(story.namespace, "one"))
        create(bundle("late-ca", second))
        story.wait_ready("late", 180)
        assert in_milan("late", "cat /trust/0").strip() == second.strip()

        # Files follow within the time of a kubelet; the ConfigMap does at once.
        change = {"spec": {"trustBundle": second}}
        story.consumer.api.patch("clustertrustbundles", None, "root-ca", change)
        followed = lambda: any(  # noqa: E731
            second.strip() in text and first.strip() not in text for one in copies(story) for text in one["data"].values()
        )
        wait_for(followed, 20, "the ConfigMap to follow home")
        wait_for(lambda: in_milan("one", "cat /trust/0").strip() == second.strip(), 180, "the file to follow home")
    finally:
        story.consumer.api.delete_all("pods", story.namespace)
        story.wait_nothing_left()
        for name in made:
            if story.consumer.api.find("clustertrustbundles", None, name):
                story.consumer.api.delete("clustertrustbundles", None, name)
        story.provider.api.delete("clustertrustbundles", None, theirs["metadata"]["name"])
