"""A provider tells each consumer what the consumer's own pods use, and nothing about anybody else's.

troy and corinth consume from delphi, which has a real node and a fake one, whose kubelet is silent. Their namespaces,
and one pod of each, have the same name on purpose. The stories follow each other, and in the last ones liqod is dead.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.cluster import pki, rights
from harness.cluster.api import Api, path
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import FRONT_PROXY, Options
from harness.liqo import chart
from harness.liqo.peers import SOON, Peer, as_identity
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

PORT = 8443
SCRAPE = "/apis/metrics.liqo.io/v1beta1/scrape"
LINE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)(?: \d+)?$')
LABEL = re.compile(r'(\w+)="([^"]*)"')
# Pods of each consumer on the real node. Both have a pod "web".
PODS = {"troy": {"web", "helen"}, "corinth": {"web", "medea"}}
BUSY = "while true; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.2; done"


@dataclass
class Provider:
    delphi: Peer
    silent: socket.socket
    consumers: dict[str, Peer] = field(default_factory=dict)
    # The provider's API with the identity of each consumer's virtual node.
    apis: dict[str, Api] = field(default_factory=dict)

    def ask(self, consumer: str, about: str, where: str = "metrics/resource") -> tuple[int, str]:
        code, body = self.apis[consumer].raw("GET", f"{SCRAPE}/{about}/{where}")
        return code, body.decode()

    def usage(self, consumer: str, where: str = "metrics/resource") -> list[tuple[str, dict[str, str], float]]:
        code, text = self.ask(consumer, consumer, where)
        assert code == 200, (code, text)
        told = []
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            found = LINE.match(line)
            assert found, line
            told.append((found[1], dict(LABEL.findall(found[2] or "")), float(found[3])))
        return told

    def pods_of(self, consumer: str, where: str = "metrics/resource") -> set[str]:
        return {labels["pod"] for _, labels, _ in self.usage(consumer, where) if "pod" in labels}


def offload(consumer: Peer, provider: Peer, pods: set[str]) -> None:
    consumer.peer_with(provider, "--cpu=2", "--memory=1Gi", "--pods=10")
    consumer.cluster.namespace("shop")
    consumer.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    for name in pods:
        pod = busybox(name, BUSY)
        pod["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["/bin/true"]}, "periodSeconds": 2}
        consumer.api.create("pods", "shop", pod)
    wait_for(lambda: consumer.running("shop") == len(pods), 60, f"the pods of {consumer.name} to run")


def silence(delphi: Peer, node: str) -> socket.socket:
    """Gives a fake node a kubelet that takes connections and says nothing."""
    deaf = delphi.cluster.space.listen(delphi.cluster.address)
    addresses = [{"type": "InternalIP", "address": delphi.cluster.address}]
    status = {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": deaf.getsockname()[1]}}}
    delphi.api.patch("nodes", None, node, {"status": status}, subresource="status")
    return deaf


@pytest.fixture(scope="module")
def provider(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    require_programs()
    with run.borrow(delphi=Options(kubelet=True), troy=Options(), corinth=Options()) as started:
        cluster = started[0]
        with ThreadPoolExecutor(3) as pool:
            told = list(pool.map(lambda one: Peer(one, ("--metric-agent-port", str(PORT)) if one is cluster else ()), started))
        delphi, consumers = told[0], {peer.name: peer for peer in told[1:]}
        chart.allow_usage(cluster)
        chart.serve_usage(cluster, PORT)
        for name, consumer in consumers.items():
            offload(consumer, delphi, PODS[name])
        cluster.add_kwok_nodes(1)
        fake = f"{delphi.name}-fake-0"
        wait_for(lambda: delphi.node_ready(fake), SOON, "the fake node to be ready")
        with silence(delphi, fake) as silent:
            files = {name: tmp_path_factory.mktemp(name) for name in consumers}
            apis = {name: as_identity(one, delphi, "resourceslice-delphi", files[name]) for name, one in consumers.items()}
            yield Provider(delphi, silent, consumers, apis)


def test_each_consumer_is_told_of_its_own_pods_by_the_names_that_it_knows(provider: Provider) -> None:
    for consumer, pods in PODS.items():
        wait_for(lambda: provider.pods_of(consumer) == pods, 90, f"the figures of all pods of {consumer}")
        for where in ("metrics/resource", "metrics/cadvisor", "metrics/probes", "metrics"):
            labels = [labels for _, labels, _ in provider.usage(consumer, where) if labels.get("pod")]
            assert {one["pod"] for one in labels} <= pods, where
            assert {one["namespace"] for one in labels} <= {"shop"}, where
        wait_for(lambda: provider.pods_of(consumer, "metrics/probes") == pods, SOON, f"the probes of {consumer}")


def test_as_its_node_a_consumer_is_told_the_sum_of_its_pods(provider: Provider) -> None:
    told = provider.usage("troy")
    memory = [value for name, _, value in told if name == "pod_memory_working_set_bytes"]
    node = {name: value for name, labels, value in told if not labels}
    assert len(memory) == len(PODS["troy"])
    assert node["node_memory_working_set_bytes"] == pytest.approx(sum(memory))
    used = [value for name, _, value in told if name == "pod_cpu_usage_seconds_total"]
    assert node["node_cpu_usage_seconds_total"] == pytest.approx(sum(used))
    assert sum(used) > 0


def test_strict_parsers_take_it(provider: Provider) -> None:
    """The lines of a family are one group, behind one line with its type."""
    for where in ("metrics/resource", "metrics/probes"):
        _, text = provider.ask("troy", "troy", where)
        types = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        names = [name for name, _, _ in provider.usage("troy", where)]
        families = [name if name in types else re.sub("_(bucket|sum|count)$", "", name) for name in names]
        assert types and [name for name, _ in itertools.groupby(families)] == types


@pytest.mark.refusals("what one consumer asks about the other")
def test_the_figures_of_another_consumer_are_refused(provider: Provider) -> None:
    for where in ("metrics", "metrics/cadvisor"):
        code, words = provider.ask("troy", "corinth", where)
        assert code == 403
        assert re.fullmatch(r'the metrics of cluster "corinth" are not for user "[^"]+", who is not of that cluster\n', words)
    assert provider.ask("troy", "nobody")[0] == 403
    assert provider.ask("troy", "troy", "metrics/secrets")[0] == 400
    assert provider.delphi.daemon.metrics()["liqo_metric_agent_refused_total"] >= 3


def straight(provider: Provider, pair: pki.Pair | None) -> int:
    """What the port itself answers to a caller that writes the headers of the front proxy; 0 without an answer."""
    cluster = provider.delphi.cluster
    tls = ssl._create_unverified_context()  # noqa: S323
    if pair:
        tls.load_cert_chain(pair.certificate, pair.key)
    request = (
        f"GET {SCRAPE}/troy/metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "X-Remote-User: system:kube-aggregator\r\nX-Remote-Group: system:masters\r\n\r\n"
    )
    try:
        with tls.wrap_socket(cluster.space.connect(cluster.address, PORT)) as port:
            port.sendall(request.encode())
            answer = port.recv(4096).decode()
    except OSError:
        return 0
    return int(answer.split()[1]) if answer else 0


def test_headers_are_believed_behind_the_certificate_of_the_front_proxy_alone(provider: Provider) -> None:
    cluster = provider.delphi.cluster
    front = pki.Authority.existing(cluster.directory / "front-proxy")
    assert straight(provider, front.issue("again", FRONT_PROXY)) == 200
    assert straight(provider, None) == 401
    assert straight(provider, front.issue("other", "somebody-else")) == 401
    # The cluster's own authority signs for administrators and consumers: its certificates fail in TLS or get 401.
    assert straight(provider, cluster.authority.issue("impostor", FRONT_PROXY, ["system:masters"])) in (0, 401)
    assert provider.delphi.daemon.metrics()["liqo_metric_agent_strangers_total"] >= 2


def test_a_silent_node_costs_its_own_pods_only(provider: Provider) -> None:
    delphi, troy = provider.delphi, provider.consumers["troy"]
    real, fake = f"{delphi.name}-1", f"{delphi.name}-fake-0"
    delphi.cluster.cordon(real)
    troy.api.create("pods", "shop", busybox("away"))
    wait_for(lambda: (delphi.cluster.pod("shop-troy", "away") or {}).get("spec", {}).get("nodeName") == fake, SOON, "the pod there")
    silent = 'liqo_metric_agent_kubelets_asked_total{outcome="silent"}'

    def is_asked() -> bool:
        assert provider.pods_of("troy") == PODS["troy"]
        return delphi.daemon.metrics().get(silent, 0) > 0

    wait_for(is_asked, SOON, "the silent node to be asked")
    # The silent node costs nothing, not even time, to consumers without pods on it.
    before = delphi.daemon.metrics()[silent]
    assert provider.pods_of("corinth") == PODS["corinth"]
    assert delphi.daemon.metrics()[silent] == before
    delphi.cluster.cordon(real, False)
    assert "a kubelet sends no usage" in delphi.daemon.log()


@contextmanager
def telling(delphi: Peer, node: str, authority: pki.Authority, text: str) -> Iterator[list[str]]:
    """Gives a fake node a kubelet that answers everything with a text, under a certificate of this authority. It
    remembers the tokens that it is shown, and "" for each caller without one."""
    shown: list[str] = []
    address = delphi.cluster.address
    pair = authority.issue("kubelet", f"system:node:{node}", ["system:nodes"], names=[f"IP:{address}"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"

    def serve(port: socket.socket) -> None:
        while True:
            try:
                plain, _ = port.accept()
            except OSError:
                return
            with suppress(OSError), context.wrap_socket(plain, server_side=True) as caller:
                caller.settimeout(10)
                asked = b""
                while b"\r\n\r\n" not in asked and (piece := caller.recv(4096)):
                    asked += piece
                token = re.search(r"^authorization: Bearer (\S+)", asked.decode(), re.MULTILINE | re.IGNORECASE)
                shown.append(token[1] if token else "")
                caller.sendall((head + text).encode())

    with silence(delphi, node) as port:
        server = threading.Thread(target=serve, args=(port,), daemon=True)
        server.start()
        try:
            yield shown
        finally:
            port.shutdown(socket.SHUT_RDWR)
            server.join(30)


def test_a_kubelet_is_believed_by_its_certificate(provider: Provider, tmp_path: Path) -> None:
    delphi, node = provider.delphi, f"{provider.delphi.name}-fake-0"
    stranger = pki.Authority(tmp_path / "stranger", "stranger")
    family = "pod_memory_working_set_bytes"
    text = f'# TYPE {family} gauge\n{family}{{namespace="shop-troy",pod="away"}} 4711\n'
    failed = lambda: delphi.daemon.metrics().get('liqo_metric_agent_kubelets_asked_total{outcome="failed"}', 0)  # noqa: E731
    with telling(delphi, node, stranger, text):
        before = failed()

        def is_refused() -> bool:
            assert provider.pods_of("troy") == PODS["troy"]
            return failed() > before

        wait_for(is_refused, SOON, "the kubelet of a stranger to be refused")
        assert "certificate" in delphi.daemon.log()
        # The operator can say who signs for kubelets.
        believed = tmp_path / "kubelets.crt"
        believed.write_text(stranger.pair.certificate.read_text() + delphi.cluster.authority.pair.certificate.read_text())
        usual = delphi.daemon.command
        try:
            delphi.daemon.command = [*usual, "--kubelet-ca-file", believed]
            delphi.daemon.restart()
            wait_for(lambda: provider.pods_of("troy") == {*PODS["troy"], "away"}, SOON, "the figures of the pod there")
        finally:
            delphi.daemon.command = usual
            delphi.daemon.restart()


def rules(cluster: Cluster, token: str) -> list[tuple[str, ...]]:
    """What RBAC lets the holder of a token do, in a namespace and everywhere."""
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "liqo"}}
    answer = cluster.as_user(token).request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review)
    told = [*answer["status"]["resourceRules"], *answer["status"]["nonResourceRules"]]
    return sorted({tuple(str(rule.get(key)) for key in ("verbs", "apiGroups", "resources", "nonResourceURLs")) for rule in told})


def token_of(cluster: Cluster, account: str) -> str:
    cluster.api.apply("serviceaccounts", chart.NAMESPACE, {"kind": "ServiceAccount", "metadata": {"name": account}})
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    return cluster.api.request("POST", path("serviceaccounts", chart.NAMESPACE, account, "token"), body)["status"]["token"]


def test_a_kubelet_learns_of_an_account_that_may_read_figures_and_nothing_else(provider: Provider) -> None:
    """Who has taken over a node has its kubelet's certificate, and all that callers show."""
    delphi, cluster = provider.delphi, provider.delphi.cluster
    with telling(delphi, f"{delphi.name}-fake-0", cluster.authority, "\n") as shown:

        def is_asked() -> bool:
            assert provider.pods_of("troy") == PODS["troy"]
            return bool(shown)

        wait_for(is_asked, SOON, "the kubelet to be asked")
        (token,) = set(shown)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    said = cluster.as_user(token).request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert said["status"]["userInfo"]["username"] == f"system:serviceaccount:{chart.NAMESPACE}:{chart.METRIC_AGENT}"
    everybody = rules(cluster, token_of(cluster, "nobody"))
    assert [rule for rule in rules(cluster, token) if rule not in everybody] == [
        ("['get']", "['']", "['nodes/metrics']", "None")
    ]


@pytest.mark.refusals("liqod has no right to the token of an account that this chart does not have")
def test_with_the_chart_of_before_nothing_is_told_and_nothing_shown(provider: Provider, tmp_path: Path) -> None:
    """The image is newer than the chart, of which the account and the right to its token are."""
    delphi, cluster = provider.delphi, provider.delphi.cluster
    before = chart.roles_of(chart.BEFORE_METRIC_AGENT_ACCOUNT, tmp_path)
    if before is None:
        pytest.skip("this is no clone with the commit of that chart")
    chart.forbid_usage(cluster)
    cluster.kubectl("apply", "-f", before)
    rights.bind(cluster, None, chart.METRIC_AGENT_ROLE, chart.SUBJECT, chart.METRIC_AGENT_ROLE)
    times_told = lambda: delphi.daemon.log().count("there is no token for kubelets")  # noqa: E731
    # At its very first start the API server may not have known the rights yet.
    told_before = times_told()
    try:
        with telling(delphi, f"{delphi.name}-fake-0", cluster.authority, "\n") as shown:
            delphi.daemon.restart()
            refused = "no kubelet is asked, because there is no token: liqoctl check says what is missing\n"
            wait_for(lambda: provider.ask("troy", "troy") == (500, refused), 60, "figures to be refused")
            stays(lambda: not shown and provider.ask("troy", "troy") == (500, refused), 5, "the refusal")
            assert times_told() == told_before + 1
            # The rest works.
            troy = provider.consumers["troy"]
            troy.api.create("pods", "shop", busybox("paris", BUSY))
            wait_for(lambda: troy.running("shop") == len(PODS["troy"]) + 2, 60, "a pod to run")
            troy.api.delete("pods", "shop", "paris", 0)
    finally:
        cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", chart.CHART / "files")
        chart.allow_usage(cluster)
    # It does not have to be restarted.
    wait_for(lambda: provider.ask("corinth", "corinth")[0] == 200, 120, "figures to be told")


def terminating(delphi: Peer, name: str) -> dict[str, Any]:
    """Makes a namespace and has it removed; what it says while it is there."""
    found = delphi.api.find("namespaces", None, name) or {}
    return {c["type"]: c for c in found.get("status", {}).get("conditions") or [] if c["status"] == "True"}


def test_while_liqod_is_dead_no_namespace_goes_and_it_says_why(provider: Provider) -> None:
    delphi = provider.delphi
    delphi.daemon.kill()
    wait_for(lambda: not chart.usage_served(delphi.cluster), 90, "Kubernetes to notice")
    delphi.cluster.namespace("temple")
    delphi.api.delete("namespaces", None, "temple")
    held = "NamespaceDeletionDiscoveryFailure"
    wait_for(lambda: held in terminating(delphi, "temple"), 90, "the namespace to say why it stays")
    assert "metrics.liqo.io" in terminating(delphi, "temple")[held]["message"]
    stays(lambda: delphi.api.find("namespaces", None, "temple"), 3, "the namespace")


def test_switched_off_while_liqod_is_dead_namespaces_go(provider: Provider) -> None:
    delphi = provider.delphi
    role = delphi.api.get("clusterroles", None, chart.METRIC_AGENT_ROLE)
    delphi.api.delete("clusterroles", None, chart.METRIC_AGENT_ROLE)
    wait_for(lambda: not delphi.api.find("apiservices", None, chart.USAGE_API), SOON, "the APIService to go with its role")
    wait_for(lambda: not delphi.api.find("namespaces", None, "temple"), 90, "the namespace to go")
    # The role comes back.
    metadata = {"name": chart.METRIC_AGENT_ROLE}
    delphi.api.create("clusterroles", None, {"kind": "ClusterRole", "metadata": metadata, "rules": role["rules"]})
    delphi.daemon.start()
    wait_for(lambda: chart.usage_served(delphi.cluster), 60, "figures to be served again")
    wait_for(lambda: provider.pods_of("corinth") == PODS["corinth"], SOON, "figures to be told again")
    assert json.loads(delphi.api.raw("GET", "/apis/metrics.liqo.io/v1beta1")[1])["resources"][0]["name"] == "scrape/metrics"
