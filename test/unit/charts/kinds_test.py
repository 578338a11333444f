"""The reflected kinds: what values, schema, flags, roles, pages and tests say of them agrees with their descriptors."""

import json
import pathlib
import re
from dataclasses import dataclass

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "charts/liqo"
CORE = ROOT / "src/core/reflection"


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Kind:
    """A descriptor of src/core/reflection/kinds, as far as it is not code."""

    option: str
    plural: str
    types: tuple[str, ...]

    @property
    def settings(self):
        return ("workers", "type") if self.types else ("workers",)


def described(path):
    text = path.read_text(encoding="utf-8")
    descriptor = text[text.index("extern const ReflectedKind ") :]
    plural = re.search(r'\.plural = "(\w+)"', descriptor)[1]
    types = () if ".typed_as" in descriptor else ("DenyList", "AllowList")
    return Kind(path.stem, plural, (*types, "All") if ".referred_only = true" in descriptor else types)


KINDS = [described(path) for path in sorted((CORE / "kinds").glob("*.cpp"))]
SETTINGS = [(kind, name) for kind in KINDS for name in kind.settings]
OPTIONS = [kind.option for kind in KINDS]
REFLECTION = yaml.safe_load(read("charts/liqo/values.yaml"))["offloading"]["reflection"]
SCHEMA = json.loads(read("charts/liqo/values.schema.json"))
# Flag -> what may be given, and the default.
FLAG = re.compile(r"^\| `--([a-z-]+)` \| ([^|]*?) \| `?([^|`]*)`? \|", re.MULTILINE)
FLAGS = {flag: (given, default) for flag, given, default in FLAG.findall(read("docs/flags.md"))}
of_kind = pytest.mark.parametrize("kind", KINDS, ids=OPTIONS)
of_setting = pytest.mark.parametrize(("kind", "name"), SETTINGS, ids=[f"{kind.option}.{name}" for kind, name in SETTINGS])


def schema_of(kind):
    found = SCHEMA["properties"]["offloading"]["properties"]["reflection"]["properties"][kind.option]
    return (SCHEMA["definitions"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found)["properties"]


def rules_of(name):
    return yaml.safe_load(read(f"charts/liqo/files/{name}.yaml"))["rules"]


def may(rules, resources, verbs):
    return any(resources & set(rule.get("resources", [])) and verbs <= set(rule["verbs"]) for rule in rules)


def test_every_descriptor_is_built():
    (listed,) = re.findall(r"^kinds = \[(.*)\]$", (CORE / "meson.build").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"'(\w+)'", listed) == OPTIONS


def test_the_chart_hands_on_the_values_of_every_kind():
    (listed,) = re.findall(r"range \$kind := list ([^}]+?) -?}}", read("charts/liqo/templates/_flags.tpl"))
    assert re.findall(r'"(\w+)"', listed) == OPTIONS


def test_no_other_kind_has_flags():
    flags = {flag for flag in FLAGS if re.search("-reflection-(workers|type)$", flag)}
    assert flags - {"pod-reflection-workers"} == {f"{kind.option}-reflection-{name}" for kind, name in SETTINGS}


@of_setting
def test_the_default_of_a_value_is_that_of_its_flag(kind, name):
    assert str(REFLECTION[kind.option][name]) == FLAGS[f"{kind.option}-reflection-{name}"][1]


@of_setting
def test_the_schema_takes_what_the_flag_takes(kind, name):
    given, schema = FLAGS[f"{kind.option}-reflection-{name}"][0], schema_of(kind)[name]
    if name == "type":
        assert ", ".join(schema["enum"]) == given and tuple(schema["enum"]) == kind.types
    else:
        assert f"number from {schema['minimum']} to {schema['maximum']}" == given and schema["type"] == "integer"


@of_kind
def test_a_kind_without_a_type_of_its_own_has_none_in_the_chart(kind):
    for said in (REFLECTION[kind.option], schema_of(kind)):
        assert {"workers", "type"} & set(said) == set(kind.settings)


@of_setting
def test_liqoctl_finds_the_values_of_an_installation_again(kind, name):
    form = {"workers": "number", "type": "text"}[name]
    row = f'{{"--{kind.option}-reflection-{name}=", Form::{form}, "offloading.reflection.{kind.option}.{name}"}},'
    assert row in read("services/liqoctl/model/install/given_values.cpp")


@of_kind
def test_liqod_may_read_the_objects_and_write_the_copies(kind):
    resource = kind.plural.lower()
    home = [*rules_of("liqod-clusterrole"), *rules_of("liqod-offloaded-clusterrole")]
    assert may(home, {resource}, {"get", "list"})
    provider = rules_of("liqo-virtual-kubelet-remote")
    assert may(provider, {resource, f"shadow{resource}"}, {"get", "list", "watch", "create", "patch", "delete"})


@of_kind
def test_a_kind_has_a_test_and_is_on_the_pages(kind):
    assert (ROOT / f"test/unit/core/reflection/{kind.option}_test.cpp").exists()
    first = read("docs/reflection.md").split("\n\n")[1]
    assert kind.plural in first
    (said,) = re.findall(r"Liqo also uses the kinds (.*?)`reflectorsConfig`", read("docs/reflection.md"), re.DOTALL)
    assert f"`{kind.option}`" in said
    assert kind.plural in read("docs/architecture.md").split("## What is reflected")[1].split("\n\n")[1]
    for name in kind.settings:
        assert f"`offloading.reflection.{kind.option}.{name}`" in read("charts/liqo/README.md")
