"""Each field of Kubernetes that a pod, or a kind beside it, may have has been decided about."""

import collections
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = ROOT / "test/fixtures/kubernetes-fields.txt"
CRD = ROOT / "charts/liqo/crds/offloading.liqo.io_shadowpods.yaml"
FORGING = ROOT / "src/core/offloading"

_spec = importlib.util.spec_from_file_location("firewall", ROOT / "test/cluster/harness/tools/firewall.py")
firewall = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(firewall)

# Fields of a PodSpec that are not sent and told as dropped, and why they are not sent.
TOLD = {
    "evictionResponders": "evictions at the provider would wait for what runs at home",
    "hostnameOverride": "a name of home's network",
    "os": "the provider's nodes decide",
    "overhead": "is that of the provider's RuntimeClass",
    "schedulingGroup": "is an object at home",
    "workloadRef": "is an object at home",
}

# Fields of a PodSpec that are neither sent as they are nor told as dropped, and what becomes of them.
FORGED = {
    "affinity": "steers scheduling at home; what is sent is made of the patch of the VirtualNode",
    "automountServiceAccountToken": "tokens are those of home",
    "ephemeralContainers": "are added to a ShadowPod that is there",
    "hostIPC": "is told as dropped where it is true",
    "hostNetwork": "is told as dropped where it is true",
    "hostPID": "is told as dropped where it is true",
    "nodeName": "is the virtual node",
    "nodeSelector": "steers scheduling at home; what is sent is that of the VirtualNode",
    "preemptionPolicy": "goes with the priority class",
    "priority": "goes with the priority class",
    "priorityClassName": "is an annotation, which the provider's policy maps",
    "readinessGates": "are looked at at home",
    "runtimeClassName": "is made of an annotation and the VirtualNode",
    "schedulerName": "is that of home",
    "schedulingGates": "are open before a pod is bound",
    "serviceAccount": "is the old name of serviceAccountName",
    "serviceAccountName": "is sent where the pod asks for that of the provider",
    "tolerations": "are sent without that of the taint of virtual nodes",
}

# What came after Kubernetes 1.35 to other types than those of a PodSpec, and what becomes of it. A type that is new as
# a whole is decided about with the fields that hold it.
DECIDED = {
    "JobSpec scheduling": "Jobs stay at home; the schedulingGroup of their pods is told as dropped",
    "NodeSpec podPreemptionPolicy": "is for the administrator of a Node, also of a virtual one",
    "NodeSystemInfo runningInUserNamespace": "no single answer for many nodes",
    "NodeConditionType DrainInProgress": "is the administrator's word about one node",
    "NodeConditionType Drained": "is the administrator's word about one node",
    "NodeConditionType GracefulNodeShutdownInProgress": "is the administrator's word about one node",
    "NodeConditionType MaintenanceInProgress": "is the administrator's word about one node",
    "NodeConditionType MaintenancePlanned": "is the administrator's word about one node",
    "PersistentVolumeClaimConditionType Unused": "home sets it itself, on the claim there",
    "PersistentVolumeClaimStatus healthStatus": "is not shown at home (known-gaps.md)",
    "PodStatus nodeAllocatableResourceClaimStatuses": "is about claims of the provider",
    "PodStatus volumeHealth": "is not shown at home (known-gaps.md)",
    "ResourceHealth message": "comes home with the status of its container",
    "VolumeMountStatus volumeStatus": "comes home with the status of its container",
}

Row = collections.namedtuple("Row", "holds since gone")


def fields():
    """type -> field -> row."""
    found = collections.defaultdict(dict)
    for line in LIST.read_text(encoding="utf-8").splitlines()[2:]:
        kind, name, holds, since, *gone = line.split()
        found[kind][name] = Row(holds, since, gone[1] if gone else "")
    return found


def below(kind, found):
    """The types that are reached from this one, itself included."""
    reached, waiting = set(), [kind]
    while waiting:
        one = waiting.pop()
        if one in reached or one not in found:
            continue
        reached.add(one)
        waiting += [row.holds.lstrip("[]{}") for row in found[one].values()]
    return reached


def resolver(found):
    """Makes a schema of the list, as firewall.fields_without_a_row reads it."""

    def resolve(node):
        holds = node.get("holds")
        if holds is None:
            return node
        if holds.startswith("[]"):
            return {"items": {"holds": holds[2:]}}
        rows = found.get(holds)
        return {"properties": {name: {"holds": row.holds} for name, row in rows.items()}} if rows else {}

    return resolve


def missing_in(schema, kind, found, path="spec", above=()):
    """The paths of fields of the list that a schema does not have."""
    for name, row in found[kind].items():
        here, node = f"{path}.{name}", schema.get("properties", {}).get(name)
        if node is None:
            yield here
            continue
        while "items" in node:
            node = node["items"]
        of = row.holds.lstrip("[]")
        if of in found and of not in above:
            yield from missing_in(node, of, found, here, (*above, of))


def undecided(found, decided):
    """What is newer than the first version, outside of the spec of pods, and not decided about."""
    first = LIST.read_text(encoding="utf-8").splitlines()[1].split()[2].removeprefix("v").rpartition(".")[0]
    of_pods = below("PodSpec", found)
    whole = {kind for kind, rows in found.items() if all(row.since != first for row in rows.values())}
    return [
        f"{kind} {name}"
        for kind, rows in found.items()
        if kind not in of_pods and kind not in whole
        for name, row in rows.items()
        if row.since != first and f"{kind} {name}" not in decided
    ]


def names_in(file, variable):
    source = (FORGING / file).read_text(encoding="utf-8")
    listed = re.search(rf"{variable}\[\] = \{{(.*?)\}};", source, re.DOTALL)[1]
    return re.findall(r'"(\w+)"', listed)


def test_the_list_is_what_kubernetes_has():
    run = subprocess.run(
        [sys.executable, ROOT / "tools/kubernetes-fields", "--check"], capture_output=True, text=True, check=False
    )
    if "is missing: go mod download" in run.stderr:
        pytest.skip("the sources of Kubernetes are not here")
    assert run.returncode == 0, run.stderr


def test_every_field_of_a_pod_has_a_row_in_the_firewall():
    found = fields()
    assert len(below("PodSpec", found)) > 80
    assert firewall.fields_without_a_row({"holds": "PodSpec"}, resolver(found)) == []


def test_every_field_of_a_pod_has_a_place_in_a_shadow_pod():
    versions = yaml.safe_load(CRD.read_text(encoding="utf-8"))["spec"]["versions"]
    pod = versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["pod"]
    assert list(missing_in(pod, "PodSpec", fields())) == []
    del pod["properties"]["volumes"]["items"]["properties"]["emptyDir"]["properties"]["mode"]
    assert list(missing_in(pod, "PodSpec", fields())) == ["spec.volumes.emptyDir.mode"]


def test_every_field_of_a_pod_is_sent_or_told_or_forged():
    sent = names_in("shadow_pod.cpp", "verbatim_fields")
    assert len(sent) > 15
    assert sorted(names_in("dropped_fields.cpp", "home_fields")) == sorted(FORGED)
    assert sorted([*sent, *TOLD, *FORGED]) == sorted(fields()["PodSpec"])


def test_what_is_new_elsewhere_has_been_decided():
    found = fields()
    assert undecided(found, DECIDED) == []
    assert sorted(undecided(found, {})) == sorted(DECIDED), "decisions about what is not there"


def test_something_that_came_since_would_be_seen():
    found = fields()
    found["PodSpec"]["tomorrow"] = Row("Tomorrow", "1.99", "")
    found["Tomorrow"]["light"] = Row("string", "1.99", "")
    found["ServiceSpec"]["tomorrow"] = Row("[]Tomorrow", "1.99", "")
    found["Service"]["status"] = Row("boolean", "1.99", "")
    assert firewall.fields_without_a_row({"holds": "PodSpec"}, resolver(found)) == ["spec.tomorrow (PodSpec)"]
    assert sorted(undecided(found, DECIDED)) == ["Service status", "ServiceSpec tomorrow"]
