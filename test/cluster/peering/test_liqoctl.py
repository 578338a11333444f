"""liqoctl by itself: help, mistakes, terminals, and a cluster without peers."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import yaml

from harness import objects, settings
from harness.cluster import rights
from harness.cluster.cluster import Cluster
from harness.liqo import chart
from harness.required import require_liqoctl
from harness.tools.liqoctl import Liqoctl
from harness.wait import patient, wait_for


def run(*arguments: str, name: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs it without any cluster."""
    binary = settings.liqoctl()
    assert binary and binary.exists(), "there is no liqoctl: build it, or name one by $LIQOCTL"
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment}
    return subprocess.run(
        [name or binary, *arguments],
        capture_output=True,
        text=True,
        env=env,
        stdin=subprocess.DEVNULL,
        timeout=patient(60),
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
        (["info", "peer", "-o", "xml"], "'xml' is none of json|yaml"),
        (["version", "more"], "'more' is one argument too many"),
        (["cordon", "foo"], "there is no command 'foo' in 'liqoctl cordon'"),
        (["create"], "needs one of"),
        (["create", "resourceslice", "a"], "--remote-cluster-id is required"),
        (["peer", "--wait", "forever"], "forever"),
        (["peer", "--timeout", "soon"], "is not a duration"),
        (["offload", "namespace", "a", "--pod-offloading-strategy", "Elsewhere"], "Elsewhere"),
        (["install", "eks"], "liqoctl install without eks"),
        (["install", "kind"], "liqoctl install kubeadm"),
        (["completion"], "shell is required"),
        (["completion", "tcsh"], "tcsh"),
        (["peer"], "give --remote-kubeconfig or --remote-context"),
        (["peer", "--remote-kubeconfig=x", "--cpu", "lots"], "'lots' is not a valid quantity (examples: 4, 500m, 8Gi)"),
        (["peer", "--remote-kubeconfig=x", "--cpu", "0"], "ask for more than 0"),
        (["create", "rs", "A_B", "--remote-cluster-id", "milan"], "'A_B' cannot be a name"),
        (["create", "virtualnode", "n", "--remote-cluster-id", "milan"], "give either --resource-slice-name"),
        (["create", "vn", "n", "--remote-cluster-id", "a", "--vk-options-template", "x"], "'x' is not namespace/name"),
        (["offload", "ns", "a", "b", "--remote-namespace-name", "c"], "SelectedName"),
        (["peer", "--remote-kubeconfig=x", "--memory", "16"], "without a unit it is in bytes (8Gi)"),
        (["install", "--cluster-id", "Rome"], "'Rome' is no cluster ID: lower-case letters"),
        (["create", "nonce", "--remote-cluster-id", "a_b"], "'a_b' is no cluster ID"),
        (["offload", "demo"], "did you mean 'liqoctl offload namespace demo'?"),
        (["delete", "rs", "a", "--global-labels", "a=b"], "there is no flag '--global-labels'"),
    ],
)
def test_a_wrong_command_line_ends_with_two_and_one_line(typed: list[str], told: str) -> None:
    done = run(*typed)
    assert done.returncode == 2 and not done.stdout
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert re.search(r"See 'liqoctl.* --help'\.$", done.stderr.strip()), done.stderr


def test_without_a_kubeconfig_it_says_what_to_give() -> None:
    done = run("info")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "set KUBECONFIG" in done.stderr and "give --kubeconfig" in done.stderr
    done = run("info", KUBECONFIG="/nowhere:/nobody")
    assert done.returncode == 1 and "correct KUBECONFIG, which names /nowhere:/nobody" in done.stderr


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
    strategies = "Local\nLocalAndRemote\nRemote\n"
    for typed in (["--pod-offloading-strategy", ""], ["--pod-offloading-strategy", "=", ""]):
        offered = run("__complete", "offload", "namespace", "demo", *typed).stdout
        assert "".join(sorted(offered.splitlines(keepends=True))) == strategies
    assert run("__complete", "peer", "--wait=no").stdout == "--wait=node\n--wait=none\n"
    assert run("__complete", "peer", "--cpu", "").stdout == ""


def test_help_has_one_layout_and_names_what_has_an_effect() -> None:
    for path in commands():
        text = run(*path, "--help").stdout
        assert "Option Group" not in text and ":{" not in text and "--gw-" not in text and "--mtu" not in text, path
    assert "--wait slice|node|none" in run("peer", "--help").stdout
    assert "--gw-client-port" not in run("__complete", "peer", "--gw").stdout


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_kubeconfig_is_told_as_such(tmp_path, text: str) -> None:
    kubeconfig = tmp_path / "milan.yaml"
    kubeconfig.write_text(text)
    done = run("info", "--kubeconfig", str(kubeconfig))
    assert done.returncode == 1 and "milan.yaml is empty" in done.stderr


@pytest.fixture(scope="module")
def fresh(rome: Cluster) -> Liqoctl:
    """rome with the kinds installed, without any peer of its own making."""
    require_liqoctl()
    chart.install(rome)
    metadata = {"name": "liqo-clusterid-configmap", "labels": {"app.kubernetes.io/name": "clusterid-configmap"}}
    rome.api.apply("configmaps", "liqo", {"kind": "ConfigMap", "metadata": metadata, "data": {"CLUSTER_ID": "rome"}})
    return Liqoctl(rome)


def test_info_of_a_cluster_without_peers(fresh: Liqoctl) -> None:
    assert "Cluster ID:    rome" in fresh("info")
    assert fresh("info", "--get", "clusterid") == "rome\n"
    assert '"clusterID": "rome"' in fresh("info", "-o", "json")
    done = fresh.attempt("info", "peer", "nobody")
    assert done.code == 1 and "nobody is not a peer, and there is none yet (liqoctl peer)" in done.err
    for kind, plural in (("rs", "resource slices"), ("peer", "peers"), ("offloading", "offloaded namespaces")):
        done = fresh.attempt("get", kind, "-A")
        assert done.code == 0 and f"there are no {plural}" in done.err


def test_completion_offers_the_names_of_peers_behind_what_was_typed(fresh: Liqoctl) -> None:
    api = fresh.cluster.api
    labels = {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "turin"}
    api.apply("namespaces", None, {"kind": "Namespace", "metadata": {"name": "completed", "labels": labels}})
    assert fresh("__complete", "info", "peer", "") == "turin\n"
    assert fresh("__complete", "create", "tenant", "--remote-cluster-id", "tu") == "turin\n"
    assert fresh("__complete", "create", "tenant", "--remote-cluster-id=tu") == "--remote-cluster-id=turin\n"
    api.delete("namespaces", None, "completed")


@pytest.mark.refusals("a user without rights looks at the cluster")
def test_info_says_what_this_user_may_not_see(fresh: Liqoctl) -> None:
    rome = fresh.cluster
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    meta = {"name": "sees-the-id", "namespace": "liqo"}
    rome.api.apply("roles", "liqo", {"kind": "Role", "metadata": meta, "rules": [rule]})
    rights.bind(rome, "liqo", "sees-the-id", rights.service_account("liqo", "narrow"), "sees-the-id", kind="Role")
    done = Liqoctl(rome, rome.service_account("liqo", "narrow")).attempt("info")
    assert done.code == 1 and done.out.count("unknown (forbidden)") >= 2 and "None" not in done.out, done.out
    assert "not everything could be read" in done.err and done.err.count("\n") == 1


def test_what_is_not_lent_is_refused_and_without_nodes_the_next_step_is_said(fresh: Liqoctl) -> None:
    done = fresh.attempt("offload", "namespace", "kube-system", "liqo")
    assert done.code == 1 and "Kubernetes' own" in done.err and "Liqo's own" in done.err


def test_a_wait_says_what_is_missing_and_what_liqod_says(fresh: Liqoctl, tmp_path) -> None:
    """Nobody admits the Tenant: in the place of liqod the test says why."""
    rome, file = fresh.cluster, tmp_path / "tenant.json"
    version = "authentication.liqo.io/v1beta1"
    file.write_text(json.dumps(objects.tenant("milan", publicKey="a2V5", csr="Y3Ny", signature="c2ln")))
    with ThreadPoolExecutor() as pool:
        running = pool.submit(fresh.attempt, "create", "tenant", "-f", file, "--timeout", "25s")
        ns = "liqo-tenant-milan"
        tenant = wait_for(lambda: rome.api.find("tenants", ns, "milan"), 60, "the Tenant to be there")
        about = {
            "kind": "Tenant",
            "apiVersion": version,
            "namespace": ns,
            "name": "milan",
            "uid": tenant["metadata"]["uid"],
        }
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        why = "no control-plane node has the address"
        event = {"metadata": {"name": "why"}, "involvedObject": about, "type": "Warning", "reason": "AuthParamsFailed"}
        rome.api.create("events", ns, {"kind": "Event", **event, "message": why, "lastTimestamp": now})
        done = running.result()
    lines = done.err.splitlines()
    assert done.code == 1
    said = next(i for i, line in enumerate(lines) if line == f"WARN: rome: liqod says: {why}")
    assert any("INFO: rome: still waiting for Tenant milan to be admitted after" in line for line in lines[said:-1]), (
        done.err
    )
    assert lines[-1].endswith(f"(liqod says: {why})")
    rome.api.delete("namespaces", None, ns)


def test_a_cluster_without_liqo_is_told_as_such(milan: Cluster) -> None:
    done = Liqoctl(milan).attempt("info", "--liqo-namespace", "nowhere")
    assert done.code == 1 and "is Liqo installed there?" in done.err


def test_a_program_that_the_kubeconfig_names_makes_the_credentials(fresh: Liqoctl) -> None:
    """As the kubeconfigs of cloud providers have it; the server refuses the first token that it gives."""
    rome = fresh.cluster
    token = yaml.safe_load(rome.service_account("liqo", "plugged").read_text())["users"][0]["user"]["token"]
    rights.bind(rome, None, "plugged", rights.service_account("liqo", "plugged"), "cluster-admin")
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
        deadline = time.monotonic() + patient(60)
        while time.monotonic() < deadline:
            try:
                seen += os.read(ours, 4096)
            except OSError:
                break
        started.wait(patient(60))
        os.close(ours)
        return seen.decode()

    assert "\x1b[" in on_a_terminal()
    assert "\x1b[3" not in on_a_terminal(NO_COLOR="1")
