"""Callers of the kubelet API who may only read run nothing, and strangers neither exhaust it nor crowd others out."""

from __future__ import annotations

import time

import pytest

from harness.cluster import rights
from harness.cluster.api import Api
from harness.cluster.cluster import busybox
from harness.story import Story
from harness.wait import wait_for

LIMITED = "liqod_kubelet_tokens_refused_total"
# How many unknown tokens one address may send at once, and the seconds until one more.
BURST, REFILL = 10, 6
# For how many seconds a good token is believed without asking again.
BELIEVED = 10


def kubelet_port(story: Story, token: str) -> Api:
    authority = story.consumer.authority.pair.certificate
    return Api(story.consumer.space, story.consumer.address, story.kubelet_port, authority, token)


def reader(story: Story) -> str:
    """The token of a service account that may read from nodes, as those who scrape kubelets may."""
    api = story.consumer.api
    story.consumer.service_account(story.namespace, "reader")
    rules = [{"apiGroups": [""], "resources": ["nodes/proxy", "nodes/stats"], "verbs": ["get"]}]
    name = f"reader-{story.namespace}"
    api.apply("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": name}, "rules": rules})
    rights.bind(story.consumer, None, name, rights.service_account(story.namespace, "reader"), name)
    return story.consumer.kubectl("-n", story.namespace, "create", "token", "reader").strip()


WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
}


@pytest.fixture
def told(story: Story) -> Story:
    story.create(busybox("one", "echo here; sleep 1000000"))
    story.wait_ready("one")
    return story


def test_the_right_to_read_runs_nothing(told: Story) -> None:
    client = kubelet_port(told, reader(told))
    log = f"/containerLogs/{told.namespace}/one/main"
    wait_for(lambda: client.raw("GET", log) == (200, b"here\n"), 60, "the log, once the role is known")
    command = "command=touch&command=/tmp/pwned&output=1"
    for method, headers in (("GET", WEBSOCKET), ("GET", {}), ("POST", {})):
        code, words = client.raw(method, f"/exec/{told.namespace}/one/main?{command}", headers=headers)
        assert code == 403 and b"verb=create" in words, (method, code, words)
    assert client.raw("GET", f"/attach/{told.namespace}/one/main?output=1", headers=WEBSOCKET)[0] == 403
    assert client.raw("GET", f"/portForward/{told.namespace}/one", headers=WEBSOCKET)[0] == 403


def test_strangers_are_looked_at_only_so_often(told: Story) -> None:
    token = reader(told)
    honest, log = kubelet_port(told, token), f"/containerLogs/{told.namespace}/one/main"
    wait_for(lambda: honest.raw("GET", log)[0] == 200, 60, "the log, once the role is known")
    since = told.consumer.audit.mark()
    before = told.home.metrics().get(LIMITED, 0)
    began = time.monotonic()
    answers = [kubelet_port(told, f"stranger-{number}").raw("GET", log)[0] for number in range(60)]
    took = time.monotonic() - began
    assert set(answers) == {401, 429} and answers.count(401) <= BURST + 1 + took / REFILL, (took, answers)
    assert told.home.metrics()[LIMITED] - before == answers.count(429)
    # A caller that was let in before is not held up by strangers with its address.
    assert honest.raw("GET", log) == (200, b"here\n")
    reviews = [
        entry for entry in told.consumer.audit.entries(since)
        if entry.get("objectRef", {}).get("resource") == "tokenreviews" and entry["verb"] == "create"
    ]  # fmt: skip
    assert len(reviews) <= answers.count(401) + 2 + (time.monotonic() - began) / BELIEVED


@pytest.mark.refusals("what each role is refused is what this story asks for")
def test_roles_of_a_namespace_give_streams_of_its_pods_and_nothing_of_the_node(told: Story) -> None:
    """The rows of docs/security.md: through the API server, as kubectl asks, and past it at the port of the node."""
    consumer, namespace, node = told.consumer, told.namespace, told.peering.node
    tokens: dict[str, str | None] = {"anonymous": None}
    for name, role in (("viewer", "view"), ("developer", "edit")):
        consumer.service_account(namespace, name)
        rights.bind(consumer, namespace, name, rights.service_account(namespace, name), role)
        tokens[name] = consumer.kubectl("-n", namespace, "create", "token", name).strip()
    pod, proxy = f"/api/v1/namespaces/{namespace}/pods/one", f"/api/v1/nodes/{node}/proxy"
    # A caller with the right that asks for no upgrade gets 400.
    streams = [f"{pod}/exec?command=true&stdout=true", f"{pod}/attach?stdout=true", f"{pod}/portforward?ports=80"]
    of_the_node = ["/pods", "/metrics/resource", "/stats/summary", f"/containerLogs/{namespace}/one/main"]
    other = "/api/v1/namespaces/kube-system/pods/one"
    for name, token in tokens.items():
        client = consumer.as_user(token)
        refused = {401, 403} if token is None else {403}
        code, words = client.raw("GET", f"{pod}/log")
        assert (code, words) == (200, b"here\n") if token else code in refused, (name, code, words)
        for path in streams:
            code, words = client.raw("POST", path)
            assert code in ({400} if name == "developer" else refused), (name, path, code, words)
        for path in (f"{other}/log", *(proxy + path for path in of_the_node)):
            code, words = client.raw("GET", path)
            assert code in refused, (name, path, code, words)
        port = Api(consumer.space, consumer.address, told.kubelet_port, consumer.authority.pair.certificate, token)
        for path in of_the_node:
            assert port.raw("GET", path)[0] == (403 if token else 401), (name, path)
        for path in ("exec", "attach"):
            code = port.raw("POST", f"/{path}/{namespace}/one/main?command=true&output=1")[0]
            assert code == (403 if token else 401), (name, path)
        assert port.raw("POST", f"/portForward/{namespace}/one")[0] == (403 if token else 401), name
    developer = f"--as=system:serviceaccount:{namespace}:developer"
    assert consumer.kubectl("-n", namespace, developer, "exec", "one", "--", "echo", "mine") == "mine\n"
