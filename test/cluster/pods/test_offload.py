"""A pod that is created in rome runs in milan through a virtual node, and rome shows what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.api import Refused, path
from harness.cluster.cluster import UNTIL_TOLD, busybox
from harness.cluster.images import BUSYBOX_IMAGE
from harness.liqo import chart
from harness.liqo.peering import RESOURCES, TAINT, Peering
from harness.story import Story, condition, container
from harness.wait import stays, wait_for

MISSING_IMAGE = "docker.io/liqo-test/missing:1"


def test_the_virtual_node_is_what_its_virtualnode_says(rome_to_milan: Peering) -> None:
    node = rome_to_milan.node_object()
    assert node
    assert node["status"]["capacity"] == RESOURCES and node["status"]["allocatable"] == RESOURCES
    assert node["metadata"]["labels"]["liqo.io/type"] == "virtual-node"
    assert node["metadata"]["labels"]["liqo.io/remote-cluster-id"] == "milan"
    assert {"key": TAINT, "value": "true", "effect": "NoExecute"} in node["spec"]["taints"]
    assert node["status"]["addresses"] == [{"type": "InternalIP", "address": rome_to_milan.consumer.address}]
    lease = wait_for(lambda: rome_to_milan.consumer.api.find("leases", "kube-node-lease", "milan"), 60, "its lease")
    assert lease["spec"]["holderIdentity"] == "milan"


def test_the_virtual_node_follows_its_virtualnode(rome_to_milan: Peering) -> None:
    """Changes and removals follow, also a resource key that disappears."""

    def seen() -> dict[str, Any]:
        return rome_to_milan.node_object() or {}

    more = {**RESOURCES, "nvidia.com/gpu": "4"}
    taint = {"key": "reserved", "value": "yes", "effect": "PreferNoSchedule"}
    rome_to_milan.write_virtual_node(more, labels={"tier": "gold"}, annotations={"note": "here"}, taints=[taint])
    wait_for(lambda: seen()["status"]["capacity"].get("nvidia.com/gpu") == "4", 60, "the node to offer GPUs")
    wait_for(lambda: seen()["metadata"]["labels"].get("tier") == "gold", 60, "the node to have the label")
    wait_for(lambda: seen()["metadata"]["annotations"].get("note") == "here", 60, "the node to have the annotation")
    wait_for(lambda: taint in seen()["spec"]["taints"], 60, "the node to have the taint")
    rome_to_milan.write_virtual_node()
    wait_for(lambda: seen()["status"]["capacity"] == RESOURCES, 60, "the GPUs to be gone")
    wait_for(lambda: seen()["status"]["allocatable"] == RESOURCES, 60, "the GPUs to be gone")
    wait_for(lambda: "tier" not in seen()["metadata"]["labels"], 60, "the label to be gone")
    wait_for(lambda: "note" not in seen()["metadata"]["annotations"], 60, "the annotation to be gone")
    wait_for(lambda: taint not in seen()["spec"]["taints"], 60, "the taint to be gone")
    assert {"key": TAINT, "value": "true", "effect": "NoExecute"} in seen()["spec"]["taints"]


def test_a_pod_runs_remotely_and_its_status_comes_back(story: Story) -> None:
    story.create(busybox("one", "while true; do echo pong | nc -l -p 8080; done"))
    local = story.wait_ready("one")
    remote = story.remote("one")
    assert remote["spec"]["nodeName"] == "milan-1"
    assert local["status"]["phase"] == "Running"
    assert local["status"]["podIP"] == remote["status"]["podIP"]
    assert local["status"]["hostIP"] == story.consumer.address, "the address of the virtual node"
    assert container(local)["containerID"] == container(remote)["containerID"]
    assert container(local)["state"] == container(remote)["state"]
    assert container(local)["image"] == container(remote)["image"]
    address = local["status"]["podIP"]
    wait_for(lambda: story.consumer.space.connect(address, 8080).recv(9) == b"pong\n", 60, "the pod to answer in rome")


def test_a_remote_pod_tells_where_it_comes_from(story: Story) -> None:
    created = busybox("one")
    created["metadata"] |= {"labels": {"app": "one"}, "annotations": {"note": "kept"}}
    story.create(created)
    story.wait_ready("one")
    labels = story.remote("one")["metadata"]["labels"]
    assert labels["app"] == "one" and labels["liqo.io/managed-by"] == "shadowpod"
    assert labels["offloading.liqo.io/origin"] == "rome" and labels["offloading.liqo.io/destination"] == "milan"
    assert story.remote("one")["metadata"]["annotations"]["note"] == "kept"
    marked = lambda pod: pod["metadata"].get("labels", {}).get("liqo.io/shadowPod") == "true"  # noqa: E731
    story.wait_local("one", marked, "to have the label of an offloaded pod")


def test_a_restarted_container_is_counted_at_home(story: Story) -> None:
    script = "if [ -e /state/ran ]; then sleep 1000000; fi; touch /state/ran; exit 3"
    pod = busybox("one", script, volumes=[{"name": "state", "emptyDir": {}}])
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "state", "mountPath": "/state"}]
    story.create(pod)
    local = story.wait_local("one", lambda pod: container(pod).get("restartCount") == 1, "to have restarted once")
    assert container(local)["lastState"]["terminated"]["exitCode"] == 3
    story.wait_ready("one")


def test_a_container_that_cannot_start_says_why_at_home(story: Story) -> None:
    pod = busybox("one")
    pod["spec"]["containers"][0]["image"] = MISSING_IMAGE
    story.create(pod)
    local = story.wait_local("one", lambda pod: "waiting" in container(pod).get("state", {}), "to be waiting")
    reasons = ("ContainerCreating", "ErrImageNeverPull")
    assert container(local)["state"]["waiting"]["reason"] in reasons
    wanted = "ErrImageNeverPull"
    story.wait_local("one", lambda pod: container(pod)["state"]["waiting"]["reason"] == wanted, f"to say {wanted}")

    # The kubelet there explains it in an Event.
    def told() -> str:
        found = condition(story.local("one"), "offloading.liqo.io/Offloaded")
        assert found.get("reason") == "RemotePodNotReady", f"condition {found}"
        assert f'Container image "{MISSING_IMAGE}" is not present' in found["message"], f"condition {found}"
        return found["message"]

    message = wait_for(told, 90, "the warning to be told at home")
    assert message.startswith("the pod is not ready in cluster milan: ") and message.endswith(" (ErrImageNeverPull)")

    def events() -> list[dict[str, Any]]:
        found = story.consumer.events(story.namespace, "one")
        return [event for event in found if event["reason"] == "RemotePodNotReady" and event["message"] == message]

    wait_for(lambda: len(events()) == 1, 60, "one Event at home")

    containers = story.local("one")["spec"]["containers"]
    containers[0]["image"] = BUSYBOX_IMAGE
    story.consumer.api.patch("pods", story.namespace, "one", {"spec": {"containers": containers}})
    story.wait_ready("one", 90)
    silent = lambda pod: not condition(pod, "offloading.liqo.io/Offloaded")  # noqa: E731
    story.wait_local("one", silent, "not to say so any more")
    assert len(events()) == 1


def test_every_container_of_a_pod_comes_back(story: Story) -> None:
    first = {"name": "first", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never", "command": ["/bin/true"]}
    pod = busybox("one", initContainers=[first])
    pod["spec"]["containers"].append({**pod["spec"]["containers"][0], "name": "other"})
    story.create(pod)
    local = story.wait_ready("one")
    assert {status["name"] for status in local["status"]["containerStatuses"]} == {"main", "other"}
    assert local["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_pod_keeps_the_volume_of_its_service_account(story: Story) -> None:
    story.create(
        busybox(
            "one", "cd /var/run/secrets/kubernetes.io/serviceaccount && cat namespace && head -1 ca.crt; sleep 1000000"
        )
    )
    story.wait_ready("one")

    def printed() -> bool:
        log = story.provider.kubectl("-n", story.twin, "logs", "one")
        return "BEGIN CERTIFICATE" in log and story.namespace in log

    wait_for(printed, 60, "the pod to print its namespace and the authority")


def test_a_configmap_of_home_is_there_for_the_pod(story: Story) -> None:
    story.consumer.api.create(
        "configmaps",
        story.namespace,
        {"kind": "ConfigMap", "metadata": {"name": "words"}, "data": {"greeting": "ciao\n"}},
    )
    pod = busybox(
        "one", "cat /words/greeting; sleep 1000000", volumes=[{"name": "words", "configMap": {"name": "words"}}]
    )
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "words", "mountPath": "/words"}]
    story.create(pod)
    story.wait_ready("one")
    wait_for(lambda: story.provider.kubectl("-n", story.twin, "logs", "one") == "ciao\n", 60, "the pod to greet")


@pytest.fixture
def template(story: Story) -> Iterator[Callable[..., None]]:
    """Writes the VkOptionsTemplate that virtual nodes follow which name none; it is gone afterwards."""
    api, name = story.consumer.api, "virtual-kubelet-default"
    required = {"containerImage": "none", "createNode": True, "disableNetworkCheck": True, "metricsEnabled": False}

    def write(**said: Any) -> None:
        body = {"kind": "VkOptionsTemplate", "metadata": {"name": name}, "spec": {**required, **said}}
        api.apply("vkoptionstemplates", chart.NAMESPACE, body)

    yield write
    if api.find("vkoptionstemplates", chart.NAMESPACE, name):
        api.delete("vkoptionstemplates", chart.NAMESPACE, name)


def test_a_template_says_what_is_reflected_and_may_change(story: Story, template: Callable[..., None]) -> None:
    """liqod follows the template without a restart, and with its rights."""
    api = story.consumer.api

    def config_map(name: str, annotations: dict[str, str] | None = None) -> None:
        metadata = {"name": name, "labels": {"team": "a"}, "annotations": annotations or {}}
        api.apply("configmaps", story.namespace, {"kind": "ConfigMap", "metadata": metadata, "data": {"word": "ciao"}})

    def remote(name: str) -> dict[str, Any] | None:
        return story.provider.api.find("configmaps", story.twin, name)

    def remote_service(name: str) -> dict[str, Any] | None:
        return story.provider.api.find("services", story.twin, name)

    config_map("plain")
    config_map("allowed", {"liqo.io/allow-reflection": "true"})
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    api.create("services", story.namespace, service)
    for name in ("plain", "allowed"):
        wait_for(lambda name=name: remote(name), 60, f"ConfigMap {name} to be in milan")
    wait_for(lambda: remote_service("web"), 60, "the Service to be in milan")
    template(reflectorsConfig={"configmap": {"workers": 3, "type": "AllowList"}}, nodeExtraLabels={"tier": "gold"})
    tier = lambda: (story.peering.node_object() or {})["metadata"]["labels"].get("tier")  # noqa: E731
    wait_for(lambda: tier() == "gold", 30, "the label of the template on the Node")
    wait_for(lambda: remote("plain") is None, 60, "what is not annotated to be gone in milan")
    assert remote("allowed")
    # A kind that is off gets no new copies and keeps the old ones. The Service shows that the template was read.
    template(reflectorsConfig={"configmap": {"workers": 0}, "service": {"workers": 3, "type": "AllowList"}})
    wait_for(lambda: remote_service("web") is None, 60, "the Service to be gone in milan")
    wait_for(lambda: tier() is None, 30, "the label to go with what the template said of it")
    api.delete("configmaps", story.namespace, "allowed")
    config_map("later")
    stays(lambda: remote("allowed") is not None and remote("later") is None, 10, "what a kind that is off has left")
    # The kind is switched on again, without one label.
    template(reflectorsConfig={"configmap": {"workers": 3}}, labelsNotReflected=["team"])
    wait_for(lambda: remote("plain") and remote("later"), 60, "the ConfigMaps to be in milan again")
    wait_for(lambda: remote("allowed") is None, 60, "the copy without an object to be gone")
    wait_for(
        lambda: all("team" not in (remote(name) or {})["metadata"]["labels"] for name in ("plain", "later")),
        60,
        "the label to be left out",
    )


def test_secrets_of_home_are_there_for_the_pods_that_refer_to_them(story: Story) -> None:
    api = story.consumer.api

    def secret(name: str, word: str) -> None:
        api.apply(
            "secrets", story.namespace, {"kind": "Secret", "metadata": {"name": name}, "stringData": {"word": word}}
        )

    def remote(name: str) -> dict[str, Any] | None:
        return story.provider.api.find("secrets", story.twin, name)

    secret("used", "ciao")
    secret("unused", "nobody asks")
    pod = busybox("one", "echo $WORD $(cat /late/word); sleep 1000000")
    pod["spec"]["volumes"] = [{"name": "late", "secret": {"secretName": "late"}}]
    main = pod["spec"]["containers"][0]
    main["env"] = [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "used", "key": "word"}}}]
    main["volumeMounts"] = [{"name": "late", "mountPath": "/late"}]
    story.create(pod)
    wait_for(lambda: remote("used"), 30, "the Secret of the pod to be in milan")
    # The pod waits for a Secret that comes later.
    secret("late", "salve")
    wait_for(lambda: remote("late"), 30, "the later Secret to be in milan")
    # The kubelet there tries again with growing pauses.
    story.wait_ready("one", 120)
    wait_for(lambda: story.provider.kubectl("-n", story.twin, "logs", "one") == "ciao salve\n", 30, "the pod to print")
    assert remote("unused") is None, "what nothing refers to stays at home"
    assert (remote("used") or {})["metadata"]["labels"]["offloading.liqo.io/origin"] == "rome"
    # A change at home reaches the copy.
    was = (remote("used") or {})["data"]
    secret("used", "addio")
    wait_for(lambda: (remote("used") or {})["data"] != was, 35, "the change to arrive")
    # A pull Secret that is added to the pod's ServiceAccount is copied, too.
    secret("registry", "key")
    api.patch("serviceaccounts", story.namespace, "default", {"imagePullSecrets": [{"name": "registry"}]})
    wait_for(lambda: remote("registry"), 60, "the Secret of the ServiceAccount to be in milan")
    assert remote("unused") is None, "nothing refers to it yet"


def test_services_and_ingresses_of_home_are_there_too(story: Story) -> None:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    spec = {"selector": {"app": "web"}, "ports": ports}
    for name, more in {"web": {}, "peers": {"clusterIP": "None"}, "door": {"type": "NodePort"}}.items():
        body = {"kind": "Service", "metadata": {"name": name}, "spec": {**spec, **more}}
        story.consumer.api.create("services", story.namespace, body)
    certificate = {"kind": "Secret", "metadata": {"name": "web-tls"}, "stringData": {"tls.crt": "x", "tls.key": "y"}}
    story.consumer.api.create("secrets", story.namespace, certificate)
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    rule = {"host": "shop.example", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    ingress = {"tls": [{"hosts": ["shop.example"], "secretName": "web-tls"}], "rules": [rule]}
    story.consumer.api.create(
        "ingresses", story.namespace, {"kind": "Ingress", "metadata": {"name": "web"}, "spec": ingress}
    )

    def remote(kind: str, name: str) -> dict[str, Any] | None:
        return story.provider.api.find(kind, story.twin, name)

    for name in ("web", "peers", "door"):
        wait_for(lambda name=name: remote("services", name), 30, f"Service {name} to be in milan")
    assert (remote("services", "peers") or {})["spec"]["clusterIP"] == "None"
    home = story.consumer.api.get("services", story.namespace, "web")["spec"]["clusterIP"]
    assert (remote("services", "web") or {})["spec"]["clusterIP"] not in ("None", home, None)
    wait_for(lambda: remote("ingresses", "web"), 30, "the Ingress to be in milan")
    assert (remote("ingresses", "web") or {})["spec"]["rules"] == [rule]
    wait_for(lambda: remote("secrets", "web-tls"), 30, "its certificate to be in milan")

    # In milan the Service, under its name at home, leads to the pod there.
    pod = busybox("one", "while true; do echo pong | nc -l -p 8080; done")
    pod["metadata"]["labels"] = {"app": "web"}
    story.create(pod)
    ready = story.wait_ready("one")

    def endpoints() -> list[str]:
        slices = story.provider.api.list("endpointslices", story.twin, selector="kubernetes.io/service-name=web")
        return [address for each in slices for end in each["endpoints"] or [] for address in end["addresses"]]

    address = ready["status"]["podIP"]
    wait_for(lambda: endpoints() == [address], 30, "the pod to be an endpoint in milan")

    versions = {
        name: (remote("services", name) or {})["metadata"]["resourceVersion"] for name in ("web", "peers", "door")
    }
    stays(
        lambda: (
            versions == {name: (remote("services", name) or {})["metadata"]["resourceVersion"] for name in versions}
        ),
        30,
        "the Services",
    )
    story.consumer.api.delete("services", story.namespace, "door")
    wait_for(lambda: remote("services", "door") is None, 30, "the Service to be gone in milan")


@pytest.mark.refusals("the provider does not let in what it would expose by orders of others")
def test_a_door_that_home_keeps_shut_is_not_opened_at_the_provider(story: Story) -> None:
    home, there = story.consumer.api, story.provider.api
    tenant = f"liqo-tenant-{story.consumer.name}"
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    rule = {"host": "shop.example", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    internal = "service.beta.kubernetes.io/aws-load-balancer-internal"
    doors = {
        "services": (
            "Service", internal, {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]},
        ),
        "ingresses": ("Ingress", "nginx.ingress.kubernetes.io/auth-url", {"rules": [rule]}),
    }  # fmt: skip
    noted = {"kube-vip.io/vipHost": "node-1", "note": "kept"}
    for plural, (kind, key, spec) in doors.items():
        metadata = {"name": "web", "annotations": {key: "true", **noted}}
        home.create(plural, story.namespace, {"kind": kind, "metadata": metadata, "spec": spec})
    metadata = {"name": "noted", "annotations": noted}
    home.create("services", story.namespace, {"kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}})

    def told(kind: str, name: str, reason: str, words: str) -> bool:
        return any(
            event["reason"] == reason and words in event.get("message", event.get("note", ""))
            for event in story.consumer.events(story.namespace, name)
            if event.get("involvedObject", event.get("regarding", {})).get("kind") == kind
        )

    reasons = {"Service": "OffloadingLeftOut", "Ingress": "FailedReflection"}
    for kind, key, _ in doors.values():
        wait_for(lambda: told(kind, "web", reasons[kind], key), 30, f"the {kind} at home to say what is refused")
    # What home has only noted closes no door.
    copy = wait_for(lambda: there.find("services", story.twin, "noted"), 30, "the Service without what home noted")
    assert noted.items() - copy["metadata"]["annotations"].items() == {("kube-vip.io/vipHost", "node-1")}
    wait_for(lambda: told("Service", "noted", "OffloadingLeftOut", "kube-vip.io/vipHost"), 30, "the Service to say so")

    def are_shut() -> bool:
        service = there.find("services", story.twin, "web") or {}
        assert service["spec"]["type"] == "ClusterIP" and internal not in service["metadata"]["annotations"], service
        return there.find("ingresses", story.twin, "web") is None

    wait_for(are_shut, 30, "the Service to have a name, and neither a door")
    stays(are_shut, 5, "both doors, shut,")

    policy = json.dumps({f"{kind.lower()}Annotations": [key] for kind, key, _ in doors.values()})
    there.patch("namespaces", None, tenant, {"metadata": {"annotations": {"liqo.io/pod-policy": policy}}})
    try:
        for plural, (kind, key, _) in doors.items():

            def is_open_as_at_home() -> bool:
                made = there.find(plural, story.twin, "web")
                return bool(made) and made["metadata"].get("annotations", {}).get(key) == "true"

            wait_for(is_open_as_at_home, 120, f"the {kind} to be in milan with what keeps it shut")
            if kind == "Service":
                assert there.get(plural, story.twin, "web")["spec"]["type"] == "LoadBalancer"
    finally:
        there.patch("namespaces", None, tenant, {"metadata": {"annotations": {"liqo.io/pod-policy": None}}})


def test_endpoints_of_home_are_there_behind_the_same_service(story: Story) -> None:
    home, there = story.consumer.api, story.provider.api
    tenant = f"liqo-tenant-{story.consumer.name}"

    def led_to() -> list[str]:
        slices = there.list("endpointslices", story.twin, selector="kubernetes.io/service-name=db")
        return sorted(address for each in slices for end in each["endpoints"] or [] for address in end["addresses"])

    # The Service leads to a database outside, and to a pod in milan, whose endpoint milan makes itself.
    port = {"name": "pg", "port": 5432, "protocol": "TCP"}
    home.create("services", story.namespace, {"kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": [port]}})
    native = {**objects.endpoints("192.0.2.77")[0], "nodeName": story.peering.node}
    labels = {"kubernetes.io/service-name": "db"}
    body = {
        "kind": "EndpointSlice",
        "metadata": {"name": "db-1", "labels": labels},
        "addressType": "IPv4",
        "ports": [port],
        "endpoints": [*objects.endpoints("192.0.2.9"), native],
    }
    home.create("endpointslices", story.namespace, body)
    wait_for(lambda: there.find("shadowendpointslices", story.twin, "db-1"), 30, "milan to be told of the endpoints")
    policy = json.dumps({"endpointCIDRs": ["192.0.2.0/24"]})
    there.patch("namespaces", None, tenant, {"metadata": {"annotations": {"liqo.io/pod-policy": policy}}})
    try:
        wait_for(lambda: led_to() == ["192.0.2.9"], 30, "the Service in milan to lead to the database")
        home.patch("endpointslices", story.namespace, "db-1", {"endpoints": objects.endpoints("192.0.2.9", "192.0.2.10")})
        wait_for(lambda: led_to() == ["192.0.2.10", "192.0.2.9"], 30, "a second one to follow")
        # An annotation on the Service keeps its endpoints at home.
        keep = {"metadata": {"annotations": {"liqo.io/skip-reflection": "true"}}}
        home.patch("services", story.namespace, "db", keep)
        wait_for(lambda: led_to() == [], 30, "the endpoints to go with their Service")
    finally:
        there.patch("namespaces", None, tenant, {"metadata": {"annotations": {"liqo.io/pod-policy": None}}})


def test_a_deployment_of_20_is_scaled_up_and_down(story: Story) -> None:
    story.deployment("many", 5, busybox("many"))
    story.wait_ready_replicas("many", 5, 60)
    story.scale("many", 20)
    pods = story.wait_ready_replicas("many", 20, 120)
    assert len({pod["status"]["podIP"] for pod in pods}) == 20
    story.scale("many", 3)
    story.wait_ready_replicas("many", 3, 90)
    wait_for(lambda: len(story.provider.pods(story.twin)) == 3, 60, "three pods to be left in milan")
    story.scale("many", 0)
    story.wait_nothing_left(90)
    story.nothing_was_doubled()


def test_a_pod_deleted_at_home_is_gone_on_both_sides(story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    story.consumer.api.delete("pods", story.namespace, "one")
    story.wait_nothing_left()
    assert story.times_run("one") == 1


def test_a_pod_that_ends_slowly_is_at_home_until_it_has_ended(story: Story) -> None:
    story.create(busybox("one", UNTIL_TOLD, terminationGracePeriodSeconds=120))
    story.wait_ready("one")
    story.consumer.api.delete("pods", story.namespace, "one")
    wait_for(lambda: story.remote("one")["metadata"].get("deletionTimestamp"), 60, "the remote pod to be told to end")
    stays(lambda: story.local("one"), 2.5, "the pod at home")
    story.provider.kubectl("-n", story.twin, "exec", "one", "--", "touch", "/tmp/end")
    story.wait_nothing_left()


def test_a_pod_of_the_same_name_created_anew_is_another_pod(story: Story) -> None:
    story.create(busybox("one", "echo first; sleep 1000000"))
    first = story.wait_ready("one")
    story.consumer.api.delete("pods", story.namespace, "one", grace=0)
    story.create(busybox("one", "echo second; sleep 1000000"))
    second = story.wait_ready("one", 60)
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert container(second)["restartCount"] == 0
    wait_for(lambda: story.provider.kubectl("-n", story.twin, "logs", "one") == "second\n", 60, "the second to run")


@pytest.mark.parametrize("grace", [0, None], ids=["at once", "gracefully"])
def test_a_pod_deleted_remotely_is_run_again(story: Story, grace: int | None) -> None:
    created = story.create(busybox("one"))
    before = container(story.wait_ready("one"))["containerID"]
    story.provider.api.delete("pods", story.twin, "one", grace)
    anew = story.wait_local(
        "one", lambda pod: container(pod).get("containerID", before) != before, "to be run anew", 60
    )
    assert anew["metadata"]["uid"] == created["metadata"]["uid"], "the pod at home is the same"
    assert container(story.wait_ready("one"))["restartCount"] == 1, "a loss counts as a restart"
    assert story.times_run("one") == 2, "run again once per loss"


def test_a_shadow_pod_deleted_remotely_is_made_again(story: Story) -> None:
    story.create(busybox("one"))
    before = container(story.wait_ready("one"))["containerID"]
    story.provider.api.delete("shadowpods", story.twin, "one")
    story.wait_local(
        "one", lambda pod: container(pod).get("containerID", before) != before, "to have a new container", 60
    )
    story.wait_ready("one")


LOSSES = {
    "its shadow pod is deleted": lambda story: story.provider.api.delete("shadowpods", story.twin, "one"),
    "its remote pod is deleted": lambda story: story.provider.api.delete("pods", story.twin, "one", grace=0),
    "liqod of rome is killed": lambda story: (story.home.kill(), story.home.start()),
    "liqod of milan is killed": lambda story: (story.away.kill(), story.away.start()),
    "liqod of rome is killed and its pods deleted meanwhile": lambda story: (
        story.home.kill(),
        story.provider.api.delete("shadowpods", story.twin, "one"),
        story.provider.api.delete("pods", story.twin, "one", grace=0),
        story.home.start(),
    ),
}


@pytest.mark.parametrize("ending", [0, 5], ids=["succeeded", "failed"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.replace(" ", "-"))
def test_a_finished_pod_never_runs_again(story: Story, loss: str, ending: int) -> None:
    phase = "Failed" if ending else "Succeeded"
    story.create(busybox("one", f"echo ran; exit {ending}", restartPolicy="Never"))
    local = story.wait_phase("one", phase)
    assert container(local)["state"]["terminated"]["exitCode"] == ending
    LOSSES[loss](story)
    stays(lambda: story.phase("one") == phase and story.times_run("one") == 1, 5, f"the pod {phase}, run once,")
    assert container(story.local("one"))["state"]["terminated"]["exitCode"] == ending


def test_a_pod_that_may_not_restart_fails_when_it_is_lost(story: Story) -> None:
    story.create(busybox("one", restartPolicy="Never"))
    story.wait_ready("one")
    story.provider.api.delete("pods", story.twin, "one", grace=0)
    story.wait_phase("one", "Failed")
    stays(lambda: story.phase("one") == "Failed" and story.times_run("one") == 1, 5, "the pod Failed, run once,")


@pytest.mark.refusals("the provider refuses the pod")
def test_what_the_provider_refuses_stands_in_its_words_at_home(story: Story) -> None:
    words, api = "exceeded quota", story.provider.api
    spec = {"hard": {"count/shadowpods.offloading.liqo.io": "0"}}
    api.create("resourcequotas", story.twin, {"kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": spec})
    probe = objects.shadow_pod("probe", "rome")
    pair = story.provider.authority.issue("probe", story.peering.user, [story.consumer.name])
    as_consumer = story.provider.as_user(pair)

    def counts() -> bool:
        try:
            as_consumer.request("POST", path("shadowpods", story.twin), probe, query={"dryRun": "All"})
        except Refused as refusal:
            return words in str(refusal)
        return False

    wait_for(counts, 60, "the quota to count")
    story.create(busybox("one"))

    def told() -> list[dict[str, Any]]:
        return [
            event
            for event in story.consumer.events(story.namespace, "one")
            if words in event.get("message", event.get("note", ""))
        ]

    wait_for(told, 60, "an event with the provider's words")
    story.wait_local(
        "one",
        lambda pod: any(words in c.get("message", "") for c in pod["status"].get("conditions", [])),
        "to have a condition with the provider's words",
    )
    assert story.phase("one") == "Pending"
    stays(lambda: len(told()) == 1, 5, "one event, not one for each try,")


def test_a_pod_in_a_namespace_that_is_not_offloaded_waits_for_it(story: Story) -> None:
    story.peering.withdraw(story.namespace)
    story.create(busybox("one"))
    story.wait_local("one", lambda pod: pod["status"].get("reason") == "OffloadingBackOff", "to be put off")
    story.peering.offload(story.namespace)
    story.wait_ready("one", 60)
    assert condition(story.local("one"), "Ready").get("reason") != "OffloadingBackOff"


def test_a_virtual_node_that_is_deleted_takes_its_node_along(rome_to_milan: Peering) -> None:
    second = Peering(rome_to_milan.consumer, rome_to_milan.provider, node="milan-two").establish().wait_ready()
    second.dissolve()
    wait_for(lambda: second.node_object() is None, 60, "the node to be gone")
    wait_for(
        lambda: second.consumer.api.find("virtualnodes", second.home, second.node) is None,
        30,
        "the VirtualNode to be gone",
    )
    assert rome_to_milan.node_ready(), "the other node to the same provider is not concerned"
