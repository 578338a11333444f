"""`kubectl logs` in rome shows all that containers in milan have written, to the end."""

from __future__ import annotations

from harness.cluster.cluster import UNTIL_TOLD, busybox
from harness.monitoring.streams import logs, wait_no_streams
from harness.story import Story
from harness.wait import patient, wait_for


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


def test_logs_of_all_containers_are_followed(story: Story) -> None:
    pod = busybox("one", f"echo from main; {UNTIL_TOLD}", restartPolicy="Never")
    beside = f"echo from beside; {UNTIL_TOLD}; echo bye"
    pod["spec"]["containers"].append({**busybox("", beside)["spec"]["containers"][0], "name": "beside"})
    story.create(pod)
    story.wait_ready("one")
    followed = story.consumer.kubectl_started(
        "-n", story.namespace, "logs", "one", "--all-containers", "--prefix", "-f"
    )
    assert followed.stdout
    first = {followed.stdout.readline() for _ in range(2)}
    assert first == {b"[pod/one/main] from main\n", b"[pod/one/beside] from beside\n"}
    for container in ("main", "beside"):
        story.provider.kubectl("-n", story.twin, "exec", "one", "-c", container, "--", "touch", "/tmp/end")
    rest, errors = followed.communicate(timeout=patient(60))
    assert (followed.returncode, rest) == (0, b"[pod/one/beside] bye\n"), errors
    wait_no_streams(story)
