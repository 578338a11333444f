"""Labels and annotations meant for one cluster keep nothing from running in another, and open no door there."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.api import Refused, path
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.hostile import annotate_policy
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import SOON, Story, condition, container
from harness.wait import stays, wait_for

pytestmark = pytest.mark.refusals("a provider that refuses is what these stories are about")

PORTS = [{"name": "http", "port": 80, "targetPort": 8080}]
TYPE, HOST = "service.beta.kubernetes.io/aws-load-balancer-type", "external-dns.alpha.kubernetes.io/hostname"
NOTE = "metallb.io/ip-allocated-from-pool"
DOOR = {
    "type": "LoadBalancer",
    "selector": {"app": "door"},
    "ports": PORTS,
    "externalTrafficPolicy": "Local",
    "loadBalancerSourceRanges": ["192.0.2.0/24"],
}


def service(story: Story, name: str, spec: dict[str, Any], annotations: dict[str, str] | None = None) -> None:
    metadata = {"name": name, "annotations": annotations or {}}
    story.consumer.api.create("services", story.namespace, {"kind": "Service", "metadata": metadata, "spec": spec})


def copy(story: Story, name: str, of: str = "services") -> dict[str, Any]:
    found = story.provider.api.find(of, story.twin, name)
    if found is None:
        raise LookupError(f"there is no copy of {name}")
    return found


def told(story: Story, name: str, reason: str) -> list[str]:
    return [it["message"] for it in story.consumer.events(story.namespace, name) if it["reason"] == reason]


def is_type(story: Story, name: str, type_: str) -> bool:
    found = copy(story, name)["spec"]["type"]
    assert found == type_, found
    return True


def has_no_door(story: Story, name: str) -> dict[str, Any]:
    found = copy(story, name)
    spec = found["spec"]
    assert spec["type"] == "ClusterIP" and spec["clusterIP"] not in ("", "None"), spec
    assert not {"loadBalancerSourceRanges", "externalTrafficPolicy", "healthCheckNodePort"} & set(spec), spec
    assert all("nodePort" not in port for port in spec["ports"]), spec
    assert not {TYPE, HOST} & set(found["metadata"].get("annotations", {})), found["metadata"]
    return found


def test_a_door_that_the_provider_refuses_is_a_name_there_and_a_door_again_when_it_may_be(story: Story) -> None:
    service(story, "door", DOOR, {NOTE: "default", "kube-vip.io/vipHost": "rome-1"})
    service(story, "aws", DOOR, {TYPE: "external", HOST: "door.example.org"})
    service(story, "plain", {"selector": {"app": "door"}, "ports": PORTS})
    service(story, "later", {**DOOR, "type": "NodePort", "loadBalancerSourceRanges": None})
    # What is only noted is left out, and the Service stays what it is.
    wait_for(lambda: is_type(story, "door", "LoadBalancer"), SOON, "the Service with notes to be copied")
    wait_for(lambda: has_no_door(story, "aws"), SOON, "the refused door to be copied without its door")
    wait_for(lambda: is_type(story, "plain", "ClusterIP"), SOON, "the plain Service to be copied")
    wait_for(lambda: is_type(story, "later", "NodePort"), SOON, "the NodePort to be copied")
    words = wait_for(lambda: told(story, "aws", "OffloadingLeftOut"), SOON, "the refusal to be told")
    assert len(words) == 1 and TYPE in words[0] and "offloading.reflection.skip.annotations" in words[0], words

    # A copy that has a door loses it when home adds what is refused; changes go on to arrive in each.
    api, ns = story.consumer.api, story.namespace
    api.patch("services", ns, "plain", {"metadata": {"annotations": {NOTE: "default"}}})
    api.patch("services", ns, "later", {"metadata": {"annotations": {TYPE: "external"}}})
    wait_for(lambda: has_no_door(story, "later"), SOON, "the door to be taken away")
    for name in ("plain", "aws", "later"):
        api.patch("services", ns, name, {"spec": {"ports": [{**PORTS[0], "port": 81}]}})

    def follows() -> bool:
        ports = {name: copy(story, name)["spec"]["ports"][0]["port"] for name in ("plain", "aws", "later")}
        assert set(ports.values()) == {81}, ports
        return True

    wait_for(follows, SOON, "changes to arrive")
    # Nothing is written in turns.
    version = copy(story, "aws")["metadata"]["resourceVersion"]
    stays(lambda: copy(story, "aws")["metadata"]["resourceVersion"] == version, 25, "the copy")

    # What is refused is gone at home; and what the policy allows by now.
    api.patch("services", ns, "later", {"metadata": {"annotations": {TYPE: None}}})
    wait_for(lambda: is_type(story, "later", "NodePort"), SOON, "the NodePort to be one again")
    numbers = itertools.count()
    annotate_policy(story.provider, story.peering.away, json.dumps({"serviceAnnotations": [TYPE, HOST]}))
    try:
        # A change of the Service has it tried at once, at most each ten seconds; else it takes a minute or more.
        def is_door_again() -> bool:
            changed = {"metadata": {"annotations": {"note": str(next(numbers))}}}
            api.patch("services", ns, "aws", changed)
            return is_type(story, "aws", "LoadBalancer")

        wait_for(is_door_again, 2 * SOON, "the door to be one again", interval=5)
        assert copy(story, "aws")["spec"]["loadBalancerSourceRanges"] == ["192.0.2.0/24"]
    finally:
        annotate_policy(story.provider, story.peering.away, None)
    assert len(told(story, "aws", "OffloadingLeftOut")) == 1


def ingress(name: str, **annotations: str) -> dict[str, Any]:
    to = {"service": {"name": "door", "port": {"number": 80}}}
    rule = {"host": f"{name}.example.org", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": to}]}}
    return {"kind": "Ingress", "metadata": {"name": name, "annotations": annotations}, "spec": {"rules": [rule]}}


def test_an_ingress_with_what_the_provider_refuses_is_not_there_and_its_copy_goes(story: Story) -> None:
    auth = "nginx.ingress.kubernetes.io/auth-url"
    api, ns = story.consumer.api, story.namespace
    annotations = {"cert-manager.io/cluster-issuer": "letsencrypt"}
    api.create("ingresses", ns, ingress("annotated", **annotations))
    api.create("ingresses", ns, ingress("open", **{"nginx.ingress.kubernetes.io/proxy-body-size": "8m"}))
    wait_for(lambda: copy(story, "open", "ingresses"), SOON, "the Ingress without orders to be copied")
    words = wait_for(lambda: told(story, "annotated", "FailedReflection"), SOON, "the refusal to be told")
    assert "cert-manager.io/cluster-issuer" in words[0] and "offloading.reflection.skip.annotations" in words[0], words
    assert story.provider.api.find("ingresses", story.twin, "annotated") is None
    # Without the login, the copy would be a wider door than home means now.
    api.patch("ingresses", ns, "open", {"metadata": {"annotations": {auth: "https://login.example.org"}}})
    wait_for(lambda: story.provider.api.find("ingresses", story.twin, "open") is None, SOON, "the copy to go")
    api.patch("ingresses", ns, "open", {"metadata": {"annotations": {auth: None}}})
    wait_for(lambda: copy(story, "open", "ingresses"), 2 * SOON, "the Ingress to be copied again")


def labelled(name: str, labels: dict[str, str], **annotations: str) -> dict[str, Any]:
    pod = busybox(name)
    pod["metadata"].update(labels={"app": name, **labels}, annotations=annotations)
    return pod


def test_labels_that_ask_for_nothing_or_for_a_queue_of_home_keep_no_pod_from_running(story: Story) -> None:
    asked = {"sidecar.istio.io/inject": "false", "kueue.x-k8s.io/queue-name": "team-a"}
    story.create(labelled("train", asked))
    story.wait_phase("train", "Running")
    remote = story.remote("train")["metadata"]["labels"]
    assert remote["app"] == "train" and not set(asked) & set(remote), remote
    (words,) = wait_for(lambda: told(story, "train", "OffloadingLeftOut"), SOON, "what is left out to be told")
    assert all(key in words for key in asked), words
    annotate_policy(story.provider, story.peering.away, json.dumps({"labels": list(asked)}))
    try:
        # The cache of the policy follows within a moment.
        def passes() -> bool:
            api = story.consumer.api
            if story.consumer.pod(story.namespace, "again") is None:
                story.create(labelled("again", asked))
            labels = story.remote("again")["metadata"]["labels"]
            if not set(asked) <= set(labels):
                api.delete("pods", story.namespace, "again")
                raise LookupError(f"labels {labels}")
            return True

        wait_for(passes, 2 * SOON, "the labels to pass", interval=1)
    finally:
        annotate_policy(story.provider, story.peering.away, None)


def test_a_pod_that_is_restored_from_a_backup_is_a_pod_like_any(story: Story) -> None:
    notes = {"offloading.liqo.io/remote-pod-uid": "earlier", "offloading.liqo.io/restart-offset": "5"}
    marks = {"liqo.io/local-pod": "true", "liqo.io/shadowPod": "true"}
    story.create(labelled("restored", marks, **notes))
    story.wait_ready("restored")
    assert container(story.local("restored"))["restartCount"] == 0
    assert not set(marks) & set(story.remote("restored")["metadata"]["labels"])


@pytest.fixture(scope="module")
def gating(run: Run, daemons: Daemons, rome: Cluster) -> Iterator[Peering]:
    """A provider with a policy in the place of Kueue: it gates pods of a queue."""
    served = (
        "--feature-gates=MutatingAdmissionPolicy=true",
        "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
    )
    with run.borrow(modena=Options(extra_apiserver=served)) as (provider,):
        provider.add_kwok_nodes(1)
        provider.apply(GATE)
        daemons.of(rome), daemons.of(provider)
        yield Peering(rome, provider).establish().wait_ready()


GATE = """
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: as-kueue}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions:
  - name: queued
    expression: "has(object.metadata.labels) && 'team.example.com/queue' in object.metadata.labels"
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "add", path: "/spec/schedulingGates",
        value: [Object.spec.schedulingGates{name: "example.com/admission"}]}]'
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicyBinding
metadata: {name: as-kueue}
spec: {policyName: as-kueue}
"""


def gate_of(story: Story) -> str:
    """What the pod at home says of its gate."""
    words = condition(story.local("batch"), "offloading.liqo.io/Offloaded").get("message", "")
    assert "example.com/admission" in words and f"cluster {story.provider.name}" in words, words
    return words


def test_a_pod_that_the_provider_gates_says_so_at_home(gating: Peering, daemons: Daemons, namespace: str) -> None:
    story = Story(gating, namespace, daemons.of(gating.consumer), daemons.of(gating.provider))
    queued = {"team.example.com/queue": "a"}

    def is_gated() -> bool:
        probe = {"apiVersion": "v1", **labelled("probe", queued)}
        try:
            made = gating.provider.api.request("POST", path("pods", story.twin), probe, query={"dryRun": "All"})
        except Refused as refusal:
            raise LookupError(str(refusal)) from refusal
        return bool(made["spec"].get("schedulingGates"))

    try:
        wait_for(is_gated, 60, "the policy to hold", interval=1)
        story.create(labelled("batch", queued))
        words = wait_for(lambda: gate_of(story), SOON, "the gate to be told")
        assert wait_for(lambda: told(story, "batch", "RemotePodNotReady"), SOON, "an Event about it") == [words]
        gating.provider.api.patch("pods", story.twin, "batch", {"spec": {"schedulingGates": None}})
        story.wait_phase("batch", "Running", 2 * SOON)
    finally:
        story.close()
