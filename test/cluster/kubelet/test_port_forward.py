"""`kubectl port-forward` in rome connects to what listens in milan."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor

from harness.cluster.cluster import busybox
from harness.monitoring.streams import exec_requests, forwarding, run
from harness.story import Story
from harness.wait import patient, stays, wait_for

ECHO = "nc -ll -p 7000 -e /bin/cat"


def read_exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := connection.recv(1 << 16)):
        data += piece
    return bytes(data)


def echoed(story: Story, port: int, data: bytes) -> bytes:
    """What comes back of the data, and of four words behind which nothing more is sent."""
    with story.consumer.space.connect("127.0.0.1", port) as connection:
        connection.settimeout(patient(60))
        with ThreadPoolExecutor(1) as writer:
            writer.submit(connection.sendall, data)
            back = read_exactly(connection, len(data))
        connection.sendall(b"these words come last")
        connection.shutdown(socket.SHUT_WR)
        return back + read_exactly(connection, 1 << 20)


def open_forwards(story: Story) -> float:
    return story.home.metrics().get('liqod_kubelet_streams{kind="port-forward"}', 0)


def test_port_forward_carries_bytes_both_ways(story: Story) -> None:
    story.deployment("echo", 1, busybox("echo", ECHO))
    pod = story.wait_ready_replicas("echo", 1, 60)[0]["metadata"]["name"]
    spec = {"selector": {"app": "echo"}, "ports": [{"port": 80, "targetPort": 7000}]}
    service = {"kind": "Service", "metadata": {"name": "echo"}, "spec": spec}
    story.consumer.api.create("services", story.namespace, service)
    data = [os.urandom(1 << 20) for _ in range(5)]

    def works(*arguments: object) -> None:
        since = story.provider.audit.mark()
        with forwarding(story, *arguments) as (_, [port]), ThreadPoolExecutor(len(data)) as callers:
            for sent, back in zip(data, callers.map(lambda one: echoed(story, port, one), data), strict=True):
                assert back == sent + b"these words come last"
            assert open_forwards(story) == 1
        wait_for(lambda: open_forwards(story) == 0, 60, "the connection to be given up")
        asked = lambda: {code for _, code in exec_requests(story, since, "pods/portforward")}  # noqa: E731
        wait_for(lambda: asked() == {101}, 60, "the port-forward in milan's audit log")

    def verbs(since: int) -> set[str]:
        return {verb for verb, _ in exec_requests(story, since, "pods/portforward")}

    # liqod forwards over a WebSocket, and over SPDY once an exec has shown that milan refuses GETs.
    story.home.restart()
    said = lambda: story.consumer.kubectl("-n", story.namespace, "logs", pod)  # noqa: E731
    wait_for(lambda: said() == "", 60, "the kubelet API to have its certificate again")
    since = story.provider.audit.mark()
    works(f"pod/{pod}", ":7000")
    assert verbs(since) == {"get"}
    story.consumer.kubectl("-n", story.namespace, "exec", pod, "--", "true")
    since = story.provider.audit.mark()
    works("svc/echo", ":80")
    works("deploy/echo", ":7000")
    assert verbs(since) == {"create"}


def test_who_pauses_goes_on_where_he_stopped(story: Story) -> None:
    story.create(busybox("one", "nc -ll -p 7000 -e /bin/cat /dev/zero"))
    story.wait_ready("one")
    command = story.consumer.kubectl_started("-n", story.namespace, "exec", "one", "--", "cat", "/dev/zero")
    try:
        with (
            forwarding(story, "pod/one", ":7000") as (process, [port]),
            story.consumer.space.connect("127.0.0.1", port) as connection,
        ):
            connection.settimeout(patient(60))
            assert connection.recv(1) == b"\0"
            # By default the kernel drops a peer that takes nothing for 30 s.
            stays(lambda: command.poll() is None and process.poll() is None, 40, "kubectl of who reads nothing")
            # More data than can have been on the way.
            assert len(read_exactly(connection, 64 << 20)) >= 64 << 20
            assert command.stdout
            assert len(command.stdout.read(64 << 20)) == 64 << 20
    finally:
        command.kill()
        command.communicate()


def test_port_forward_says_what_is_wrong(story: Story) -> None:
    story.create(busybox("one", ECHO))
    story.wait_ready("one")

    def refused(*arguments: object) -> bytes:
        """What kubectl says, which ends by itself once somebody connects."""
        with forwarding(story, *arguments) as (process, ports):
            with story.consumer.space.connect("127.0.0.1", ports[-1]) as connection:
                connection.settimeout(patient(60))
                try:
                    assert connection.recv(1) == b""
                except ConnectionResetError:
                    pass
            _, errors = process.communicate(timeout=patient(60))
            assert process.returncode != 0
            return errors

    # After that, kubectl gives up the whole connection, as with any kubelet.
    nobody = refused("pod/one", ":7000", ":7001")
    assert b"error forwarding port 7001 to pod" in nobody and b"failed to connect to localhost:7001" in nobody
    for ports in (":0", ":70000"):
        done = run(story.consumer.space.entering(story.consumer.kubectl_command(
            "-n", story.namespace, "port-forward", "pod/one", ports)))  # fmt: skip
        assert done.returncode != 0 and done.stderr

    # Connections end with their provider; while it is away, a new one gets an error that says so.
    with (
        forwarding(story, "pod/one", ":7000") as (process, [port]),
        story.consumer.space.connect("127.0.0.1", port) as connection,
    ):
        connection.sendall(b"here")
        assert read_exactly(connection, 4) == b"here"
        story.provider.kill("kube-apiserver")
        try:
            _, errors = process.communicate(timeout=patient(60))
            assert process.returncode != 0 and b"lost connection to pod" in errors
            assert b"port 7000 to pod " in refused("pod/one", ":7000")
        finally:
            story.provider.start_again("kube-apiserver")
            story.provider.wait_api()
    story.peering.wait_ready(60)

    # A pod that is gone.
    with forwarding(story, "pod/one", ":7000") as (process, [port]):
        assert echoed(story, port, b"") == b"these words come last"
        story.consumer.kubectl("-n", story.namespace, "delete", "pod", "one")
        story.wait_nothing_left()
        with story.consumer.space.connect("127.0.0.1", port) as connection:
            connection.settimeout(patient(60))
            assert connection.recv(1) == b""
        _, errors = process.communicate(timeout=patient(60))
        assert process.returncode != 0 and b"error forwarding port 7000 to pod" in errors
    wait_for(lambda: open_forwards(story) == 0, 60, "nothing to be left")
