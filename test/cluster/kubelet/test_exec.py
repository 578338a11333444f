"""`kubectl exec` in rome runs programs in milan, with input, output, exit code and terminal, also many at once."""

from __future__ import annotations

import os
import subprocess

from harness.cluster.cluster import UNTIL_TOLD, busybox
from harness.monitoring.stream_crowd import Crowd
from harness.monitoring.streams import STREAMS, exec_requests, executing, inside, run, see_resized, wait_no_streams
from harness.story import Story
from harness.tools.terminal import terminal
from harness.wait import patient, wait_for


def test_exec_gives_output_errors_and_the_exit_code(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    done = run(executing(story, "sh", "-c", "echo out; echo err >&2; exit 7"))
    assert (done.returncode, done.stdout) == (7, b"out\n")
    assert done.stderr.startswith(b"err\n")
    assert run(executing(story, "true")).returncode == 0
    assert run(executing(story, "/no/such/program")).returncode != 0


def test_exec_takes_spdy_where_the_provider_grants_only_create(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    # liqod learns that milan forbids GETs, and sends none afterwards.
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

    # liqod remembers this about the provider for an hour, unless it restarts.
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
    """Servers answer no ping behind stdin that nobody reads, so this goes on for longer than pings are waited for."""
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
        see_resized(shell, 45, 150)
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


def test_exec_ends_with_its_container(story: Story) -> None:
    story.create(busybox("one", UNTIL_TOLD, restartPolicy="Never"))
    story.wait_ready("one")
    script = "echo here; sleep 1000000"
    within = subprocess.Popen(executing(story, "sh", "-c", script), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert within.stdout and within.stdout.readline() == b"here\n"
    inside(story, "touch /tmp/end")
    _, errors = within.communicate(timeout=patient(60))
    assert within.returncode == 137 and errors.splitlines() == [b"command terminated with exit code 137"], errors


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
