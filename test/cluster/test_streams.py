"""`kubectl logs`, `exec`, `attach`, `run` and `port-forward` in rome reach milan; and who may not, does not."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import audit
from harness.api import Api
from harness.cluster import UNTIL_TOLD, busybox
from harness.exec_crowd import Crowd
from harness.images import BUSYBOX_IMAGE
from harness.pki import Authority, Pair
from harness.run import Run
from harness.story import Story
from harness.terminal import terminal
from harness.wait import patient, stays, wait_for


def logs(story: Story, *arguments: object) -> str:
    return story.consumer.kubectl("-n", story.namespace, "logs", "one", *arguments)


def executing(story: Story, *command: object, options: tuple[str, ...] = ()) -> list[str]:
    """The command line of `kubectl exec` in rome."""
    kubectl = story.consumer.kubectl_command("-n", story.namespace, "exec", *options, "one", "--", *command)
    return story.consumer.space.entering(kubectl)


def run(command: list[str], stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=stdin, capture_output=True, timeout=patient(120))


STREAMS = "liqod_kubelet_streams{"


def wait_no_streams(story: Story) -> None:
    """Waits until liqod in rome counts nobody's stream any more."""

    def none_open() -> bool:
        found = {name: value for name, value in story.home.metrics().items() if name.startswith(STREAMS)}
        assert found and not any(found.values()), found
        return True

    wait_for(none_open, 30, "all streams to be over")


def test_logs_of_a_remote_pod(story: Story) -> None:
    story.create(busybox("one", "seq 1 100; sleep 1000000"))
    story.wait_ready("one")
    every = "".join(f"{number}\n" for number in range(1, 101))
    wait_for(lambda: logs(story) == every, 60, "the whole log")
    assert logs(story, "--tail=3") == "98\n99\n100\n"
    assert logs(story, "--tail=0") == ""
    assert logs(story, "--limit-bytes=5") == every[:5]
    assert logs(story, "--since=1h") == every
    first = logs(story, "--timestamps").splitlines()[0].split()
    assert first[1] == "1" and first[0].startswith("20") and "T" in first[0]


def test_logs_of_a_container_that_ended_before(story: Story) -> None:
    script = "if [ -e /state/ran ]; then echo second; sleep 1000000; fi; touch /state/ran; echo first; exit 3"
    pod = busybox("one", script, volumes=[{"name": "state", "emptyDir": {}}])
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "state", "mountPath": "/state"}]
    story.create(pod)
    wait_for(lambda: logs(story) == "second\n", 30, "the second run")
    assert logs(story, "--previous") == "first\n"


def test_logs_are_followed_until_the_container_ends(story: Story) -> None:
    more = "for n in $(seq 2 8); do echo line $n; done"
    story.create(busybox("one", f"echo line 1; {UNTIL_TOLD}; {more}", restartPolicy="Never"))
    story.wait_phase("one", "Running")
    followed = story.consumer.kubectl_started("-n", story.namespace, "logs", "-f", "one")
    assert followed.stdout
    assert followed.stdout.readline() == b"line 1\n"
    assert story.remote("one")["status"]["phase"] == "Running", "lines come as they are written, not at the end"
    story.provider.kubectl("-n", story.twin, "exec", "one", "--", "touch", "/tmp/end")
    rest, errors = followed.communicate(timeout=patient(60))
    assert rest.splitlines()[-1] == b"line 8" and followed.returncode == 0, errors


def test_a_big_log_comes_whole(story: Story) -> None:
    story.create(busybox("one", "seq 1 400000; echo end; sleep 1000000"))
    story.wait_ready("one")
    wait_for(lambda: logs(story, "--tail=1") == "end\n", 30, "the log to be written")
    assert logs(story) == "".join(f"{number}\n" for number in range(1, 400001)) + "end\n"


def test_exec_gives_output_errors_and_the_exit_code(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    done = run(executing(story, "sh", "-c", "echo out; echo err >&2; exit 7"))
    assert (done.returncode, done.stdout) == (7, b"out\n")
    assert done.stderr.startswith(b"err\n")
    assert run(executing(story, "true")).returncode == 0
    assert run(executing(story, "/no/such/program")).returncode != 0


def exec_requests(story: Story, since: int, resource: str = "pods/exec") -> list[tuple[str, int]]:
    """Verb and answer of each exec, or port-forward, that milan was asked for by rome's liqod."""
    entries = story.provider.audit.entries(since)
    return [
        (entry["verb"], audit.code(entry))
        for entry in entries
        if audit.user(entry) == story.peering.user and audit.resource(entry) == resource
        if entry.get("stage") in ("ResponseComplete", "ResponseStarted")
    ]


def test_exec_takes_spdy_where_the_provider_grants_only_create(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    # It learns that GETs are forbidden, if it has not yet, and asks by none afterwards.
    assert run(executing(story, "sh", "-c", "exit 7")).returncode == 7
    since = story.provider.audit.mark()
    assert run(executing(story, "sh", "-c", "exit 8")).returncode == 8
    wait_for(lambda: ("create", 101) in exec_requests(story, since), 60, "the exec in milan's audit log")
    assert not [one for one in exec_requests(story, since) if one[0] == "get"]


def test_exec_takes_websocket_where_the_provider_grants_get(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    story.provider.apply(
        [
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": {"name": "websocket", "namespace": story.twin},
                "rules": [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}],
            },
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": "websocket", "namespace": story.twin},
                "subjects": [{"kind": "User", "name": story.peering.user, "apiGroup": "rbac.authorization.k8s.io"}],
                "roleRef": {"kind": "Role", "name": "websocket", "apiGroup": "rbac.authorization.k8s.io"},
            },
        ]
    )

    # What it has learnt of the provider it keeps for an hour.
    story.home.restart()

    def by_websocket() -> bool:
        since = story.provider.audit.mark()
        assert run(executing(story, "sh", "-c", "exit 7")).returncode == 7
        wait_for(lambda: exec_requests(story, since), 60, "the exec in milan's audit log")
        return all(verb == "get" for verb, _ in exec_requests(story, since))

    wait_for(by_websocket, 60, "milan's authorizer to know the role")
    data = os.urandom(3 << 20)
    done = run(executing(story, "cat", options=("-i",)), data)
    assert done.returncode == 0 and done.stdout == data


def test_exec_passes_stdin_whole_and_its_end(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    data = os.urandom(3 << 20)
    done = run(executing(story, "cat", options=("-i",)), data)
    assert done.returncode == 0 and done.stdout == data
    assert run(executing(story, "wc", "-c", options=("-i",)), data).stdout.strip() == str(len(data)).encode()


def test_exec_lives_while_its_program_does_not_read(story: Story) -> None:
    """Servers answer no ping behind stdin that nobody reads, so for longer than pings are waited for."""
    story.create(busybox("one"))
    story.wait_ready("one")
    data = os.urandom(3 << 20)
    done = run(executing(story, "sh", "-c", "sleep 45; wc -c", options=("-i",)), data)
    assert (done.returncode, done.stdout.strip()) == (0, str(len(data)).encode()), done.stderr


def test_exec_in_a_terminal_can_be_typed_into_and_resized(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    with terminal(executing(story, "sh", options=("-it",)), rows=30, columns=100) as shell:
        shell.read_until("# ")
        shell.type("tty; stty size\n")
        shell.read_until("/dev/")
        shell.read_until("30 100")
        shell.resize(45, 150)
        # It is told on its own way, beside what is typed.
        shell.type("until stty size | grep -q ^45; do sleep 0.2; done; stty size\n")
        shell.read_until("45 150")
        shell.type("exit 7\n")
        assert shell.wait() == 7


def test_exec_ends_when_its_caller_goes_away(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    caller = subprocess.Popen(executing(story, "cat", options=("-i",)), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    running = lambda: run(executing(story, "ps")).stdout.count(b" cat")  # noqa: E731
    wait_for(lambda: running() == 1, 60, "the program to run")
    caller.kill()
    caller.wait()
    wait_for(lambda: running() == 0, 30, "the program to end", interval=0.5)


def test_five_hundred_execs_at_once(story: Story) -> None:
    """All of them come from one address, that of rome's API server, and cost 128 MiB at most."""
    story.create(busybox("one"))
    story.wait_ready("one")
    assert story.home.process
    rest = story.home.process.private_bytes()
    with Crowd(story.consumer, story.namespace, "one", 500):
        assert story.home.metrics()[f'{STREAMS}kind="exec"}}'] == 500
        assert story.home.process.private_bytes() - rest <= 128 << 20
    wait_no_streams(story)


def test_twenty_execs_at_once(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    started = [
        subprocess.Popen(executing(story, "sh", "-c", f"echo {number}; exit {number}"), stdout=subprocess.PIPE)
        for number in range(20)
    ]
    for number, process in enumerate(started):
        out, _ = process.communicate(timeout=patient(60))
        assert (process.returncode, out) == (number, f"{number}\n".encode())


# -- attach -----------------------------------------------------------------------------------------------------------


def interactive(name: str, script: str, tty: bool) -> dict[str, Any]:
    """A pod that reads what is typed to the process that it began with."""
    pod = busybox(name, script, restartPolicy="Never")
    pod["spec"]["containers"][0] |= {"stdin": True, "stdinOnce": True, "tty": tty}
    return pod


def attaching(story: Story, *options: str) -> list[str]:
    return story.consumer.space.entering(story.consumer.kubectl_command("-n", story.namespace, "attach", "one", *options))


def test_attach_carries_input_output_and_the_end(story: Story) -> None:
    story.create(interactive("one", "while read line; do echo said $line; echo wrong >&2; done; exit 3", tty=False))
    story.wait_ready("one")
    done = run(attaching(story, "-i"), b"first\nsecond\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"said first\nsaid second\n"
    assert done.stderr.count(b"wrong\n") == 2
    # Its input has ended, and with it the program: what kubectl attach leaves out is at home in the pod's status.
    story.wait_phase("one", "Failed")


def test_attach_to_a_terminal_can_be_resized(story: Story) -> None:
    story.create(interactive("one", "exec sh", tty=True))
    story.wait_ready("one")
    with terminal(attaching(story, "-it"), rows=30, columns=100) as shell:
        # kubectl says a wrong size at first, so that what is on the screen is drawn anew.
        shell.type("until stty size | grep -q ^30; do sleep 0.2; done; stty size\n")
        shell.read_until("30 100")
        shell.resize(45, 150)
        shell.type("until stty size | grep -q ^45; do sleep 0.2; done; stty size\n")
        shell.read_until("45 150")
        shell.type("exit\n")
        assert shell.wait() == 0


def test_attach_to_a_container_that_does_not_run_says_why(story: Story) -> None:
    story.create(busybox("one", "true", restartPolicy="Never"))
    story.wait_phase("one", "Succeeded")
    done = run(attaching(story))
    assert done.returncode != 0 and b"completed" in done.stderr, done.stderr


def running(story: Story, script: str, tty: bool) -> list[str]:
    """`kubectl run -i --rm` makes a pod, attaches while that is still starting, and deletes it."""
    overrides = story.peering.pinned(interactive("one", script, tty))["spec"]
    image = overrides["containers"][0]["image"]
    command = story.consumer.kubectl_command(
        "-n", story.namespace, "run", "one", "-it" if tty else "-i", "--rm", "--restart=Never", f"--image={image}",
        f"--overrides={json.dumps({'spec': overrides})}",
    )  # fmt: skip
    return story.consumer.space.entering(command)


def test_run_shows_the_output_and_gives_the_exit_code(story: Story) -> None:
    done = run(running(story, "read line; echo said $line; exit 7", tty=False), b"hello\n")
    assert done.returncode == 7, (done.stdout, done.stderr)
    assert b"said hello\n" in done.stdout
    assert story.consumer.pod(story.namespace, "one") is None


def test_run_on_a_terminal_gives_the_exit_code_of_the_shell(story: Story) -> None:
    with terminal(running(story, "exec sh", tty=True), rows=30, columns=100) as shell:
        shell.type("until stty size | grep -q ^30; do sleep 0.2; done; stty size\n")
        shell.read_until("30 100", timeout=60)
        shell.type("exit 5\n")
        assert shell.wait(60) == 5
    assert story.consumer.pod(story.namespace, "one") is None


# -- port-forward -----------------------------------------------------------------------------------------------------

ECHO = "nc -ll -p 7000 -e /bin/cat"


@contextmanager
def forwarding(story: Story, *arguments: object) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """`kubectl port-forward` in rome, and the ports at home, in the order in which they were asked for."""
    process = story.consumer.kubectl_started("-n", story.namespace, "port-forward", *arguments)
    try:
        assert process.stdout
        ports: list[int] = []
        while len(ports) < sum(1 for word in arguments if str(word)[-1].isdigit() and ":" in str(word)):
            line = process.stdout.readline().decode()
            assert line, process.communicate()[1]
            # It listens on [::1], too, where there is one.
            if line.startswith("Forwarding from 127.0.0.1:"):
                ports.append(int(line.split(":")[1].split()[0]))
        yield process, ports
    finally:
        process.kill()
        process.communicate()


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

    # In a WebSocket, and as SPDY once it has learnt of an exec that milan refuses GETs.
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
            # By default the kernel gives up whoever takes nothing for 30 s.
            stays(lambda: command.poll() is None and process.poll() is None, 40, "kubectl of who reads nothing")
            # More than can have been on the way.
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

    # kubectl gives the whole connection up after that, as it does with any kubelet.
    nobody = refused("pod/one", ":7000", ":7001")
    assert b"error forwarding port 7001 to pod" in nobody and b"failed to connect to localhost:7001" in nobody
    for ports in (":0", ":70000"):
        done = run(story.consumer.space.entering(story.consumer.kubectl_command(
            "-n", story.namespace, "port-forward", "pod/one", ports)))  # fmt: skip
        assert done.returncode != 0 and done.stderr

    # A provider that goes away takes the connections with it; while it is away, a new one is told so.
    with forwarding(story, "pod/one", ":7000") as (process, [port]):
        with story.consumer.space.connect("127.0.0.1", port) as connection:
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
# -- as on a node -----------------------------------------------------------------------------------------------------

# The stories' image has no tar by that name, as many images have none at all.
WITH_TAR = "ln -s busybox /bin/tar; sleep 1000000"


def kubectl(story: Story, *arguments: object, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """kubectl in rome, in the story's namespace, whatever comes of it."""
    command = story.consumer.kubectl_command("-n", story.namespace, *arguments)
    return run(story.consumer.space.entering(command), stdin)


def inside(story: Story, script: str) -> str:
    """What a script says in the container, asked of the provider itself."""
    return story.provider.kubectl("-n", story.twin, "exec", "one", "--", "sh", "-c", script)


def digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def test_cp_brings_200_mb_there_and_back(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one", WITH_TAR))
    story.wait_ready("one")
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(os.urandom(1 << 20) * 200)
    began = time.monotonic()
    up = kubectl(story, "cp", there, "one:/tmp/big")
    assert up.returncode == 0, up.stderr
    turned = time.monotonic()
    down = kubectl(story, "cp", "one:/tmp/big", back)
    assert down.returncode == 0, down.stderr
    print(f"200 MB: up in {turned - began:.1f} s, down in {time.monotonic() - turned:.1f} s")
    assert inside(story, "busybox sha256sum /tmp/big").split()[0] == digest(there) == digest(back)
    wait_no_streams(story)


def test_cp_of_a_tree_keeps_its_links(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one", WITH_TAR))
    story.wait_ready("one")
    tree = tmp_path / "tree"
    (tree / "deep/er").mkdir(parents=True)
    (tree / "deep/er/file").write_text("content\n")
    (tree / "to-file").symlink_to("deep/er/file")
    (tree / "to-nothing").symlink_to("not/there")
    up = kubectl(story, "cp", tree, "one:/tmp/tree")
    assert up.returncode == 0, up.stderr
    assert inside(story, "cat /tmp/tree/to-file; readlink /tmp/tree/to-nothing") == "content\nnot/there\n"
    # On the way back kubectl leaves links out, and says so, wherever the pod runs.
    down = kubectl(story, "cp", "one:/tmp/tree", tmp_path / "back")
    assert down.returncode == 0 and b"skipping symlink" in down.stderr, down.stderr
    assert (tmp_path / "back/deep/er/file").read_text() == "content\n"
    assert not (tmp_path / "back/to-file").exists()


def test_cp_that_is_interrupted_leaves_nothing_running(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one", WITH_TAR))
    story.wait_ready("one")
    with (tmp_path / "long").open("wb") as hollow:
        hollow.truncate(100 << 30)  # it takes no room here, and hours there
    copying = story.consumer.kubectl_started("-n", story.namespace, "cp", tmp_path / "long", "one:/dev/null")
    tars = "ps | grep -c '[t]ar -x' || true"
    try:
        wait_for(lambda: int(inside(story, tars)) == 1, 60, "the copy to be under way")
        assert story.home.metrics()[f'{STREAMS}kind="exec"}}'] == 1
    finally:
        copying.kill()
        copying.communicate()
    wait_for(lambda: int(inside(story, tars)) == 0, 30, "tar to be gone")
    wait_no_streams(story)


def as_on_a_node(story: Story, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """What kubectl says at home: it ends as it does where the provider itself is asked, with one sentence."""
    there = run(story.provider.space.entering(story.provider.kubectl_command("-n", story.twin, *arguments)))
    here = kubectl(story, *arguments)
    assert here.returncode == there.returncode != 0, (here, there)
    sentences = [line for line in here.stderr.decode().splitlines() if not line.startswith("Defaulted container")]
    assert len(sentences) == 1, (here.stderr, there.stderr)
    return here


def test_what_cannot_be_executed_says_why_in_a_sentence(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one"))
    waiting = busybox("waits")
    waiting["spec"]["initContainers"] = [{**waiting["spec"]["containers"][0], "name": "first"}]
    story.create(waiting)
    story.wait_ready("one")
    (tmp_path / "file").write_text("content")
    assert b'"tar"' in as_on_a_node(story, "cp", tmp_path / "file", "one:/tmp/file").stderr
    assert b"nobody is not valid" in as_on_a_node(story, "exec", "one", "-c", "nobody", "--", "true").stderr
    assert b"/no/such/program" in as_on_a_node(story, "exec", "one", "--", "/no/such/program").stderr
    story.wait_local("waits", lambda pod: pod["status"].get("initContainerStatuses"), "to begin")
    assert b"main" in as_on_a_node(story, "exec", "waits", "-c", "main", "--", "true").stderr


def test_exec_ends_with_its_container(story: Story) -> None:
    story.create(busybox("one", UNTIL_TOLD, restartPolicy="Never"))
    story.wait_ready("one")
    script = "echo here; sleep 1000000"
    within = subprocess.Popen(
        executing(story, "sh", "-c", script), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert within.stdout and within.stdout.readline() == b"here\n"
    inside(story, "touch /tmp/end")
    _, errors = within.communicate(timeout=patient(60))
    assert within.returncode == 137 and errors.splitlines() == [b"command terminated with exit code 137"], errors


def test_logs_of_all_containers_are_followed(story: Story) -> None:
    pod = busybox("one", f"echo from main; {UNTIL_TOLD}", restartPolicy="Never")
    beside = f"echo from beside; {UNTIL_TOLD}; echo bye"
    pod["spec"]["containers"].append({**busybox("", beside)["spec"]["containers"][0], "name": "beside"})
    story.create(pod)
    story.wait_ready("one")
    followed = story.consumer.kubectl_started("-n", story.namespace, "logs", "one", "--all-containers", "--prefix", "-f")
    assert followed.stdout
    first = {followed.stdout.readline() for _ in range(2)}
    assert first == {b"[pod/one/main] from main\n", b"[pod/one/beside] from beside\n"}
    for container in ("main", "beside"):
        story.provider.kubectl("-n", story.twin, "exec", "one", "-c", container, "--", "touch", "/tmp/end")
    rest, errors = followed.communicate(timeout=patient(60))
    assert (followed.returncode, rest) == (0, b"[pod/one/beside] bye\n"), errors
    wait_no_streams(story)


def test_delete_by_force_removes_both_pods(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    done = kubectl(story, "delete", "pod", "one", "--force", "--grace-period=0")
    assert done.returncode == 0, done.stderr
    assert story.consumer.pod(story.namespace, "one") is None
    story.wait_nothing_left()


def test_a_provider_that_is_out_of_reach_is_named_within_five_seconds(story: Story, run: Run) -> None:
    story.create(busybox("one", "echo here; sleep 1000000"))
    story.wait_ready("one")
    run.network.cut("milan")
    try:
        for command in (("exec", "one", "--", "true"), ("logs", "one"), ("attach", "one")):
            began = time.monotonic()
            done = kubectl(story, *command)
            took = time.monotonic() - began
            assert done.returncode != 0 and b"milan" in done.stderr, done.stderr
            assert took < patient(6), f"{command} took {took:.1f} s"
        # kubectl listens before anybody is asked, and ends with the first connection that fails.
        with (
            forwarding(story, "pod/one", ":7000") as (forward, [port]),
            story.consumer.space.connect("127.0.0.1", port),
        ):
            _, told = forward.communicate(timeout=patient(6))
            assert forward.returncode != 0 and b"milan" in told, told
    finally:
        run.network.heal("milan")
    wait_for(lambda: logs(story) == "here\n", 60, "the log, once the provider is back")
    wait_no_streams(story)
# -- debug ------------------------------------------------------------------------------------------------------------


def debugging(story: Story, *arguments: str) -> list[str]:
    command = story.consumer.kubectl_command("-n", story.namespace, "debug", *arguments, f"--image={BUSYBOX_IMAGE}")
    return story.consumer.space.entering(command)


def ended(story: Story, container: str) -> dict[str, Any]:
    """How the ephemeral container of pod `one` has ended, as its status at home says."""
    statuses = story.local("one")["status"].get("ephemeralContainerStatuses", [])
    return next(one["state"].get("terminated", {}) for one in statuses if one["name"] == container)


def test_debug_opens_a_shell_beside_the_processes_of_a_container(story: Story) -> None:
    story.create(busybox("one", "sleep 1234567"))
    story.wait_ready("one")
    began = story.local("one")["status"]["containerStatuses"]
    with terminal([*debugging(story, "-it", "one", "--target=main", "--container=look"), "--", "sh"]) as shell:
        shell.read_until("pressing enter", timeout=60)
        shell.type("ps\n")
        shell.read_until("sleep 1234567")
        shell.type("exit 3\n")
        shell.wait()
    wait_for(lambda: ended(story, "look")["exitCode"] == 3, 30, "the end of the debug container to be told")
    assert "sleep 1234567" in story.consumer.kubectl("-n", story.namespace, "logs", "one", "-c", "look")
    # The next one, without a terminal; and what is added changes nothing of what runs.
    script = ["sh", "-c", "read line; echo said $line"]
    done = run([*debugging(story, "-i", "one", "--container=more"), "--", *script], b"hello\n")
    assert done.returncode == 0, done.stderr
    log = lambda: story.consumer.kubectl("-n", story.namespace, "logs", "one", "-c", "more")  # noqa: E731
    wait_for(lambda: log() == "said hello\n", 30, "what it was told")
    assert story.local("one")["status"]["containerStatuses"] == began
    assert {one["name"] for one in story.remote("one")["spec"]["ephemeralContainers"]} == {"look", "more"}


@pytest.mark.refusals("the provider refuses the debug container")
def test_debug_with_more_than_the_provider_allows_says_so(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    done = run([*debugging(story, "-i", "one", "--profile=general", "--container=trace"), "--", "true"])
    assert done.returncode != 0
    sentence = b"does not run the ephemeral container: pod one may not run in this cluster: spec.pod.ephemeralContainers"
    assert sentence in done.stderr and b"capabilities in the policy" in done.stderr, done.stderr
    assert ended(story, "trace")["reason"] == "OffloadingRefused"
    assert not story.remote("one")["spec"].get("ephemeralContainers")


def test_debug_makes_a_copy_of_a_pod(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    done = run([*debugging(story, "one", "--copy-to=copy", "--container=look"), "--", "sleep", "1000000"])
    assert done.returncode == 0, done.stderr
    copy = story.wait_ready("copy")
    assert copy["spec"]["nodeName"] == story.peering.node
    assert [one["name"] for one in story.remote("copy")["spec"]["containers"]] == ["main", "look"]


def test_debug_of_a_virtual_node_is_refused_in_one_sentence(story: Story) -> None:
    done = run([*debugging(story, "-i", f"node/{story.peering.node}"), "--", "true"])
    assert done.returncode != 0
    assert b"is virtual and has no files, processes or network to look at" in done.stderr, done.stderr


# -- the kubelet port -------------------------------------------------------------------------------------------------


def serving_certificate(story: Story) -> bytes:
    """What the kubelet port shows, verified against rome's authority by the address that the API server dials."""
    context = ssl.create_default_context(cafile=str(story.consumer.authority.pair.certificate))
    address = story.consumer.address
    with (
        story.consumer.space.connect(address, story.kubelet_port) as raw,
        context.wrap_socket(raw, server_hostname=address) as tls,
    ):
        shown = tls.getpeercert(binary_form=True)
    assert shown
    return shown


def kubelet_port(story: Story, user: Pair | str | None) -> Api:
    authority = story.consumer.authority.pair.certificate
    return Api(story.consumer.space, story.consumer.address, story.kubelet_port, authority, user)


def log_of(story: Story) -> str:
    return f"/containerLogs/{story.namespace}/one/main"


def test_logs_work_across_a_renewal_of_the_serving_certificate(story: Story) -> None:
    story.create(busybox("one", "while true; do echo tick; sleep 1; done"))
    story.wait_ready("one")
    before = serving_certificate(story)
    followed = story.consumer.kubectl_started("-n", story.namespace, "logs", "-f", "one")
    try:

        def renewed() -> bool:
            assert logs(story, "--tail=1") == "tick\n", "logs work all the while"
            return serving_certificate(story) != before

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
