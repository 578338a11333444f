"""What cannot be streamed: kubectl says why in one sentence, and ends with another code than 0."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from harness.cluster import busybox
from harness.run import Run
from harness.story import Story
from harness.streams import attaching, forwarding, kubectl, logs, run, wait_no_streams
from harness.wait import patient, wait_for


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


def test_attach_to_a_container_that_does_not_run_says_why(story: Story) -> None:
    story.create(busybox("one", "true", restartPolicy="Never"))
    story.wait_phase("one", "Succeeded")
    done = run(attaching(story))
    assert done.returncode != 0 and b"completed" in done.stderr, done.stderr


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
