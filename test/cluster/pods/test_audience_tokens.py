"""Tokens of home that offloaded pods ask for by name, those that somebody made by hand, and the CA with them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster import rights
from harness.cluster.cluster import PORT, busybox
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.story import Story
from harness.wait import wait_for

TOKEN_TYPE = "kubernetes.io/service-account-token"
RIGHT = "liqo-liqod-tokens"
SUPPORT = "liqo.io/api-server-support"


def claims_of(token: str) -> dict[str, Any]:
    """What a token says of itself."""
    claims = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))


def projecting(*audiences: str) -> list[dict[str, Any]]:
    """A volume with a token for each audience, named by its first letters; "" is the API server's, in `token`."""
    sources = []
    for audience in audiences:
        token: dict[str, Any] = {"path": audience[:20] or "token", "expirationSeconds": 600}
        if audience:
            token["audience"] = audience
        sources.append({"serviceAccountToken": token})
    return [{"name": "tokens", "projected": {"sources": sources}}]


def reading(name: str, volumes: list[dict[str, Any]], mount: str, **spec: Any) -> dict[str, Any]:
    """A pod that mounts the first of these volumes there."""
    pod = busybox(name, volumes=volumes, automountServiceAccountToken=False, **spec)
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": volumes[0]["name"], "mountPath": mount}]
    return pod


def in_milan(story: Story, pod: str, command: str) -> str:
    return story.provider.kubectl("-n", story.twin, "exec", pod, "--", "sh", "-c", command)


def messages(story: Story, about: str, reason: str) -> list[str]:
    events = story.consumer.events(story.namespace, about)
    return [event["message"] for event in events if event["reason"] == reason]


def account(story: Story, name: str) -> None:
    about = {"kind": "ServiceAccount", "metadata": {"name": name}}
    story.consumer.api.create("serviceaccounts", story.namespace, about)


def made_by_hand(story: Story, name: str) -> None:
    """A Secret with a token of account `executor`, which Kubernetes fills in."""
    about = {"name": name, "annotations": {"kubernetes.io/service-account.name": "executor"}}
    story.consumer.api.create("secrets", story.namespace, {"kind": "Secret", "type": TOKEN_TYPE, "metadata": about})
    filled = lambda: story.consumer.api.get("secrets", story.namespace, name).get("data", {}).get("token")  # noqa: E731
    wait_for(filled, 30, "the token of the Secret")


@pytest.fixture
def with_address(story: Story) -> Iterator[Story]:
    """Runs another daemon at home for as long as the story lasts: one that knows the address of its API server."""
    assert story.home.stop() == 0
    flags = ("--home-api-server-host", story.consumer.address, "--home-api-server-port", str(PORT))
    daemon = Liqod(story.consumer, story.home.command[2], story.home.listen_port, flags, "liqod-address").start()
    usual, story.home = story.home, daemon
    try:
        yield story
        story.consumer.api.delete_all("pods", story.namespace)
        story.wait_nothing_left()
    finally:
        story.home = usual
        daemon.stop()
        usual.start()


def test_a_token_for_vault_comes_without_an_address_of_the_api_server(story: Story) -> None:
    """Row 07: for an account of its own and for `default`, bound to the pod at home, and nothing for the API server."""
    account(story, "app")
    long_audience = "a" * 1000
    story.create(reading("own", projecting("vault", long_audience), "/vault", serviceAccountName="app"))
    story.create(reading("plain", projecting("vault", ""), "/vault"))
    story.create(reading("greedy", projecting(*(f"a{number}" for number in range(300))), "/vault"))
    for name, user in (("own", "app"), ("plain", "default")):
        pod = story.wait_ready(name)
        claims = claims_of(in_milan(story, name, "cat /vault/vault"))
        assert claims["aud"] == ["vault"]
        assert claims["sub"] == f"system:serviceaccount:{story.namespace}:{user}"
        assert claims["kubernetes.io"]["pod"]["uid"] == pod["metadata"]["uid"]
    conditions = {condition["type"] for condition in story.local("own")["status"]["conditions"]}
    assert "offloading.liqo.io/HomeAPIServer" not in conditions, "it does not need that"
    assert claims_of(in_milan(story, "own", "cat /vault/aaa*"))["aud"] == [long_audience]
    assert in_milan(story, "plain", "cat /vault/token || true") == "", "a token for the API server comes as that says"
    refused = lambda: messages(story, "greedy", "FailedReflection")  # noqa: E731
    (told,) = wait_for(refused, 30, "the pod with 300 tokens to be refused")
    assert "it mounts 300 tokens of service accounts, and at most 100 of one pod are brought" in told
    story.consumer.api.delete_all("pods", story.namespace)
    story.wait_nothing_left()


def test_liqod_may_make_tokens_in_offloaded_namespaces_only(story: Story) -> None:
    rule = {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}
    bound = lambda: story.consumer.api.find("rolebindings", story.namespace, RIGHT)  # noqa: E731
    wait_for(bound, 30, "liqod to have the right")
    wait_for(lambda: rights.may(story.consumer, chart.SUBJECT, story.namespace, rule), 30, "the right to be known")
    for namespace in (None, "default", "kube-system"):
        assert not rights.may(story.consumer, chart.SUBJECT, namespace, rule), namespace

    # An installation that gave it for the whole cluster keeps nothing of that once the binding is gone.
    story.home.stop()
    story.consumer.api.delete("rolebindings", story.namespace, RIGHT)
    rights.bind(story.consumer, None, RIGHT, chart.SUBJECT, RIGHT)
    story.consumer.api.delete("clusterrolebindings", None, RIGHT)
    story.home.start()
    wait_for(bound, 60, "an upgraded liqod to have the right again")

    never = ("--apiserver-support=never", "--audience-tokens=never")
    story.home.stop()
    daemon = Liqod(story.consumer, story.home.command[2], story.home.listen_port, never, "liqod-never").start()
    try:
        wait_for(lambda: bound() is None, 60, "liqod to give the right back")
        story.create(reading("plain", projecting("vault"), "/vault"))
        story.wait_ready("plain")
        assert in_milan(story, "plain", "ls /vault") == ""
        (told,) = wait_for(lambda: messages(story, "plain", "OffloadingFieldsDropped"), 30, "it to be reported")
        assert "serviceAccountToken (audience vault)" in told
        story.consumer.api.delete_all("pods", story.namespace)
        story.wait_nothing_left()
    finally:
        daemon.stop()
        story.home.start()
    binding = wait_for(bound, 60, "the right to come back")
    (owner,) = binding["metadata"]["ownerReferences"]
    assert owner["kind"] == "NamespaceOffloading", "it goes with that"


def test_a_token_made_by_hand_is_copied_as_annotated_and_goes_with_its_pod(story: Story) -> None:
    """Row 08: the pod is refused at once; once the Secret is annotated it runs, and the copy goes with it."""
    account(story, "executor")
    name = "executor.service-account-token"
    made_by_hand(story, name)
    volumes = [{"name": "token", "secret": {"secretName": name}}]
    story.create(reading("step", volumes, "/token"))
    (told,) = wait_for(lambda: messages(story, "step", "FailedReflection"), 15, "the pod to be refused")
    assert f"Secret {name} holds a token of a service account of this cluster" in told
    assert "liqo.io/allow-reflection" in told and "serviceAccountToken" in told
    assert story.shadow("step") is None

    allowed = {"metadata": {"annotations": {"liqo.io/allow-reflection": "true"}}}
    story.consumer.api.patch("secrets", story.namespace, name, allowed)
    story.wait_ready("step", 120)
    assert in_milan(story, "step", "test -s /token/token && test -s /token/ca.crt && echo has it").strip() == "has it"
    copy = story.provider.api.get("secrets", story.twin, name)
    assert copy["type"] == "Opaque"
    (told,) = wait_for(lambda: messages(story, name, "TokenReflected"), 30, "it to be reported that it is copied")
    assert "service account executor" in told

    story.consumer.api.delete_all("pods", story.namespace)
    story.wait_nothing_left()
    gone = lambda: story.provider.api.find("secrets", story.twin, name) is None  # noqa: E731
    wait_for(gone, 30, "the token to go with its last pod")


def test_the_account_default_with_rights_and_the_ca_of_home(with_address: Story) -> None:
    """Row 19: that `default` has rights and its pods no token is reported once; the CA is home's where the token is."""
    story = with_address
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]
    story.consumer.api.create("roles", story.namespace, {"kind": "Role", "metadata": {"name": "flows"}, "rules": rules})
    default = rights.service_account(story.namespace, "default")
    rights.bind(story.consumer, story.namespace, "flows", default, "flows", kind="Role")
    for name in ("client", "second"):
        story.create(busybox(name))
        story.wait_ready(name)
    both = ("client", "second")
    told_of = lambda: [words for name in both for words in messages(story, name, "NoTokenOfHome")]  # noqa: E731
    (told,) = wait_for(told_of, 30, "the missing token to be reported")
    assert "RoleBinding flows" in told and f"{SUPPORT}=home" in told

    volumes = [{"name": "ca", "configMap": {"name": "kube-root-ca.crt"}}]
    authorities = {}
    for name, notes in (("foreign", {}), ("own-ca", {SUPPORT: "home"})):
        pod = reading(name, volumes, "/ca")
        pod["metadata"]["annotations"] = notes
        story.create(pod)
        story.wait_ready(name)
        authorities[name] = in_milan(story, name, "cat /ca/ca.crt").strip()
    for name, cluster, space in (("own-ca", story.consumer, story.namespace), ("foreign", story.provider, story.twin)):
        root_ca = cluster.api.get("configmaps", space, "kube-root-ca.crt")["data"]["ca.crt"]
        assert authorities[name] == root_ca.strip(), name
