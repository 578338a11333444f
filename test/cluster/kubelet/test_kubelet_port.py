"""The kubelet API's port renews its certificate under followed logs, and stands strangers, silence and plain text."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from pathlib import Path

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.pki import Authority, Pair
from harness.monitoring.streams import kubelet_port, log_of, logs
from harness.story import Story
from harness.wait import patient, wait_for


def test_logs_work_across_a_renewal_of_the_serving_certificate(story: Story) -> None:
    story.create(busybox("one", "while true; do echo tick; sleep 1; done"))
    story.wait_ready("one")
    before = story.peering.serving_certificate()
    followed = story.consumer.kubectl_started("-n", story.namespace, "logs", "-f", "one")
    try:

        def renewed() -> bool:
            assert logs(story, "--tail=1") == "tick\n", "logs work all the while"
            return story.peering.serving_certificate() != before

        wait_for(renewed, 150, "a new certificate (rome's are valid for two minutes)", interval=1)
        assert followed.stdout and followed.poll() is None, "who follows is not disturbed"
        os.set_blocking(followed.stdout.fileno(), False)
        followed.stdout.read()
        wait_for(lambda: followed.stdout.read() or b"", 60, "a line after the renewal")  # type: ignore[union-attr]
        assert logs(story, "--tail=1") == "tick\n"
    finally:
        followed.kill()
        followed.communicate()


def test_the_api_servers_client_is_let_in(story: Story) -> None:
    story.create(busybox("one", "echo here; sleep 1000000"))
    story.wait_ready("one")
    pki = story.consumer.directory / "pki"
    client = kubelet_port(story, Pair(pki / "kubelet-client.crt", pki / "kubelet-client.key"))
    wait_for(lambda: client.raw("GET", log_of(story)) == (200, b"here\n"), 60, "the log")


def test_a_log_that_breaks_does_not_end_like_a_whole_one(story: Story) -> None:
    """Whoever reads the port hears it. (API servers, between it and kubectl, do not pass it on.)"""
    story.create(busybox("one", "echo begin; sleep 1000000"))
    story.wait_ready("one")
    context = ssl.create_default_context(cafile=str(story.consumer.authority.pair.certificate))
    pki = story.consumer.directory / "pki"
    context.load_cert_chain(pki / "kubelet-client.crt", pki / "kubelet-client.key")
    address, port = story.consumer.address, story.kubelet_port
    connection = http.client.HTTPConnection(address, port)
    connection.sock = context.wrap_socket(story.consumer.space.connect(address, port, 60), server_hostname=address)
    try:
        connection.request("GET", f"{log_of(story)}?follow=true")
        response = connection.getresponse()
        assert response.read(6) == b"begin\n"
        story.provider.restart("kube-apiserver")
        with pytest.raises(http.client.IncompleteRead):
            response.read()
    finally:
        connection.close()


def test_callers_without_a_name_are_refused(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    assert kubelet_port(story, None).raw("GET", log_of(story))[0] == 401
    assert kubelet_port(story, "not-a-token").raw("GET", log_of(story))[0] == 401
    assert kubelet_port(story, None).raw("POST", f"/exec/{story.namespace}/one/main?command=id&output=1")[0] == 401


def test_callers_with_a_certificate_of_another_authority_are_refused(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    forged = Authority(tmp_path, "rome").issue("client", "apiserver-kubelet-client", ["system:masters"])
    try:
        code = kubelet_port(story, forged).raw("GET", log_of(story))[0]
    except OSError:
        return  # not even a handshake
    assert code == 401


def test_callers_without_the_right_are_refused(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    story.consumer.service_account(story.namespace, "nobody")
    stranger = story.consumer.authority.issue("stranger", "stranger")
    token = story.consumer.kubectl("-n", story.namespace, "create", "token", "nobody").strip()
    for user in (stranger, token):
        client = kubelet_port(story, user)
        assert client.raw("GET", log_of(story))[0] == 403
        assert client.raw("POST", f"/exec/{story.namespace}/one/main?command=id&output=1")[0] == 403
        assert client.raw("POST", f"/portForward/{story.namespace}/one")[0] == 403


def test_what_is_not_there_yet_says_so(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    pki = story.consumer.directory / "pki"
    client = kubelet_port(story, Pair(pki / "kubelet-client.crt", pki / "kubelet-client.key"))
    code, words = client.raw("POST", f"/run/{story.namespace}/one/main?cmd=id")
    assert code == 501 and words.strip() and b"\n" not in words.strip()


def test_plain_text_on_the_port_does_no_harm(story: Story) -> None:
    with story.consumer.space.connect(story.consumer.address, story.kubelet_port) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        plain.shutdown(socket.SHUT_WR)
        plain.settimeout(patient(60))
        try:
            while plain.recv(1000):
                pass
        except ConnectionError:
            pass
    wait_for(story.home.ready, 60, "liqod to be ready as before")


@pytest.mark.parametrize("connections", [200])
def test_silent_connections_do_not_use_the_port_up(story: Story, connections: int) -> None:
    story.create(busybox("one", "echo here; sleep 1000000"))
    story.wait_ready("one")
    port = story.kubelet_port
    silent = [story.consumer.space.connect(story.consumer.address, port) for _ in range(connections)]
    try:
        wait_for(lambda: logs(story) == "here\n", 60, "the log, in spite of idle connections")
    finally:
        for connection in silent:
            connection.close()
