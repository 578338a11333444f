"""`kubectl attach`, `run` and `debug` in rome reach programs in milan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.images import BUSYBOX_IMAGE
from harness.monitoring.streams import attaching, kubectl, run, see_resized
from harness.story import Story
from harness.tools.terminal import terminal
from harness.wait import wait_for


def interactive(name: str, script: str, tty: bool) -> dict[str, Any]:
    """A pod that reads what is typed to the process that it began with."""
    pod = busybox(name, script, restartPolicy="Never")
    pod["spec"]["containers"][0] |= {"stdin": True, "stdinOnce": True, "tty": tty}
    return pod


def test_attach_carries_input_output_and_the_end(story: Story) -> None:
    story.create(interactive("one", "while read line; do echo said $line; echo wrong >&2; done; exit 3", tty=False))
    story.wait_ready("one")
    done = run(attaching(story, "-i"), b"first\nsecond\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"said first\nsaid second\n"
    assert done.stderr.count(b"wrong\n") == 2
    # The program ends with its input; its exit code, which kubectl attach does not show, is in the pod's status.
    story.wait_phase("one", "Failed")


def test_attach_to_a_terminal_can_be_resized(story: Story) -> None:
    story.create(interactive("one", "exec sh", tty=True))
    story.wait_ready("one")
    with terminal(attaching(story, "-it"), rows=30, columns=100) as shell:
        # kubectl sends a wrong size first, so that the program redraws the screen.
        shell.type("until stty size | grep -q ^30; do sleep 0.2; done; stty size\n")
        shell.read_until("30 100")
        see_resized(shell, 45, 150)
        shell.type("exit\n")
        assert shell.wait() == 0


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


def debugging(story: Story, *arguments: str) -> list[str]:
    # kubectl's own profile, `general`, adds SYS_PTRACE since 1.36.
    profile = () if any("--profile" in one for one in arguments) else ("--profile=baseline",)
    debug = ("debug", *profile, *arguments, f"--image={BUSYBOX_IMAGE}")
    command = story.consumer.kubectl_command("-n", story.namespace, *debug)
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
    # The second debug container has no terminal; added containers leave the running ones alone.
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
    sentence = (
        b"does not run the ephemeral container: pod one may not run in this cluster: spec.ephemeralContainers"
    )
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
    done = run([*debugging(story, "-i", "--profile=general", f"node/{story.peering.node}"), "--", "true"])
    assert done.returncode != 0
    assert b"is virtual and has no files, processes or network to look at" in done.stderr, done.stderr


def test_delete_by_force_removes_both_pods(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    done = kubectl(story, "delete", "pod", "one", "--force", "--grace-period=0")
    assert done.returncode == 0, done.stderr
    assert story.consumer.pod(story.namespace, "one") is None
    story.wait_nothing_left()
