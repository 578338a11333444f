"""The pod firewall has a row for every field that a ShadowPod can carry."""

import importlib.util
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CRD = ROOT / "charts/liqo/crds/offloading.liqo.io_shadowpods.yaml"

_spec = importlib.util.spec_from_file_location("firewall", ROOT / "test/cluster/harness/tools/firewall.py")
firewall = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(firewall)


def pod_schema():
    versions = yaml.safe_load(CRD.read_text(encoding="utf-8"))["spec"]["versions"]
    return versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["pod"]


def test_every_field_of_the_kind_has_a_row():
    assert len(firewall.rows()) > 400
    assert firewall.fields_without_a_row(pod_schema()) == []


def test_the_walk_finds_what_is_missing():
    schema = pod_schema()
    container = schema["properties"]["containers"]["items"]["properties"]
    container["securityContext"]["properties"]["tomorrow"] = {"type": "boolean"}
    container["image"] = {"type": "object", "properties": {"hidden": {"type": "string"}}}
    missing = firewall.fields_without_a_row(schema)
    assert any("containers.securityContext.tomorrow" in path for path in missing)
    assert any("containers.image" in path for path in missing)


def test_every_key_of_the_policy_is_documented_and_every_documented_key_exists():
    source = (ROOT / "src/core/policy/pod_policy.cpp").read_text(encoding="utf-8")
    known = set(re.findall(r'\{"(\w+)",\s*&PodPolicy', source))
    page = (ROOT / "docs/pod-firewall.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert known == documented
