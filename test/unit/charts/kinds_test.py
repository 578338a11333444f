"""The reflected kinds: the build, the flags, the roles and the page of bounds have those that the code has.

What the chart says of their flags is made by tools/reference, and compared with it (test/unit/docs/reference_test.py).
"""

import pathlib
import re
from dataclasses import dataclass

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORE = ROOT / "src/core/reflection"


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Kind:
    """A descriptor of src/core/reflection/kinds, as far as it is not code."""

    option: str
    plural: str
    settings: tuple[str, ...]


def described(path):
    text = path.read_text(encoding="utf-8")
    descriptor = text[text.index("extern const ReflectedKind ") :]
    plural = re.search(r'\.plural = "(\w+)"', descriptor)[1]
    return Kind(path.stem, plural, ("workers",) if ".typed_as" in descriptor else ("workers", "type"))


KINDS = [described(path) for path in sorted((CORE / "kinds").glob("*.cpp"))]
OPTIONS = [kind.option for kind in KINDS]


def may(role, resources, verbs):
    rules = yaml.safe_load(read(f"charts/liqo/files/{role}.yaml"))["rules"]
    return any(resources & set(rule.get("resources", [])) and verbs <= set(rule["verbs"]) for rule in rules)


def test_every_descriptor_is_built():
    (listed,) = re.findall(r"^reflected_kinds = \[(.*)\]$", read("src/core/reflection/meson.build"), re.MULTILINE)
    assert re.findall(r"'(\w+)'", listed) == OPTIONS, "the list in src/core/reflection/meson.build"


def test_each_kind_and_no_other_has_flags():
    flags = set(re.findall(r"^\| `--([a-z-]+-reflection-(?:workers|type))` ", read("docs/flags.md"), re.MULTILINE))
    wanted = {f"{kind.option}-reflection-{setting}" for kind in KINDS for setting in kind.settings}
    assert flags - {"pod-reflection-workers"} == wanted, "build liqod, and run tools/reference"


@pytest.mark.parametrize("kind", KINDS, ids=OPTIONS)
def test_liqod_may_read_the_objects_and_write_the_copies(kind):
    resource = kind.plural.lower()
    home = ("liqod-clusterrole", "liqod-offloaded-clusterrole")
    assert any(may(role, {resource}, {"get", "list"}) for role in home), f"{resource} in {home[0]}.yaml"
    remote, verbs = "liqo-virtual-kubelet-remote", {"get", "list", "watch", "create", "patch", "delete"}
    assert may(remote, {resource, f"shadow{resource}"}, verbs), f"{resource} in {remote}.yaml"


def test_the_page_names_every_bound_of_twins():
    bounds = read("src/core/namespaces/twin_quota.cpp").partition("Bound usual[] = {")[2].partition("};")[0]
    page = read("docs/namespaces.md").partition("### How much a twin may hold")[2].partition("\n##")[0]
    names = re.findall(r'{"([^"]+)",', bounds)
    assert names and sorted(re.findall(r"`((?:count/|services\.)[^`]+)`", page)) == sorted(names)
