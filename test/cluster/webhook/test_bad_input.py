"""A mistake of a user or a peer gives one clear error where the user looks, and everything else goes on."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import settings
from harness.cluster import pki
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.node import is_ready
from harness.liqo.peering import Peering
from harness.story import Story
from harness.wait import patient, wait_for

pytestmark = pytest.mark.usefixtures("daemons")


def ends_with(rome: Cluster, *flags: object, timeout: float = 60) -> tuple[int, str]:
    """Runs liqod in rome until it ends by itself; its exit code and what it printed."""
    command = rome.space.entering([settings.liqod(), *flags])
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, **output, timeout=patient(timeout), text=True)
    return done.returncode, done.stdout


def usual(rome: Cluster, kubeconfig: object) -> list[object]:
    own_ports = ["--listen-port", 20250, "--metrics-address", f"{rome.address}:29090", "--webhook-port", 29443]
    own_ports += ["--health-probe-address", f"{rome.address}:28081"]
    return ["--kubeconfig", kubeconfig, "--cluster-id", "rome", "--node-ip", rome.address, *own_ports]


@pytest.mark.parametrize(
    "flags",
    [
        ["--no-such-flag"],
        ["--cluster-id", "Not An Id!"],
        ["--cluster-id", "rome", "--listen-port", "99999999"],
        ["--cluster-id", "rome", "--node-ip", "10.0.0.1", "--listen-port", "65000", "--listen-port-count", "600"],
        ["--cluster-id", "rome", "--node-ip", "not-an-ip"],
        ["--cluster-id", "rome", "--node-ip", "10.0.0.1", "--node-extra-labels", "tier=gold,zone"],
        ["--cluster-id", "rome", "--node-ip", "10.0.0.1", "--apiserver-support=never", "--enable-apiserver-support"],
        ["--cluster-id", "rome", "--node-ip", "10.0.0.1", "--home-api-server-port", "https"],
    ],
    ids=lambda flags: " ".join(flags),
)
def test_a_wrong_flag_ends_with_2_and_one_line(rome: Cluster, flags: list[str]) -> None:
    code, printed = ends_with(rome, *flags)
    assert code == 2
    assert len(printed.strip().splitlines()) == 1, printed


def test_help_knows_every_flag_of_the_harness(rome: Cluster) -> None:
    code, printed = ends_with(rome, "--help")
    assert code == 0
    for flag in ("--kubeconfig", "--cluster-id", "--liqo-namespace", "--node-ip", "--listen-port", "--metrics-address"):
        assert flag in printed


@pytest.mark.parametrize(
    "text",
    ["", "garbage: [", "apiVersion: v1\nkind: Config\ncurrent-context: nowhere\n"],
    ids=["empty", "no YAML", "no context"],
)
def test_a_broken_kubeconfig_ends_with_a_clear_line(rome: Cluster, tmp_path: Path, text: str) -> None:
    broken = tmp_path / "kubeconfig"
    broken.write_text(text)
    code, printed = ends_with(rome, *usual(rome, broken))
    assert code not in (0, -6, -11) and str(broken) in printed


@pytest.mark.parametrize(
    ("flag", "port"), [("--listen-port", 10250), ("--metrics-address", 9090), ("--health-probe-address", 8090)]
)
def test_a_port_in_use_ends_with_a_clear_line(rome_to_milan: Peering, flag: str, port: int) -> None:
    rome = rome_to_milan.consumer
    flags = usual(rome, rome.directory / "liqo-liqo.kubeconfig")
    flags[flags.index(flag) + 1] = port if flag == "--listen-port" else f"{rome.address}:{port}"
    code, printed = ends_with(rome, *flags)
    assert code not in (0, -6, -11) and f"{port}" in printed


def test_a_certificate_of_the_metrics_that_is_none_ends_with_a_clear_line(rome: Cluster, tmp_path: Path) -> None:
    kubeconfig = rome.directory / "liqo-liqo.kubeconfig"
    code, printed = ends_with(rome, *usual(rome, kubeconfig), "--metrics-cert-path", tmp_path)
    assert code == 1 and f"certificate of the metrics: there is no file {tmp_path}/tls.crt" in printed
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_text("nothing of the kind")
    code, printed = ends_with(rome, *usual(rome, kubeconfig), "--metrics-cert-path", tmp_path)
    assert code == 1 and "certificate of the metrics" in printed


def broken_node(rome_to_milan: Peering, name: str, kubeconfig: str | None) -> Peering:
    """A second VirtualNode of rome whose Secret is missing, or holds what `kubeconfig` says."""
    peering = Peering(rome_to_milan.consumer, rome_to_milan.provider, node=name)
    if kubeconfig is not None:
        peering.write_secret(kubeconfig)
    peering.write_virtual_node()
    return peering


def changed_user(kubeconfig: str, user: dict[str, Any]) -> str:
    config = yaml.safe_load(kubeconfig)
    config["users"][0]["user"] = user
    return yaml.safe_dump(config)


def test_a_virtualnode_without_its_secret_says_so_and_recovers(rome_to_milan: Peering) -> None:
    peering = broken_node(rome_to_milan, "no-secret", None)
    try:
        wait_for(lambda: peering.secret in peering.told(), 60, "the VirtualNode to name the missing Secret")
        assert not peering.node_ready()
        assert rome_to_milan.node_ready(), "the other virtual node is not concerned"
        peering.write_secret(peering.kubeconfig())
        peering.wait_ready(60)
    finally:
        peering.dissolve()
        wait_for(lambda: peering.node_object() is None, 60, "the node to be gone")


PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": ["/tmp/liqo-test-pwned"]}
# The user entry of the Secret's kubeconfig, and a word of the answer; None stands for text that is no YAML.
BROKEN: dict[str, tuple[dict[str, Any] | None, str]] = {
    "garbage": (None, ""),
    "exec": ({"exec": PLUGIN}, "exec"),
    "a file of the host": ({"tokenFile": "/etc/shadow"}, "tokenFile"),
    "a key file of the host": ({"client-certificate": "/etc/x.crt", "client-key": "/etc/x.key"}, "client-"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_secret_with_a_bad_kubeconfig_is_refused_and_says_why(rome_to_milan: Peering, what: str) -> None:
    user, word = BROKEN[what]
    name = "bad-" + what.replace(" ", "-")
    kubeconfig = "garbage: [" if user is None else changed_user(rome_to_milan.kubeconfig(), user)
    peering = broken_node(rome_to_milan, name, kubeconfig)
    try:
        wait_for(lambda: word in peering.told() and "kubeconfig" in peering.told(), 60, "the VirtualNode to say why")
        assert not is_ready(peering.node_object())
        assert not Path("/tmp/liqo-test-pwned").exists()
        assert rome_to_milan.node_ready(), "the other virtual node is not concerned"
    finally:
        peering.dissolve()
        wait_for(lambda: peering.consumer.api.find("virtualnodes", peering.home, name) is None, 60, "it to be gone")


def talking_garbage(peering: Peering, answer: bytes) -> tuple[int, threading.Event]:
    """A server in milan's network that says `answer` to whoever connects; its port, and how to end it."""
    done, ports = threading.Event(), list[int]()
    started = threading.Event()

    def serve() -> None:
        server = peering.provider.space.listen("0.0.0.0")
        server.settimeout(0.2)
        ports.append(server.getsockname()[1])
        started.set()
        with server:
            while not done.is_set():
                try:
                    client, _ = server.accept()
                except TimeoutError:
                    continue
                with client:
                    try:
                        client.sendall(answer)
                    except OSError:
                        continue

    threading.Thread(target=serve, daemon=True).start()
    assert started.wait(patient(30))
    return ports[0], done


@pytest.mark.parametrize(
    "answer",
    [b"", b"\x00" * 5000, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200_000, b"\x16\x03\x03\xff\xff" + b"\xff" * 70_000],
    ids=["nothing", "zeros", "endless headers", "a broken handshake"],
)
def test_a_provider_that_answers_garbage_harms_nobody_else(rome_to_milan: Peering, story: Story, answer: bytes) -> None:
    port, done = talking_garbage(rome_to_milan, answer)
    good = rome_to_milan.kubeconfig()
    bad = good.replace(f":{rome_to_milan.provider.server.rpartition(':')[2]}", f":{port}")
    assert bad != good
    peering = broken_node(rome_to_milan, "garbage", bad)
    try:
        story.create(busybox("one"))
        story.wait_ready("one")
        assert not peering.node_ready() and rome_to_milan.node_ready()
        assert story.home.running
    finally:
        done.set()
        peering.dissolve()
        wait_for(
            lambda: peering.consumer.api.find("virtualnodes", peering.home, "garbage") is None, 60, "it to be gone"
        )


def test_a_kubeconfig_of_a_stranger_is_refused_by_the_provider_and_says_so(rome_to_milan: Peering) -> None:
    provider = rome_to_milan.provider
    elsewhere = pki.Authority(provider.directory / "elsewhere", "elsewhere")
    user = pki.certificate_user(elsewhere.issue("stranger", "stranger"))
    kubeconfig = pki.kubeconfig(provider.server, provider.authority.pair.certificate, user)
    peering = broken_node(rome_to_milan, "stranger", kubeconfig)
    try:
        wait_for(lambda: "401" in peering.told() or "nauthorized" in peering.told(), 60, "the VirtualNode to say why")
        assert not peering.node_ready()
    finally:
        peering.dissolve()
        wait_for(
            lambda: peering.consumer.api.find("virtualnodes", peering.home, "stranger") is None, 60, "it to be gone"
        )


def test_a_rotated_kubeconfig_is_taken_up(rome_to_milan: Peering, story: Story) -> None:
    """The Secret gets a new certificate for the same user; pods start and the node stays Ready."""
    rome_to_milan.write_secret(rome_to_milan.kubeconfig())
    story.create(busybox("one"))
    story.wait_ready("one")
    assert rome_to_milan.node_ready()
