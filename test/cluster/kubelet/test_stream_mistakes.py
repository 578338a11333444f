"""If kubectl cannot stream, it says why in one sentence and does not end with exit code 0."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from subprocess import PIPE

from harness.cluster.cluster import busybox
from harness.cluster.pki import Pair
from harness.liqo.peering import Peering
from harness.monitoring.streams import attaching, forwarding, inside, kubectl, kubelet_port, log_of, logs, run, wait_no_streams
from harness.run import Run
from harness.story import Story
from harness.wait import patient, wait_for

# Lines that kubectl prints before it sends a request.
BEFOREHAND = ("Defaulted container", "All commands and output from this session", "If you don't see a command prompt")


def one_sentence(story: Story, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Runs kubectl at home, which has to fail with one sentence."""
    done = kubectl(story, *arguments)
    sentences = [line for line in done.stderr.decode().splitlines() if not line.startswith(BEFOREHAND)]
    assert done.returncode != 0 and len(sentences) == 1, done
    return done


def as_on_a_node(story: Story, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """What kubectl says at home: it ends as it does where the provider itself is asked, with one sentence."""
    there = run(story.provider.space.entering(story.provider.kubectl_command("-n", story.twin, *arguments)))
    here = one_sentence(story, *arguments)
    assert here.returncode == there.returncode, (here, there)
    return here


def test_what_cannot_be_executed_says_why_in_a_sentence(story: Story, tmp_path: Path) -> None:
    """A container that does not exist, one that is not started, a program and a tar that are not there; and ports."""
    story.create(busybox("one"))
    waiting = busybox("waits")
    waiting["spec"]["initContainers"] = [{**waiting["spec"]["containers"][0], "name": "first"}]
    story.create(waiting)
    story.wait_ready("one")
    (tmp_path / "file").write_text("content")
    assert b'"tar"' in as_on_a_node(story, "cp", tmp_path / "file", "one:/tmp/file").stderr
    assert b"nobody is not valid" in as_on_a_node(story, "exec", "one", "-c", "nobody", "--", "true").stderr
    assert b"nobody is not valid" in as_on_a_node(story, "logs", "one", "-c", "nobody").stderr
    assert b"nobody is not valid" in as_on_a_node(story, "attach", "one", "-c", "nobody").stderr
    assert b"/no/such/program" in as_on_a_node(story, "exec", "one", "--", "/no/such/program").stderr
    story.wait_local("waits", lambda pod: pod["status"].get("initContainerStatuses"), "to begin")
    assert b"main" in as_on_a_node(story, "exec", "waits", "-c", "main", "--", "true").stderr
    assert b"is waiting to start" in as_on_a_node(story, "logs", "waits", "-c", "main").stderr
    assert b"main" in as_on_a_node(story, "attach", "waits", "-c", "main").stderr
    assert b"pod is not running" in as_on_a_node(story, "port-forward", "pod/waits", ":80").stderr
    assert b"remote port must be > 0" in as_on_a_node(story, "port-forward", "pod/one", ":0").stderr
    assert b"value out of range" in as_on_a_node(story, "port-forward", "pod/one", ":70000").stderr


def test_who_is_attached_while_it_ends_hears_of_it_as_on_a_node(story: Story) -> None:
    script = "until [ -e /tmp/end ]; do echo here; sleep 0.2; done; echo bye; exit 3"
    story.create(busybox("one", script, restartPolicy="Never"))
    story.wait_ready("one")
    there = story.provider.space.entering(story.provider.kubectl_command("-n", story.twin, "attach", "one"))
    both = [subprocess.Popen(one, stdout=PIPE, stderr=PIPE) for one in (attaching(story), there)]
    for one in both:
        assert one.stdout and one.stdout.readline() == b"here\n"
    inside(story, "touch /tmp/end")
    ends = [
        (out.splitlines()[-1], errors, one.returncode)
        for one in both
        for out, errors in [one.communicate(timeout=patient(60))]
    ]
    assert ends[0] == ends[1] and ends[0][0] == b"bye", ends
    # A caller that comes too late is told so.
    story.wait_phase("one", "Failed")
    assert b"completed" in as_on_a_node(story, "attach", "one").stderr


def test_a_virtual_node_that_is_gone_is_said_to_be_gone(story: Story) -> None:
    peering = Peering(story.consumer, story.provider, node="gone")
    peering.write_quota()
    peering.write_secret(peering.kubeconfig())
    peering.write_virtual_node()
    peering.wait_ready(60)
    story.consumer.api.create("pods", story.namespace, peering.pinned(busybox("one")))
    story.wait_ready("one")
    commands = (("logs", "one"), ("exec", "one", "--", "true"), ("attach", "one"), ("port-forward", "pod/one", ":80"))
    peering.dissolve()
    wait_for(lambda: peering.node_object() is None, 60, "the node to be gone")
    story.wait_nothing_left()
    for command in commands:
        assert b'pods "one" not found' in one_sentence(story, *command).stderr
    # This pod is bound to a node that does not exist; Kubernetes collects it after a while.
    late = busybox("one")
    late["spec"]["nodeName"] = "gone"
    story.consumer.api.create("pods", story.namespace, late)
    for command in commands[:-1]:
        assert b"gone" in one_sentence(story, *command).stderr
    pki = story.consumer.directory / "pki"
    client = kubelet_port(story, Pair(pki / "kubelet-client.crt", pki / "kubelet-client.key"))
    code, words = client.raw("GET", log_of(story))
    assert (code, words.strip()) == (404, f"pod {story.namespace}/one does not run on node milan".encode())
    # No kubelet would end the pod.
    assert kubectl(story, "delete", "pod", "one", "--force", "--grace-period=0").returncode == 0


def test_a_provider_that_is_out_of_reach_is_named_within_five_seconds(story: Story, run: Run) -> None:
    story.create(busybox("one", "echo here; sleep 1000000"))
    story.wait_ready("one")
    run.network.cut("milan")
    try:
        figures = ("get", "--raw", f"/api/v1/nodes/{story.peering.node}/proxy/stats/summary")
        for command in (("exec", "one", "--", "true"), ("logs", "one"), ("attach", "one"), figures):
            began = time.monotonic()
            done = one_sentence(story, *command)
            took = time.monotonic() - began
            assert b"cluster milan cannot be reached" in done.stderr, done.stderr
            assert took < patient(6), f"{command} took {took:.1f} s"
        # kubectl listens before it sends a request, and ends with the first connection that fails.
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
