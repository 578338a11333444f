"""A hostile consumer holds no names, objects, pods or addresses at a provider beyond what it may have.

The peering is a real one, by liqoctl, and the webhooks are on; what is tried is tried with the identities that the
consumer has.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster import pki, rights
from harness.cluster.api import Api, Refused, path
from harness.cluster.components import Options
from harness.cluster.pki import encoded
from harness.liqo import chart
from harness.liqo.hostile import HostileConsumer
from harness.liqo.peers import SOON, Peer, as_identity
from harness.required import require_programs
from harness.run import Run
from harness.story import is_ready
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

AWAY, TWIN = "liqo-tenant-corinth", "shop-corinth"


class Hostile(HostileConsumer):
    def __init__(self, consumer: Peer, provider: Peer, directory: Path):
        super().__init__(consumer, provider, directory)
        self.control_plane: Api = as_identity(consumer, provider, f"controlplane-{provider.name}", directory)

    def refused(self, kind: str, body: dict[str, Any], *says: str) -> None:
        """The slice's identity creates it in the twin, which is refused with these words; what gets in is taken away."""

        def tried() -> bool:
            try:
                self.slice.create(kind, TWIN, body)
            except Refused as refusal:
                return all(word in str(refusal) for word in says)
            self.slice.delete(kind, TWIN, body["metadata"]["name"])
            return False

        wait_for(tried, SOON, f"{kind} to be refused: {says}")


@pytest.fixture(scope="module")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    require_programs()
    with run.borrow(corinth=Options(), argos=Options()) as (corinth, argos):
        corinth.add_kwok_nodes(1), argos.add_kwok_nodes(1)
        yield Hostile(Peer(corinth), Peer(argos), tmp_path_factory.mktemp("identities"))


@pytest.fixture(autouse=True)
def usual_policy(hostile: Hostile) -> Iterator[None]:
    yield
    hostile.set_policy()


@pytest.fixture
def in_other_hands(hostile: Hostile) -> Iterator[None]:
    """Stops the consumer's own liqod, which would put right what others do in its name."""
    hostile.consumer.daemon.stop()
    yield
    hostile.consumer.daemon.start()


@pytest.mark.parametrize("name", ["cert-manager", "shop-thebes", "free"])
@pytest.mark.usefixtures("in_other_hands")
def test_it_gets_no_name_that_somebody_else_may_be_about_to_use(hostile: Hostile, name: str) -> None:
    api, asks = hostile.provider.api, hostile.control_plane
    asks.patch("namespacemaps", AWAY, "argos", {"spec": {"desiredMapping": {"more": name}}})

    def answer() -> dict[str, str]:
        return api.get("namespacemaps", AWAY, "argos").get("status", {}).get("currentMapping", {}).get("more", {})

    try:
        seen = wait_for(lambda: "(twinNames)" in answer()["message"] and answer(), SOON, "the provider to name the key")
        assert seen["phase"] == "CreationLoopBackOff"
        assert api.find("namespaces", None, name) is None
    finally:
        asks.patch("namespacemaps", AWAY, "argos", {"spec": {"desiredMapping": {"more": None}}})
    # This answer must not be taken for that of the next case.
    wait_for(lambda: not answer(), SOON, "the answer to be taken back")


def test_a_user_reads_the_key_that_would_allow_the_name_and_the_provider_allows_it(hostile: Hostile) -> None:
    consumer, provider = hostile.consumer, hostile.provider
    consumer.cluster.namespace("chosen")
    offload = ("offload", "namespace", "chosen", "--namespace-mapping-strategy", "EnforceSameName")
    consumer.liqoctl(*offload, "--wait=false")
    status = lambda: consumer.api.get("namespaceoffloadings", "chosen", "offloading")["status"]  # noqa: E731
    wait_for(lambda: "(twinNames)" in json.dumps(status()), SOON, "the refusal to come home")
    done = consumer.liqoctl.attempt(*offload, "--timeout", "5s")
    assert done.code == 1 and "(twinNames)" in done.err, done.err
    consumer.peer_with(provider, "--allow-twin-names", "chosen", "--allow-twin-names", "team-*")
    policy = provider.api.get("namespaces", None, AWAY)["metadata"]["annotations"]["liqo.io/pod-policy"]
    assert json.loads(policy) == {"twinNames": ["*-corinth", "chosen", "team-*"]}
    consumer.liqoctl(*offload)
    assert provider.api.find("namespaces", None, "chosen")
    consumer.liqoctl("unoffload", "namespace", "chosen", "--skip-confirm")


def test_nobody_is_let_in_under_an_id_that_makes_a_namespace_of_others_its_own(hostile: Hostile) -> None:
    provider = hostile.provider
    provider.cluster.namespace("team-oslo")
    for consumer, owned in (("manager", "cert-manager"), ("oslo", "team-oslo")):
        namespace = f"liqo-tenant-{consumer}"
        marks = {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": consumer}
        provider.cluster.namespace(namespace, marks)
        tenant = objects.tenant(consumer, authzPolicy="TolerateNoHandshake")
        with pytest.raises(Refused, match=f"(?s){owned}.*twinNames"):
            provider.api.create("tenants", namespace, tenant)
        # A provider whose policy names the consumer's twins lets it in.
        policy = {"liqo.io/pod-policy": json.dumps({"twinNames": [f"of-{consumer}-*"]})}
        provider.api.patch("namespaces", None, namespace, {"metadata": {"annotations": policy}})
        provider.api.create("tenants", namespace, tenant)
        provider.api.delete("tenants", namespace, consumer)
        wait_for(lambda: not provider.api.list("tenants", namespace), SOON, "the Tenant to go")
        provider.api.delete("namespaces", None, namespace)


def secret(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"key": "x"}}


def service(name: str, kind: str) -> dict[str, Any]:
    spec = {"type": kind, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def claim(name: str, size: str) -> dict[str, Any]:
    resources = {"requests": {"storage": size}}
    spec = {"storageClassName": "standard", "accessModes": ["ReadWriteOnce"], "resources": resources}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def shadow(name: str, **container: Any) -> dict[str, Any]:
    return objects.shadow_pod(name, "corinth", {"restartPolicy": "Never", **objects.one_container(**container)})


def test_its_twins_hold_so_many_objects_and_no_more(hostile: Hostile) -> None:
    api, bounds = hostile.provider.api, ("resourcequotas", TWIN, "liqo-twin")
    # 110 granted pods, counted in thousands, and 1,000 more make 2k.
    wait_for(lambda: api.get(*bounds)["spec"]["hard"]["count/secrets"] == "2k", SOON, "the usual bound")
    counted = {"count/secrets", "count/services", "services.nodeports"}
    wait_for(lambda: set(api.get(*bounds)["status"]["used"]) >= counted, SOON, "Kubernetes to count")
    hostile.set_policy(twinQuota={"count/secrets": "3", "services.nodeports": "1"})
    wait_for(lambda: api.get(*bounds)["spec"]["hard"]["count/secrets"] == "3", SOON, "the policy to be followed")
    for number in range(3):
        hostile.slice.create("secrets", TWIN, secret(f"s{number}"))
    hostile.refused("secrets", secret("more"), "exceeded quota: liqo-twin", "count/secrets=3")
    hostile.slice.create("services", TWIN, service("front", "NodePort"))
    hostile.refused("services", service("more", "NodePort"), "exceeded quota: liqo-twin", "services.nodeports=1")
    for number in range(3):
        hostile.slice.delete("secrets", TWIN, f"s{number}")
    hostile.slice.delete("services", TWIN, "front")
    with pytest.raises(Refused):
        hostile.slice.patch("resourcequotas", TWIN, "liqo-twin", {"spec": {"hard": {"count/secrets": "1M"}}})


def test_what_all_its_twins_hold_together_is_bounded(hostile: Hostile) -> None:
    api = hostile.provider.api

    def counted() -> bool:
        used = api.get("resourcequotas", TWIN, "liqo-twin")["status"]["used"]["count/secrets"]
        return int(used) == len(api.list("secrets", TWIN))

    wait_for(counted, 60, "Kubernetes to have counted what has gone")
    used = len(api.list("secrets", TWIN))
    hostile.set_policy(tenantQuota={"count/secrets": str(used + 4)})
    for number in range(4):
        hostile.slice.create("secrets", TWIN, secret(f"t{number}"))
    hard = lambda: api.get("resourcequotas", TWIN, "liqo-twin")["spec"]["hard"]["count/secrets"]  # noqa: E731
    wait_for(lambda: hard() == str(used + 4), SOON, "the twin to get no more")
    hostile.refused("secrets", secret("more"), "exceeded quota: liqo-twin")
    for number in range(4):
        hostile.slice.delete("secrets", TWIN, f"t{number}")
    wait_for(lambda: hard() == "2k", SOON, "room for more when some have gone")

    # The same holds for the storage that its claims request together.
    hostile.set_policy(storageClasses=["standard"], tenantQuota={"requests.storage": "3Gi"})
    of_storage = lambda: api.get("resourcequotas", TWIN, "liqo-twin")["status"]["used"].get("requests.storage")  # noqa: E731
    wait_for(lambda: of_storage() == "0", SOON, "Kubernetes to count storage")
    hostile.slice.create("persistentvolumeclaims", TWIN, claim("first", "2Gi"))
    too_much = "requested: requests.storage=2Gi, used: requests.storage=2Gi, limited: requests.storage=3Gi"
    hostile.refused("persistentvolumeclaims", claim("more", "2Gi"), f"exceeded quota: liqo-twin, {too_much}")
    hostile.slice.delete("persistentvolumeclaims", TWIN, "first")


def test_the_pods_that_it_stores_are_bounded_in_size_and_number(hostile: Hostile) -> None:
    large = shadow("large", args=["x" * 140_000])
    hostile.refused("shadowpods", large, "the spec of a ShadowPod can have 131072 bytes")
    hostile.set_policy(maxShadowPods=2)
    for number in range(2):
        hostile.slice.create("shadowpods", TWIN, shadow(f"p{number}", resources={"requests": {"cpu": "10m"}}))
    try:
        hostile.refused("shadowpods", shadow("more"), "stores 2 pods of the consumer", "maxShadowPods in the policy")
        # A pod that has ended holds no quota, but is still stored.
        status = {"status": {"phase": "Succeeded"}}
        hostile.provider.api.patch("shadowpods", TWIN, "p0", status, "status")
        hostile.refused("shadowpods", shadow("more"), "stores 2 pods of the consumer")
    finally:
        for number in range(2):
            hostile.slice.delete("shadowpods", TWIN, f"p{number}")


def endpoints(*addresses: str) -> dict[str, Any]:
    """The endpoints of a Service at home, as the consumer sends them."""
    labels = {"offloading.liqo.io/origin": "corinth", "kubernetes.io/service-name": "web"}
    made = [{"addresses": [address], "conditions": {"ready": True, "serving": True}} for address in addresses]
    template = {"addressType": "IPv4", "ports": [{"name": "http", "port": 80}], "endpoints": made}
    return {
        "kind": "ShadowEndpointSlice",
        "metadata": {"name": "web-1", "labels": labels},
        "spec": {"template": template},
    }


def led_to(hostile: Hostile) -> dict[str, bool] | None:
    """The addresses in the provider's EndpointSlice and whether they are ready; None if there is none."""
    found = hostile.provider.api.find("endpointslices", TWIN, "web-1")
    if found is None:
        return None
    return {one["addresses"][0]: one["conditions"]["ready"] for one in found["endpoints"] or []}


def left_out(hostile: Hostile) -> list[str]:
    return [event["message"] for event in hostile.slice.list("events", TWIN) if event["reason"] == "AddressLeftOut"]


@pytest.mark.usefixtures("in_other_hands")
def test_its_services_lead_to_declared_addresses_and_never_to_the_providers_own(hostile: Hostile) -> None:
    api, asks = hostile.provider.api, hostile.slice
    good, service = "10.200.3.4", api.get("services", "default", "kubernetes")["spec"]["clusterIP"]
    asks.create("shadowendpointslices", TWIN, endpoints(good, service))
    wait_for(lambda: led_to(hostile) == {}, SOON, "an EndpointSlice without any address, because none is declared")
    wait_for(lambda: left_out(hostile), SOON, "an Event that says so")
    assert "endpointCIDRs in the annotation liqo.io/pod-policy of namespace liqo-tenant-corinth" in left_out(hostile)[0]
    # Even a declaration of all addresses does not allow those of the provider.
    hostile.set_policy(endpointCIDRs=["0.0.0.0/0"])
    wait_for(lambda: led_to(hostile) == {good: True}, SOON, "the address of an endpoint at home")
    slice_ = api.get("endpointslices", TWIN, "web-1")
    (owner,) = slice_["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"]) == ("ShadowEndpointSlice", True)
    assert slice_["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
    pod_range = hostile.provider.cluster.pod_cidr.rpartition(".")[0] + ".77"
    bad = [service, pod_range, "169.254.169.254", "127.0.0.1", "224.0.0.1", "rubbish"]
    asks.patch("shadowendpointslices", TWIN, "web-1", {"spec": endpoints(good, "10.200.3.5", *bad)["spec"]})
    wait_for(lambda: led_to(hostile) == {good: True, "10.200.3.5": True}, SOON, "the new address alone")
    wait_for(lambda: len(left_out(hostile)) == 2, SOON, "an Event by the new declaration")
    # The consumer cannot write EndpointSlices itself, either.
    with pytest.raises(Refused, match="endpointslices"):
        asks.patch("endpointslices", TWIN, "web-1", {"endpoints": endpoints(service)["spec"]["template"]["endpoints"]})
    asks.patch("shadowendpointslices", TWIN, "web-1", {"spec": endpoints("10.200.3.5", service)["spec"]})
    wait_for(lambda: led_to(hostile) == {"10.200.3.5": True}, SOON, "the change to be followed")
    api.delete("endpointslices", TWIN, "web-1")
    wait_for(lambda: led_to(hostile) == {"10.200.3.5": True}, SOON, "what somebody deletes to be back")
    assert len(left_out(hostile)) == 2, "told once for each declaration"
    # The consumer cannot keep an EndpointSlice whose ShadowEndpointSlice cannot be applied.
    good_ports = endpoints()["spec"]["template"]["ports"]
    for ports, expected in ([{"name": "http", "port": 80, "protocol": "FOO"}], None), (good_ports, {"10.200.3.5": True}):
        asks.patch("shadowendpointslices", TWIN, "web-1", {"spec": {"template": {"ports": ports}}})
        wait_for(lambda expected=expected: led_to(hostile) == expected, SOON, f"what comes of {ports}")
    asks.patch("shadowendpointslices", TWIN, "web-1", {"metadata": {"finalizers": ["example.com/hold"]}})
    asks.delete("shadowendpointslices", TWIN, "web-1")
    wait_for(lambda: led_to(hostile) is None, SOON, "the EndpointSlice to go before its ShadowEndpointSlice")
    asks.patch("shadowendpointslices", TWIN, "web-1", {"metadata": {"finalizers": None}})
    wait_for(lambda: api.find("shadowendpointslices", TWIN, "web-1") is None, SOON, "the ShadowEndpointSlice to go")
    asks.create("shadowendpointslices", TWIN, endpoints("10.200.3.5"))
    wait_for(lambda: led_to(hostile) == {"10.200.3.5": True}, SOON, "a new one")


@pytest.mark.usefixtures("in_other_hands")
def test_its_endpoints_are_ready_while_it_is_reachable_and_go_with_it(hostile: Hostile) -> None:
    api = hostile.provider.api
    hostile.slice.delete("shadowendpointslices", TWIN, "web-1")
    wait_for(lambda: led_to(hostile) is None, SOON, "an EndpointSlice to go with its ShadowEndpointSlice")
    hostile.set_policy(endpointCIDRs=["10.200.0.0/16"])
    hostile.slice.create("shadowendpointslices", TWIN, endpoints("10.200.3.5"))
    wait_for(lambda: led_to(hostile) == {"10.200.3.5": True}, SOON, "a new one")
    # A provider with credentials for the consumer probes its API server. Nobody answers at this address.
    authority = hostile.provider.cluster.authority.pair.certificate
    kubeconfig = pki.kubeconfig("https://127.0.0.1:9", authority, {"token": "x"}, "corinth")
    labels = {"liqo.io/identity-type": "ControlPlane", "liqo.io/remote-cluster-id": "corinth"}
    marks = {"liqo.io/remote-tenant-namespace": "liqo-tenant-argos"}
    metadata = {"name": "nobody-answers", "labels": labels, "annotations": marks}
    api.create("secrets", AWAY, {"kind": "Secret", "metadata": metadata, "data": {"kubeconfig": encoded(kubeconfig)}})
    try:
        wait_for(lambda: led_to(hostile) == {"10.200.3.5": False}, 60, "the endpoint not to be ready any more")
    finally:
        # With this annotation nobody waits for replicas there.
        lost = "liqo.io/foreign-cluster-permanently-unreachable"
        api.patch("foreignclusters", None, "corinth", {"metadata": {"annotations": {lost: "true"}}})
        api.delete("secrets", AWAY, "nobody-answers")
        wait_for(lambda: api.find("secrets", AWAY, "nobody-answers") is None, 60, "the credentials to go")
        api.patch("foreignclusters", None, "corinth", {"metadata": {"annotations": {lost: None}}})
    wait_for(lambda: led_to(hostile) == {"10.200.3.5": True}, 60, "the endpoint to be ready again")
    hostile.slice.delete("shadowendpointslices", TWIN, "web-1")


WIDGETS = {"apiGroups": ["example.org"], "resources": ["widgets"], "verbs": ["get", "create", "delete"]}
TWINS = (TWIN, "blog-corinth", "mail-corinth")
PODS = "liqo-twin-pods"
# The resource of which the operator in each twin wants more than there is.
WANTED = {TWIN: "pods", "blog-corinth": "requests.cpu", "mail-corinth": "requests.memory"}
UNITS = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


@pytest.fixture
def widgets(hostile: Hostile) -> Iterator[None]:
    """A ClusterRole that liqod may bind, as offloading.tenantClusterRoles of the chart has it, and three twins."""
    consumer, provider = hostile.consumer, hostile.provider
    provider.api.create("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "widgets"}, "rules": [WIDGETS]})
    may = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["get", "bind"]}
    rule = {**may, "resourceNames": ["widgets", "jobs"]}
    role = {"kind": "ClusterRole", "metadata": {"name": "liqo-liqod-tenant-roles"}, "rules": [rule]}
    provider.api.create("clusterroles", None, role)
    liqod = rights.service_account(chart.NAMESPACE, chart.SERVICE_ACCOUNT)
    rights.bind(provider.cluster, None, "liqo-liqod-tenant-roles", liqod, "liqo-liqod-tenant-roles")
    for name in ("blog", "mail"):
        consumer.cluster.namespace(name)
        consumer.liqoctl("offload", "namespace", name)
    yield
    hostile.set_policy()
    for name in ("blog", "mail"):
        consumer.liqoctl("unoffload", "namespace", name, "--skip-confirm")
    for name in ("liqo-liqod-tenant-roles", "widgets"):
        provider.api.delete("clusterroles", None, name)


def amount(quantity: str) -> float:
    unit = quantity.lstrip("0123456789.")
    return float(quantity.removesuffix(unit)) * UNITS[unit]


def admitted(hostile: Hostile) -> dict[str, float]:
    """What the API server admits in all twins together."""
    quotas = [hostile.provider.api.get("resourcequotas", twin, PODS) for twin in TWINS]
    hard = [quota.get("status", {})["hard"] for quota in quotas]
    return {what: round(sum(amount(one[what]) for one in hard), 6) for what in WANTED.values()}


def asked(hostile: Hostile) -> dict[str, float]:
    """What the pods that are in the twins ask for."""
    pods = [pod for twin in TWINS for pod in hostile.provider.api.list("pods", twin)]
    requests = [pod["spec"]["containers"][0]["resources"]["requests"] for pod in pods]
    sums = {f"requests.{what}": sum(amount(one[what]) for one in requests) for what in ("cpu", "memory")}
    return {"pods": len(pods), **sums}


def operated(name: str, requests: dict[str, float]) -> dict[str, Any]:
    """A pod that an operator starts; if it requests nothing, nothing but its number counts."""
    cpu, memory = (requests.get(f"requests.{what}", 0) for what in ("cpu", "memory"))
    wanted = {"cpu": f"{1000 * cpu:.0f}m", "memory": f"{memory:.0f}"}
    spec = {"containers": [{"name": "main", "image": "busybox", "resources": {"requests": wanted}}]}
    return {"kind": "Pod", "metadata": {"name": name}, "spec": spec}


@pytest.mark.usefixtures("widgets", "in_other_hands")
def test_what_operators_run_for_it_is_taken_from_what_it_was_granted(hostile: Hostile) -> None:
    api = hostile.provider.api
    hostile.set_policy(clusterRoles=["widgets", "jobs"])

    def is_bound() -> bool:
        return all(api.find("rolebindings", twin, f"{AWAY}-widgets") for twin in TWINS)

    wait_for(is_bound, 60, "the role to be bound in every twin")
    (grant,) = api.list("quotas", AWAY)
    granted = {what: amount(grant["spec"]["resources"][what.removeprefix("requests.")]) for what in WANTED.values()}

    def assert_within() -> None:
        hard = admitted(hostile)
        assert all(hard[what] <= granted[what] for what in granted), (hard, granted)

    assert_within()

    def refused_role() -> list[str]:
        events = api.list("events", AWAY) + api.list("events", "default")
        return [event["message"] for event in events if event["reason"] == "TenantRoleRefused"]

    wait_for(lambda: any("ClusterRole jobs does not exist" in text for text in refused_role()), SOON, "the Event")

    # Only the provider writes pods, rights or bounds in a twin.
    for kind, body in (
        ("pods", operated("mine", {})),
        ("rolebindings", {"kind": "RoleBinding", "metadata": {"name": "mine"}}),
        ("resourcequotas", {"kind": "ResourceQuota", "metadata": {"name": "mine"}}),
    ):
        hostile.refused(kind, body, "forbidden")
    more = {"spec": {"hard": {"pods": "1000"}}}
    for attempt in (
        lambda: hostile.slice.patch("resourcequotas", TWIN, PODS, more),
        lambda: hostile.slice.patch("resourcequotas", TWIN, PODS, {"status": more["spec"]}, "status"),
        lambda: hostile.slice.delete("resourcequotas", TWIN, PODS),
        lambda: hostile.slice.delete("rolebindings", TWIN, f"{AWAY}-widgets"),
    ):
        with pytest.raises(Refused, match="forbidden"):
            attempt()

    # Operators in all twins start far more than there is room for, beside pods that the consumer offloads: one wants
    # more pods, one more cpu, and one more memory.
    each = {what: 1 if what == "pods" else granted[what] / 20 for what in granted}
    most = dict.fromkeys(granted, 0.0)
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            now = asked(hostile)
            most.update({what: max(most[what], now[what]) for what in most})

    def operate(twin: str) -> int:
        made, lacked = 0, ""
        wants = WANTED[twin]
        for number in range(int(granted["pods"])):
            try:
                api.create("pods", twin, operated(f"operated-{number}", {wants: each[wants]}))
                made += 1
            except Refused as refusal:
                # If many pods charge one ResourceQuota at once, Kubernetes answers some of them 409.
                assert refusal.code == 409 or f"exceeded quota: {PODS}" in str(refusal), refusal
                lacked += str(refusal)
        assert f"requested: {wants}=" in lacked, lacked[-500:]
        return made

    def offload() -> None:
        for number in range(8):
            hostile.slice.create("shadowpods", "mail-corinth", shadow(f"web-{number}"))

    with ThreadPoolExecutor(5) as pool:
        watcher = pool.submit(watch)
        work = [pool.submit(operate, twin) for twin in TWINS]
        orders = pool.submit(offload)
        try:
            made = [one.result() for one in work]
            orders.result()
        finally:
            ended.set()
        watcher.result()
    assert all(made), made
    # kube-controller-manager counts a ResourceQuota anew when it changes, and may not have seen the last pods that were
    # charged to it: each time one or two more may be let in.
    for what, limit in granted.items():
        assert limit / 2 < most[what] <= limit + 2 * len(TWINS) * each[what], (most, granted)
    assert_within()

    # Waiting pods get the room that operators give back.
    ordered = {f"web-{number}" for number in range(8)}

    def is_there() -> bool:
        return ordered <= {pod["metadata"]["name"] for pod in api.list("pods", "mail-corinth")}

    for twin in TWINS:
        for pod in api.list("pods", twin):
            if pod["metadata"]["name"].startswith("operated-"):
                api.delete("pods", twin, pod["metadata"]["name"])
    wait_for(is_there, 60, "the pods of the consumer to be made")
    for name in ordered:
        hostile.slice.delete("shadowpods", "mail-corinth", name)

    hostile.set_policy()
    wait_for(lambda: not any(api.find("resourcequotas", twin, PODS) for twin in TWINS), SOON, "the bounds to go")
    assert not any(api.find("rolebindings", twin, f"{AWAY}-widgets") for twin in TWINS)


@pytest.mark.usefixtures("in_other_hands")
def test_its_budgets_hold_no_drain_for_longer_than_the_policy_says(hostile: Hostile) -> None:
    """What it may write at all is bounded by the time; it writes it again and again."""
    api, asks = hostile.provider.api, hostile.slice
    labels = {"offloading.liqo.io/origin": "corinth"}

    def budget(name: str, **changes: Any) -> dict[str, Any]:
        spec = {"minAvailable": 1000, "selector": {}, "unhealthyPodEvictionPolicy": "AlwaysAllow", **changes}
        spec = {key: value for key, value in spec.items() if value is not None}
        return {"kind": "PodDisruptionBudget", "metadata": {"name": name, "labels": labels}, "spec": spec}

    hostile.refused("poddisruptionbudgets", budget("stay"), "no disruptionBudgets")
    hostile.set_policy(disruptionBudgets={"maxBlock": "10s"})
    wait_for(lambda: asks.create("poddisruptionbudgets", TWIN, budget("stay")), SOON, "the policy to be known")
    hostile.refused("poddisruptionbudgets", budget("all", minAvailable="100%"), "minAvailable as a number")
    hostile.refused("poddisruptionbudgets", budget("sick", unhealthyPodEvictionPolicy=None), "AlwaysAllow")
    stays = {**asks.get("poddisruptionbudgets", TWIN, "stay")}
    stays["metadata"] = {**stays["metadata"], "finalizers": ["example.org/stay"]}
    with pytest.raises(Refused, match="it has finalizers"):
        asks.request("PUT", path("poddisruptionbudgets", TWIN, "stay"), stays)

    asks.create("shadowpods", TWIN, shadow("kept"))
    is_there = lambda: is_ready(api.get("pods", TWIN, "kept"))  # noqa: E731
    wait_for(is_there, SOON, "the pod to be ready")
    node = api.get("pods", TWIN, "kept")["spec"]["nodeName"]
    draining = hostile.provider.cluster.kubectl_started(
        "drain", node, "--pod-selector=liqo.io/managed-by=shadowpod", "--force", "--timeout=90s"
    )

    def has_ended() -> bool:
        try:
            asks.create("poddisruptionbudgets", TWIN, budget("stay"))
        except Refused:
            pass
        return draining.poll() is not None

    try:
        wait_for(has_ended, 100, "the drain to end")
        out, err = draining.communicate()
        assert draining.returncode == 0, (out, err)
        assert b"violate the pod's disruption budget" in err
    finally:
        api.patch("nodes", None, node, {"spec": {"unschedulable": None}})
        asks.delete("shadowpods", TWIN, "kept")
        hostile.set_policy()
    wait_for(lambda: api.list("poddisruptionbudgets", TWIN) == [], SOON, "its budgets to go with the policy's key")
