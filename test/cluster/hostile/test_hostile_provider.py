"""A provider that means harm, or has lost control of its namespaces, hurts nobody but itself.

lodi consumes from pisa and bari; pisa floods. zara, which only says that it is a cluster, tells lodi too much.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness.cluster.api import path
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.liar import Liar, packed_list
from harness.liqo.peers import Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

BUDGET = 32  # MiB of pisa's objects that lodi holds
MIB = 1 << 20
# Of what statuses have beyond 8 KiB, lodi writes so much at once and then each second.
AT_ONCE, EACH_SECOND = 16 * MIB, MIB // 2
# What lodi may hold while it reads pisa, or zara: a quarter of the budget, at least so much.
READING = 16  # MiB
# An object whose text is a little shorter than one may be.
LONG = 9 * MIB


class Three:
    def __init__(self, lodi: Peer, pisa: Peer, bari: Peer):
        self.lodi, self.pisa, self.bari = lodi, pisa, bari

    def pod(self, name: str, node: str) -> None:
        pod = busybox(name)
        pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        self.lodi.api.create("pods", "shop", pod)

    def runs(self, name: str) -> bool:
        return (self.lodi.cluster.pod("shop", name) or {}).get("status", {}).get("phase") == "Running"

    def ready(self, node: str) -> dict[str, Any]:
        conditions = self.lodi.api.get("nodes", None, node)["status"]["conditions"]
        return next(condition for condition in conditions if condition["type"] == "Ready")

    def session(self, node: str) -> dict[str, Any]:
        found = self.lodi.api.get("virtualnodes", f"liqo-tenant-{node}", node)
        conditions = found.get("status", {}).get("conditions", [])
        return next((condition for condition in conditions if condition["type"] == "VirtualKubelet"), {})

    def reports(self, node: str, *words: str) -> bool:
        """Whether Node and session say that the provider cannot be read, and why, and one Event does."""
        uid = self.lodi.api.get("virtualnodes", f"liqo-tenant-{node}", node)["metadata"]["uid"]
        found = self.lodi.cluster.events(f"liqo-tenant-{node}", node)
        found = [event for event in found if event["involvedObject"]["uid"] == uid]
        events = [event["message"] for event in found if event["reason"] == "ProviderUnusable"]
        ready, session = self.ready(node), self.session(node)
        assert ready["status"] == "False" and session["status"] == "Creating", (ready, session)
        told = [ready["message"], session["message"], *events]
        begin = f"cluster {node} shows more than can be read of one provider: "
        assert len(events) == 1 and all(begin in each and "--provider-cache-mib" in each for each in told), told
        return all(any(word in each for word in words) for each in told)

    def held(self, cluster: str) -> float:
        metrics = self.lodi.daemon.metrics()
        held = [v for k, v in metrics.items() if k.startswith("kube_store_budget_bytes{") and f'"{cluster}"' in k]
        return held[0]


@pytest.fixture(scope="module")
def three(run: Run) -> Iterator[Three]:
    require_programs()
    with run.borrow(lodi=Options(), pisa=Options(), bari=Options()) as clusters:
        for provider in clusters[1:]:
            provider.add_kwok_nodes(1)
        # What cannot be read is told at a probe.
        often = ("--node-ping-interval", "2s", "--node-ping-failures", "10")
        lodi = Peer(clusters[0], ("--provider-cache-mib", str(BUDGET), *often))
        pisa, bari = (Peer(cluster) for cluster in clusters[1:])
        lodi.cluster.namespace("shop")
        for provider in (pisa, bari):
            lodi.peer_with(provider)
        lodi.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
        yield Three(lodi, pisa, bari)
        for peer in (lodi, pisa, bari):
            peer.daemon.stop()


def told_pod(more: str, metadata: str = "", namespace: str = "shop-lodi") -> bytes:
    """An object that zara shows, with so much more in it and in its metadata."""
    base = f'"name":"x","namespace":"{namespace}","uid":"1","resourceVersion":"1"'
    return f'{{"kind":"Pod","apiVersion":"v1","metadata":{{{base}{metadata}}}{more}}}'.encode()


@pytest.fixture
def zara(three: Three) -> Iterator[Liar]:
    liar = Liar("zara", three.pisa.cluster, three.lodi.cluster)
    liar.peering.establish_home()
    yield liar
    liar.leave()


def test_a_provider_that_floods_stops_its_own_session_and_no_other(three: Three) -> None:
    lodi, pisa = three.lodi, three.pisa
    for node in ("pisa", "bari"):
        three.pod(f"at-{node}", node)
        wait_for(lambda: three.runs(f"at-{node}"), 60, f"the pod in {node} to run")
    process = lodi.daemon.process
    assert process
    before = process.private_bytes()

    def write(number: int) -> None:
        pod = busybox(f"flood-{number}", schedulerName="nobody")
        pod["metadata"]["annotations"] = {"example.com/x": "x" * 250_000}
        pisa.api.create("pods", "shop-lodi", pod)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(200)))

    def told() -> bool:
        condition = three.session("pisa")
        assert condition["status"] == "Creating", condition
        return "--provider-cache-mib" in condition["message"] and "pods of shop-lodi" in condition["message"]

    wait_for(told, 60, "the VirtualNode to say what to do")

    def closed() -> bool:
        condition = three.ready("pisa")
        return condition["status"] == "False" and "shows more than is held of one provider" in condition["message"]

    wait_for(closed, 60, "the Node of the flooding provider not to be Ready, and to say why")
    # Data that is being received and parsed comes on top of the budget.
    stays(lambda: process.private_bytes() - before < (2 * BUDGET + 64) * MIB, 5, "the memory of liqod")
    assert process is lodi.daemon.process and lodi.daemon.running

    three.pod("another", "bari")
    wait_for(lambda: three.runs("another"), 60, "a new pod in the other provider to run")
    assert three.ready("bari")["status"] == "True"
    assert three.held("bari") < MIB

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: pisa.api.delete("pods", "shop-lodi", f"flood-{number}"), range(200)))
    lodi.daemon.restart()
    wait_for(lambda: three.ready("pisa")["status"] == "True", 60, "the Node to be Ready when the flood is gone")
    wait_for(lambda: 0 < three.held("pisa") < MIB, 60, "little to be held of it")


def test_statuses_that_flip_do_not_fill_the_database_at_home(three: Three) -> None:
    lodi, pisa = three.lodi, three.pisa
    names = [f"flips-{number}" for number in range(8)]
    for name in names:
        three.pod(name, "pisa")
    for name in names:
        wait_for(lambda name=name: three.runs(name), 60, f"{name} to run")

    # Nearly as large as liqod lets a status come home.
    count, size = 28, 28 * 4096

    def flip(name: str, letter: str) -> None:
        waits = [
            {"name": f"c-{n}", "image": "", "imageID": "", "ready": False, "restartCount": 0,
             "state": {"waiting": {"reason": "Waits", "message": letter * 4096}}}
            for n in range(count)
        ]  # fmt: skip
        pisa.api.request(
            "PATCH", path("pods", "shop-lodi", name, "status"), {"status": {"initContainerStatuses": waits}},
            "application/strategic-merge-patch+json",
        )  # fmt: skip

    def shows(name: str, letter: str) -> bool:
        status = (lodi.cluster.pod("shop", name) or {}).get("status", {})
        shown = [each["state"].get("waiting", {}).get("message") for each in status.get("initContainerStatuses", [])]
        return shown == count * [letter * 4096]

    database = lodi.cluster.directory / "etcd/member/snap/db"
    before, began = database.stat().st_size, time.monotonic()
    allowed = lambda: AT_ONCE + EACH_SECOND * (time.monotonic() - began)  # noqa: E731
    flips = 0
    with ThreadPoolExecutor(4) as pool:
        for letter in itertools.cycle("ab"):
            list(pool.map(flip, names, itertools.repeat(letter)))
            flips += len(names)
            # So many that they would show without the bound, however slow the machine is.
            if flips * size > allowed() + 40 * MIB or time.monotonic() > began + 90:
                break
    three.pod("meanwhile", "bari")
    wait_for(lambda: three.runs("meanwhile"), 60, "a pod in the other provider to run")
    grown, took, most = database.stat().st_size - before, time.monotonic() - began, allowed()
    # The database grows in steps of 16 MiB at most.
    assert grown < most + 16 * MIB, f"{grown / MIB:.0f} MiB in {took:.0f} s, after {flips} flips"
    assert flips * size > most + 16 * MIB, f"{flips} flips in {took:.0f} s show nothing"
    delayed = [v for k, v in lodi.daemon.metrics().items() if k.startswith("liqo_provider_bytes_delayed_total{")]
    assert sum(delayed) > 0
    # What was written last arrives, with time.
    for name in names:
        flip(name, "z")
    for name in names:
        wait_for(lambda name=name: shows(name, "z"), 60, f"the last status of {name}")


def test_a_list_without_end_is_left_and_read_again(three: Three, zara: Liar) -> None:
    process = three.lodi.daemon.process
    assert process
    process.forget_peak()
    before = process.peak_bytes()
    # All pods of all its consumers, though some hundred of one namespace were asked for.
    pod = told_pod(',"status":{"message":"' + 1000 * "x" + '"}', namespace="others")
    zara.lists["pods"] = packed_list(pod, 260 * MIB)
    zara.show_twin("shop")
    wait_for(lambda: three.reports("zara", "a list page is longer than 268435456 bytes"), 60, "it to be reported")
    lists = [where for _, where in zara.asked if re.search(r"/pods(\?|$)", where) and "watch=" not in where]
    assert lists and all("limit=" in where for where in lists)
    three.pod("beside-zara", "bari")
    wait_for(lambda: three.runs("beside-zara"), 60, "a pod in another provider to run")
    # It comes to reason.
    zara.lists.clear()
    wait_for(lambda: three.ready("zara")["status"] == "True", 60, "its Node to be Ready")
    asked = zara.times("pods")
    assert len(asked) < 5 and all(later - sooner > 3 for sooner, later in itertools.pairwise(asked)), asked
    assert process.peak_bytes() - before < (READING + 32) * MIB, f"{(process.peak_bytes() - before) / MIB:.0f} MiB"
    assert process is three.lodi.daemon.process and three.lodi.daemon.running


def test_little_that_becomes_much_takes_no_memory(three: Three, zara: Liar) -> None:
    process = three.lodi.daemon.process
    assert process
    process.forget_peak()
    before = process.peak_bytes()

    def dense(piece: str) -> bytes:
        pieces = ",".join(itertools.repeat(piece, LONG // (len(piece) + 1)))
        return packed_list(told_pod(f',"status":{{"x":[{pieces}]}}'))

    labels = ",".join(f'"{number:x}":""' for number in range(LONG // 12))
    zara.lists = {
        "pods": dense("[]"),
        "shadowpods": dense('{"a":{}}'),
        "configmaps": packed_list(told_pod("", f',"labels":{{{labels}}}')),
        "secrets": dense("0"),
        "services": packed_list(told_pod(',"status":' + LONG // 2 * "[" + LONG // 2 * "]")),
        # Not one that is large, but a hundred thousand that are nothing.
        "ingresses": packed_list(b"{}", 300_000),
        "namespacemaps": dense("0"),
        "resourceslices": dense("[]"),
    }
    assert all(len(answer) < 3 * MIB for answer in zara.lists.values()), "it costs the provider little"
    zara.show_twin("shop")
    zara.replicate()
    wait_for(lambda: three.reports("zara", f"of {READING} MiB are in use"), 60, "it to be reported")
    wait_for(lambda: all(zara.times(plural) for plural in zara.lists), 60, "all of it to be asked for")

    def says_the_map() -> bool:
        events = three.lodi.cluster.events(zara.peering.home, "zara")
        events = [event["message"] for event in events if event["involvedObject"]["kind"] == "NamespaceMap"]
        return any("than is left for what is read of cluster zara" in message for message in events)

    wait_for(says_the_map, 60, "the map that is not replicated to say why")
    three.pod("beside-dense", "bari")
    wait_for(lambda: three.runs("beside-dense"), 60, "a pod in another provider to run")
    stays(lambda: process.peak_bytes() - before < (2 * READING + 32) * MIB, 3, "the memory of liqod")
    assert three.ready("bari")["status"] == "True" and three.held("bari") < MIB
    zara.lists.clear()
    wait_for(lambda: three.ready("zara")["status"] == "True", 60, "its Node to be Ready")
    assert process is three.lodi.daemon.process and three.lodi.daemon.running
