"""The command line by itself: help, mistakes, terminals, and a cluster without peers."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import time

import pytest
import yaml

from harness import chart, settings
from harness.cluster import Cluster
from harness.liqoctl import Liqoctl


def run(*arguments: str, name: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Without any cluster."""
    binary = settings.liqoctl()
    assert binary and binary.exists(), "there is no liqoctl: build it, or name one by $LIQOCTL"
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment}
    return subprocess.run(
        [name or binary, *arguments], capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=30
    )


def commands(*path: str) -> list[tuple[str, ...]]:
    """Every command of the tree, from its own help."""
    text = run(*path, "--help").stdout
    if "Subcommands:" not in text:
        return [path]
    below = re.findall(r"^  ([a-z-]+)", text.split("Subcommands:")[1].split("\n\n")[0], re.MULTILINE)
    return [path, *(found for name in below for found in commands(*path, name))]


def test_every_command_has_help_with_a_sentence_and_usage() -> None:
    found = commands()
    assert len(found) >= 45
    for path in found:
        done = run(*path, "--help")
        assert done.returncode == 0 and not done.stderr, path
        first, usage = done.stdout.splitlines()[0], f"Usage: {' '.join(('liqoctl', *path))}"
        assert first[:1].isupper() and usage in done.stdout, path
        assert all(len(line) <= 120 for line in done.stdout.splitlines()), path


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["foo"], "there is no command 'foo' in 'liqoctl'"),
        (["inf"], "did you mean 'info'?"),
        (["info", "--hlp"], "did you mean '--help'?"),
        (["info", "peer", "-o", "xml"], "there is no form 'xml'"),
        (["version", "more"], "'more' is one argument too many"),
        (["cordon", "foo"], "there is no command 'foo' in 'liqoctl cordon'"),
        (["create"], "needs one of"),
        (["create", "resourceslice", "a"], "--remote-cluster-id is required"),
        (["peer", "--wait", "forever"], "forever"),
        (["peer", "--timeout", "soon"], "no duration"),
        (["offload", "namespace", "a", "--pod-offloading-strategy", "Elsewhere"], "Elsewhere"),
        (["completion"], "shell is required"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_a_wrong_command_line_ends_with_two_and_one_line(typed: list[str], told: str) -> None:
    done = run(*typed)
    assert done.returncode == 2 and not done.stdout
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_without_a_kubeconfig_it_says_what_to_give() -> None:
    done = run("info")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "--kubeconfig" in done.stderr and "KUBECONFIG" in done.stderr


def test_it_is_a_plugin_of_kubectl_by_name(tmp_path) -> None:
    plugin = tmp_path / "kubectl-liqo"
    plugin.symlink_to(settings.liqoctl())
    assert "Usage: kubectl liqo info peer" in run("info", "peer", "--help", name=str(plugin)).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_it_back(shell: str) -> None:
    assert "liqoctl __complete" in run("completion", shell).stdout
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=run("completion", shell).stdout, text=True, check=True)
    assert run("__complete", "inf").stdout == "info\n"
    assert run("__complete", "info", "peer", "--ge").stdout == "--get\n"


@pytest.fixture(scope="module")
def fresh(rome: Cluster) -> Liqoctl:
    """rome with the kinds installed, without any peer of its own making."""
    if settings.liqoctl() is None:
        pytest.skip("there is no liqoctl: build it")
    chart.install(rome)
    metadata = {"name": "liqo-clusterid-configmap", "labels": {"app.kubernetes.io/name": "clusterid-configmap"}}
    rome.api.apply("configmaps", "liqo", {"kind": "ConfigMap", "metadata": metadata, "data": {"CLUSTER_ID": "rome"}})
    return Liqoctl(rome)


def test_info_of_a_cluster_without_peers(fresh: Liqoctl) -> None:
    assert "Cluster ID:    rome" in fresh("info")
    assert fresh("info", "--get", "clusterid") == "rome\n"
    assert '"clusterID": "rome"' in fresh("info", "-o", "json")
    done = fresh.attempt("info", "peer", "nobody")
    assert done.code == 1 and "cluster nobody is no peer" in done.err


def test_a_cluster_without_liqo_is_told_as_such(milan: Cluster) -> None:
    done = Liqoctl(milan).attempt("info", "--liqo-namespace", "nowhere")
    assert done.code == 1 and "is Liqo installed there?" in done.err


def test_a_program_that_the_kubeconfig_names_makes_the_credentials(fresh: Liqoctl) -> None:
    """As the kubeconfigs of cloud providers have it; the server refuses the first token that it gives."""
    rome = fresh.cluster
    token = yaml.safe_load(rome.service_account("liqo", "plugged").read_text())["users"][0]["user"]["token"]
    rome.api.apply(
        "clusterrolebindings",
        None,
        {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "plugged"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "liqo", "name": "plugged"}],
            "roleRef": {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"},
        },
    )
    version = "client.authentication.k8s.io/v1"
    plugin = {
        "apiVersion": version,
        "command": "./plugin",
        "env": [{"name": "GOOD", "value": token}],
        "interactiveMode": "IfAvailable",
        "provideClusterInfo": True,
    }
    plugged = Liqoctl(rome, rome.write_kubeconfig("plugged", {"exec": plugin}))
    script = rome.directory / "plugin"
    said = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": {"token": "TOKEN"}})
    script.write_text(
        f"""#!/bin/sh
echo asked >> "$0.runs"
echo "$KUBERNETES_EXEC_INFO" > "$0.told"
[ "$(wc -l < "$0.runs")" = 1 ] && GOOD=outdated
echo '{said}' | sed "s/TOKEN/$GOOD/"
"""
    )
    script.chmod(0o700)
    assert plugged("info", "--get", "clusterid") == "rome\n"
    assert (rome.directory / "plugin.runs").read_text() == "asked\n" * 2
    told = json.loads((rome.directory / "plugin.told").read_text())["spec"]
    assert told["interactive"] is False and told["cluster"]["server"] == rome.server

    script.write_text("#!/bin/sh\necho 'log in first' >&2\nexit 7\n")
    done = plugged.attempt("info")
    assert done.code == 1 and "ended with exit code 7" in done.err and "log in first\n" in done.err
    script.unlink()
    done = plugged.attempt("info")
    assert done.code == 1 and "cannot be run: No such file or directory" in done.err


def test_a_terminal_gets_colours_and_no_color_takes_them_away(fresh: Liqoctl) -> None:
    def on_a_terminal(**environment: str) -> str:
        ours, theirs = pty.openpty()
        command = fresh.cluster.space.entering([fresh.binary, "info"])
        env = {**os.environ, "KUBECONFIG": str(fresh.kubeconfig), "TERM": "xterm", **environment}
        started = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        seen = b""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                seen += os.read(ours, 4096)
            except OSError:
                break
        started.wait(5)
        os.close(ours)
        return seen.decode()

    assert "\x1b[" in on_a_terminal()
    assert "\x1b[3" not in on_a_terminal(NO_COLOR="1")
