"""The library's examples work with a real API server, and kubectl and one of them with kube-testserver."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from harness import settings
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.namespace import Process
from harness.wait import wait_for

sys.path.insert(0, str(settings.TREE / "tools"))

import installed  # noqa: E402

LIBRARY = settings.TREE / "subprojects/kube"
WEBHOOK_PORT = 19443


def built(part: str) -> Path:
    """A program of the library, from the build directory of the liqod that the stories run."""
    liqod = settings.liqod()
    assert liqod, "there is no build to take the examples from"
    return liqod.parents[2] / "subprojects/kube" / part


@contextmanager
def running(cluster: Cluster, name: str, *arguments: object, label: str = "") -> Iterator[Process]:
    """An example with the administrator's kubeconfig; it ends well when it is told to."""
    command = ["env", f"KUBECONFIG={cluster.kubeconfig}", built(f"examples/{name}"), *arguments]
    process = cluster.space.start(label or name, command)
    try:
        yield process
    finally:
        if process.running():
            process.stop()
    assert process.exit_code() == 0, process.log.read_text()[-500:]


def jsonpath(cluster: Cluster, namespace: str, what: str, path: str) -> str:
    return cluster.kubectl("-n", namespace, "get", *what.split(), "-o", f"jsonpath={{{path}}}", check=False)


def apply_widget(cluster: Cluster, namespace: str, colour: str) -> None:
    lamp = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "lamp"}, "spec": {"colour": colour}}
    cluster.kubectl("-n", namespace, "apply", "-f", "-", stdin=yaml.safe_dump(lamp))


def wait_widget(cluster: Cluster, namespace: str, colour: str) -> None:
    def is_so() -> bool:
        assert jsonpath(cluster, namespace, "configmap lamp", ".data.colour") == colour
        generation = jsonpath(cluster, namespace, "widget lamp", ".metadata.generation")
        assert jsonpath(cluster, namespace, "widget lamp", ".status.observedGeneration") == generation
        return jsonpath(cluster, namespace, "widget lamp", ".status.ready") == "true"

    wait_for(is_so, 30, f"the Widget to be {colour}")


def test_a_controller_of_a_custom_kind_under_election(milan: Cluster, namespace: str) -> None:
    milan.namespace(namespace)
    milan.kubectl("apply", "-f", LIBRARY / "examples/widgets.yaml")
    milan.kubectl("wait", "--for=condition=Established", "crd/widgets.example.com")
    with running(milan, "widget_controller", namespace, "first", label="widgets-1") as first:
        apply_widget(milan, namespace, "red")
        wait_widget(milan, namespace, "red")
        with running(milan, "widget_controller", namespace, "second", label="widgets-2"):
            milan.kubectl("-n", namespace, "delete", "configmap", "lamp")
            wait_widget(milan, namespace, "red")
            # A leader that stops releases its lease.
            first.stop()
            apply_widget(milan, namespace, "blue")
            wait_widget(milan, namespace, "blue")
            assert jsonpath(milan, namespace, "lease widget-controller", ".spec.holderIdentity") == "second"
            milan.kubectl("-n", namespace, "delete", "widget", "lamp", "--timeout=30s")
            assert not jsonpath(milan, namespace, "configmap lamp", ".metadata.name")


def test_a_counter_of_pods(milan: Cluster, namespace: str) -> None:
    milan.namespace(namespace)
    count = r".metadata.annotations.example\.com/pods"
    with running(milan, "pod_counter"):
        wait_for(lambda: jsonpath(milan, namespace, f"namespace {namespace}", count) == "0", 30, "no pod to be counted")
        milan.api.create("pods", namespace, busybox("one"))
        wait_for(lambda: jsonpath(milan, namespace, f"namespace {namespace}", count) == "1", 30, "the pod to be counted")


def test_a_command_and_a_log(milan: Cluster, namespace: str) -> None:
    milan.namespace(namespace)
    milan.api.create("pods", namespace, busybox("talker", "echo said at the start; sleep 1000000"))
    milan.kubectl("-n", namespace, "wait", "--for=condition=Ready", "pod/talker", "--timeout=60s", timeout=90)
    program = ["env", f"KUBECONFIG={milan.kubeconfig}", built("examples/exec_and_log")]
    said = milan.space.run(*program, namespace, "talker", "sh", "-c", "echo done by a command")
    assert said == "done by a command\nsaid at the start\n"
    # A refusal of the server is reported in one line, with an exit code.
    with pytest.raises(AssertionError, match='ended with 1: exec_and_log: .*pods "nobody" not found'):
        milan.space.run(*program, namespace, "nobody", "true")


def test_a_webhook(milan: Cluster, namespace: str) -> None:
    milan.namespace(namespace)
    milan.kubectl("label", "namespace", namespace, "example.com/owners=true")
    try:
        with running(milan, "webhook", milan.address, WEBHOOK_PORT):

            def is_refused() -> bool:
                with pytest.raises(AssertionError, match="the ConfigMap has no label example.com/owner"):
                    milan.kubectl("-n", namespace, "create", "configmap", "a", "--dry-run=server")
                return True

            wait_for(is_refused, 30, "the ConfigMap to be refused")
            owned = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "b", "labels": {"example.com/owner": "me"}}}
            milan.kubectl("-n", namespace, "apply", "-f", "-", stdin=yaml.safe_dump(owned))
    finally:
        milan.kubectl("delete", "validatingwebhookconfiguration", "example-owners", "--ignore-not-found")


def test_the_test_server_serves_kubectl_and_controllers(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    server = subprocess.Popen(
        [built("testserver/kube-testserver"), "--kubeconfig", config, "--crd", LIBRARY / "examples/widgets.yaml", "--run-pods"],
        stdout=subprocess.PIPE,
        text=True,
    )
    environment = {**os.environ, "KUBECONFIG": str(config)}

    def kubectl(*arguments: str, stdin: str | None = None) -> str:
        command = [settings.tool("kube"), "kubectl", *arguments]
        return subprocess.run(command, input=stdin, env=environment, check=True, capture_output=True, text=True).stdout

    controller = None
    try:
        assert server.stdout and server.stdout.readline().startswith("http://127.0.0.1:")
        controller = subprocess.Popen([built("examples/widget_controller"), "default", "one"], env=environment)
        assert "widgets" in kubectl("api-resources", "--api-group=example.com")
        lamp = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "lamp"}, "spec": {"colour": "red"}}
        kubectl("apply", "--server-side", "--validate=false", "-f", "-", stdin=yaml.safe_dump(lamp))
        wait_for(lambda: "true" in kubectl("get", "widget", "lamp", "-o", "jsonpath={.status.ready}"), 30, "the Widget")
        assert kubectl("get", "cm", "lamp", "-o", "jsonpath={.data.colour}") == "red"
        kubectl("delete", "widget", "lamp", "--timeout=30s")
        job = busybox("job", restartPolicy="Never")
        job["metadata"]["annotations"] = {"sim.kube/run-seconds": "1", "sim.kube/exit-code": "3"}
        kubectl("create", "--validate=false", "-f", "-", stdin=yaml.safe_dump(job))
        phase = ("get", "pod", "job", "-o", "jsonpath={.status.phase}")
        wait_for(lambda: kubectl(*phase) == "Failed", 30, "the pod to end")
    finally:
        for process in (controller, server):
            if process:
                process.terminate()
                assert process.wait(timeout=20) == 0


def test_the_library_is_installed_and_used_by_another_project(tmp_path: Path) -> None:
    """`meson install` into a prefix; one of the examples is compiled with what pkg-config says, and runs."""
    assert installed.stage(built("").parents[1], tmp_path), "the libraries cannot be installed"
    (found,) = tmp_path.rglob("kube.pc")
    prefix = tmp_path / "usr/local"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(found.parent)}
    ask = ["pkg-config", f"--define-variable=prefix={prefix}", "--static", "--cflags", "--libs", "kube"]
    assert (prefix / "include/kube/client/api.hpp").exists()
    flags = subprocess.run(ask, env=environment, check=True, capture_output=True, text=True).stdout.split()
    program = tmp_path / "counter"
    sources = [LIBRARY / "examples/pod_counter.cpp", LIBRARY / "examples/connect.cpp"]
    compiled = subprocess.run(
        ["clang++-19", "-std=c++23", "-o", program, *sources, *flags], capture_output=True, text=True, check=False
    )
    assert compiled.returncode == 0, compiled.stderr[-2000:]
    ended = subprocess.run([program], env={"KUBECONFIG": "/nowhere", "HOME": "/nowhere"}, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "there is no kubeconfig" in ended.stderr
