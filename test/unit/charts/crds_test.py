"""The CRDs of charts/liqo: up to date with their definitions, and of the very shape that the Go version's have."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CRDS = ROOT / "charts" / "liqo" / "crds"
FIXTURES = ROOT / "test" / "fixtures" / "liqo-crds"

# kubectl apply keeps the whole object in an annotation, and all annotations together are bounded.
ANNOTATIONS_LIMIT = 256 * 1024

# Additions of ours to the Go version's shapes: CRD file -> dotted paths as the comparison prints them.
SPEC = "versions[0].schema.openAPIV3Schema.properties.spec.properties"
ALLOWED_ADDITIONS: dict[str, set[str]] = {
    # Keys, signatures and signing requests of a consumer: the largest that a Go peer makes has some 3,000 bytes.
    "authentication.liqo.io_resourceslices.yaml": {f"{SPEC}.csr.maxLength"},
    "authentication.liqo.io_renews.yaml": {f"{SPEC}.{field}.maxLength" for field in ("csr", "publicKey")},
    "authentication.liqo.io_tenants.yaml": {f"{SPEC}.{field}.maxLength" for field in ("csr", "publicKey", "signature")},
    # What is used of a quota, for people to see.
    "offloading.liqo.io_quotas.yaml": {
        "versions[0].subresources",
        "versions[0].schema.openAPIV3Schema.properties.status",
        *(f"versions[0].additionalPrinterColumns[{column}]" for column in range(4, 9)),
    },
    # Why a twin namespace was refused; if the Go version's CRD is installed it is dropped, and the phase remains.
    "offloading.liqo.io_namespacemaps.yaml": {
        "versions[0].schema.openAPIV3Schema.properties.status.properties.currentMapping.additionalProperties"
        ".properties.message"
    },
}

# Fields of pods of Kubernetes 1.36 and 1.37, wherever a kind holds a pod: a name, and the object that has it. If the
# Go version's CRD is installed they are dropped, and home says so.
NEWER_FIELDS = {
    ("bindMountOptions", "volumeMounts"), ("defaultUser", "configMap"), ("defaultUser", "downwardAPI"),
    ("defaultUser", "projected"), ("defaultUser", "secret"), ("evictionResponders", "spec"),
    ("evictionResponders", "pod"), ("mode", "emptyDir"), ("mode", "grpc"), ("protocol", "httpGet"), ("schedulingGroup", "spec"),
    ("schedulingGroup", "pod"), ("user", "clusterTrustBundle"), ("user", "items"), ("user", "podCertificate"),
    ("user", "serviceAccountToken"),
}  # fmt: skip
WITH_PODS = {"offloading.liqo.io_shadowpods.yaml", "offloading.liqo.io_virtualnodes.yaml"}


def names():
    return sorted(path.name for path in FIXTURES.glob("*.yaml"))


def load(folder, name):
    return yaml.load((folder / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def shape(node, parent=""):
    """The CRD without what says nothing about its shape; lists that are sets become sorted."""
    if isinstance(node, dict):
        # A field may be called `description`: only under `properties` are keys names of fields.
        kept = {key: value for key, value in node.items() if key != "description" or parent == "properties"}
        if parent != "properties" and kept.get("subresources") == {}:
            del kept["subresources"]
        if parent != "properties" and isinstance(kept.get("required"), list):
            kept["required"] = sorted(kept["required"])
        return {key: shape(value, key if parent != "properties" else "") for key, value in kept.items()}
    if isinstance(node, list):
        return [shape(value) for value in node]
    return node


def differences(ours, theirs, path=""):
    """Paths at which two shapes differ, in order."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            here = f"{path}.{key}" if path else key
            if key not in ours:
                yield here, "missing in ours"
            elif key not in theirs:
                yield here, "added by ours"
            else:
                yield from differences(ours[key], theirs[key], here)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) >= len(theirs):
        for index, pair in enumerate(zip(ours, theirs)):
            yield from differences(*pair, f"{path}[{index}]")
        for index in range(len(theirs), len(ours)):
            yield f"{path}[{index}]", "added by ours"
    elif ours != theirs or type(ours) is not type(theirs):
        yield path, f"ours {ours!r}, theirs {theirs!r}"


def is_newer_field(name, path):
    """Whether this is a place of one of NEWER_FIELDS in a kind with pods."""
    fields = [part for part in re.sub(r"\.items(?=\.properties|$)", "", path).split(".") if part != "properties"]
    return name in WITH_PODS and tuple(reversed(fields[-2:])) in NEWER_FIELDS


def test_the_fixtures_are_there():
    assert len(names()) == 15


@pytest.mark.parametrize("name", names())
def test_shape_equals_the_go_versions(name):
    ours, theirs = load(CRDS, name), load(FIXTURES, name)
    assert ours["metadata"]["name"] == theirs["metadata"]["name"]
    found = [
        (path, what)
        for path, what in differences(shape(ours["spec"]), shape(theirs["spec"]))
        if not (what == "added by ours" and (path in ALLOWED_ADDITIONS.get(name, set()) or is_newer_field(name, path)))
    ]
    assert not found, "first of {} differences: {}: {}".format(len(found), *found[0])


def test_there_is_no_crd_without_a_shape_to_compare_it_with():
    assert sorted(path.name for path in CRDS.glob("*.yaml")) == names()


def test_the_crds_are_up_to_date_with_their_definitions():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate-crds", "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("name", names())
def test_every_field_down_to_those_of_kubernetes_is_described(name):
    schema = load(CRDS, name)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["description"]
    for part in ("spec", "status"):
        for field, body in schema["properties"].get(part, {}).get("properties", {}).items():
            assert body.get("description"), f"{part}.{field}"


@pytest.mark.parametrize("name", names())
def test_kubectl_apply_can_keep_it_in_an_annotation(name):
    assert len(json.dumps(load(CRDS, name), separators=(",", ":"))) < ANNOTATIONS_LIMIT


@pytest.mark.parametrize(
    "change, path",
    [
        (lambda spec: spec["versions"][0]["additionalPrinterColumns"].pop(), "versions[0].additionalPrinterColumns"),
        (
            lambda spec: spec["versions"][0]["additionalPrinterColumns"].append({}),
            "versions[0].additionalPrinterColumns[2]",
        ),
        (lambda spec: spec["names"]["shortNames"].reverse(), "names.shortNames[0]"),
        (lambda spec: spec["versions"][0].pop("subresources"), "versions[0].subresources"),
        (
            lambda spec: spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"].update(extra={}),
            "versions[0].schema.openAPIV3Schema.properties.extra",
        ),
        (lambda spec: spec.update(scope="Cluster"), "scope"),
    ],
)
def test_the_comparison_sees_a_change(change, path):
    theirs = load(FIXTURES, "offloading.liqo.io_shadowpods.yaml")["spec"]
    ours = json.loads(json.dumps(theirs))
    change(ours)
    assert next(differences(shape(ours), shape(theirs)))[0] == path


def test_the_files_can_be_read_one_after_the_other_as_helm_prints_them():
    files = sorted(CRDS.glob("*.yaml"))
    printed = "\n".join(path.read_text(encoding="utf-8") for path in files)
    kinds = [kind["metadata"]["name"] for kind in yaml.load_all(printed, Loader=yaml.CSafeLoader) if kind]
    assert len(set(kinds)) == len(files)
