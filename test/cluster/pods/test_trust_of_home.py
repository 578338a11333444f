"""Pods in milan mount trust bundles of home, and certificates of its signers, as they would at home."""

from __future__ import annotations

import base64
import json
import subprocess
from datetime import datetime, timedelta
from typing import Any

import pytest

from harness.cluster.api import MERGE, path
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
    return story.provider.api.list("configmaps", story.twin, "offloading.liqo.io/trust-of-home")


def test_pods_trust_what_home_trusts(story: Story, tmp_path: Any) -> None:
    serves = lambda cluster: cluster.api.raw("GET", f"{path('clustertrustbundles')}?limit=1")[0] == 200  # noqa: E731
    if not serves(story.consumer):
        pytest.skip("Kubernetes before 1.37 serves no ClusterTrustBundles by default")
    create = lambda one: story.consumer.api.create("clustertrustbundles", None, one)  # noqa: E731
    first, second, third = (Authority(tmp_path / name, name).pair.certificate.read_text() for name in ("a", "b", "c"))
    prefix = SIGNER.replace("/", ":")
    made = ["root-ca", f"{prefix}:one", f"{prefix}:two", "late-ca"]
    # The provider trusts somebody else by that name.
    theirs = serves(story.provider)
    if theirs:
        story.provider.api.create("clustertrustbundles", None, bundle("root-ca", third))
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
        texts = lambda: [text for one in copies(story) for text in one.get("data", {}).values()]  # noqa: E731
        followed = lambda: sum(text.strip() == second.strip() for text in texts()) == 2  # noqa: E731
        wait_for(followed, 20, "the ConfigMap to follow home")
        wait_for(lambda: in_milan("one", "cat /trust/0").strip() == second.strip(), 180, "the file to follow home")
    finally:
        story.consumer.api.delete_all("pods", story.namespace)
        story.wait_nothing_left()
        for name in made:
            if story.consumer.api.find("clustertrustbundles", None, name):
                story.consumer.api.delete("clustertrustbundles", None, name)
        if theirs:
            story.provider.api.delete("clustertrustbundles", None, "root-ca")


def sign(authority: Authority, request: dict[str, Any], directory: Any) -> dict[str, Any]:
    """The status by which a signer answers a PodCertificateRequest: a certificate for its key, for a day."""
    asked, made, names = (directory / f"{request['metadata']['name']}.{end}" for end in ("der", "pem", "cnf"))
    asked.write_bytes(base64.b64decode(request["spec"]["stubPKCS10Request"]))
    names.write_text(f"subjectAltName = URI:spiffe://rome/{request['spec']['serviceAccountName']}\n")
    command = [
        "openssl", "x509", "-req", "-inform", "DER", "-in", asked, "-CA", authority.pair.certificate,
        "-CAkey", authority.pair.key, "-days", "1", "-extfile", names, "-out", made,
    ]  # fmt: skip
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown = ["openssl", "x509", "-in", str(made), "-noout", "-startdate", "-enddate"]
    lines = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.splitlines()
    begin, end = (datetime.strptime(line.split("=", 1)[1], "%b %d %H:%M:%S %Y %Z") for line in lines)
    condition = {
        "type": "Issued",
        "status": "True",
        "reason": "Signed",
        "message": "by the story",
        "lastTransitionTime": f"{begin:%Y-%m-%dT%H:%M:%SZ}",
    }
    return {
        "conditions": [condition],
        "certificateChain": made.read_text(),
        "notBefore": f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        "beginRefreshAt": f"{end - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}",
        "notAfter": f"{end:%Y-%m-%dT%H:%M:%SZ}",
    }


def certified(name: str) -> dict[str, Any]:
    """A pod that mounts a certificate, key and chain in one file."""
    source = {"podCertificate": {"signerName": SIGNER, "keyType": "ECDSAP256", "credentialBundlePath": "all.pem"}}
    pod = busybox(name, volumes=[{"name": "tls", "projected": {"sources": [source]}}], serviceAccountName="robot")
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "tls", "mountPath": "/tls"}]
    return pod


def test_a_signer_of_home_makes_the_certificate_of_a_pod_in_milan(story: Story, tmp_path: Any) -> None:
    api = story.consumer.api
    place = path("podcertificaterequests", story.namespace)
    if api.raw("GET", f"{place}?limit=1")[0] != 200:
        pytest.skip("Kubernetes before 1.37 takes no PodCertificateRequests by default")
    authority = Authority(tmp_path / "signer", "signer")
    api.create("serviceaccounts", story.namespace, {"kind": "ServiceAccount", "metadata": {"name": "robot"}})
    story.create(certified("web"))
    requests = lambda: api.list("podcertificaterequests", story.namespace)  # noqa: E731
    (request,) = wait_for(requests, 30, "liqod to ask for the certificate")
    spec, pod = request["spec"], story.local("web")
    assert spec["podUID"] == pod["metadata"]["uid"] and spec["nodeName"] == pod["spec"]["nodeName"]
    assert spec["nodeUID"] == api.get("nodes", None, spec["nodeName"])["metadata"]["uid"]
    status = sign(authority, request, tmp_path)
    answer = json.dumps({"status": status}).encode()
    code, words = api.raw("PATCH", f"{place}/{request['metadata']['name']}/status", answer, MERGE)
    assert code == 200, words
    story.wait_ready("web", 180)
    read = story.provider.kubectl("-n", story.twin, "exec", "web", "--", "cat", "/tls/all.pem")
    assert read.startswith("-----BEGIN PRIVATE KEY-----")
    assert read.strip().endswith(status["certificateChain"].strip())
    assert len(requests()) == 1

    # The next daemon finds it, and asks for no other.
    story.home.stop()
    story.home.start()
    secret = lambda: story.provider.api.find("secrets", story.twin, "web-certificates")  # noqa: E731
    version = secret()["metadata"]["resourceVersion"]
    story.create(busybox("other"))
    story.wait_ready("other")
    assert len(requests()) == 1 and secret()["metadata"]["resourceVersion"] == version
    api.delete_all("pods", story.namespace)
    story.wait_nothing_left()
    wait_for(lambda: secret() is None, 60, "the Secret to go with the pod")
    wait_for(lambda: requests() == [], 60, "the request to go with the pod")
