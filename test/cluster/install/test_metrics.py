"""A real Prometheus scrapes both sides of a peering: the boards have data, and three alerts fire that should.

sparta consumes from argos, whose nodes are fake and whose certificates live an hour. Both tell their metrics over TLS
to those who may read them; argos shows a certificate that an operator gave it. The stories follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.cluster import pki, rights
from harness.cluster.api import Api
from harness.cluster.cluster import Cluster, asking
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.monitoring.monitoring import CHART, Prometheus, board, documented, names, queries, scraping, shortened
from harness.required import require_programs
from harness.run import Run
from harness.wait import wait_for

# A slow machine scrapes late, and an alert must hold for a while before it fires.
IN_TIME = 120.0
IDENTITIES = {"controlplane-argos", "resourceslice-argos"}


class Shown:
    """The certificate that the metrics of a cluster show, in the directory that its liqod looks into."""

    def __init__(self, directory: Path, cluster: Cluster):
        self.directory, self.name = directory / "shown", f"IP:{cluster.address}"
        self.authority = pki.Authority(directory / "authority", "metrics")
        self.directory.mkdir()

    def put(self, begun: timedelta, left: timedelta) -> None:
        """Puts a certificate there that began that long ago and ends in that long."""
        now = datetime.now(UTC)
        pair = self.authority.issue_between("liqod-metrics", self.name, now - begun, now + left)
        for name, file in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
            (self.directory / name).write_bytes(file.read_bytes())


@dataclass
class Watched:
    sparta: Peer
    argos: Peer
    shown: Shown
    prometheus: Prometheus

    def firing(self, alert: str) -> set[str]:
        return {about for name, about in self.prometheus.firing() if name == alert}

    def value(self, expression: str) -> float | None:
        found = self.prometheus.query(expression)
        return float(found[0]["value"][1]) if found else None


@pytest.fixture(scope="module")
def watched(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    require_programs()
    with run.borrow(sparta=Options(signing_duration="2400h"), argos=Options()) as started:
        started[1].add_kwok_nodes(1)
        directory = tmp_path_factory.mktemp("prometheus")
        shown = Shown(directory, started[1])
        shown.put(timedelta(days=88), timedelta(days=2))
        flags = ((), ("--metrics-cert-path", str(shown.directory)))
        with ThreadPoolExecutor(2) as pool:
            sparta, argos = pool.map(lambda cluster, more: Peer(cluster, more, secure_metrics=True), started, flags)
        jobs = []
        for peer, authority in ((sparta, None), (argos, shown.authority.pair.certificate)):
            peer.daemon.token = token_of(peer, "prometheus", reads=True)
            target = f"{peer.cluster.address}:{peer.daemon.metrics_port}"
            jobs.append(scraping(peer.name, peer.daemon.token, authority, static_configs=[{"targets": [target]}]))
        rules = shortened(CHART / "monitoring/alerts.yaml", "3s")
        prometheus = Prometheus(sparta.cluster, directory / "run", jobs, rules)
        try:
            sparta.peer_with(argos, "--cpu=2", "--memory=4Gi", "--pods=20")
            sparta.cluster.namespace("shop")
            sparta.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
            yield Watched(sparta, argos, shown, prometheus)
        finally:
            prometheus.stop()


def token_of(peer: Peer, name: str, reads: bool) -> str:
    """The token of a service account that may read metrics, or not."""
    peer.cluster.service_account("default", name)
    if reads:
        role = "liqo-metrics-reader"
        rights.bind(peer.cluster, None, f"{role}-{name}", rights.service_account("default", name), role)
    return peer.cluster.kubectl("create", "token", name).strip()


def test_pods_are_counted_on_both_sides(watched: Watched) -> None:
    wait_for(watched.prometheus.scrapes, IN_TIME, "Prometheus to scrape both")
    for number in range(5):
        watched.sparta.api.create("pods", "shop", asking(f"web-{number}", "100m"))
    wait_for(lambda: watched.sparta.running("shop") == 5, IN_TIME, "the pods to run")
    cpu = '{cluster_id="sparta", slice="argos", resource="cpu"}'
    for expression, wanted in {
        f"liqo_quota_granted{cpu}": 2,
        f"liqo_quota_used{cpu}": 0.5,
        f"liqo_quota_free{cpu}": 1.5,
        'liqo_quota_pods{cluster_id="sparta", slice="argos"}': 5,
        'liqo_slice_granted{cluster_id="argos", slice="argos", resource="cpu"}': 2,
        'liqo_virtual_node_ready{cluster_id="argos", node_name="argos"}': 1,
        'liqo_virtual_node_pods{cluster_id="argos", node_name="argos"}': 5,
        'liqo_pod_start_seconds_count{cluster_id="argos", node_name="argos"}': 5,
        'liqo_peer_reachable{cluster_id="argos"}': 1,
    }.items():
        wait_for(lambda e=expression, w=wanted: watched.value(e) == w, IN_TIME, f"{expression} to be {wanted}")
    brought = 'liqo_virtual_kubelet_reflection_item_counter{namespace="shop", reflector_resource="%s", node_name="argos"}'
    for kind, least in (("Pod", 5), ("ConfigMap", 1)):
        enough = lambda e=brought % kind, least=least: (watched.value(e) or 0) >= least  # noqa: E731
        wait_for(enough, IN_TIME, f"{kind} to be counted")


def test_metrics_are_told_to_those_who_may_read_them(watched: Watched) -> None:
    """Over TLS that a client can verify; the refusals say what is missing."""
    argos, authority = watched.argos, watched.shown.authority.pair.certificate

    def asked(user: str | None) -> tuple[int, bytes]:
        cluster = argos.cluster
        return Api(cluster.space, cluster.address, argos.daemon.metrics_port, authority, user).raw("GET", "/metrics")

    code, text = asked(argos.daemon.token)
    assert code == 200 and b"liqo_build_info" in text
    assert asked(None) == (401, b"Unauthorized\n")
    assert asked("nobody-knows-it")[0] == 401
    somebody = "system:serviceaccount:default:somebody"
    code, text = asked(token_of(argos, "somebody", reads=False))
    assert (code, text.decode()) == (403, f"Forbidden (user={somebody}, verb=get, path=/metrics)\n")
    # Probes need no token.
    assert argos.daemon.get("/healthz") == (200, "ok\n")


def test_what_is_served_is_what_is_documented(watched: Watched) -> None:
    promised = documented()
    for peer in (watched.sparta, watched.argos):
        code, text = peer.daemon.get("/metrics")
        assert code == 200
        for name, labels in names(text).items():
            assert name in promised, f"{name} is not in docs/metrics.md"
            assert labels - {"le"} == promised[name], name


@pytest.mark.parametrize("name", ["consumer", "provider", "health"])
def test_every_query_of_a_board_has_an_answer(watched: Watched, name: str) -> None:
    for query in queries(board(name)):
        wait_for(lambda q=query: watched.prometheus.query(q), IN_TIME, f"an answer to {query}")


def test_a_certificate_about_to_end_is_told(watched: Watched) -> None:
    """That of the metrics of argos; its identities live an hour, which is no reason as long as they are renewed."""
    wait_for(lambda: watched.firing("LiqoCertificateAboutToEnd") == {"metrics"}, IN_TIME, "the alert")
    for identity in IDENTITIES:
        left = watched.value(f'liqo_identity_certificate_expiry_timestamp_seconds{{identity="{identity}"}} - time()')
        assert left and left < 3600
    watched.shown.put(timedelta(hours=1), timedelta(days=90))


@pytest.mark.refusals("a pod past its quota")
def test_a_full_quota_is_told_on_both_sides(watched: Watched) -> None:
    assert not watched.firing("LiqoQuotaFull") and not watched.firing("LiqoPodsWithoutRoom")
    watched.sparta.api.create("pods", "shop", asking("rest", "1500m"))
    wait_for(lambda: watched.firing("LiqoQuotaFull") == {"sparta,argos,cpu"}, IN_TIME, "the alert of argos")
    assert not watched.firing("LiqoPodsWithoutRoom")
    # The scheduler at home would not place another pod on that node, so it is bound by hand.
    more = asking("more", "100m")
    more["spec"]["nodeName"] = "argos"
    watched.sparta.api.create("pods", "shop", more)
    wait_for(lambda: watched.firing("LiqoPodsWithoutRoom") == {"argos,argos"}, IN_TIME, "the alert of sparta")
    refused = 'liqo_quota_refusals_total{cluster_id="sparta", reason="no_room"}'
    # Prometheus scrapes each side by itself.
    wait_for(lambda: (watched.value(refused) or 0) >= 1, IN_TIME, "the refusal to be counted by argos")
    for name in ("more", "rest"):
        watched.sparta.api.delete("pods", "shop", name)
    wait_for(lambda: not watched.firing("LiqoQuotaFull"), IN_TIME, "the alert to end")


def test_a_peer_that_is_cut_off_is_told_until_it_is_back(watched: Watched, run: Run) -> None:
    wait_for(lambda: not watched.firing("LiqoPeerUnreachable"), IN_TIME, "no alert to be left")
    run.network.cut("argos")
    try:
        wait_for(lambda: watched.firing("LiqoPeerUnreachable") == {"argos"}, IN_TIME, "the alert")
        wait_for(lambda: watched.firing("LiqoVirtualNodeNotReady") == {"argos,argos"}, IN_TIME, "that of the node")
    finally:
        run.network.heal("argos")
    wait_for(lambda: not watched.firing("LiqoPeerUnreachable"), IN_TIME, "the alert to end")


def test_a_certificate_that_was_replaced_is_shown(watched: Watched) -> None:
    wait_for(lambda: not watched.firing("LiqoCertificateAboutToEnd"), IN_TIME, "the alert to end")
    assert watched.prometheus.scrapes()
    assert "the metrics have a new certificate" in watched.argos.daemon.log()


def test_the_series_of_a_peer_go_with_it(watched: Watched) -> None:
    for number in range(5):
        watched.sparta.api.delete("pods", "shop", f"web-{number}")
    wait_for(lambda: not watched.sparta.cluster.pods("shop"), IN_TIME, "the pods to be gone")
    wait_for(lambda: watched.sparta.node_ready("argos"), IN_TIME, "the node to be Ready again")
    watched.sparta.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    watched.sparta.unpeer_from(watched.argos)
    for peer, other in ((watched.sparta, watched.argos), (watched.argos, watched.sparta)):
        names_it = lambda p=peer, o=other: [line for line in p.daemon.metrics() if f'"{o.name}"' in line]  # noqa: E731
        wait_for(lambda n=names_it: not n(), SOON * 2, f"the series of {other.name} to go: {names_it()}")
