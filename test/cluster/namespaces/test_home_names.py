"""Pods in a twin of another name find Services by the names that these have at home, once the provider lets them.

veii offloads to tarchna, which has a real node and a name server. The stories follow each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from harness.cluster import names, python_image
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import wait_for

PYTHON = "docker.io/library/python:3.13-slim"
OUTSIDE = "outside.example"
# Looks names up as programs do, by the C library; [] is said of a name that does not resolve.
LOOK_UP = """
import json, socket, sys
def look(name):
    try:
        return sorted({found[4][0] for found in socket.getaddrinfo(name, None, socket.AF_INET)})
    except OSError:
        return []
print(json.dumps({name: look(name) for name in sys.argv[1:]}))
"""
TOLD = "NamesNotResolved"


def python(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": PYTHON, "imagePullPolicy": "Never", "command": ["python3", "-c", _SLEEP]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1, **spec}
    return {"kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec}


_SLEEP = "import time; time.sleep(1000000)"


@dataclass
class Two:
    home: Peer
    away: Peer
    corefile: str  # as it was before Liqo knew of it

    def look_up(self, pod: str, *asked: str) -> dict[str, list[str]]:
        """What a pod of namespace `ask` gets for these names."""
        where = ("exec", "-n", "ask-veii", pod, "--", "python3", "-c", LOOK_UP)
        return json.loads(self.away.cluster.kubectl(*where, *asked, timeout=120))

    def run(self, namespace: str, pod: dict[str, Any]) -> dict[str, Any]:
        """Makes the pod at home and waits until it runs in its twin; returns the Pod there."""
        name = pod["metadata"]["name"]
        self.home.api.create("pods", namespace, pod)

        def running() -> dict[str, Any]:
            found = self.away.cluster.pod(f"{namespace}-veii", name) or {}
            assert found.get("status", {}).get("phase") == "Running", found.get("status")
            return found

        return wait_for(running, 2 * SOON, f"pod {name} to run at the provider")

    def ready(self, namespace: str) -> str:
        """What the condition says of the twin."""
        status = self.home.api.get("namespaceoffloadings", namespace, "offloading").get("status", {})
        conditions = status.get("remoteNamespacesConditions", {}).get(self.away.name, [])
        return next((one["message"] for one in conditions if one["type"] == "Ready"), "")

    def told(self, namespace: str) -> list[str]:
        found = self.home.cluster.events(namespace, "offloading")
        return [event["message"] for event in found if event["reason"] == TOLD]

    def knows(self) -> bool:
        """Whether the virtual node says that pods there find names of home."""
        labels = self.home.api.get("nodes", None, self.away.name)["metadata"]["labels"]
        return labels.get("liqo.io/home-names") == "true"


@pytest.fixture(scope="module")
def two(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    require_programs()
    image = tmp_path_factory.mktemp("image") / "python.tar"
    python_image.write(image, PYTHON)
    with run.borrow(veii=Options(), tarchna=Options(kubelet=True, proxy=True, dns=True)) as (veii, tarchna):
        assert tarchna.node
        tarchna.node.give(image)
        names.tell_outside(tarchna, OUTSIDE)
        names.asked_by_processes(tarchna)
        corefile = names.publish(tarchna)
        home, away = Peer(veii), Peer(tarchna)
        home.peer_with(away, "--cpu=1", "--memory=1Gi", "--pods=20")
        for namespace in ("shop", "ask"):
            veii.namespace(namespace)
            home.liqoctl("offload", "namespace", namespace, "--pod-offloading-strategy", "Remote")
        yield Two(home, away, corefile)


def service(name: str, headless: bool = False) -> dict[str, Any]:
    spec = {"selector": {"app": name}, "ports": [{"port": 80}], **({"clusterIP": "None"} if headless else {})}
    return {"kind": "Service", "metadata": {"name": name}, "spec": spec}


def test_where_no_name_of_home_resolves_that_is_told(two: Two) -> None:
    for body in (service("db"), service("peers", headless=True)):
        two.home.api.create("services", "shop", body)
    pod = python("peers", hostname="peers-0", subdomain="peers")
    two.run("shop", pod)
    two.run("ask", python("before"))
    wait_for(lambda: two.told("shop"), SOON, "the Event")
    (words,) = two.told("shop")
    assert "do not resolve names with the namespace in them, such as db.shop" in words, words
    assert "liqoctl enable home-names" in words and "--allow-twin-names" in words, words
    assert words in two.ready("shop")
    wait_for(lambda: two.away.api.find("services", "shop-veii", "db"), SOON, "the copy of the Service")
    assert two.look_up("before", "db.shop", "db.shop-veii") == {
        "db.shop": [],
        "db.shop-veii": [two.away.api.get("services", "shop-veii", "db")["spec"]["clusterIP"]],
    }
    assert not two.knows()


def test_once_it_is_enabled_new_pods_find_what_they_find_at_home(two: Two) -> None:
    away = two.away
    shown = away.liqoctl("enable", "home-names", "--dry-run")
    assert "+     # begin home-names" in shown and names.published(away.cluster) == two.corefile
    away.liqoctl("enable", "home-names", "--yes")
    assert "already" in away.liqoctl.attempt("enable", "home-names", "--yes").err
    names.take(away.cluster)
    wait_for(two.knows, 2 * SOON, "the virtual node to say so")
    wait_for(lambda: two.ready("shop") == "the twin namespace is there", SOON, "the condition to say no more")
    assert len(two.told("shop")) == 1
    resolved = [one["message"] for one in two.home.cluster.events("shop", "offloading") if one["reason"] == "NamesResolved"]
    assert len(resolved) == 1 and "read shop as their namespace, not shop-veii" in resolved[0], resolved

    after = two.run("ask", python("after"))
    assert after["spec"]["dnsConfig"]["searches"] == ["svc.veii.home.liqo.internal", "veii.home.liqo.internal"]
    db = away.api.get("services", "shop-veii", "db")["spec"]["clusterIP"]
    peers = away.cluster.pod("shop-veii", "peers")
    assert peers
    # A namespace that looks like a twin of another consumer.
    away.cluster.namespace("shop-caere")
    away.api.create("services", "shop-caere", service("secret"))
    api_server = away.api.get("services", "default", "kubernetes")["spec"]["clusterIP"]
    expected = {
        "db.shop": [db],
        "db.shop.svc": [db],
        "db.shop.svc.cluster.local": [db],
        "peers-0.peers.shop": [peers["status"]["podIP"]],
        "peers-0.peers.shop.svc.cluster.local": [peers["status"]["podIP"]],
        f"kubernetes.default.svc.{OUTSIDE}": [api_server],
        "secret.shop": [],
        "secret.shop.svc.cluster.local": [],
        "nothing.shop.svc.cluster.local": [],
    }
    wait_for(lambda: two.look_up("after", *expected) == expected, SOON, "the names of home")
    # A pod keeps what it was made with.
    assert two.look_up("before", "db.shop") == {"db.shop": []}


def test_a_namespace_of_the_provider_is_found_first_and_that_is_told(two: Two) -> None:
    away = two.away
    away.cluster.namespace("shop")
    wait_for(lambda: len(two.told("shop")) == 2, SOON, "the Event")
    assert "cluster tarchna has a namespace shop of its own" in two.ready("shop")
    away.api.create("services", "shop", service("db"))
    own = away.api.get("services", "shop", "db")["spec"]["clusterIP"]
    wait_for(lambda: two.look_up("after", "db.shop") == {"db.shop": [own]}, SOON, "the Service of the provider")
    away.api.delete("namespaces", None, "shop")
    wait_for(lambda: two.ready("shop") == "the twin namespace is there", 2 * SOON, "the condition to say no more")


def test_it_is_undone_without_a_trace(two: Two) -> None:
    away = two.away
    away.liqoctl("enable", "home-names", "--undo", "--yes")
    assert names.published(away.cluster) == two.corefile
    names.take(away.cluster)
    # The name server of the world, which this one asks elsewhere, knows no such name.
    names.tell_outside(away.cluster, "internal")
    wait_for(lambda: not two.knows(), 3 * SOON, "the virtual node to say so no longer")
    last = two.run("ask", python("last"))
    assert "dnsConfig" not in last["spec"]
