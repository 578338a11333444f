"""liqod as its users run it: the image of tools/image, in the Deployment of the installer, on real nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import own_image
from harness.api import Refused
from harness.cluster import Cluster
from harness.components import Options
from harness.images import HELLO_IMAGE
from harness.liqoctl import Liqoctl
from harness.run import Run
from harness.wait import wait_for

SOON = 90.0


@pytest.fixture(scope="module")
def installed(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Cluster]]:
    """ghent, which consumes, and lyon, which provides: nothing of Liqo runs in them that is not in a pod."""
    archive, name = own_image.make(tmp_path_factory.mktemp("image"))
    repository, _, tag = name.rpartition(":")
    real = Options(kubelet=True, proxy=True)
    with run.borrow(ghent=real, lyon=real) as (ghent, lyon):
        for cluster in (ghent, lyon):
            own_image.give(cluster, archive)
            # No node of theirs says that it is of the control plane, and so where the API server is.
            values = f"image.repository={repository},image.tag={tag},apiServer.address={cluster.server}"
            ranges = ("--pod-cidr", cluster.pod_cidr)
            cluster.apply(
                Liqoctl(cluster)("install", "--print", "--cluster-id", cluster.name, *ranges, "--set", values)
            )
            # Its garbage collector looks for new kinds every 30 s only.
            cluster.restart("kube-controller-manager")
        for cluster in (ghent, lyon):
            cluster.kubectl(
                "rollout", "status", "deployment/liqod", "-n", "liqo", f"--timeout={SOON}s", timeout=SOON + 10
            )
        yield ghent, lyon


def processes(cluster: Cluster, name: str) -> list[Path]:
    return [path.parent for path in cluster.space.proc.glob("[0-9]*/comm") if path.read_text().strip() == name]


def test_it_runs_with_no_more_than_the_deployment_gives_it(installed: tuple[Cluster, Cluster]) -> None:
    for cluster in installed:
        wanted = cluster.api.get("deployments", "liqo", "liqod")["spec"]["replicas"]
        containers = [container for pod in cluster.pods("liqo") for container in pod["status"]["containerStatuses"]]
        assert [(one["ready"], one["restartCount"]) for one in containers] == [(True, 0)] * wanted
        running = processes(cluster, "liqod")
        assert len(running) == wanted
        for process in running:
            lines = (process / "status").read_text().splitlines()
            status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            assert status["Uid"].split() == status["Gid"].split() == ["65532"] * 4
            assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
            assert status["NoNewPrivs"] == "1"
            root = next(line for line in (process / "mountinfo").read_text().splitlines() if line.split()[4] == "/")
            assert "ro" in root.split()[5].split(",")


def test_there_is_no_shell_in_it_and_liqoctl_is(installed: tuple[Cluster, Cluster]) -> None:
    ghent, _ = installed
    inside = ("exec", "-n", "liqo", "deployment/liqod", "--")
    assert ghent.kubectl(*inside, "/usr/bin/liqoctl", "version", "--client").startswith("Client version:")
    with pytest.raises(AssertionError, match="executable file not found|no such file or directory"):
        ghent.kubectl(*inside, "sh", "-c", "true")


def test_the_api_server_asks_it_through_its_service(installed: tuple[Cluster, Cluster]) -> None:
    ghent, _ = installed
    ghent.namespace("shop")

    def refused() -> bool:
        wrong = {"kind": "NamespaceOffloading", "metadata": {"name": "other"}, "spec": {}}
        try:
            ghent.api.create("namespaceoffloadings", "shop", wrong)
        except Refused as refusal:
            return 'must be called "offloading"' in str(refusal)
        ghent.api.delete("namespaceoffloadings", "shop", "other")
        return False

    wait_for(refused, SOON, "the webhooks to be asked, and to refuse")


def test_two_of_them_peer_and_a_pod_runs(installed: tuple[Cluster, Cluster]) -> None:
    ghent, lyon = installed
    liqoctl = Liqoctl(ghent)
    liqoctl("peer", "--remote-kubeconfig", lyon.kubeconfig, "--cpu", "1", "--memory", "1Gi")
    ghent.namespace("demo")
    liqoctl("offload", "namespace", "demo", "--pod-offloading-strategy", "Remote")
    ghent.kubectl("create", "deployment", "web", "-n", "demo", "--image", HELLO_IMAGE)
    ghent.kubectl("rollout", "status", "deployment/web", "-n", "demo", f"--timeout={SOON}s", timeout=SOON + 10)
    assert "hello from web-" in ghent.kubectl("logs", "-n", "demo", "deployment/web")
    assert ghent.kubectl("exec", "-n", "demo", "deployment/web", "--", "hostname").startswith("web-")
    assert [pod["spec"]["nodeName"] for pod in lyon.pods("demo-ghent")] == ["lyon-1"]
    liqoctl("unpeer", "--remote-kubeconfig", lyon.kubeconfig, "--yes")
