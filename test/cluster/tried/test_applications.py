"""Every command of docs/applications.md works, in its order, and its shop answers customers while clusters fail.

The three clusters have real nodes, name servers and an Ingress.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from harness import settings
from harness.cluster import ingress, python_image
from harness.cluster.cluster import PORT, Cluster
from harness.cluster.components import Options
from harness.cluster.volumes import WITH_POD, Directories
from harness.liqo import chart
from harness.liqo.peers import Peer
from harness.monitoring.customers import Customers
from harness.run import Run
from harness.tools import manual
from harness.tools.console import Console
from harness.wait import patient, wait_for

PAGE = settings.TREE / "docs/applications.md"
EXAMPLE = settings.TREE / "examples/shop"
SECTIONS = {section.title: section for section in manual.read(PAGE)}
PYTHON = "docker.io/library/python:3.13-slim"
HOST = "shop.example"
NODES = {"rome-1", "milan", "turin"}
ACCOUNTS = ("accounts-0", "accounts-1", "accounts-2")
# This pod runs in milan, and is replaced while clusters fail.
ENDED_ACCOUNT = "accounts-2"
CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
# The chart gives these flags with storage.enabled=true.
STORAGE = ("--virtual-storage-class-name=liqo", f"--real-storage-class-name={WITH_POD}", "--enable-storage")


@dataclass
class Three:
    """rome, where the shop is, and its providers milan and turin, each with a console of its user."""

    rome: Peer
    milan: Peer
    turin: Peer
    consoles: dict[str, Console]

    def type(self, title: str, since: str = "", until: str = "") -> None:
        """Types a section of the page, or of it what comes before the step with the words `until`, or that one and what
        follows (`since`)."""
        steps = SECTIONS[title].steps
        if words := since or until:
            (at,) = [number for number, step in enumerate(steps) if words in step.line]
            steps = steps[at:] if since else steps[:at]
        for step in steps:
            manual.try_step(PAGE.name, self.consoles[step.user], step)

    def customers(self) -> Customers:
        return Customers(self.rome.cluster, HOST)

    def data_of(self, claim: str) -> Path:
        """Where the data of a claim of the accounts is, in whichever cluster."""
        volume = self.rome.api.get(CLAIMS, "accounts", claim)["spec"]["volumeName"]
        notes = self.rome.api.get(VOLUMES, None, volume)["metadata"]["annotations"]
        cluster = self.consoles[notes.get("storage.liqo.io/backing-cluster", "rome")].cluster
        return directory_of(cluster, *notes["storage.liqo.io/backing-claim"].split("/"))

    def leads_to(self, cluster: Cluster) -> bool:
        """Whether the Service of the catalog leads to a pod of that cluster."""
        slices = self.rome.api.list("endpointslices", "shop", "kubernetes.io/service-name=catalog")
        ready = [each for one in slices for each in one.get("endpoints") or [] if each["conditions"]["ready"]]
        own = cluster.pod_cidr.rpartition(".0.0/")[0] + "."
        return any(address.startswith(own) for each in ready for address in each["addresses"])


@dataclass
class Account:
    """A pod of the StatefulSet, and what is in its volume: a line for each time that it has begun."""

    uid: str
    restarts: int
    log: str


class Others:
    """What goes on beside the customers of the shop, until the block ends: milan's own pods read the ledger in rome,
    the courier delivers, and a Job is made every two seconds. As it begins one of the accounts in milan is made anew,
    and a clerk in milan counts Jobs through rome's API server. If the block drains milan (`drains`), Jobs may have
    to try twice, and all accounts there are made anew."""

    blocks = made = 0  # so far, so that each Job has a name of its own

    def __init__(self, three: Three, drains: bool = False):
        self._three, self._api, self._parcels, self._drains = three, three.rome.api, 3, drains
        self._before = {name: self._account(name) for name in ACCOUNTS}
        ledger = three.milan.api.get("services", "office-rome", "ledger")["spec"]["clusterIP"]
        self.readers = Customers(three.milan.cluster, "ledger", 1, ledger)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Others:
        self._api.delete("pods", "accounts", ENDED_ACCOUNT)
        self._send_a_clerk()
        self.readers.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        self.readers.__exit__()

    def _run(self) -> None:
        while not self._ends.wait(2):
            try:
                self._make_a_parcel()
            except (AssertionError, OSError):
                continue  # the API server is away

    def _make_a_parcel(self) -> None:
        number = Others.made = Others.made + 1
        self._api.patch("deliveries", "parcels", "apples", {"spec": {"parcels": 3 + number}})
        self._parcels = 3 + number
        # The page does not count these parcels.
        parcel = (EXAMPLE / "parcel.yaml").read_text().replace("NUMBER", str(1000 + number))
        parcel = parcel.replace("app: parcels", "app: others")
        for kind, body in zip(("secrets", "jobs"), yaml.safe_load_all(parcel), strict=True):
            if kind == "jobs" and self._drains:
                body["spec"]["backoffLimit"] = 3
            self._api.create(kind, "parcels", body)

    def _send_a_clerk(self) -> None:
        Others.blocks += 1
        self._api.delete("configmaps", "parcels", "result")
        (job,) = [one for one in yaml.safe_load_all((EXAMPLE / "clerk.yaml").read_text()) if one["kind"] == "Job"]
        job["metadata"]["name"] = f"clerk-{Others.blocks}"
        self._api.create("jobs", "parcels", job)

    def _account(self, name: str) -> Account:
        pod = self._api.get("pods", "accounts", name)
        assert "deletionTimestamp" not in pod["metadata"]
        (container,) = pod["status"]["containerStatuses"]
        assert container["ready"], pod["status"]
        log = (self._three.data_of(f"data-{name}") / "log").read_text()
        return Account(pod["metadata"]["uid"], container["restartCount"], log)

    def wait_done(self) -> None:
        """Waits until what was asked for has been done."""
        def is_delivered() -> bool:
            status = self._api.get("deliveries", "parcels", "apples")["status"]
            return status["conditions"][0]["message"].startswith(f"{self._parcels} parcels")

        def are_complete() -> bool:
            jobs = self._api.list("jobs", "parcels", "app=others")
            late = [job["metadata"]["name"] for job in jobs if not job.get("status", {}).get("succeeded")]
            assert not late, late
            return True

        def is_counted() -> bool:
            result = self._api.get("configmaps", "parcels", "result")["data"]
            return result["counted-by"] == "milan" and int(result["done"]) == 100

        def are_as_before() -> bool:
            for name, before in self._before.items():
                now = self._account(name)
                if name == ENDED_ACCOUNT or (self._drains and name != "accounts-0"):
                    assert now.uid != before.uid, name
                    assert now.log.startswith(before.log) and len(now.log) > len(before.log), (name, now.log)
                else:
                    assert now == before, (name, now, before)
            return True

        wait_for(is_delivered, 60, "the courier to have delivered what was asked for last")
        wait_for(are_complete, 120, "every Job to be done")
        wait_for(is_counted, 120, "the clerk to have counted those of the page")
        wait_for(are_as_before, 60, "the accounts to run with their data")


def give_images(cluster: Cluster, *images: Path) -> None:
    assert cluster.node
    for image in images:
        cluster.node.give(image)


def make_image(directory: Path) -> Path:
    """The image of liqod under test, which the pods run that carry data."""
    daemon = settings.liqod()
    assert daemon, "there is no liqod to make an image of"
    tool = [sys.executable, settings.TREE / "tools/image", "--build", daemon.parents[2], "--output", directory]
    made = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"tools/image failed: {made.stderr}"
    return next(directory.glob("liqo-*-image-amd64.tar"))


def make_class(cluster: Cluster) -> None:
    """The StorageClass that the chart makes with storage.enabled=true."""
    spec = {"provisioner": "liqo.io/storage", "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True}
    cluster.api.create("storageclasses", None, {"kind": "StorageClass", "metadata": {"name": "liqo"}, **spec})


def name_image(cluster: Cluster, image: Path) -> None:
    """Makes a Deployment of liqod, which runs beside the clusters here, for those who look up its image there."""
    version = image.name.removeprefix("liqo-").removesuffix("-image-amd64.tar")
    labels = {"app": "liqo"}
    template = {"metadata": {"labels": labels}}
    template["spec"] = {"containers": [{"name": "liqod", "image": f"localhost/liqo/liqod:{version}"}]}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    cluster.api.create("deployments", "liqo", {"kind": "Deployment", "metadata": {"name": "liqo"}, "spec": spec})


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A run of its own, so that the clusters have the names that they have on the page."""
    yield from manual.own_run()


@pytest.fixture(scope="module")
def three(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Three]:
    here = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("example") / "shop"))
    python = here.parent / "python.tar"
    real = Options(kubelet=True, proxy=True, dns=True)
    with ThreadPoolExecutor(2) as pool:
        written = pool.submit(python_image.write, python, PYTHON)
        made = pool.submit(make_image, here.parent / "image")
        clusters = run.start(rome=real, milan=real, turin=real)
        written.result()
        liqo = made.result()
    flags = {
        "rome": (
            "--home-api-server-host", clusters["rome"].address, "--home-api-server-port", str(PORT),
            "--reflect-custom=deliveries.shop.example,status",
        )
    }  # fmt: skip
    with ExitStack() as stack:
        for cluster in clusters.values():
            stack.callback(Directories(cluster).stop)
            make_class(cluster)
        with ThreadPoolExecutor(3) as pool:
            given = [pool.submit(give_images, cluster, python, liqo) for cluster in clusters.values()]
            peers = pool.map(
                lambda cluster: Peer(cluster, (*STORAGE, *flags.get(cluster.name, ())), storage=True), clusters.values()
            )
            rome, milan, turin = peers
            for done in given:
                done.result()
        name_image(rome.cluster, liqo)
        chart.allow_custom(rome.cluster, "shop.example", "deliveries")
        chart.allow_tenant_roles(milan.cluster, "deliveries")
        for provider in (milan, turin):
            rome.peer_with(provider, "--cpu=2", "--memory=4Gi", "--pods=60")
        stack.enter_context(closing(ingress.Controller(rome.cluster)))
        yield Three(rome, milan, turin, {name: Console(cluster, here) for name, cluster in clusters.items()})


def test_the_shop_runs_in_three_clusters(three: Three) -> None:
    for title in ("Declare where the endpoints are", "A web shop"):
        three.type(title)
    with three.customers() as customers:
        wait_for(lambda: customers.served() == NODES, 60, "each of the three to serve customers")
    assert not customers.failed, customers.failed[:5]


def test_a_hundred_jobs_are_done_and_counted_while_liqods_are_killed(three: Three) -> None:
    """So many at once use the machine up: requests of customers would take longer than the shop waits."""

    def done() -> int:
        jobs = three.rome.api.list("jobs", "parcels", "app=parcels")
        return sum(job.get("status", {}).get("succeeded", 0) for job in jobs)

    three.type("A hundred Jobs", until="seq 100")
    with ThreadPoolExecutor(1) as pool:
        typed = pool.submit(three.type, "A hundred Jobs", since="seq 100")
        for peer, first in ((three.rome, 10), (three.milan, 40)):
            wait_for(lambda first=first: done() >= first, 100, f"{first} Jobs to be done")
            peer.daemon.kill()
            wait_for(lambda first=first: done() >= first + 5, 60, "what runs elsewhere to go on")
            peer.daemon.start()
        typed.result()


@pytest.mark.refusals("no kind is let in before Kubernetes counts it, which takes a while where its definition is new")
def test_an_operator_in_another_cluster_works_on_a_kind_of_the_shop(three: Three) -> None:
    three.type("A kind of your own")


def test_pods_of_the_provider_use_a_service_of_home(three: Three) -> None:
    three.type("Services for pods of the provider")


def test_a_stateful_set_has_its_data_in_two_clusters(three: Three) -> None:
    three.type("A StatefulSet with its data")


def test_no_customer_notices_that_a_liqod_is_killed(three: Three) -> None:
    with three.customers() as customers, Others(three) as others:
        for peer in (three.rome, three.milan):
            peer.daemon.kill()
            customers.wait_for_more(50)
            peer.daemon.start()
            customers.wait_for_more(50)
    assert not customers.failed, customers.failed[:5]
    assert not others.readers.failed, others.readers.failed[:5]
    others.wait_done()


def test_no_customer_notices_that_an_api_server_restarts(three: Three) -> None:
    with three.customers() as customers, Others(three) as others:
        for peer in (three.rome, three.milan):
            peer.cluster.kill("kube-apiserver")
            customers.wait_for_more(50)
            peer.cluster.start_again("kube-apiserver")
            customers.wait_for_more(50)
            peer.daemon.ensure()
    assert not customers.failed, customers.failed[:5]
    assert not others.readers.failed, others.readers.failed[:5]
    others.wait_done()
    wait_for(lambda: three.rome.node_ready("milan"), 60, "the node of milan to be Ready")


@pytest.mark.refusals("a provider that is drained takes no pods, and those that end are made again at once")
def test_no_customer_notices_that_a_provider_drains(three: Three) -> None:
    with three.customers() as customers, Others(three, drains=True) as others:
        three.type("Drain a provider")
        customers.wait_for_more(50)
    assert not customers.failed, customers.failed[:5]
    assert not others.readers.failed, others.readers.failed[:5]
    others.wait_done()


def test_only_the_share_of_a_provider_that_is_cut_off_fails(three: Three) -> None:
    """The last that customers see: a kernel keeps for two minutes where it has led a connection that was never
    answered, and leads there whoever has the same port by then."""
    network, milan = three.milan.cluster.network, three.milan.cluster
    wait_for(lambda: three.leads_to(milan), 60, "the catalog to have its pod in milan")
    with three.customers() as customers, Others(three) as others:
        wait_for(lambda: customers.served() == NODES, 60, "each of the three to serve customers")
        cut = time.monotonic()
        network.cut("milan")
        try:
            wait_for(lambda: not three.leads_to(milan), 60, "no Service to lead to milan any more")
            alone = time.monotonic()
            customers.wait_for_more(50)
            wait_for(lambda: time.monotonic() - cut > 60, 90, "a minute to pass")
        finally:
            network.heal("milan")
        healed = time.monotonic()
        wait_for(lambda: "milan" in customers.served(since=healed), 60, "milan to serve customers again")
        back = time.monotonic()
    meanwhile = [answer for answer in customers.answers if cut <= answer.sent < alone]
    assert {answer.text.split()[0] for answer in meanwhile if not answer.failed} >= NODES - {"milan"}
    # A third of the requests fails, each after the frontend's two seconds.
    assert 0 < len(customers.failed) <= 0.6 * len(meanwhile), (len(customers.failed), len(meanwhile))
    # Requests that were under way when the cable was cut fail, too.
    assert all(cut - 8 < answer.sent < cut + patient(40) for answer in customers.failed), customers.failed
    assert back - healed < patient(15)
    # milan's own pods cannot reach rome's ledger meanwhile.
    assert all(cut - 8 < answer.sent < healed + patient(15) for answer in others.readers.failed), others.readers.failed
    others.wait_done()


def test_the_data_of_a_stateful_set_is_moved(three: Three) -> None:
    three.type("Move its data")


@contextmanager
def again_and_again(act: Callable[[], object]) -> Iterator[None]:
    """Calls it again and again until the block ends."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(0.05):
            act()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def directory_of(cluster: Cluster, namespace: str, name: str) -> Path:
    """Where the data of a claim is."""
    return cluster.directory / "volumes" / cluster.api.get(CLAIMS, namespace, name)["spec"]["volumeName"]


def fill(directory: Path) -> None:
    """Files of every kind that is kept."""
    (directory / "inner/deep").mkdir(parents=True)
    for number in range(200):
        (directory / f"inner/{number} ä").write_bytes(os.urandom(number * 100))
    (directory / "inner/link").symlink_to("../../outside")
    os.link(directory / "inner/7 ä", directory / "inner/deep/another name")
    with (directory / "sparse").open("wb") as sparse:
        sparse.truncate(64 << 20)
    for path, owner, mode in (("inner/deep", 70, 0o2770), ("inner/8 ä", 1000, 0o4750), ("inner/9 ä", 2000, 0o000)):
        os.chown(directory / path, owner, owner + 1)
        (directory / path).chmod(mode)


def listed(directory: Path) -> str:
    """Every file with its permissions, its owner and what is in it."""
    words = [settings.liqoctl(), "volume", "list", directory]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_a_move_that_is_interrupted_loses_nothing(three: Three) -> None:
    rome, there, name = three.rome.api, "accounts-rome", "data-accounts-2"
    liqoctl = three.rome.liqoctl
    rome.patch("statefulsets", "accounts", "accounts", {"spec": {"replicas": 0}})
    wait_for(lambda: not three.rome.cluster.pods("accounts"), 60, "the pods to be gone")
    source = directory_of(three.milan.cluster, there, name)
    fill(source)
    expected, before = listed(source), rome.get(CLAIMS, "accounts", name)
    words = ("move", "volume", name, "-n", "accounts", "--target-node")

    def refused(*arguments: object) -> str:
        done = liqoctl.attempt(*arguments)
        assert done.code == 1, done
        return done.err

    assert "there is no Node nowhere" in refused(*words, "nowhere")
    assert "node milan is of cluster milan, where the data is already" in refused(*words, "milan")
    lease = {"kind": "Lease", "metadata": {"name": f"liqo-move-{name}"}, "spec": {"holderIdentity": "somebody"}}
    rome.create("leases", "accounts", lease)
    renewed = {"n": 0}

    def renew() -> None:
        renewed["n"] += 1
        noted = {"metadata": {"annotations": {"n": str(renewed["n"])}}}
        rome.patch("leases", "accounts", f"liqo-move-{name}", noted)

    with again_and_again(renew):
        assert "another move of this claim is under way (somebody)" in refused(*words, "turin")
    rome.delete("leases", "accounts", f"liqo-move-{name}")

    # Somebody writes to a file while it is copied: the move fails, and the next one restores the claim with its data.
    with again_and_again(lambda: os.utime(source / "sparse")):
        said = refused(*words, "turin")
        assert "go on changing" in said and "comes back when the same command is run again" in said, said
    assert listed(source) == expected

    # The move is killed while the claim is between two volumes.
    def is_between() -> bool:
        claim = rome.find(CLAIMS, "accounts", name)
        back = claim is not None and claim["metadata"]["uid"] != before["metadata"]["uid"]
        if back and not between:
            between.append(claim["metadata"]["uid"])
        return bool(between) and (claim is None or "deletionTimestamp" in claim["metadata"])

    between: list[str] = []
    command = three.rome.cluster.space.entering([liqoctl.binary, *words, "turin"])
    environment = {**os.environ, "KUBECONFIG": str(liqoctl.kubeconfig)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(is_between, 120, "the claim to be deleted", interval=0.02)
        finally:
            process.kill()
    liqoctl(*words, "turin", timeout=240)
    after = wait_for(lambda: rome.get(CLAIMS, "accounts", name), 60, "the claim")
    assert after["status"]["phase"] == "Bound"
    for key in ("accessModes", "resources", "storageClassName", "volumeMode"):
        assert after["spec"][key] == before["spec"][key]
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    target = directory_of(three.turin.cluster, there, name)
    assert listed(target) == expected
    wait_for(lambda: not three.milan.api.find(CLAIMS, there, name), 60, "what it was copied from to be gone")

    # The data moves home again, and --keep-source leaves a copy.
    liqoctl(*words, "rome-1", "--keep-source", timeout=240)
    assert listed(three.data_of(name)) == expected == listed(target)
    own = [one["spec"]["volumeName"] for one in rome.list(CLAIMS) if "volumeName" in one["spec"]]
    (kept,) = [one["metadata"]["name"] for one in rome.list(VOLUMES) if one["metadata"]["name"] not in own]
    assert rome.get(VOLUMES, None, kept)["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    rome.patch(VOLUMES, None, kept, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}})
    wait_for(lambda: not three.turin.api.find(CLAIMS, there, name), 60, "what was kept to be gone")
    left = [
        f"{kind}/{one['metadata']['name']}"
        for kind in ("pods", "leases", CLAIMS)
        for one in rome.list(kind, "accounts")
    ]
    assert left == [f"{CLAIMS}/data-accounts-{number}" for number in range(3)]


def test_data_goes_both_ways_in_a_namespace_whose_pods_may_not_run_at_home(three: Three) -> None:
    """The data is at home, and no pod uses it: where the move before has left it."""
    rome, there, name, liqoctl = three.rome.api, "accounts-rome", "data-accounts-2", three.rome.liqoctl
    expected = listed(three.data_of(name))
    words = ("move", "volume", name, "-n", "accounts", "--target-node")
    offloading = rome.get("namespaceoffloadings", "accounts", "offloading")["spec"]
    rome.patch("namespaceoffloadings", "accounts", "offloading", {"spec": {"podOffloadingStrategy": "Remote"}})
    copy = f"liqo-move-{name}"
    try:
        # The program of the pods is not in this image: they end at once, and so does the command.
        begun = time.monotonic()
        failed = liqoctl.attempt(*words, "milan", "--image", PYTHON)
        assert failed.code == 1 and "which was to carry the data, has ended: " in failed.err, failed
        assert f"kubectl delete pvc {copy} -n accounts" in failed.err, failed
        assert time.monotonic() - begun < patient(60)
        assert rome.find(CLAIMS, "accounts", copy) and not rome.list("pods", "accounts")
        given_up = liqoctl.attempt(*words, "rome-1")
        assert given_up.code == 1 and "what an earlier move had left is removed" in given_up.err, given_up
        assert not rome.find(CLAIMS, "accounts", copy)

        gone = liqoctl.attempt(*words, "milan", timeout=240)
        assert gone.code == 0 and "will find no node" not in gone.err, gone
        assert listed(directory_of(three.milan.cluster, there, name)) == expected
        back = liqoctl.attempt(*words, "rome-1", timeout=240)
        stranded = "the pods of StatefulSet accounts will find no node, because namespace accounts has the strategy"
        assert back.code == 0 and stranded in back.err, back
        assert back.err.index(stranded) < back.err.index("copied, and compared"), back
        assert listed(three.data_of(name)) == expected
        # Who only says that a pod carries a volume is not let be: the maker's rights are asked for.
        pod = {"metadata": {"name": "sneaks"}, "spec": {"restartPolicy": "Never", "activeDeadlineSeconds": 600}}
        pod["metadata"]["labels"] = {
            "app.kubernetes.io/component": "volume-carrier", "app.kubernetes.io/managed-by": "liqoctl",
        }  # fmt: skip
        pod["spec"]["containers"] = [
            {"name": "main", "image": PYTHON, "command": ["/usr/bin/liqoctl", "volume", "hold"]},
        ]  # fmt: skip
        pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        three.rome.cluster.kubectl("create", "rolebinding", "tim", "--clusterrole=edit", "--user=tim", "-n", "accounts")
        made = three.rome.cluster.kubectl(
            "create", "-f", "-", "-n", "accounts", "--as=tim", "--dry-run=server", "-o", "json",
            stdin=json.dumps({"apiVersion": "v1", "kind": "Pod", **pod}),
        )  # fmt: skip
        assert "nodeAffinity" in json.loads(made)["spec"]["affinity"]
    finally:
        strategy = {"podOffloadingStrategy": offloading["podOffloadingStrategy"]}
        rome.patch("namespaceoffloadings", "accounts", "offloading", {"spec": strategy})


@pytest.mark.refusals("a pod is made again in a twin that is about to go")
def test_the_applications_are_taken_away(three: Three) -> None:
    three.type("Take it away")


def test_every_section_of_the_page_is_typed() -> None:
    source = Path(__file__).read_text()
    assert not [title for title in SECTIONS if f'"{title}"' not in source]
