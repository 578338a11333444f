"""Two clusters authenticate by plain manifests: what the handshake gives a consumer, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster import audit
from harness.cluster.api import MERGE, path
from harness.cluster.cluster import Cluster
from harness.liqo import chart
from harness.liqo.handshake import SOON, Handshake
from harness.wait import patient, stays, wait_for

# rome is the provider, because its certificates last only two minutes: a story of more than 80 s has a renewal.


pytestmark = pytest.mark.refusals("a consumer whose Tenant is gone goes on asking until its credentials go too")


@pytest.fixture
def handshake(daemons, rome: Cluster, milan: Cluster, tmp_path: Path) -> Iterator[Handshake]:
    daemons.of(rome), daemons.of(milan)
    made = Handshake(milan, rome, tmp_path)
    yield made
    made.undo()


def reasons(cluster: Cluster, namespace: str, about: str) -> dict[str, str]:
    """Every message of each reason: Events of earlier stories about the same name are among them, in any order."""
    told: dict[str, str] = {}
    for event in cluster.events(namespace, about):
        told[event["reason"]] = told.get(event["reason"], "") + event["message"] + "\n"
    return told


def writes_of_liqod(cluster: Cluster, since: int) -> list[str]:
    """What liqod has written for the handshake since then, without the requests of its own kubelet API."""
    kinds = {"tenants", "tenants/status", "secrets", "rolebindings", "clusterrolebindings", "certificatesigningrequests"}
    return [
        audit.described(entry)
        for entry in cluster.audit.entries(since)
        if audit.user(entry) == chart.USER and audit.is_write(entry) and audit.resource(entry) in kinds
        if "liqo-kubelet-serving-" not in audit.described(entry)
    ]


def test_manifests_carried_by_hand_give_a_kubeconfig_that_works(handshake: Handshake) -> None:
    began = time.monotonic()
    tenant = handshake.complete()
    took = time.monotonic() - began
    rome, away = handshake.provider, handshake.away

    config = handshake.kubeconfig()
    assert config["clusters"][0]["cluster"]["server"] == rome.server
    assert config["contexts"][0]["context"]["namespace"] == away
    subject = subprocess.run(
        ["openssl", "x509", "-in", handshake.user().certificate, "-noout", "-subject", "-nameopt", "RFC2253"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert subject.stdout.strip() == "subject=CN=milan,O=liqo.io"
    as_milan = rome.as_user(handshake.user())
    wait_for(lambda: as_milan.list("resourceslices", away) == [], SOON, "the API server to know of milan's rights")
    assert not rome.api.list("certificatesigningrequests", selector="liqo.io/remote-tenant-csr=true")

    # The nonce is gone and an operator has cordoned the tenant: applying it again does nothing and undoes nothing.
    rome.api.delete("secrets", away, "liqo-nonce")
    rome.api.patch("tenants", away, "milan", {"spec": {"tenantCondition": "Cordoned"}})
    # This binding is the last write of an admission.
    wide = "liqo.io/remote-cluster-id=milan"
    wait_for(lambda: rome.api.list("clusterrolebindings", selector=wide), SOON, "the rights in the whole cluster")
    since = rome.audit.mark()
    handshake.apply_tenant(tenant)
    stays(lambda: not writes_of_liqod(rome, since), 2, "liqod at rest")
    assert handshake.live_tenant()["spec"]["tenantCondition"] == "Cordoned"
    assert took < patient(20), f"the handshake took {took:.1f} s"


def test_a_renewed_certificate_reaches_the_tenant_and_old_rights_come_back(handshake: Handshake) -> None:
    handshake.complete()
    rome, away = handshake.provider, handshake.away
    first = handshake.live_tenant()["status"]["authParams"]["signedCRT"]
    rome.api.delete("rolebindings", away, "liqo-binding-liqo-remote-controlplane")
    wait_for(
        lambda: rome.api.find("rolebindings", away, "liqo-binding-liqo-remote-controlplane"), SOON, "the binding again"
    )
    # A certificate of two minutes is renewed after two thirds of them.
    wait_for(
        lambda: handshake.live_tenant()["status"]["authParams"]["signedCRT"] != first, 110, "the certificate's renewal"
    )


@pytest.mark.parametrize(
    ("subject", "word"),
    [
        ("/O=liqo.io/O=turin/CN=milan", "more than one organization"),
        ("/O=liqo.io+O=turin/CN=milan", "several values"),
        ("/O=system:masters/CN=milan", "organization"),
        ("/O=liqo.io/CN=turin", "common name"),
        ("/O=liqo.io/OU=extra/CN=milan", "neither organization nor common name"),
    ],
)
def test_a_request_for_more_than_the_consumer_may_be_is_refused(
    handshake: Handshake, subject: str, word: str
) -> None:
    handshake.open_namespaces()
    rome, away = handshake.provider, handshake.away
    since = rome.audit.mark()
    request = handshake.signing_request(subject)
    handshake.apply_tenant(handshake.tenant(handshake.sign(handshake.nonce()), request))
    wait_for(lambda: word in reasons(rome, away, "milan").get("InvalidCSR", ""), SOON, "an Event about the request")
    assert not handshake.live_tenant().get("status", {}).get("authParams")
    assert not [line for line in writes_of_liqod(rome, since) if "certificatesigningrequests" in line]


def test_a_signature_of_another_nonce_is_refused(handshake: Handshake) -> None:
    handshake.open_namespaces()
    handshake.nonce()
    signature = handshake.sign(b"A" * 86 + b"==")
    handshake.apply_tenant(handshake.tenant(signature, handshake.signing_request("/O=liqo.io/CN=milan")))
    rome, away = handshake.provider, handshake.away
    wait_for(
        lambda: "SignatureVerificationFailed" in reasons(rome, away, "milan"), SOON, "an Event about the signature"
    )
    assert not handshake.live_tenant().get("status", {}).get("authParams")


# Requests of the consumer's control plane at the provider: verb, path, body, and the answer's code.
TRIES = [
    ("GET", path("resourceslices", "{away}"), None, 200),
    ("GET", path("renews", "{away}"), None, 200),
    ("GET", path("namespacemaps", "{away}"), None, 200),
    ("GET", path("secrets", "{away}"), None, 403),
    ("GET", path("secrets", "{away}", "liqo-remote-certificate"), None, 403),
    ("GET", path("tenants", "{away}", "milan"), None, 403),
    ("PATCH", path("tenants", "{away}", "milan"), {"spec": {"tenantCondition": "Active"}}, 403),
    ("GET", path("quotas", "{away}"), None, 403),
    ("GET", path("resourceslices", "liqo"), None, 403),
    ("GET", path("resourceslices"), None, 403),
    ("GET", path("namespaces"), None, 403),
    ("GET", path("nodes"), None, 403),
    ("GET", path("pods", "{away}"), None, 403),
    ("PATCH", path("resourceslices", "{away}", "any", "status"), {"status": {}}, 403),
    ("PATCH", path("renews", "{away}", "any", "status"), {"status": {}}, 403),
    ("PATCH", path("namespacemaps", "{away}", "any", "status"), {"status": {}}, 403),
    ("POST", path("rolebindings", "{away}"), {"kind": "RoleBinding"}, 403),
    ("POST", path("secrets", "{away}"), {"kind": "Secret"}, 403),
    ("POST", path("certificatesigningrequests"), {"kind": "CertificateSigningRequest"}, 403),
    ("DELETE", path("resourceslices", "{away}"), None, 403),
]


@pytest.mark.refusals("the consumer tries what it may not do")
def test_the_consumer_may_ask_and_nothing_else(handshake: Handshake) -> None:
    handshake.complete()
    as_milan = handshake.provider.as_user(handshake.user())
    wait_for(lambda: as_milan.list("renews", handshake.away) is not None, SOON, "the API server to know of its rights")
    answered = {}
    for verb, where, body, _ in TRIES:
        kind = MERGE if verb == "PATCH" else "application/json"
        data = None if body is None else json.dumps(body).encode()
        answered[verb, where] = as_milan.raw(verb, where.format(away=handshake.away), data, kind)[0]
    assert answered == {(verb, where): code for verb, where, _, code in TRIES}


def test_a_tenant_namespace_is_deleted_with_credentials_in_it(handshake: Handshake) -> None:
    handshake.complete()
    milan, home = handshake.consumer.api, handshake.home
    name = f"kubeconfig-controlplane-{handshake.provider.name}"
    guard = "crdreplicator.liqo.io/operator"
    wait_for(
        lambda: guard in milan.get("secrets", home, name)["metadata"].get("finalizers", []), SOON, "the guarded Secret"
    )
    held = lambda: milan.get("rolebindings", home, "liqo-liqod-tenant")["metadata"]["finalizers"]  # noqa: E731
    finalizer = "tenantnamespace-controller.liqo.io/finalizer"
    wait_for(lambda: held() == [finalizer], SOON, "the rights to be held")
    # The worst order: the rights go before the objects that need them.
    milan.delete("rolebindings", home, "liqo-liqod-tenant")
    milan.delete("namespaces", None, home)
    wait_for(lambda: milan.find("namespaces", None, home) is None, 90, "the tenant namespace to go")
    handshake.open_namespaces()


def test_unauthenticated_leaves_nothing_at_the_provider(handshake: Handshake) -> None:
    handshake.complete()
    rome, away = handshake.provider, handshake.away
    handshake.undo()
    assert not [
        binding["metadata"]["name"]
        for binding in rome.api.list("clusterrolebindings", selector="liqo.io/remote-cluster-id=milan")
    ]
    wait_for(
        lambda: rome.api.find("secrets", away, "liqo-remote-certificate") is None, SOON, "the certificate to go"
    )
    wait_for(
        lambda: rome.api.find("rolebindings", away, "liqo-binding-liqo-remote-controlplane") is None, SOON, "rights"
    )
