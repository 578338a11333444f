"""Users install Liqo from dist/ by the words of the README, use it, upgrade it and remove it without a trace.

Helm installs one cluster and liqoctl the other, with no path of this tree. Both clusters have real nodes, and reach
liqod by its Service, as with kube-proxy.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness import objects, settings
from harness.cluster import audit, inventory, rights
from harness.cluster.api import Refused, path
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.cluster.images import HELLO_IMAGE
from harness.monitoring.load import Load, refused_shadow_pods
from harness.monitoring.monitoring import Prometheus, scraping, shortened
from harness.run import Run
from harness.tools import stand_in
from harness.tools import release as releases
from harness.tools.console import Console
from harness.tools.liqoctl import Liqoctl
from harness.tools.release import Release
from harness.wait import wait_for

# Steps of seconds may take this long while other stories run on the machine.
SOON = 180.0
WAITED = f"--timeout={SOON:.0f}s"
SCRAPED_EVERY = 15.0
# Only the load runs on fake nodes, never liqod or the application.
FAKE_NODES = 4
GO_KINDS = settings.TREE / "test/fixtures/liqo-crds"
# A certificate that was valid in the first half of 2025.
EXPIRED = """-----BEGIN CERTIFICATE-----
MIHKMH4CAQEwBQYDK2VwMBIxEDAOBgNVBAMMB2V4cGlyZWQwHhcNMjUwMTAxMDAw
MDAwWhcNMjUwNjAxMDAwMDAwWjASMRAwDgYDVQQDDAdleHBpcmVkMCowBQYDK2Vw
AyEAH7zIlaruUR1C1LD4o1cBtHo9Rl1wQIDKxn+hGHHV74cwBQYDK2VwA0EA8EhC
Bua3y26RRXO3gTuO98EIFo3CWrqVuA4kxtqG+61eTZXhi+7ujQJ9JwFFYHB+32ah
pEHL6IDRO9RfFemwDA==
-----END CERTIFICATE-----
"""


@dataclass
class Sides:
    """ghent, which consumes and is Helm's, and lyon, which provides and is liqoctl's."""

    release: Release
    ghent: Cluster
    lyon: Cluster
    before: dict[str, inventory.Inventory]
    # The users' terminals, in dist/.
    consoles: dict[str, Console]

    def __iter__(self) -> Iterator[Cluster]:
        return iter((self.ghent, self.lyon))

    def values(self, cluster: Cluster) -> list[str]:
        # No node here is labelled as control plane, so the installer is told where the API server is.
        address, ranges = f"apiServer.address={cluster.server}", f"ipam.podCIDRs={{{cluster.pod_cidr}}}"
        return ["--set", f"image.repository={releases.REPOSITORY}", "--set", address, "--set", ranges]

    def type(self, cluster: Cluster, line: str, *arguments: object) -> str:
        """Types a line of the README, which is of cluster rome there, with what these clusters need besides."""
        more = " ".join(shlex.quote(str(word)) for word in arguments)
        shown = self.consoles[cluster.name].run(f"{line.replace('rome', cluster.name)} {more}", timeout=400)
        assert shown.code == 0, f"`{line}` ended with {shown.code}: {shown.text}"
        return shown.text

    def helm(self, command: str, *arguments: object, program: str = "helm3") -> None:
        chosen = ("--set", "clusterID=ghent", *self.values(self.ghent), *arguments)
        waiting = ("--wait", "--timeout", "6m")
        self.release.helm(self.ghent, command, "liqo", self.release.chart.name, *waiting, *chosen, program=program)

    def liqoctl(self, command: str, *arguments: object) -> None:
        chosen = ("--cluster-id", "lyon", *self.values(self.lyon), *arguments)
        self.release.liqoctl(self.lyon)(command, "--timeout", "6m", *chosen, timeout=400)

    @property
    def user(self) -> Liqoctl:
        """liqoctl of ghent's user."""
        return self.release.liqoctl(self.ghent)


def at_once(*tasks: Callable[[], object]) -> None:
    """Runs these side by side; fails if one of them does."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result()


@pytest.fixture(scope="module")
def sides(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    release = releases.make(tmp_path_factory.mktemp("shipped") / "dist")
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=release.directory, check=True)
    # This is Kubernetes' default: API servers reach webhooks by the address of the Service, not by those of pods.
    real = Options(kubelet=True, proxy=True, extra_apiserver=("--enable-aggregator-routing=false",))
    with run.borrow(ghent=replace(real, second_kubelet=True), lyon=real) as (ghent, lyon):
        lyon.add_kwok_nodes(0)  # nodes come with the load
        before = {each.name: inventory.of_new_cluster(each) for each in (ghent, lyon)}
        homes = tmp_path_factory.mktemp("homes")
        told = Sides(release, ghent, lyon, before, {c.name: release.console(c, homes / c.name) for c in (ghent, lyon)})
        said = {line.split()[0]: line for line in releases.typed_lines("README.md")}
        for cluster, line in ((ghent, said["k3s"]), (lyon, said["kind"])):
            for node in cluster.nodes:
                told.type(cluster, f"{stand_in.NODE}={node.socket} {line}")
        told.type(lyon, said["install"])
        assert told.type(lyon, "liqoctl version --client").split()[-1] == release.version
        at_once(
            lambda: told.type(ghent, said["helm"], "--wait", "--timeout", "6m", *told.values(ghent)),
            lambda: told.type(lyon, said["liqoctl"], *told.values(lyon)),
        )
        for cluster in told:
            # Its garbage collector looks for new kinds every 30 s only.
            cluster.restart("kube-controller-manager")
        yield told


def test_each_line_that_gives_the_image_is_one_that_its_program_takes(sides: Sides) -> None:
    console, version = sides.consoles["ghent"], sides.release.version
    pages = (line for page in ("README.md", "docs/first-steps.md", "docs/image.md") for line in releases.typed_lines(page))
    lines = [line for line in pages if line.split()[0] in stand_in.FORMS]
    for line in lines:
        image, target = sides.type(sides.ghent, line).strip().split(" → ")
        assert image == f"{releases.REPOSITORY}:{version}"
        assert target in (line.split()[0], f"registry.example.org/liqo/liqod:{version}")
        for wrong in (f"{line} -q", line.replace("-image-amd64.tar", ".tgz"), line.replace("amd64", "arm64")):
            assert wrong == line or console.run(wrong).code == 1, wrong
    # Commands for buildah stand for those of podman.
    assert {line.split()[0] for line in lines} == stand_in.FORMS.keys() - {"podman"}


def processes(cluster: Cluster) -> dict[str, Path]:
    """The processes of liqod by the names of their pods, with what /proc has of each."""
    found: dict[str, Path] = {}
    for comm in cluster.space.proc.glob("[0-9]*/comm"):
        try:
            words = (comm.parent / "environ").read_text().split("\0") if comm.read_text().strip() == "liqod" else []
        except OSError:  # it has ended: those of the container runtime come and go
            continue
        found |= {word.partition("=")[2]: comm.parent for word in words if word.startswith("POD_NAME=")}
    return found


def ready_pods(cluster: Cluster) -> set[str]:
    """The pods of liqod that are ready and not about to go."""
    return {
        pod["metadata"]["name"]
        for pod in cluster.pods("liqo")
        if "deletionTimestamp" not in pod["metadata"]
        if all(one["ready"] for one in pod["status"].get("containerStatuses", [{"ready": False}]))
    }


def test_it_runs_with_no_more_than_the_deployment_gives_it(sides: Sides) -> None:
    for cluster in sides:
        wanted = cluster.api.get("deployments", "liqo", "liqod")["spec"]["replicas"]
        # On a busy machine a probe may time out, and the replica becomes ready again.
        wait_for(lambda c=cluster, n=wanted: len(ready_pods(c)) == n, SOON, f"liqod of {cluster.name} to be ready")
        containers = [container for pod in cluster.pods("liqo") for container in pod["status"]["containerStatuses"]]
        assert [one["restartCount"] for one in containers] == [0] * wanted
        running = processes(cluster)
        assert len(running) == wanted
        for process in running.values():
            lines = (process / "status").read_text().splitlines()
            status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            assert status["Uid"].split() == status["Gid"].split() == ["65532"] * 4
            assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
            assert status["NoNewPrivs"] == "1"
            root = next(line for line in (process / "mountinfo").read_text().splitlines() if line.split()[4] == "/")
            assert "ro" in root.split()[5].split(",")


def test_there_is_no_shell_in_it_and_liqoctl_is(sides: Sides) -> None:
    inside = ("exec", "-n", "liqo", "deployment/liqod", "--")
    assert sides.ghent.kubectl(*inside, "/usr/bin/liqoctl", "version", "--client").startswith("Client version:")
    with pytest.raises(AssertionError, match="executable file not found|no such file or directory"):
        sides.ghent.kubectl(*inside, "sh", "-c", "true")


def test_the_api_server_asks_it_through_its_service(sides: Sides) -> None:
    api = sides.ghent.api
    sides.ghent.namespace("shop")

    def refused() -> bool:
        wrong = objects.offloading("other")
        try:
            api.create("namespaceoffloadings", "shop", wrong)
        except Refused as refusal:
            return 'must be called "offloading"' in str(refusal)
        api.delete("namespaceoffloadings", "shop", "other")
        return False

    wait_for(refused, SOON, "the webhooks to be asked, and to refuse")
    sides.ghent.kubectl("delete", "namespace", "shop", timeout=SOON)


def test_an_application_runs_in_the_other_cluster(sides: Sides) -> None:
    ghent, lyon = sides
    asked = ("--cpu", "200", "--memory", "100Gi", "--pods", "2000")
    sides.user("peer", "--remote-kubeconfig", lyon.kubeconfig, *asked, timeout=SOON)
    ghent.namespace("demo")
    sides.user("offload", "namespace", "demo", "--pod-offloading-strategy", "Remote", timeout=SOON)
    ghent.kubectl("create", "deployment", "web", "-n", "demo", "--image", HELLO_IMAGE, "--replicas", 2)
    ghent.kubectl("rollout", "status", "deployment/web", "-n", "demo", WAITED, timeout=SOON + 10)
    log = lambda: ghent.kubectl("logs", "-n", "demo", "deployment/web")  # noqa: E731
    wait_for(lambda: "hello from web-" in log(), SOON, "the log of the application")
    assert ghent.kubectl("exec", "-n", "demo", "deployment/web", "--", "hostname").startswith("web-")
    assert [pod["spec"]["nodeName"] for pod in lyon.pods("demo-ghent")] == ["lyon-1"] * 2


def nodes_of(cluster: Cluster) -> set[str]:
    """Where the ready replicas are."""
    ready = ready_pods(cluster)
    return {pod["spec"]["nodeName"] for pod in cluster.pods("liqo") if pod["metadata"]["name"] in ready}


def test_the_replicas_are_on_two_nodes_and_a_drain_leaves_one(sides: Sides) -> None:
    """Webhooks are asked all the while. There is no room for a replica that is evicted: the other one has to stay."""
    ghent = sides.ghent
    both, drain = {node.name for node in ghent.nodes}, ("drain", "--ignore-daemonsets", "--delete-emptydir-data")
    wait_for(lambda: nodes_of(ghent) == both, SOON, "a replica on each node")
    asked = asking(ghent)
    with asked:
        try:
            ghent.kubectl("cordon", *both)
            ghent.kubectl(*drain, "ghent-2", WAITED, timeout=SOON + 10)
            with pytest.raises(AssertionError, match="would violate the pod's disruption budget"):
                ghent.kubectl(*drain, "ghent-1", "--timeout=5s")
            assert nodes_of(ghent) == {"ghent-1"}
            ghent.kubectl("uncordon", "ghent-2")
            wait_for(lambda: nodes_of(ghent) == both, SOON, "a replica on each node again")
            asked.wait_for_more(10)
        finally:
            ghent.kubectl("uncordon", *both)
    assert not asked.refused, asked.refused[:5]


def test_check_finds_that_all_is_well(sides: Sides) -> None:
    ghent, lyon = sides
    seen = sides.user("check", "--remote-kubeconfig", lyon.kubeconfig)
    assert all(line[0] in "✔•" for line in seen.splitlines()), seen
    for about in ("CRDs", "rights", "liqod", "clock", "versions", "webhooks", "certificates", "API server", "peer lyon"):
        assert re.search(f"^✔ {about} ", seen, re.MULTILINE), seen
    assert re.search("^✔ kubelet API +the API server reaches that of 1 virtual node", seen, re.MULTILINE), seen
    assert re.search("^✔ metrics +the API server reaches port 8082", seen, re.MULTILINE), seen
    document = json.loads(sides.release.liqoctl(lyon)("check", "-o", "json"))
    assert document["passed"] is True
    assert [one["state"] for one in document["checks"] if one["about"] == "quotas"] == ["good"]


def test_an_image_that_cannot_be_pulled_is_named(sides: Sides) -> None:
    """The replicas that run go on meanwhile."""
    lyon, before = sides.lyon, ready_pods(sides.lyon)
    sides.liqoctl("upgrade", "--set", "tag=missing", "--wait=false")

    def waits_for_it() -> bool:
        states = [one["state"] for pod in lyon.pods("liqo") for one in pod["status"].get("containerStatuses", [])]
        return any(one.get("waiting", {}).get("reason") in ("ErrImagePull", "ImagePullBackOff") for one in states)

    wait_for(waits_for_it, SOON, "the node to have tried")
    chosen = ("--cluster-id", "lyon", *sides.values(lyon), "--set", "tag=missing", "--timeout", "2s")
    done = sides.release.liqoctl(lyon).attempt("upgrade", *chosen)
    (line,) = [line for line in done.err.splitlines() if not line.startswith("INFO: ")]
    assert done.code == 1 and "gave up waiting for liqod to run" in line, done.err
    assert f"image {releases.REPOSITORY}:missing cannot be pulled (" in line and "load it on the nodes" in line, line
    assert ready_pods(lyon) <= before and ready_pods(lyon)
    sides.liqoctl("upgrade", "--reset-values")


def test_helm_does_not_remove_what_is_in_use(sides: Sides) -> None:
    why = "Liqo is in use: NamespaceOffloading demo/offloading"
    with pytest.raises(AssertionError, match=why):
        sides.release.helm(sides.ghent, "uninstall", "liqo")
    # Helm before 3.18 does not show the Job's log.
    assert why in sides.ghent.kubectl("logs", "-n", "liqo", "job/liqo-pre-delete")
    assert sides.ghent.api.get("deployments", "liqo", "liqod")["status"]["readyReplicas"] == 2
    # For Helm the release is being uninstalled now, until a rollback.
    with pytest.raises(AssertionError, match="has no deployed releases"):
        sides.helm("upgrade")
    sides.release.helm(sides.ghent, "rollback", "liqo", "1", "--wait")


def test_check_names_what_is_wrong_until_it_is_right(sides: Sides) -> None:
    ghent, lyon = sides

    def faults() -> dict[str, str]:
        done = sides.user.attempt("check", "-o", "json")
        found = {one["about"]: one["text"] for one in json.loads(done.out)["checks"] if one["state"] == "bad"}
        assert done.code == (1 if found else 0), done.err
        return found

    name = "customresourcedefinitions/networks.ipam.liqo.io"
    kind = ghent.api.request("GET", f"/apis/apiextensions.k8s.io/v1/{name}")
    properties = kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    properties["later"] = {"type": "string"}
    ghent.api.request("PUT", f"/apis/apiextensions.k8s.io/v1/{name}", kind)
    ghent.kubectl("replace", "-f", GO_KINDS / "offloading.liqo.io_quotas.yaml")
    own = ghent.options.service_cidr
    ghent.kubectl("annotate", "foreigncluster/lyon", f"liqo.io/remote-pod-cidrs={own}", "--overwrite")
    ghent.kubectl("delete", "clusterrole", "liqo-remote-controlplane")
    ghent.kubectl("scale", "deployment/liqod", "-n", "liqo", "--replicas=0")
    wait_for(lambda: not ghent.pods("liqo", "app.kubernetes.io/name=liqod"), SOON, "the daemon to end")
    ghent.api.patch("secrets", "liqo", "liqo-webhook-certs", {"stringData": {"tls.crt": EXPIRED}})
    found = faults()
    for about, words in {
        "liqod": "is scaled to none",
        "certificates": "that of the webhooks has expired at 2025-06-01",
        "addresses": "cannot be told from what this cluster has itself",
        "rights": "lacks ClusterRole liqo-remote-controlplane",
        "CRDs": "older than this liqoctl: quotas.offloading.liqo.io",
    }.items():
        assert words in found.get(about, ""), found
    # What follows from the first of these is no fault of its own.
    assert not found.keys() & {"webhooks", "kubelet API", "metrics", "pod metrics"}, found

    # liqod renews its certificate; Helm restores its own objects.
    ghent.kubectl("scale", "deployment/liqod", "-n", "liqo", "--replicas=2")
    wait_for(lambda: not faults().keys() & {"liqod", "webhooks"}, SOON, "the webhooks to answer again", interval=1)
    ghent.kubectl("annotate", "foreigncluster/lyon", f"liqo.io/remote-pod-cidrs={lyon.pod_cidr}", "--overwrite")
    # Helm 4 takes over what Helm 3 installed: its hook updates the kinds.
    sides.helm("upgrade", program="helm4")
    wait_for(lambda: not faults(), SOON, "everything to be well again", interval=1)
    # Kinds of the newer version stay after a rollback.
    sides.release.helm(ghent, "rollback", "liqo", "1", "--wait")
    kinds = {one["metadata"]["name"]: one for one in ghent.api.list("customresourcedefinitions")}
    assert "later" in json.dumps(kinds["networks.ipam.liqo.io"]["spec"])
    assert "used" in json.dumps(kinds["quotas.offloading.liqo.io"]["spec"])


LATER = "0.2.0"


def later_chart(sides: Sides, directory: Path) -> Path:
    """The chart of the release as a later version: one default is another, and it brings an object more."""
    with tarfile.open(sides.release.chart) as chart:
        chart.extractall(directory, filter="data")

    def change(file: str, pattern: str, text: str) -> None:
        path = directory / "liqo" / file
        changed, count = re.subn(pattern, text, path.read_text(), flags=re.MULTILINE)
        assert count == 1, (file, pattern, count)
        path.write_text(changed)

    change("Chart.yaml", "^version: .*$", f"version: {LATER}")
    change("Chart.yaml", "^appVersion: .*$", f"appVersion: {LATER}")
    change("values.yaml", r"^(    configmap:\n(?:      #.*\n)+      workers:) 32$", r"\1 16")
    brought = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: liqo-later\n  namespace: {{ .Release.Namespace }}\n"
    (directory / "liqo/templates/later.yaml").write_text(brought)
    return directory / "liqo"


def containers(sides: Sides) -> dict[str, tuple[str, str, int]]:
    """The containers of the application in both clusters: pod, container, and how often it was restarted."""
    found: dict[str, tuple[str, str, int]] = {}
    for cluster, namespace in zip(sides, ("demo", "demo-ghent"), strict=True):
        for pod in cluster.pods(namespace):
            (state,) = pod["status"]["containerStatuses"]
            place = f"{cluster.name}/{pod['metadata']['name']}"
            found[place] = (pod["metadata"]["uid"], state["containerID"], state["restartCount"])
    return found


def test_a_later_version_is_rolled_back_under_running_pods(sides: Sides, tmp_path: Path) -> None:
    """The programs of both are the same: what is tried is what Helm makes of two charts, and of two images' names."""
    ghent = sides.ghent
    for node in ghent.nodes:
        node.name_image(f"{releases.REPOSITORY}:{sides.release.version}", f"{releases.REPOSITORY}:{LATER}")
    kept = containers(sides)
    assert len(kept) == 4

    def daemon() -> tuple[str, list[str]]:
        (one,) = ghent.api.get("deployments", "liqo", "liqod")["spec"]["template"]["spec"]["containers"]
        return one["image"].rpartition(":")[2], [word for word in one["args"] if "configmap-reflection-workers" in word]

    history = json.loads(sides.release.helm(ghent, "history", "liqo", "-o", "json"))
    earlier = next(one["revision"] for one in history if one["status"] == "deployed")
    before = ready_pods(ghent)
    asked = asking(ghent)
    with asked:
        chart = later_chart(sides, tmp_path)
        chosen = ("--set", "clusterID=ghent", *sides.values(ghent))
        sides.release.helm(ghent, "upgrade", "liqo", chart, "--wait", "--timeout", "6m", *chosen)
        assert daemon() == (LATER, ["--configmap-reflection-workers=16"])
        assert ghent.api.find("configmaps", "liqo", "liqo-later")
        later = replaced(ghent, before)
        sides.release.helm(ghent, "rollback", "liqo", earlier, "--wait", "--timeout", "6m")
        assert daemon() == (sides.release.version, ["--configmap-reflection-workers=32"])
        assert not ghent.api.find("configmaps", "liqo", "liqo-later")
        replaced(ghent, later)
    assert not asked.refused, asked.refused[:5]
    assert containers(sides) == kept
    scaled = ("scale", "deployment/web", "-n", "demo")
    ghent.kubectl(*scaled, "--replicas=3")
    ghent.kubectl("rollout", "status", "deployment/web", "-n", "demo", WAITED, timeout=SOON + 10)
    ghent.kubectl(*scaled, "--replicas=2")


@pytest.mark.refusals("a pod that is larger than what is granted")
def test_an_alert_fires_where_there_is_no_room(sides: Sides, tmp_path: Path) -> None:
    """Each replica is asked over HTTPS, by somebody who is bound to the role of the chart and to nothing else."""
    ghent = sides.ghent
    ghent.service_account(ghent.namespace("watch"), "prometheus")
    reader = rights.service_account("watch", "prometheus")
    rights.bind(ghent, None, "watch-liqo", reader, "liqo-metrics-reader")
    token = ghent.kubectl("create", "token", "prometheus", "-n", "watch").strip()
    # Debian's Prometheus has no discovery of pods, so it gets their addresses.
    ready = wait_for(lambda: len(ready_pods(ghent)) == 2 and ready_pods(ghent), SOON, "both replicas to be ready")
    targets = [f"{pod['status']['podIP']}:8082" for pod in ghent.pods("liqo") if pod["metadata"]["name"] in ready]
    job = scraping("liqod", token, static_configs=[{"targets": targets}])
    alerts = tmp_path / "alerts.yaml"
    with tarfile.open(sides.release.chart) as chart:
        shipped = chart.extractfile("liqo/monitoring/alerts.yaml")
        assert shipped
        alerts.write_bytes(shipped.read())
    prometheus = Prometheus(ghent, tmp_path / "prometheus", [job], shortened(alerts, "1s"))
    try:
        large = busybox("large", nodeName="lyon")
        large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "300"}}
        ghent.api.create("pods", "demo", large)

        def fires() -> bool:
            return ("LiqoPodsWithoutRoom", "lyon,lyon") in prometheus.firing()

        wait_for(fires, SOON, "the alert of a pod without room")
        wait_for(prometheus.scrapes, SOON, "every replica to be scraped")
    finally:
        prometheus.stop()
        ghent.api.delete("pods", "demo", "large")
        ghent.api.delete("clusterrolebindings", None, "watch-liqo")
        ghent.kubectl("delete", "namespace", "watch", timeout=SOON)


def replaced(cluster: Cluster, before: set[str]) -> set[str]:
    """Waits until none of these replicas is there and all of the new ones are, which it returns.

    Who updates may end while the last of the old ones are only about to be told to.
    """
    wanted = cluster.api.get("deployments", "liqo", "liqod")["spec"]["replicas"]

    def seen() -> set[str]:
        now = ready_pods(cluster)
        assert before.isdisjoint(now) and len(now) == wanted, now
        return now

    return wait_for(seen, SOON, f"every replica of {cluster.name} to be a new one")


def updated(sides: Sides, load: Load) -> None:
    """Every replica is replaced twice, by each installer and by a restart, while pods go on being made."""
    before = {cluster.name: ready_pods(cluster) for cluster in sides}
    sides.helm("upgrade", "--set", "podAnnotations.update=one")
    load.wait_for_more(10)
    sides.liqoctl("upgrade", "--set", "podAnnotations.update=one,nodeSelector.kubernetes\\.io/hostname=lyon-1")
    load.wait_for_more(10)
    for cluster in sides:
        before[cluster.name] |= replaced(cluster, before[cluster.name])
        cluster.kubectl("rollout", "restart", "deployment/liqod", "-n", "liqo")
    for cluster in sides:
        cluster.kubectl("rollout", "status", "deployment/liqod", "-n", "liqo", WAITED, timeout=SOON + 10)
        replaced(cluster, before[cluster.name])
    load.wait_for_more(10)


def asking(cluster: Cluster) -> Load:
    """Asks the webhooks of a cluster all the time; nothing is stored."""
    where = path("namespaceoffloadings", cluster.namespace("asked"))
    return Load(lambda _: cluster.api.request("POST", where, objects.offloading(), query={"dryRun": "All"}), pause=0.02)


def doubled(sides: Sides, since: int) -> dict[str, set[str]]:
    """Which pods of the load were made more than once at the provider."""
    pods = [*sides.lyon.audit.created_pods(since, "load-ghent"), *sides.lyon.pods("load-ghent")]
    uids = audit.remote_uids(pods, lambda pod: pod["metadata"]["name"])
    return {name: found for name, found in uids.items() if len(found) > 1}


def leader(cluster: Cluster) -> str:
    """The pod that leads, "" while that is none, or one that is about to go."""
    holder = cluster.api.get("leases", "liqo", "liqod")["spec"].get("holderIdentity")
    return holder if holder in ready_pods(cluster) else ""


def kill(cluster: Cluster, pod: str) -> None:
    """kill -9 of a pod's liqod. The pod goes first: its node would start the container again at once."""
    process = processes(cluster)[pod]
    cluster.kubectl("delete", "pod", pod, "-n", "liqo", "--grace-period=0", "--force", "--wait=false")
    # On a slow machine the process may have ended already, within its five seconds.
    subprocess.run(["nsenter", f"--target={cluster.space.pid}", "--pid", "kill", "-9", process.name], check=False)


def test_both_are_updated_under_a_load_of_pods(sides: Sides) -> None:
    ghent, lyon = sides
    lyon.add_kwok_nodes(FAKE_NODES)
    ghent.namespace("load")
    sides.user("offload", "namespace", "load", "--pod-offloading-strategy", "Remote", timeout=SOON)
    since = lyon.audit.mark()
    load = Load(lambda name: ghent.api.create("pods", "load", busybox(name)), pause=0.15)
    at_home, away = asking(ghent), asking(lyon)
    with load, at_home, away:
        load.wait_for_more(10)
        updated(sides, load)
    for made in (load, at_home, away):
        assert not made.refused, made.refused[:5]
    refused = refused_shadow_pods(lyon, since)
    assert not refused, refused[:5]
    wait_for(lambda: ghent.running("load") == len(load.names), SOON, "every pod to run", interval=0.5)
    assert not doubled(sides, since)


def kubelet_port(ghent: Cluster) -> int:
    return ghent.api.get("nodes", None, "lyon")["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]


def reports_usage(ghent: Cluster) -> bool:
    """Whether the virtual node says what it uses, and what the pods of the application do."""
    code, page = ghent.api.raw("GET", "/api/v1/nodes/lyon/proxy/metrics/resource")
    text = page.decode()
    assert code == 200 and "\nresource_scrape_error 0\n" in text, (code, text[:300])
    told = re.findall(r'^pod_cpu_usage_seconds_total\{namespace="demo",pod="([^"]+)"\}', text, re.MULTILINE)
    assert set(told) == {pod["metadata"]["name"] for pod in ghent.pods("demo")}, told
    return "\nnode_cpu_usage_seconds_total " in text


def test_one_of_two_replicas_is_killed_on_both_sides(sides: Sides) -> None:
    ghent, lyon = sides
    wait_for(lambda: reports_usage(ghent), SOON, "the node to tell figures", interval=1)
    port = kubelet_port(ghent)
    leaders = {each.name: wait_for(lambda c=each: leader(c), SOON, f"a leader in {each.name}") for each in sides}
    since, before = lyon.audit.mark(), len(ghent.pods("load"))
    ghent.kubectl("create", "deployment", "many", "-n", "load", "--image", HELLO_IMAGE, "--replicas", 20)
    for cluster in sides:
        kill(cluster, leaders[cluster.name])
    ghent.kubectl("rollout", "status", "deployment/many", "-n", "load", WAITED, timeout=SOON + 10)
    for cluster in sides:
        wait_for(lambda c=cluster: leader(c), SOON, f"another replica of {cluster.name} to lead")
        assert leader(cluster) != leaders[cluster.name]
    # Figures must be back within two scrapes of Prometheus.
    wait_for(lambda: reports_usage(ghent), 2 * SCRAPED_EVERY, "figures again in two scrapes", interval=SCRAPED_EVERY)
    assert kubelet_port(ghent) == port
    for cluster in sides:
        cluster.kubectl("rollout", "status", "deployment/liqod", "-n", "liqo", WAITED, timeout=SOON + 10)
    wait_for(lambda: ghent.running("load") == before + 20, SOON, "every pod to run on")
    assert not doubled(sides, since)


def as_before(sides: Sides, cluster: Cluster, with_kinds: bool) -> bool:
    try:
        found = inventory.differences(sides.before[cluster.name], inventory.take(cluster))
    except Refused:
        return False  # the server names groups for a moment whose kinds are gone
    found = found if with_kinds else inventory.beside_kinds(found)
    assert not found, found
    return True


def replace_key(cluster: Cluster) -> None:
    """As docs/operations.md says, between the end of the peerings and new ones, which test_peer.py makes."""
    page = (settings.TREE / "docs/operations.md").read_text(encoding="utf-8")
    typed = page.partition("**The key of a cluster**")[2].partition("```sh")[2].partition("```")[0]
    commands = [line.split()[1:] for line in typed.splitlines() if line.strip().startswith("kubectl ")]
    assert len(commands) == 4

    def key() -> str:
        found = cluster.api.find("secrets", "liqo", "authentication-keys")
        return found["data"]["publicKey"] if found else ""

    before = key()
    for words in commands:
        cluster.kubectl(*words, timeout=SOON)
    wait_for(lambda: key() not in ("", before), SOON, f"another key of {cluster.name}")
    wait_for(lambda: len(ready_pods(cluster)) == 2, SOON, f"both replicas of {cluster.name}")


@pytest.mark.refusals("liqod outlives its rights for a moment, and a pod is made again in a twin that is about to go")
def test_they_part_and_each_installer_leaves_nothing(sides: Sides) -> None:
    ghent, lyon = sides
    with pytest.raises(AssertionError, match="Liqo is in use"):
        sides.release.helm(ghent, "uninstall", "liqo")
    ghent.kubectl("delete", "deployment", "many", "-n", "load", WAITED, timeout=SOON + 10)
    ghent.api.delete_all("pods", "load")
    wait_for(lambda: not ghent.pods("load"), SOON, "the pods of the load to be gone")

    def withdraw(namespace: str) -> None:
        sides.user("unoffload", "namespace", namespace, "--skip-confirm", timeout=SOON)
        ghent.kubectl("delete", "namespace", namespace, timeout=SOON)

    at_once(lambda: withdraw("demo"), lambda: withdraw("load"))
    sides.user("unpeer", "--remote-kubeconfig", lyon.kubeconfig, "--skip-confirm", timeout=SOON)
    lyon.kubectl("delete", "nodes", "-l", "type=kwok")
    for cluster in sides:
        cluster.kubectl("delete", "namespace", "asked", timeout=SOON)
    replace_key(ghent)

    since = {cluster.name: cluster.audit.mark() for cluster in sides}

    def by_helm() -> None:
        # This removal was refused above; a refused one needs no undoing.
        sides.release.helm(ghent, "uninstall", "liqo", "--wait")
        ghent.kubectl("delete", "namespace", "liqo", timeout=SOON)

    at_once(by_helm, lambda: sides.release.liqoctl(lyon)("uninstall", "--skip-confirm", timeout=SOON))
    for cluster in sides:
        # The APIService goes first: without liqod behind it, it would hold up the removal of every namespace.
        gone = cluster.audit.deleted(since[cluster.name])
        assert gone.index("apiservices /v1beta1.metrics.liqo.io") < gone.index("deployments liqo/liqod"), gone
        wait_for(lambda c=cluster: as_before(sides, c, False), SOON, f"all but the kinds of {cluster.name} to be gone")
        assert any("liqo.io" in kind["metadata"]["name"] for kind in cluster.api.list("customresourcedefinitions"))
    kinds = sides.release.helm(ghent, "show", "crds", sides.release.chart.name)
    at_once(
        lambda: ghent.kubectl("delete", "-f", "-", stdin=kinds, timeout=SOON),
        lambda: sides.release.liqoctl(lyon)("uninstall", "--purge", "--skip-confirm", timeout=SOON),
    )
    for cluster in sides:
        wait_for(lambda c=cluster: as_before(sides, c, True), SOON, f"{cluster.name} to be as it was before")
