"""The harness that the stories stand on works, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import settings
from harness.cluster import audit
from harness.cluster.api import Api, Refused
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.pki import Authority, Pair
from harness.run import Run
from harness.wait import TimedOut, patient, stays, wait_for


def phase(cluster: Cluster, namespace: str, name: str) -> str:
    return (cluster.pod(namespace, name) or {}).get("status", {}).get("phase", "")


def test_a_pod_runs_on_the_real_kubelet_and_kubectl_reaches_it(milan: Cluster, namespace: str) -> None:
    milan.namespace(namespace)
    milan.api.create("pods", namespace, busybox("one", "echo hello from $(hostname); sleep 1000"))
    wait_for(lambda: phase(milan, namespace, "one") == "Running", 60, "the pod to run")
    # A container's output is in its log a moment later.
    wait_for(lambda: milan.kubectl("-n", namespace, "logs", "one") == "hello from one\n", 60, "the log")
    assert milan.kubectl("-n", namespace, "exec", "-i", "one", "--", "cat", stdin="in and out") == "in and out"
    ended = subprocess.run(
        milan.space.entering(milan.kubectl_command("-n", namespace, "exec", "one", "--", "sh", "-c", "exit 7"))
    )
    assert ended.returncode == 7


def test_pods_run_on_fake_nodes(rome: Cluster, namespace: str) -> None:
    rome.namespace(namespace)
    for number in range(20):
        rome.api.create("pods", namespace, busybox(f"pod-{number}"))
    wait_for(lambda: all(pod["status"]["phase"] == "Running" for pod in rome.pods(namespace)), 60, "20 pods to run")
    # The scheduler chooses the node, and need not use both.
    assert {pod["spec"]["nodeName"] for pod in rome.pods(namespace)} <= {"rome-fake-0", "rome-fake-1"}


def test_pods_of_two_clusters_reach_each_other(rome: Cluster, milan: Cluster, namespace: str) -> None:
    milan.namespace(namespace)
    milan.api.create("pods", namespace, busybox("one", "while true; do echo pong | nc -l -p 8080; done"))
    wait_for(lambda: phase(milan, namespace, "one") == "Running", 30, "the pod to run")
    address = (milan.pod(namespace, "one") or {})["status"]["podIP"]
    wait_for(lambda: rome.space.connect(address, 8080).recv(100) == b"pong\n", 60, "the pod to answer rome")


def test_what_is_kept_is_started_again_until_it_is_killed(rome: Cluster, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    script = f"echo >> {begun}; [ $(wc -l < {begun}) -lt 3 ] || exec sleep 1000"
    kept = rome.space.start("kept", ["sh", "-c", script], keep=True)
    wait_for(lambda: begun.read_text() == "\n" * 3, 30, "it to begin a third time")
    assert kept.running()
    kept.kill()
    assert not kept.running() and kept.exit_code() == -signal.SIGKILL
    stays(lambda: begun.read_text() == "\n" * 3, 1, "what was killed not to begin again")


def test_a_link_can_be_cut_and_healed(run: Run, rome: Cluster, milan: Cluster) -> None:
    reach = lambda: rome.space.connect(milan.address, 6443, timeout=1)  # noqa: E731
    wait_for(reach, 60, "milan to be reachable").close()
    run.network.cut("milan")
    try:
        with pytest.raises(OSError):
            reach()
        # A cut link does not matter inside the cluster.
        wait_for(milan.api.healthy, 60, "milan's own API server to answer")
    finally:
        run.network.heal("milan")
    wait_for(reach, 60, "milan to be reachable again").close()


def test_a_link_can_be_slow(run: Run, rome: Cluster, milan: Cluster) -> None:
    pki = milan.directory / "pki"
    from_afar = Api(rome.space, milan.address, 6443, pki / "ca.crt", Pair(pki / "admin.crt", pki / "admin.key"))
    big = {"kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"text": "x" * 64_000}}
    run.network.slow("milan", kbit=256)
    try:
        started = time.monotonic()
        from_afar.create("configmaps", "default", big)
        assert time.monotonic() - started >= 1, "64 kB take two seconds at 256 kbit/s, less what the bucket holds"
    finally:
        run.network.heal("milan")


def test_the_audit_log_counts_writes_and_knows_the_pods_created(rome: Cluster, namespace: str) -> None:
    rome.namespace(namespace)
    before = rome.audit.mark()
    created = rome.api.create("pods", namespace, busybox("one"))
    rome.api.patch("pods", namespace, "one", {"metadata": {"labels": {"a": "b"}}})
    rome.api.get("pods", namespace, "one")
    assert rome.audit.writes(audit.of_user("liqo-test-admin"), before) == {"create pods": 1, "patch pods": 1}
    assert [pod["metadata"]["uid"] for pod in rome.audit.created_pods(before)] == [created["metadata"]["uid"]]


@pytest.mark.refusals("a user without rights is what this story is about")
def test_the_audit_log_finds_who_was_refused(rome: Cluster) -> None:
    before = rome.audit.mark()
    stranger = rome.as_user(rome.authority.issue("stranger", "stranger", ["nobody"]))
    with pytest.raises(Refused):
        stranger.list("pods", "default")
    refused = [audit.described(entry) for entry in rome.refused(before)]
    assert len(refused) == 1 and refused[0].startswith("stranger list pods default: 403")


def test_who_asks_before_a_binding_is_noticed_lacks_no_rights() -> None:
    def entry(second: int, verb: str, resource: str, code: int, user: str = "liqod") -> audit.Entry:
        reference = {"resource": resource, "namespace": "shop"}
        when = f"2026-01-01T00:00:{second:02}Z"
        return {
            "user": {"username": user}, "verb": verb, "objectRef": reference, "responseStatus": {"code": code},
            "requestReceivedTimestamp": when,
        }  # fmt: skip

    bound, refused = entry(10, "create", "rolebindings", 201, "admin"), entry(12, "list", "pods", 403)
    later = entry(13, "list", "pods", 200)
    assert audit.came_early(refused, [bound, refused, later])
    assert not audit.came_early(refused, [bound, refused]), "it never got in"
    assert not audit.came_early(refused, [bound, refused, entry(13, "list", "secrets", 200)]), "that is something else"
    assert not audit.came_early(refused, [refused, later]), "nobody was bound"
    assert not audit.came_early(entry(40, "list", "pods", 403), [bound, entry(41, "list", "pods", 200)]), "long after"
    assert not audit.came_early(refused, [entry(10, "create", "rolebindings", 409), refused, later]), "nobody was bound"


def test_nobody_in_the_control_plane_is_an_administrator(rome: Cluster, milan: Cluster) -> None:
    for cluster in (rome, milan):
        masters = {audit.user(entry) for entry in cluster.audit.entries() if "system:masters" in audit.groups(entry)}
        # The API server calls itself without a certificate, as a member of system:masters.
        assert masters <= {"liqo-test-admin", "system:apiserver"}


def test_an_api_server_restarts_with_what_it_knew(rome: Cluster, namespace: str) -> None:
    rome.namespace(namespace)
    rome.restart("kube-apiserver")
    assert rome.api.find("namespaces", None, namespace)


def test_a_service_account_works_by_its_token(rome: Cluster, namespace: str) -> None:
    rome.namespace(namespace)
    kubeconfig = rome.service_account(namespace, "somebody")
    who = rome.space.run(
        rome.kube, "kubectl", "--kubeconfig", kubeconfig, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"
    )
    assert who == f"system:serviceaccount:{namespace}:somebody"


def test_waiting_in_vain_tells_what_was_seen_last() -> None:
    with pytest.raises(TimedOut, match=rf"waited {patient(0.1):g} s for a wonder; last seen: LookupError: nothing yet"):
        wait_for(nothing, 0.1, "a wonder")
    stays(lambda: True, 0.1, "truth")


def nothing() -> str:
    raise LookupError("nothing yet")


def test_a_certificate_authority_names_users_and_groups(tmp_path: Path) -> None:
    pair = Authority(tmp_path, "here").issue("somebody", "system:node:a", ["system:nodes", "others"], ["IP:10.0.0.1"])
    told = subprocess.run(
        ["openssl", "x509", "-in", pair.certificate, "-noout", "-subject", "-ext", "subjectAltName"],
        capture_output=True,
        text=True,
    )
    assert "O = system:nodes, O = others, CN = system:node:a" in told.stdout and "IP Address:10.0.0.1" in told.stdout


# The pod of such a run sleeps for a time of its own, by which it is found among those of other runs.
SLEEPER = f"sleep {7_000_000 + os.getpid()}"
SCRIPT = f"""
import signal, time
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.cluster.pki import Authority, Pair
from harness.run import Run
from harness.wait import wait_for
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs in the background ignores it
run = Run()
try:
    print(run.directory, flush=True)
    here = run.start(here=Options(kubelet=True))["here"]
    here.api.create("pods", "default", busybox("one", "exec {SLEEPER}"))
    wait_for(lambda: here.pod("default", "one")["status"]["phase"] == "Running", 60, "the pod to run")
    print(run.id, flush=True)
    time.sleep(1000)
finally:
    run.close()
"""


def leavings(run_id: str, directory: Path) -> list[str]:
    """What a run that is over has left on the machine."""
    found = [
        f"mount {line}" for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(directory) in line
    ]
    found += [f"cgroup {path}" for path in Path("/sys/fs/cgroup").glob(f"**/liqo-{run_id}-*")]
    found += [str(directory)] if directory.exists() else []
    return found + [f"process {process}" for process in processes_of(directory)]


def processes_of(directory: Path) -> list[str]:
    """The processes that name the run's directory, and the sleeper in its pod."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(directory) in command or SLEEPER in command:
            found.append(f"{entry.name} {command}")
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed outright"])
def test_a_run_that_is_cut_short_leaves_nothing(run: Run, number: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=settings.SUITE, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    try:
        directory, run_id = Path(child.stdout.readline().strip()), child.stdout.readline().strip()
        assert run_id and processes_of(directory)
        os.kill(child.pid, number)
        child.wait(patient(60))
    finally:
        child.kill()
    wait_for(lambda: not processes_of(directory), 60, "every process of the run to end")
    if number == signal.SIGKILL:
        # Processes, mounts and networks went at once; files stay until the next run, which sweeps first.
        subprocess.run([sys.executable, "-c", "from harness.run import sweep; sweep()"], cwd=settings.SUITE, check=True)
    # Another run that begins now may sweep them, too.
    wait_for(lambda: leavings(run_id, directory) == [], 60, "every trace of it to be gone")
