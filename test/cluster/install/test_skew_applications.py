"""Applications run unchanged between clusters of different versions, while these are upgraded, and after a rollback.

Not part of a plain run: `tools/test skew --ref REF` names the version of Liqo on the other side.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import settings
from harness.cluster import audit
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.cluster.node import is_ready
from harness.liqo.sides import SOON, Pair, Side
from harness.run import Run
from harness.wait import stays, wait_for

pytestmark = pytest.mark.skew

INDEX = "jobset.sigs.k8s.io/job-index"
ZONE = "topology.kubernetes.io/zone"
TOKENS = "liqo-liqod-tokens"
KEPT_SHUT = "service.beta.kubernetes.io/aws-load-balancer-internal"
# Events that a consumer of today has once for its namespace, whatever the version of the provider is.
TOLD_ONCE = ("DisruptionBudgetsNotHeld", "NamesNotResolved")
# How long is looked for writes that come again and again, and how many of one object are none of that.
QUIET, FEW = 20.0, 6
MAX_BLOCK = "10s"


def other_programs() -> tuple[Path, Path]:
    """The build directories of the other version and of today's."""
    today = settings.liqod()
    if today is None or not settings.skewed():
        pytest.skip("no other version of Liqo is named: tools/test skew --ref does so")
    return settings.skewed(), today.parents[2]


@pytest.fixture(scope="module")
def sides(run: Run) -> Iterator[tuple[Side, Side]]:
    """lecco has the other version, and pavia today's."""
    other, today = other_programs()
    with run.borrow(lecco=Options(kubelet=True), pavia=Options(kubelet=True)) as (lecco, pavia):
        yield Side(lecco, other), Side(pavia, today)


@pytest.fixture(scope="module", params=["the other version consumes", "the other version provides"])
def pair(request: pytest.FixtureRequest, sides: tuple[Side, Side]) -> Pair:
    other, today = sides
    return Pair(other, today) if "consumes" in request.param else Pair(today, other)


def is_todays(side: Side) -> bool:
    return side.name == "pavia"


def reader(name: str) -> dict[str, Any]:
    """A pod that prints its UID, and has an annotation in a file that providers leave out."""
    pod = busybox(name, "echo $UID rank=$(cat /info/rank); sleep 1000000")
    (main,) = pod["spec"]["containers"]
    main["env"] = [{"name": "UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]
    main["volumeMounts"] = [{"name": "info", "mountPath": "/info"}]
    items = [{"path": "rank", "fieldRef": {"fieldPath": f"metadata.annotations['{INDEX}']"}}]
    pod["spec"]["volumes"] = [{"name": "info", "downwardAPI": {"items": items}}]
    pod["metadata"] |= {"labels": {"app": "web"}, "annotations": {INDEX: "3"}}
    return pod


def with_token() -> dict[str, Any]:
    token = {"path": "vault", "audience": "vault", "expirationSeconds": 600}
    volumes = [{"name": "token", "projected": {"sources": [{"serviceAccountToken": token}]}}]
    pod = busybox("vault", volumes=volumes)
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "token", "mountPath": "/vault"}]
    return pod


def spread() -> dict[str, Any]:
    """A pod that home has spread over zones, which the provider does not have."""
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                  "labelSelector": {"matchLabels": {"app": "wide"}}}  # fmt: skip
    pod = busybox("wide", topologySpreadConstraints=[constraint])
    pod["metadata"]["labels"] = {"app": "wide"}
    return pod


def budget(**spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    return {"kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": {"selector": selector, **spec}}


def phases(home: Side) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["status"].get("phase", "") for pod in home.cluster.pods("shop")}


def running(home: Side) -> dict[str, tuple[str, str, int]]:
    """UID, phase and restarts of each pod that was offloaded."""
    return {
        pod["metadata"]["name"]: (
            pod["metadata"]["uid"],
            pod["status"].get("phase", ""),
            sum(one["restartCount"] for one in pod["status"].get("containerStatuses", [])),
        )
        for pod in home.cluster.pods("shop")
    }


def begin(pair: Pair) -> str:
    """Peers, offloads the namespace `shop`, and returns the name of its twin."""
    home, away = pair.consumer, pair.provider
    home.liqoctl("peer", "--remote-kubeconfig", away.cluster.kubeconfig, "--cpu=2", "--memory=2Gi", "--pods=20")
    assert is_ready(home.api.get("nodes", None, away.name))
    home.cluster.namespace("shop")
    home.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    return f"shop-{home.name}"


def end(pair: Pair) -> None:
    """The offloading and the peering end, and all that was made for them goes."""
    home, away = pair.consumer, pair.provider
    home.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    given = lambda: home.api.find("rolebindings", "shop", TOKENS)  # noqa: E731
    wait_for(lambda: given() is None, SOON, "liqod's right to make tokens in the namespace to go")
    home.cluster.kubectl("delete", "namespace", "shop", timeout=SOON)
    home.liqoctl("unpeer", "--remote-kubeconfig", away.cluster.kubeconfig, "--skip-confirm")
    gone = lambda: away.api.find("namespaces", None, f"shop-{home.name}") is None  # noqa: E731
    wait_for(gone, SOON, "the twin namespace to be gone")
    assert not away.api.list("poddisruptionbudgets", None, "offloading.liqo.io/origin")


def written_again(side: Side, since: int) -> dict[str, int]:
    """What Liqo wrote, or tried to write, more than a few times in this cluster since then, heartbeats aside."""
    counts: Counter[str] = Counter()
    for entry in side.cluster.audit.entries(since):
        kind, reference = audit.resource(entry), entry.get("objectRef", {})
        if audit.is_write(entry) and not audit.is_system(entry) and kind not in ("leases", "events"):
            counts[f"{entry['verb']} {kind} {reference.get('namespace', '')}/{reference.get('name', '')}"] += 1
    return {what: count for what, count in counts.items() if count > FEW}


def times_told(home: Side, reason: str) -> int:
    found = home.api.list("events", "shop", fields=f"reason={reason}")
    return sum(event.get("count") or 1 for event in found)


@pytest.mark.refusals("earlier versions refuse labels, and each refuses orders to load balancers")
def test_an_application_runs_whatever_the_other_side_lacks(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    twin = begin(pair)
    since = away.cluster.audit.mark()
    home.api.create("poddisruptionbudgets", "shop", budget(minAvailable=1))
    door = {"metadata": {"name": "door", "annotations": {KEPT_SHUT: "true"}}}
    spec = {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]}
    home.api.create("services", "shop", {"kind": "Service", **door, "spec": spec})
    home.api.create("pods", "shop", reader("plain"))
    outside = reader("outside")
    outside["metadata"]["labels"]["sidecar.istio.io/inject"] = "false"
    # To the scheduler of home the virtual node is a zone.
    home.api.patch("nodes", None, away.name, {"metadata": {"labels": {ZONE: "far"}}})
    # What an earlier consumer does not know of keeps its pods waiting, as it always did.
    pods = [outside, with_token(), spread()] if is_todays(home) else []
    for pod in pods:
        home.api.create("pods", "shop", pod)
    wait_for(lambda: set(phases(home).values()) == {"Running"}, SOON, "the pods to run")

    if is_todays(home):
        for name in ("plain", "outside"):
            uid = home.cluster.pod("shop", name)["metadata"]["uid"]
            assert away.cluster.kubectl("logs", "-n", twin, name) == f"{uid} rank=3\n", name
        assert away.cluster.kubectl("exec", "-n", twin, "vault", "--", "cat", "/vault/vault").count(".") == 2
        door_of = lambda: (away.api.find("services", twin, "door") or {"spec": {}})["spec"].get("type")  # noqa: E731
        wait_for(lambda: door_of() == "ClusterIP", SOON, "the Service to be there without its door")
    made = Counter(pod["metadata"]["name"] for pod in away.cluster.audit.created_pods(since, twin))
    assert set(made.values()) == {1}, made


@pytest.mark.refusals("what was refused is tried again after a while")
def test_what_the_other_side_lacks_is_told_once_and_nothing_is_written_again_and_again(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    for reason in TOLD_ONCE if is_todays(home) else ():
        wait_for(lambda: times_told(home, reason), SOON, f"the Event {reason}")  # noqa: B023
    before = running(home)
    marks = {side.name: side.cluster.audit.mark() for side in (home, away)}
    stays(lambda: running(home) == before, QUIET, "the pods, as they were", interval=1)
    for side in (home, away):
        again = written_again(side, marks[side.name])
        assert not again, f"written again and again in {side.name}: {again}"
    if is_todays(home):
        assert {reason: times_told(home, reason) for reason in TOLD_ONCE} == dict.fromkeys(TOLD_ONCE, 1)


@pytest.mark.refusals("a pod is made again in a twin namespace that is about to go")
def test_they_part(pair: Pair) -> None:
    end(pair)


@pytest.fixture(scope="module")
def updated(run: Run) -> Iterator[Pair]:
    """feltre borrows from rovigo, both with the other version, until a story updates them."""
    other, _ = other_programs()
    with run.borrow(feltre=Options(), rovigo=Options(kubelet=True)) as (feltre, rovigo):
        yield Pair(Side(feltre, other), Side(rovigo, other))


TWIN = "shop-feltre"


def order_of(away: Side, pod: str) -> tuple[str, dict[str, Any]]:
    """UID and spec of a ShadowPod."""
    found = away.api.get("shadowpods", TWIN, pod)
    return found["metadata"]["uid"], found["spec"]


def held(away: Side) -> int:
    """How many pods the copy of the budget keeps; 0 if there is none."""
    copy = away.api.find("poddisruptionbudgets", TWIN, "web")
    return copy["spec"]["minAvailable"] if copy else 0


def rank_of(away: Side, pod: str) -> Callable[[], str]:
    """What the pod reads in its file."""
    return lambda: away.cluster.kubectl("exec", "-n", TWIN, pod, "--", "cat", "/info/rank")


def set_rank(home: Side, pod: str, rank: str) -> None:
    home.api.patch("pods", "shop", pod, {"metadata": {"annotations": {INDEX: rank}}})


@pytest.mark.refusals("rights come and go with the charts")
def test_pods_from_before_an_upgrade_stay_as_they_are_and_later_ones_read_what_home_tells(updated: Pair) -> None:
    home, away = updated.consumer, updated.provider
    _, today = other_programs()
    begin(updated)
    home.api.create("pods", "shop", reader("early"))
    wait_for(lambda: phases(home) == {"early": "Running"}, SOON, "the first pod to run")
    order, before = order_of(away, "early"), running(home)

    # A provider that is upgraded first is asked for nothing new.
    away.upgrade(today)
    stays(lambda: running(home) == before, 3, "the pod, as it was")
    home.upgrade(today)
    wait_for(lambda: is_ready(home.api.get("nodes", None, "rovigo")), SOON, "the node to be Ready")
    stays(lambda: running(home) == before, 5, "the pod, as it was")
    assert order_of(away, "early") == order

    policy = json.dumps({"disruptionBudgets": {"maxBlock": MAX_BLOCK}})
    away.cluster.kubectl("annotate", "namespace", "liqo-tenant-feltre", f"liqo.io/pod-policy={policy}")
    marks = lambda: away.api.get("namespaces", None, TWIN)["metadata"].get("annotations", {})  # noqa: E731
    wait_for(lambda: marks().get("offloading.liqo.io/holds-budgets") == "true", SOON, "the twin to say so")
    home.api.create("poddisruptionbudgets", "shop", budget(minAvailable="100%"))
    home.api.create("pods", "shop", reader("late"))
    wait_for(lambda: phases(home).get("late") == "Running", SOON, "a later pod to run")
    uid = home.cluster.pod("shop", "late")["metadata"]["uid"]
    assert away.cluster.kubectl("logs", "-n", TWIN, "late") == f"{uid} rank=3\n"
    twin = away.api.get("namespaces", None, TWIN)["metadata"]["uid"]
    (owner,) = away.api.get("shadowpods", TWIN, "late")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Namespace", twin)
    wait_for(lambda: held(away) == 2, SOON, "the budget to hold for pods of both versions")
    assert home.api.find("rolebindings", "shop", TOKENS)
    # That the first pod is known by the later version does not make it another one.
    assert order_of(away, "early") == order


@pytest.mark.refusals("rights come and go with the charts")
def test_after_a_rollback_of_home_a_drain_at_the_provider_waits_no_longer_than_allowed(updated: Pair) -> None:
    home, away = updated.consumer, updated.provider
    other, today = other_programs()
    before = running(home)
    home.upgrade(other)
    wait_for(lambda: is_ready(home.api.get("nodes", None, "rovigo")), SOON, "the node to be Ready")
    home.api.patch("pods", "shop", "late", {"metadata": {"labels": {"stage": "two"}}})
    labels = lambda: away.cluster.pod(TWIN, "late")["metadata"]["labels"]  # noqa: E731
    wait_for(lambda: labels().get("stage") == "two", SOON, "the earlier version to go on with the pod")

    home.type_documented("remote-addresses-")
    # Nobody at home knows of the copy any more.
    assert held(away) == 2
    assert away.cluster.node
    away.cluster.cordon(away.cluster.node.name)
    wait_for(lambda: held(away) == 0, SOON, "the copy to be removed after its time")
    away.cluster.cordon(away.cluster.node.name, unschedulable=False)
    lifted = lambda: away.api.get("namespaces", None, TWIN)["metadata"]["annotations"]  # noqa: E731
    wait_for(lambda: "offloading.liqo.io/budgets-lifted" not in lifted(), SOON, "the twin to be open again")
    assert running(home) == before

    home.upgrade(today)
    wait_for(lambda: held(away) == 2, SOON, "the copy to come back with the version that knows it")
    set_rank(home, "late", "4")
    wait_for(lambda: rank_of(away, "late")() == "4", SOON, "the pod to read what has changed")
    assert running(home) == before


@pytest.mark.refusals("rights come and go with the charts, and an earlier version does not understand the policy")
def test_after_a_rollback_of_the_provider_its_administrator_removes_what_would_hold_drains(updated: Pair) -> None:
    home, away = updated.consumer, updated.provider
    other, _ = other_programs()
    before = running(home)
    away.upgrade(other)
    wait_for(lambda: is_ready(home.api.get("nodes", None, "rovigo")), SOON, "the node to be Ready")
    # Nobody there lifts it any more, and home has lost the right to.
    assert held(away) == 2
    away.type_documented("tojson")
    away.type_documented("delete poddisruptionbudgets")
    stays(lambda: held(away) == 0, 10, "the provider without the copy")
    home.api.create("pods", "shop", reader("third"))
    wait_for(lambda: phases(home).get("third") == "Running", SOON, "a new pod to run")
    set_rank(home, "late", "5")
    wait_for(lambda: rank_of(away, "late")() == "5", SOON, "the pod to read what has changed")
    after = running(home)
    assert {name: after[name] for name in before} == before
    marks = {side.name: side.cluster.audit.mark() for side in (home, away)}
    stays(lambda: running(home) == after, QUIET, "the pods, as they were", interval=1)
    for side in (home, away):
        again = written_again(side, marks[side.name])
        assert not again, f"written again and again in {side.name}: {again}"
    end(updated)
