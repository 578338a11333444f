"""Offloaded pods that need the API server at home get what it takes to ask it, if its address is known."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from harness import settings
from harness.cluster import rights
from harness.cluster.cluster import PORT, busybox
from harness.liqo.liqod import Liqod
from harness.story import Story
from harness.wait import stays, wait_for

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
EXPIRATION = "offloading.liqo.io/service-account-expiration"


@pytest.fixture
def with_tokens(story: Story) -> Iterator[Story]:
    """Runs another daemon at home for as long as the story lasts: one that brings tokens."""
    assert story.home.stop() == 0
    flags = (
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
    account = rights.service_account(story.namespace, "robot")
    rights.bind(story.consumer, story.namespace, "look", account, "look", kind="Role")


def robot(story: Story) -> dict:
    """A pod that runs as an account of its own."""
    account = {"kind": "ServiceAccount", "metadata": {"name": "robot"}}
    story.consumer.api.create("serviceaccounts", story.namespace, account)
    return busybox("one", serviceAccountName="robot")


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
    local = story.create(robot(story))
    story.create(busybox("plain"))
    story.wait_ready("one")
    story.wait_ready("plain")

    token, claims = token_of(story)
    assert claims["sub"] == f"system:serviceaccount:{story.namespace}:robot"
    assert claims["kubernetes.io"]["pod"] == {"name": "one", "uid": local["metadata"]["uid"]}, "bound to the one at home"

    def in_milan(*command: str, pod: str = "one", stdin: bytes | None = None) -> str:
        options = ["-i"] if stdin else []
        return story.provider.kubectl("-n", story.twin, "exec", *options, pod, "--", *command, stdin=stdin)

    def seen_with(token: str) -> dict:
        return story.consumer.as_user(token).get("pods", story.namespace, "one")

    # A program in the pod asks the API server over TLS, as any client of Kubernetes does.
    in_milan("sh", "-c", "cat >/tmp/ask && chmod +x /tmp/ask", stdin=settings.tool("kube/ask").read_bytes())
    path = f"/api/v1/namespaces/{story.namespace}/pods/one"

    def answers() -> dict:
        return json.loads(in_milan("/tmp/ask", path))

    answer = wait_for(answers, 60, "the API server of rome to answer in milan")
    assert answer["metadata"]["uid"] == local["metadata"]["uid"]
    assert in_milan("cat", TOKEN) == token
    # With a token for rome the file beside it names the namespace in rome.
    assert in_milan("cat", TOKEN.removesuffix("token") + "namespace") == story.namespace
    # A pod with the default ServiceAccount gets no token.
    assert story.provider.api.find("secrets", story.twin, "plain-token") is None
    assert in_milan("sh", "-c", f"cat {TOKEN} || true", pod="plain") == ""

    # liqod renews the token long before it expires; the Secret is made to say that this time has come.
    past = {"metadata": {"annotations": {EXPIRATION: "2020-01-01T00:00:00Z"}}}
    story.home.stop()
    story.provider.api.patch("secrets", story.twin, "one-token", past)
    story.home.start()
    wait_for(lambda: token_of(story)[0] != token, 60, "the token to be renewed")
    renewed = token_of(story)[0]
    wait_for(lambda: in_milan("cat", TOKEN) == renewed, 120, "the kubelet to bring the new token into the pod")
    assert seen_with(renewed)["metadata"]["uid"] == local["metadata"]["uid"]
    stays(lambda: token_of(story)[0] == renewed, 3, "the renewed token")
    _is_right_whoever_touches_it(story, renewed)
    assert story.times_run("one") == 1


def _is_right_whoever_touches_it(story: Story, token: str) -> None:
    """Asserts that the Secret is right within 30 s, whether somebody in milan changes it, deletes it, or gives its name
    free."""
    there, name = story.provider.api, "one-token"
    foreign = {"kind": "Secret", "metadata": {"name": "two-token"}, "data": {"theirs": "eA=="}}
    there.create("secrets", story.twin, foreign)
    story.create(busybox("two", serviceAccountName="robot"))
    events = lambda: [one["reason"] for one in story.consumer.events(story.namespace, "two")]  # noqa: E731
    wait_for(lambda: "FailedSATokensReflection" in events(), 60, "it to be told that the name is taken")
    before = there.get("secrets", story.twin, name)
    key = next(iter(before["data"]))
    for spoilt in ({"data": {key: "eA=="}}, {"data": None}, {"data": None, "immutable": True}):
        there.patch("secrets", story.twin, name, spoilt)
        right = lambda: token_of(story)[0] == token  # noqa: E731
        wait_for(right, 30, f"the Secret to be right again after {spoilt}")
    uid = there.get("secrets", story.twin, name)["metadata"]["uid"]
    there.delete("secrets", story.twin, name)
    there.delete("secrets", story.twin, "two-token")

    def is_there() -> bool:
        assert token_of(story)[0] == token
        assert there.get("secrets", story.twin, name)["metadata"]["uid"] != uid
        assert "theirs" not in there.get("secrets", story.twin, "two-token")["data"]
        return True

    wait_for(is_there, 30, "both Secrets to be there")


def test_a_pod_that_needs_an_api_server_without_an_address_runs_and_says_so(story: Story) -> None:
    allow_reading_pods(story)
    story.create(robot(story))
    pod = story.wait_ready("one")
    (condition,) = [c for c in pod["status"]["conditions"] if c["type"] == "offloading.liqo.io/HomeAPIServer"]
    assert (condition["status"], condition["reason"]) == ("False", "AddressUnknown")
    assert "--home-api-server-host" in condition["message"]
    assert story.provider.api.find("secrets", story.twin, "one-token") is None, "nobody could use it"

    def told() -> list[str]:
        about = story.consumer.events(story.namespace, "offloading")
        return [event["message"] for event in about if event["reason"] == "NoTokenOfHome"]

    (message,) = wait_for(told, 60, "the namespace to be told that an account with rights gets no token")
    assert "service account robot has rights" in message and "apiServer.hostForPods" in message


def test_a_token_that_is_refused_is_told_with_what_to_do(with_tokens: Story) -> None:
    """Here the account is gone before the pod is scheduled; it comes back, and the pod runs."""
    story = with_tokens
    account = {"kind": "ServiceAccount", "metadata": {"name": "short-lived"}}
    story.consumer.api.create("serviceaccounts", story.namespace, account)
    gated = busybox("one", serviceAccountName="short-lived", schedulingGates=[{"name": "example.com/later"}])
    story.create(gated)
    story.consumer.api.delete("serviceaccounts", story.namespace, "short-lived")
    story.consumer.api.patch("pods", story.namespace, "one", {"spec": {"schedulingGates": None}})
    words = "there is no service account short-lived: create it, so that the pod can get its token for the API server"
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
