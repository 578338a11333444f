"""The quota ledger, two replicas behind one Service, never admits more pods than a quota has room for."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster import rights
from harness.cluster.api import Api, Refused, path
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.run import Run
from harness.wait import patient, wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

USER, TENANT, TWIN = "pool-1f00", "liqo-tenant-rome", "shop-rome"
FIRST, SECOND = 9443, 9444
ROOT = Path(__file__).parents[3]
# Either replica may be asked, and they learn of changes at different moments, so each question is repeated.
REPEATEDLY = range(5)
CRDS = {"go": ROOT / "test" / "fixtures" / "liqo-crds", "ours": ROOT / "charts" / "liqo" / "crds"}


@pytest.fixture(scope="module")
def lyon(run: Run) -> Iterator[Cluster]:
    """A provider with one tenant and fake nodes."""
    with run.borrow(lyon=Options()) as (cluster,):
        cluster.add_kwok_nodes(2)
        labels = {"liqo.io/remote-cluster-id": "rome"}
        cluster.namespace(TENANT, {**labels, "liqo.io/tenant-namespace": "true"})
        cluster.namespace(TWIN, labels)
        yield cluster


@pytest.fixture(scope="module")
def replicas(lyon: Cluster, daemons: object) -> list[Liqod]:
    kubeconfig = chart.install(lyon)
    # The replicas are processes: these endpoints are those that the chart's Service would select.
    ports = [{"name": "webhook", "port": 9443, "targetPort": FIRST, "protocol": "TCP"}]
    service = {"kind": "Service", "metadata": {"name": "liqo-webhook"}, "spec": {"ports": ports}}
    lyon.api.apply("services", "liqo", service)
    for port in (FIRST, SECOND):
        lyon.api.apply("endpointslices", "liqo", {
            "kind": "EndpointSlice",
            "metadata": {"name": f"liqo-webhook-{port}", "labels": {"kubernetes.io/service-name": "liqo-webhook"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [lyon.address], "conditions": {"ready": True}}],
            "ports": [{"name": "webhook", "port": port, "protocol": "TCP"}],
        })  # fmt: skip
    started = [
        Liqod(lyon, kubeconfig, listen_port=10250 + number, name=f"liqod-{number}", metrics_port=9090 + number,
              service_port=port, flags=("--leader-elect", "--identity", f"replica-{number}"), listen_ports=1)
        for number, port in enumerate((FIRST, SECOND))
    ]  # fmt: skip
    for replica in started:
        replica.start(0)
    for replica in started:
        wait_for(replica.ready, 60, f"{replica.name} to be ready")
    rights.bind(lyon, TWIN, TENANT, rights.group("rome"), chart.REMOTE_ROLE)
    return started


@pytest.fixture(scope="module")
def rome(lyon: Cluster, replicas: list[Liqod]) -> Api:
    """The identity of a slice of rome, once the API server asks the webhooks about what it creates."""
    api = lyon.as_user(lyon.authority.issue("slice-of-rome", USER, ["rome"]))
    quota(lyon, {"cpu": "1"})

    def asked() -> bool:
        try:
            create(api, "probe", {"cpu": "2"}, dry_run=True)
        except Refused as refusal:
            return "has not enough cpu" in str(refusal)
        return False

    wait_for(asked, 60, "the API server to ask the webhooks")
    return api


def quota(cluster: Cluster, resources: dict[str, str], enforcement: str = "None") -> None:
    cluster.api.apply("quotas", TENANT, objects.unenforced_quota(USER, resources, limitsEnforcement=enforcement))


def pod_spec(requests: dict[str, str], **fields: Any) -> dict[str, Any]:
    return {**objects.one_container(resources={"requests": requests}), **fields}


def create(api: Api, name: str, requests: dict[str, str], dry_run: bool = False, **fields: Any) -> dict[str, Any]:
    return post(api, objects.shadow_pod(name, "rome", pod_spec(requests, **fields)), dry_run)


def create_pod(api: Api, name: str, spec: dict[str, Any], dry_run: bool = False, **resources: Any) -> dict[str, Any]:
    """A ShadowPod of one container with these requests and limits, and of what `spec` adds."""
    pod = {**objects.one_container(resources=resources), **spec}
    return post(api, objects.shadow_pod(name, "rome", pod), dry_run)


def post(api: Api, shadow: dict[str, Any], dry_run: bool) -> dict[str, Any]:
    """Creates it as liqod does, which asks again if an API server, or its webhook, is too busy to answer."""
    tries = itertools.count(1)

    def attempt() -> dict[str, Any]:
        repeated = next(tries) > 1
        try:
            return api.request("POST", path("shadowpods", TWIN), shadow, query={"dryRun": "All"} if dry_run else {})
        except Refused as refusal:
            if refusal.code == 409 and repeated:  # it was stored, and the answer was late
                return api.get("shadowpods", TWIN, shadow["metadata"]["name"])
            raise

    return persist(attempt)


def persist(action: Callable[[], dict[str, Any]], *codes: int) -> dict[str, Any]:
    """Tries again while somebody is too busy to answer, or refuses with one of these codes."""
    end = time.monotonic() + patient(60)
    while True:
        try:
            return action()
        except Refused as refusal:
            if (refusal.code < 500 and refusal.code not in codes) or time.monotonic() > end:
                raise
        time.sleep(0.2)


def clear(cluster: Cluster, api: Api) -> None:
    """Removes everything, and waits until the ledger has seen it go."""
    for shadow in cluster.api.list("shadowpods", TWIN):
        api.delete("shadowpods", TWIN, shadow["metadata"]["name"])
    left = lambda: cluster.api.list("shadowpods", TWIN) or cluster.pods(TWIN)  # noqa: E731
    wait_for(lambda: not left(), 60, "ShadowPods and pods to be gone")
    quota(cluster, {"cpu": "1"})
    # A pod that was admitted but never stored is counted for 70 s.
    wait_for(lambda: create(api, "probe", {"cpu": "1"}, dry_run=True), 100, "all of the quota to be free")


def admitted(api: Api, name: str, cpu: str = "100m") -> bool:
    try:
        return bool(create(api, name, {"cpu": cpu}))
    except Refused:
        return False


def answer(api: Api, number: int) -> int:
    """The answer to one pod, as a client that does not give up gets it; 0 if it never gets one.

    What a killed replica had admitted and nobody stored holds its share until its request can no longer be on its
    way: 70 s. Until then the same pod, asked for again, may be told to wait.
    """
    end = time.monotonic() + patient(100)
    while time.monotonic() < end:
        try:
            create(api, f"pod-{number}", {"cpu": "100m"})
            return 201
        except Refused as refusal:
            if refusal.code == 403:
                return 403
            if refusal.code == 409:  # an earlier request was stored, and its answer was late
                return 201
        except OSError:
            pass
        # A replica is gone or busy: the API server answers 500, 503 or 504, and the client asks again.
        time.sleep(0.2)
    return 0


def refused(action: Callable[[], Any], *words: str) -> None:
    """Asserts that the call is refused in these words."""
    try:
        action()
    except Refused as refusal:
        assert refusal.code == 403 and all(word in str(refusal) for word in words), refusal
    else:
        raise AssertionError(f"let in, and not refused with {words}")


def test_200_at_once_against_a_quota_of_50_while_a_replica_is_killed(
    lyon: Cluster, rome: Api, replicas: list[Liqod]
) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "5", "memory": "100Gi", "pods": "1000"})
    killed = threading.Event()

    def ask(number: int) -> int:
        if number == 60 and not killed.is_set():
            killed.set()
            replicas[1].kill()
        return answer(rome, number)

    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(ask, range(200)))
    admitted = [shadow["metadata"]["name"] for shadow in lyon.api.list("shadowpods", TWIN)]
    assert len(admitted) <= 50
    assert answers.count(0) == 0
    replicas[1].start()
    # Pods that a killed replica admitted and the API server never stored hold their share only for a while.
    def fill() -> bool:
        stored = len(lyon.api.list("shadowpods", TWIN))
        if stored < 50:
            try:
                create(rome, f"late-{stored}", {"cpu": "100m"})
            except Refused:
                return False
        return len(lyon.api.list("shadowpods", TWIN)) == 50

    wait_for(fill, 120, "exactly 50 pods to be admitted")
    full = f"quota {TENANT}/{USER} has not enough cpu: asked 100m, used 5 of 5, free 0"
    refused(lambda: create(rome, "one-more", {"cpu": "100m"}), full)
    wait_for(
        lambda: sum(pod["status"].get("phase") == "Running" for pod in lyon.pods(TWIN)) == 50, 60, "exactly 50 to run"
    )


def resize(api: Api, name: str, requests: dict[str, str], limits: dict[str, str] | None = None) -> None:
    """Asks for other amounts of a ShadowPod that is there, as liqod does; what is busy is asked again."""
    resources = {"requests": requests, **({"limits": limits} if limits else {})}
    container = {"name": "main", "image": "busybox", "resources": resources}
    persist(lambda: api.patch("shadowpods", TWIN, name, {"spec": {"pod": {"containers": [container]}}}), 409)


def test_20_that_grow_at_once_get_what_there_is_room_for(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "5"})
    small = [f"grow-{number}" for number in range(20)]
    for name in small:
        create(rome, name, {"cpu": "100m"})

    def grows(name: str) -> bool:
        try:
            resize(rome, name, {"cpu": "400m"})
        except Refused as refusal:
            assert "has not enough cpu: asked 300m" in str(refusal)
            return False
        return True

    def grown() -> list[str]:
        amounts = {
            shadow["metadata"]["name"]: shadow["spec"]["pod"]["containers"][0]["resources"]["requests"]["cpu"]
            for shadow in lyon.api.list("shadowpods", TWIN)
        }
        return [name for name in small if amounts[name] == "400m"]

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(grows, small))
    assert len(grown()) <= 10

    # A growth of a version that has changed is sent again, and its reservation is held until that is seen.
    def fill() -> bool:
        if len(grown()) < 10:
            next(filter(grows, (name for name in small if name not in grown())), None)
        return len(grown()) == 10

    wait_for(fill, 120, "exactly 10 to grow")
    left = next(name for name in small if name not in grown())
    refused(lambda: resize(rome, left, {"cpu": "400m"}), "has not enough cpu: asked 300m, used 5 of 5, free 0")
    refused(lambda: create(rome, "one-more", {"cpu": "100m"}), "used 5 of 5, free 0")


def test_what_grows_under_a_hard_quota_is_limited_to_what_it_requests(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "1", "memory": "1Gi"}, "Hard")
    amounts = lambda cpu: {"cpu": cpu, "memory": "64Mi"}  # noqa: E731
    create_pod(rome, "web", {}, requests=amounts("100m"), limits=amounts("100m"))
    refused(lambda: resize(rome, "web", amounts("200m"), amounts("300m")), "equal requests and limits")
    resize(rome, "web", amounts("200m"), amounts("200m"))
    refused(lambda: resize(rome, "web", amounts("2"), amounts("2")), "has not enough cpu: asked 1800m")


def test_a_restart_forgets_nothing(lyon: Cluster, rome: Api, replicas: list[Liqod]) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "2"})
    create(rome, "a", {"cpu": "1"})
    create(rome, "b", {"cpu": "1"})
    for replica in replicas:
        replica.kill()
    for replica in replicas:
        replica.start()
    refused(lambda: create(rome, "c", {"cpu": "1"}), "used 2 of 2")


def test_sidecars_and_limits_count(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "2"})
    resources = {"limits": {"cpu": "1500m"}}
    sidecar = {"name": "proxy", "image": "busybox", "restartPolicy": "Always", "resources": resources}
    refused(lambda: create(rome, "a", {"cpu": "1"}, initContainers=[sidecar]), "asked 2500m")
    create(rome, "a", {"cpu": "500m"}, initContainers=[sidecar])


def test_the_defaults_of_the_namespace_count(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "1"})
    limits = [{"type": "Container", "default": {"cpu": "800m"}}]
    lyon.api.apply("limitranges", TWIN, {"kind": "LimitRange", "metadata": {"name": "d"}, "spec": {"limits": limits}})
    try:
        two = pod_spec({})["containers"] + [{"name": "other", "image": "busybox"}]

        def known() -> bool:
            refused(lambda: create(rome, "a", {}, dry_run=True, containers=two), "asked 1600m")
            return True

        wait_for(lambda: all(known() for _ in REPEATEDLY), 60, "the LimitRange to be known")
        create(rome, "a", {})
        refused(lambda: create(rome, "b", {}), "asked 800m, used 800m of 1, free 200m")
    finally:
        lyon.api.delete("limitranges", TWIN, "d")


def test_a_finished_pod_frees_its_share(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "1", "pods": "1"})
    create(rome, "job", {"cpu": "1"}, restartPolicy="Never")
    # The pod is ended by hand, once kwok has started it: kwok would overwrite an earlier end.
    running = lambda: lyon.api.get("pods", TWIN, "job")["status"].get("phase") == "Running"  # noqa: E731
    wait_for(running, 60, "the pod of the job to run")
    refused(lambda: create(rome, "next", {}), "has not enough pods")
    lyon.api.patch("pods", TWIN, "job", {"status": {"phase": "Succeeded"}}, "status")

    wait_for(lambda: admitted(rome, "next", "1"), 60, "the share of the finished pod to be free")


def test_a_pod_that_is_terminating_holds_its_share(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "1"})
    # The pod gets no node: a fake kubelet would end it at once.
    create(rome, "web", {"cpu": "1"}, nodeSelector={"example.com/nowhere": "true"})
    wait_for(lambda: lyon.pod(TWIN, "web"), 60, "the pod")
    lyon.api.patch("pods", TWIN, "web", {"metadata": {"finalizers": ["example.com/wait"]}})
    rome.delete("shadowpods", TWIN, "web")
    wait_for(lambda: not lyon.api.list("shadowpods", TWIN), 60, "the ShadowPod to be gone")
    refused(lambda: create(rome, "web", {"cpu": "1"}), "used 1 of 1")
    lyon.api.patch("pods", TWIN, "web", {"metadata": {"finalizers": None}})

    wait_for(lambda: admitted(rome, "web", "1"), 60, "the successor to be admitted")


def test_soft_and_hard_quotas_say_what_they_miss(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "4", "memory": "4Gi"}, "Soft")
    refused(lambda: create(rome, "a", {"cpu": "1"}), "container main requests no memory")
    create(rome, "a", {"cpu": "1", "memory": "1Gi"}, dry_run=True)
    quota(lyon, {"cpu": "4", "memory": "4Gi"}, "Hard")
    refused(lambda: create(rome, "a", {"cpu": "1", "memory": "1Gi"}), "limited to nothing", "equal requests and limits")


def test_a_quota_that_is_lowered_binds_at_once_and_evicts_nobody(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "4"})
    create(rome, "a", {"cpu": "3"})
    quota(lyon, {"cpu": "2"})
    refused(lambda: create(rome, "b", {"cpu": "1"}), "asked 1, used 3 of 2, free 0")
    wait_for(lambda: lyon.pod(TWIN, "a"), 60, "the pod to be there")
    assert not lyon.api.get("pods", TWIN, "a")["metadata"].get("deletionTimestamp")


def test_the_overhead_of_a_runtime_counts(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "1"})
    sandbox = {"metadata": {"name": "sandbox"}, "handler": "sandbox", "overhead": {"podFixed": {"cpu": "500m"}}}
    lyon.api.apply("runtimeclasses", None, {"kind": "RuntimeClass", **sandbox})
    spec = {"runtimeClassName": "sandbox"}
    policy = {"liqo.io/pod-policy": '{"runtimeClasses": ["sandbox"]}'}
    lyon.api.patch("namespaces", None, TENANT, {"metadata": {"annotations": policy}})

    def refused_for(cpu: str, *words: str) -> bool:
        refused(lambda: create_pod(rome, "a", spec, dry_run=True, requests={"cpu": cpu}), *words)
        return True

    wait_for(lambda: all(refused_for("600m", "asked 1100m") for _ in REPEATEDLY), 60, "the RuntimeClass to be known")
    create_pod(rome, "a", spec, requests={"cpu": "400m"})
    wait_for(lambda: lyon.pod(TWIN, "a"), 60, "the pod")
    assert lyon.api.get("pods", TWIN, "a")["spec"]["overhead"] == {"cpu": "500m"}
    refused(lambda: create(rome, "b", {"cpu": "200m"}), "used 900m of 1, free 100m")


def test_a_gpu_that_is_only_limited_is_requested(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "4", "nvidia.com/gpu": "2"})
    create_pod(rome, "a", {}, limits={"nvidia.com/gpu": "1"})
    refused(
        lambda: create_pod(rome, "b", {}, limits={"nvidia.com/gpu": "2"}),
        "not enough nvidia.com/gpu: asked 2, used 1 of 2, free 1",
    )
    create_pod(rome, "b", {}, dry_run=True, limits={"nvidia.com/gpu": "1"})


def test_what_a_pod_asks_for_as_a_whole_counts(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "2", "memory": "1Gi"})
    whole = {"resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": "2"}}}
    create_pod(rome, "a", whole, requests={"cpu": "100m", "memory": "64Mi"})
    refused(lambda: create(rome, "b", {"cpu": "600m"}), "asked 600m, used 1500m of 2, free 500m")
    wait_for(lambda: lyon.pod(TWIN, "a"), 60, "the pod")
    assert lyon.api.get("pods", TWIN, "a")["spec"]["resources"]["requests"]["cpu"] == "1500m"
    refused(lambda: create(rome, "b", {"cpu": "600m"}), "asked 600m, used 1500m of 2, free 500m")


def test_pods_are_counted_and_what_a_quota_does_not_name_is_not_granted(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"pods": "2"})
    refused(lambda: create(rome, "a", {"cpu": "1m"}), "grants no cpu", "not part of the slice")
    create(rome, "a", {}), create(rome, "b", {})
    refused(lambda: create(rome, "c", {}), "not enough pods: asked 1, used 2 of 2, free 0")
    rome.delete("shadowpods", TWIN, "b")
    wait_for(lambda: create(rome, "c", {}), 60, "a pod to be admitted for the one that is gone")


def test_none_soft_and_hard_let_in_what_they_should(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    bound = {"cpu": "4", "memory": "4Gi"}
    some, other = {"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}
    # Resources of a pod, and which enforcements let it in.
    table: list[tuple[dict[str, Any], str]] = [
        ({}, "None"),
        ({"requests": {"cpu": "1"}}, "None"),
        ({"requests": some}, "None Soft"),
        ({"limits": some}, "None Soft Hard"),
        ({"requests": some, "limits": other}, "None Soft"),
        ({"requests": some, "limits": some}, "None Soft Hard"),
    ]
    for enforcement in ("None", "Soft", "Hard"):
        quota(lyon, bound, enforcement)
        # The replicas see the change late: a pod that tells the three enforcements apart is asked about until they do.
        for resources, lets_in in table:

            def answered(resources: dict[str, Any] = resources, lets_in: str = lets_in) -> bool:
                try:
                    create_pod(rome, "a", {}, dry_run=True, **resources)
                except Refused as refusal:
                    assert refusal.code == 403 and enforcement not in lets_in.split(), refusal  # noqa: B023
                    return True
                assert enforcement in lets_in.split(), f"{resources} was let in"  # noqa: B023
                return True

            wait_for(answered, 60, f"{enforcement} to answer {resources}")


def used(cluster: Cluster) -> dict[str, Any]:
    return cluster.api.get("quotas", TENANT, USER).get("status", {})


def test_people_see_what_is_used(lyon: Cluster, rome: Api) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "4", "memory": "4Gi"})
    for name in ("a", "b"):
        create(rome, name, {"cpu": "1", "memory": "512Mi"})
    wait_for(
        lambda: used(lyon) == {"used": {"cpu": "2", "memory": "1Gi"}, "reserved": {}, "pods": 2},
        100,  # what a story before this one has reserved, and nobody stored, may count for 70 s
        "the Quota to show its use",
    )
    row = lyon.kubectl("get", "quotas", "-n", TENANT, USER, "--no-headers").split()
    assert row[:2] == [USER, "None"]
    wide = lyon.kubectl("get", "quotas", "-n", TENANT, USER, "--no-headers", "-o", "wide").split()
    assert wide[-6:] == [USER, "4", "2", "4Gi", "1Gi", "2"]
    clear(lyon, rome)
    wait_for(lambda: used(lyon)["pods"] == 0 and used(lyon)["used"]["cpu"] == "0", 60, "the Quota to show it is free")


def test_the_crd_of_the_go_version_stops_the_display_and_nothing_else(
    lyon: Cluster, rome: Api, replicas: list[Liqod]
) -> None:
    clear(lyon, rome)
    quota(lyon, {"cpu": "3"})
    go, ours = (
        (CRDS[version] / "offloading.liqo.io_quotas.yaml").read_text(encoding="utf-8") for version in ("go", "ours")
    )
    words = "so what is used is not shown"
    before = sum(replica.log().count(words) for replica in replicas)
    begun, swapped = threading.Event(), threading.Event()

    def ask(number: int) -> int:
        if number == 20:
            begun.set()
        if number >= 30:
            swapped.wait(patient(60))
        return answer(rome, number)

    try:
        with ThreadPoolExecutor(4) as pool:
            answers = pool.map(ask, range(60))
            assert begun.wait(patient(60))
            lyon.apply(go)
            swapped.set()
            outcomes = list(answers)
        assert outcomes.count(0) == 0
        assert (outcomes.count(201), outcomes.count(403)) == (30, 30)
        wait_for(lambda: sum(replica.log().count(words) for replica in replicas) > before, 60, "the one line about it")
        wait_for(
            lambda: "UseNotShown" in [event["reason"] for event in lyon.events(TENANT, USER)], 30, "the Event about it"
        )
        # The ledger is exact without the display, also after a change.
        refused(lambda: create(rome, "one-more", {"cpu": "100m"}), "asked 100m, used 3 of 3, free 0")
        rome.delete("shadowpods", TWIN, "pod-0" if outcomes[0] == 201 else "pod-1")
        wait_for(lambda: admitted(rome, "late"), 60, "its share to be free")
        refused(lambda: create(rome, "one-more", {"cpu": "100m"}), "asked 100m, used 3 of 3, free 0")
        assert sum(replica.log().count(words) for replica in replicas) == before + 1
    finally:
        lyon.apply(ours)
    # The display is tried again a minute later, if anything changes.
    quota(lyon, {"cpu": "4"})
    wait_for(lambda: used(lyon).get("used", {}).get("cpu") == "3", 150, "the display to be back")
