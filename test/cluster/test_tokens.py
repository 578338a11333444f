"""With --enable-apiserver-support, offloaded pods have what it takes to talk to the API server at home."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from harness import chart, rights
from harness.cluster import PORT, busybox
from harness.liqod import Liqod
from harness.story import Story
from harness.wait import stays, wait_for

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
# The busybox has no TLS that an API server accepts: it says where it would ask and whether somebody listens there, and
# the story asks with what it finds in the pod.
TRY = "nc -w 5 $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT </dev/null && echo $KUBERNETES_SERVICE_HOST answers"
EXPIRATION = "offloading.liqo.io/service-account-expiration"


@pytest.fixture
def with_tokens(story: Story) -> Iterator[Story]:
    """The daemon at home is another one for as long as the story lasts: one that brings tokens."""
    assert story.home.stop() == 0
    chart.allow_tokens(story.consumer)
    flags = (
        "--enable-apiserver-support",
        "--home-api-server-host", story.consumer.address,
        "--home-api-server-port", str(PORT),
        "--node-extra-labels", "tier=gold,example.com/zone=south",
        "--node-extra-annotations", "example.com/owner=team=a",
    )  # fmt: skip
    daemon = Liqod(story.consumer, story.home.command[2], story.home.listen_port, flags, "liqod-tokens").start()
    usual, story.home = story.home, daemon
    try:
        yield story
        story.consumer.api.delete_all("pods", story.namespace)
        story.wait_nothing_left()
        secret = lambda: story.provider.api.find("secrets", story.twin, "one-token")  # noqa: E731
        wait_for(lambda: secret() is None, 60, "the tokens to go with their pod")
    finally:
        story.home = usual
        daemon.stop()
        usual.start()


def allow_reading_pods(story: Story) -> None:
    """What the pod's service account may do at home: look at pods of its namespace, and nothing else."""
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    story.consumer.api.create("roles", story.namespace, {"kind": "Role", "metadata": {"name": "look"}, "rules": rules})
    default = rights.service_account(story.namespace, "default")
    rights.bind(story.consumer, story.namespace, "look", default, "look", "Role")


def token_of(story: Story) -> tuple[str, dict]:
    """The one token in the Secret at the provider, and what it says of itself."""
    secret = story.provider.api.get("secrets", story.twin, "one-token")
    (encoded,) = secret["data"].values()
    token = base64.b64decode(encoded).decode()
    claims = token.split(".")[1]
    return token, json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))


def test_a_pod_in_milan_has_what_it_needs_to_ask_the_api_server_of_rome(with_tokens: Story) -> None:
    story = with_tokens
    allow_reading_pods(story)
    local = story.create(busybox("one"))
    story.wait_ready("one")

    token, claims = token_of(story)
    assert claims["sub"] == f"system:serviceaccount:{story.namespace}:default"
    assert claims["kubernetes.io"]["pod"] == {"name": "one", "uid": local["metadata"]["uid"]}, "bound to the one at home"

    def in_milan(*command: str) -> str:
        return story.provider.kubectl("-n", story.twin, "exec", "one", "--", *command)

    def seen_with(token: str) -> dict:
        return story.consumer.as_user(token).get("pods", story.namespace, "one")

    answers = f"{story.consumer.address} answers"
    wait_for(lambda: in_milan("sh", "-c", TRY).strip() == answers, 60, "the API server of rome to answer in milan")
    assert in_milan("cat", TOKEN) == token
    assert seen_with(in_milan("cat", TOKEN))["metadata"]["uid"] == local["metadata"]["uid"]

    # Long before it would expire, the token is a new one; here the Secret says that this is so soon.
    past = {"metadata": {"annotations": {EXPIRATION: "2020-01-01T00:00:00Z"}}}
    story.home.stop()
    story.provider.api.patch("secrets", story.twin, "one-token", past)
    story.home.start()
    wait_for(lambda: token_of(story)[0] != token, 60, "the token to be renewed")
    renewed = token_of(story)[0]
    wait_for(lambda: in_milan("cat", TOKEN) == renewed, 120, "the kubelet to bring the new token into the pod")
    assert seen_with(renewed)["metadata"]["uid"] == local["metadata"]["uid"]
    stays(lambda: token_of(story)[0] == renewed, 3, "the renewed token")
    assert story.times_run("one") == 1


def test_a_token_that_is_refused_is_told_with_what_to_do(with_tokens: Story) -> None:
    """Here the account is gone before the pod is scheduled; it comes back, and the pod runs."""
    story = with_tokens
    account = {"kind": "ServiceAccount", "metadata": {"name": "short-lived"}}
    story.consumer.api.create("serviceaccounts", story.namespace, account)
    gated = busybox("one", serviceAccountName="short-lived", schedulingGates=[{"name": "example.com/later"}])
    story.create(gated)
    story.consumer.api.delete("serviceaccounts", story.namespace, "short-lived")
    story.consumer.api.patch("pods", story.namespace, "one", {"spec": {"schedulingGates": None}})
    words = "There is no service account short-lived: create it, so that the pod can get its token for the API server"
    wait_for(
        lambda: any(words in event["message"] for event in story.consumer.api.list("events", story.namespace)),
        60,
        "the Event",
    )
    assert story.provider.pod(story.twin, "one") is None, "without its token it is not started"
    story.consumer.api.create("serviceaccounts", story.namespace, account)
    story.wait_ready("one", 90)


def test_the_operators_labels_and_annotations_are_on_the_virtual_node_while_the_flags_are(with_tokens: Story) -> None:
    story = with_tokens

    def metadata() -> dict:
        return (story.peering.node_object() or {})["metadata"]

    wait_for(lambda: metadata()["labels"].get("tier") == "gold", 60, "the label of the operator")
    wait_for(lambda: metadata()["labels"]["example.com/zone"] == "south", 60, "the other label")
    wait_for(lambda: metadata()["annotations"]["example.com/owner"] == "team=a", 60, "the annotation of the operator")
    assert metadata()["labels"]["liqo.io/type"] == "virtual-node"
    story.home.stop()
    plain = Liqod(story.consumer, story.home.command[2], story.home.listen_port, name="liqod-plain").start()
    try:
        wait_for(lambda: "tier" not in metadata()["labels"], 60, "the label to be gone")
        gone = lambda: "example.com/owner" not in metadata().get("annotations", {})  # noqa: E731
        wait_for(gone, 60, "the annotation to be gone")
    finally:
        plain.stop()
        story.home.start()
