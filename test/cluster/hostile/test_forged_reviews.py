"""Somebody in a provider's network who forges reviews holds little of a quota, and the consumer does not notice."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from harness import objects
from harness.cluster import rights
from harness.cluster.api import Api, Refused, path
from harness.cluster.callers import WEBHOOK_PORT
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.required import require_liqod
from harness.run import Run
from harness.wait import patient, wait_for

pytestmark = pytest.mark.refusals("the consumer finds out how much there is")

USER, TENANT, TWIN = "pool-1f00", "liqo-tenant-rome", "shop-rome"
# Unproven callers hold at most a tenth of what the quota grants.
GRANTED, SHARE = 4000, 400


def shadow(name: str, cpu: int) -> dict[str, Any]:
    return objects.shadow_pod(name, "rome", objects.one_container(resources={"requests": {"cpu": f"{cpu}m"}}))


class Forger:
    """Somebody at another address of the network, who says all that an API server would but what only it can know."""

    def __init__(self, home: Cluster, victim: Cluster):
        self.home, self.victim = home, victim
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def asks(
        self,
        name: str,
        cpu: int,
        dry_run: bool = False,
        without: str = "",
        requests: Sequence[dict[str, str]] = (),
    ) -> tuple[int, str]:
        """Code and text of the answer; 200 if it is yes.

        `without` a field of the metadata; `requests` of more containers.
        """
        made = shadow(name, cpu)
        made["metadata"] |= {"namespace": TWIN, "uid": str(uuid.uuid4())}
        made["metadata"].pop(without, None)
        for number, each in enumerate(requests):
            container = {"name": f"c{number}", "image": "busybox", "resources": {"requests": each}}
            made["spec"]["pod"]["containers"].append(container)
        made["metadata"]["labels"]["liqo.io/creator-user"] = USER
        request = {
            "uid": str(uuid.uuid4()),
            "operation": "CREATE",
            "namespace": TWIN,
            "name": name,
            "userInfo": {"username": USER, "groups": ["rome"]},
            "object": made,
            "dryRun": dry_run,
        }
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
        raw = self.home.space.connect(self.victim.address, WEBHOOK_PORT, patient(30))
        connection = http.client.HTTPConnection(self.victim.address, WEBHOOK_PORT)
        connection.sock = self.tls.wrap_socket(raw)
        try:
            connection.request("POST", "/validate/shadowpods", json.dumps(review))
            answer = json.loads(connection.getresponse().read())["response"]
        finally:
            connection.close()
        status = answer.get("status") or {}
        return (200 if answer["allowed"] else status["code"]), status.get("message", "")


class Provider:
    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        labels = {"liqo.io/remote-cluster-id": "rome"}
        cluster.namespace(TENANT, {**labels, "liqo.io/tenant-namespace": "true"})
        cluster.namespace(TWIN, labels)
        self.daemon = Liqod(cluster, chart.install(cluster)).start()
        rights.bind(cluster, TWIN, TENANT, rights.group("rome"), chart.REMOTE_ROLE)
        cluster.api.apply("quotas", TENANT, objects.unenforced_quota(USER, {"cpu": f"{GRANTED}m"}))
        self.rome: Api = cluster.as_user(cluster.authority.issue("slice-of-rome", USER, ["rome"]))
        wait_for(lambda: "has not enough cpu" in self.refusal("probe", GRANTED + 1), 60, "the webhooks to be asked")

    def refusal(self, name: str, cpu: int) -> str:
        """Why the consumer may not make it, as a dry run; "" if it may."""
        try:
            self.rome.request("POST", path("shadowpods", TWIN), shadow(name, cpu), query={"dryRun": "All"})
        except Refused as refusal:
            return str(refusal)
        return ""

    def held_by_strangers(self) -> int:
        """What unproven callers hold of the quota, in thousandths of a core."""
        held = 0
        for record in self.cluster.api.list("configmaps", chart.NAMESPACE, "liqo.io/ledger=true"):
            for entry in json.loads(record["data"]["ledger.json"])["reservations"].values():
                cpu = entry["demand"].get("cpu", "0")
                thousandths = int(cpu[:-1]) if cpu.endswith("m") else 1000 * int(cpu)
                held += thousandths if entry.get("unproven") else 0
        return held


@pytest.fixture(scope="module")
def provider(run: Run) -> Iterator[Provider]:
    require_liqod()
    with run.borrow(sparta=Options()) as (cluster,):
        yield Provider(cluster)


@pytest.fixture(scope="module")
def forger(run: Run, provider: Provider) -> Iterator[Forger]:
    with run.borrow(troy=Options()) as (elsewhere,):
        yield Forger(elsewhere, provider.cluster)


def test_whoever_forges_reviews_holds_little_and_learns_no_figures(provider: Provider, forger: Forger) -> None:
    # liqod has just started and knows no caller, and the forger asks first.
    provider.daemon.restart()
    code, text = forger.asks("everything", GRANTED)
    assert code == 503 and f"quota {TENANT}/{USER}" in text
    end = threading.Event()
    codes: list[int] = []

    def forges() -> None:
        while not end.is_set():
            codes.append(forger.asks(f"web-{len(codes) % 40}", 50)[0])

    thread = threading.Thread(target=forges)
    thread.start()
    try:
        wait_for(lambda: 503 in codes, 60, "the forger to hold all that it gets")
        for number in range(36):
            provider.rome.create("shadowpods", TWIN, shadow(f"web-{number}", 100))
    finally:
        end.set()
        thread.join()
    assert 0 < provider.held_by_strangers() <= SHARE
    metrics = provider.daemon.metrics()
    assert metrics["liqo_quota_unproven_reservations"] <= SHARE / 50
    assert metrics["liqod_admission_proven_callers"] == 1
    assert metrics['liqod_admission_shadowpods_total{caller="unproven"}'] >= len(codes)
    # Only the consumer is told the figures; dry runs of strangers are answered 503.
    wait_for(lambda: f"of {GRANTED // 1000}," in provider.refusal("more", 500), 60, "the consumer to be told")
    for cpu in (10, 300, 1000, GRANTED + 1):
        code, text = forger.asks("looks", cpu, dry_run=True)
        assert code == 503 and " of 4" not in text and "free" not in text, text


def test_a_forged_review_that_names_no_pod_leaves_nothing_behind(provider: Provider, forger: Forger) -> None:
    for field in ("namespace", "name", "uid"):
        code, text = forger.asks("nameless", 10, without=field)
        assert code == 422 and f"metadata.{field} must" in text, text
    # A name that no pod can have, and hundreds of resources.
    code, text = forger.asks("a" * 600_000, 10)
    assert code == 422 and "metadata.name must be a DNS subdomain" in text, text
    none = {f"example.com/r{number}": "0" for number in range(200)}
    forger.asks("many", 0, requests=[none, {f"{name}-more": "0" for name in none}])
    # An unreadable record would keep everybody out.
    provider.rome.create("shadowpods", TWIN, shadow("after-it", 0))
