"""Copies are put right whoever changes them at the provider, and trouble with one is told on its object at home."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from harness import objects, settings
from harness.cluster.api import Refused
from harness.required import require_liqod
from harness.story import Story
from harness.wait import wait_for

# Liqo corrects and reports within 30 s what somebody does at the provider; the rest is for the test.
WITHIN = 35
SOON = 60
ORIGIN = "offloading.liqo.io/origin"
ALLOW = {"liqo.io/allow-reflection": "true"}
PORTS = [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}]


def backend(service: str, *certificates: str) -> dict[str, Any]:
    """The spec of an Ingress, which refers to these Secrets, so that they are copied at once."""
    to = {"service": {"name": service, "port": {"number": 80}}}
    return {"defaultBackend": to, "tls": [{"secretName": name} for name in certificates]}


def addresses(of: dict[str, Any]) -> list[str]:
    return sorted(address for end in of.get("endpoints") or [] for address in end["addresses"])


@dataclass(frozen=True)
class Copied:
    """Objects of one kind as they are at home, and their copies."""

    kind: str
    resource: str
    good: dict[str, Any]
    spoilt: dict[str, Any]  # what somebody at the provider makes of a copy, as a merge patch
    shown: Callable[[dict[str, Any]], Any]  # what of a copy is to be right
    copy: tuple[str, str] | None = None  # kind and resource of the copies, if these are others
    theirs: dict[str, Any] | None = None  # of somebody else under the name of such a copy
    labels: dict[str, str] | None = None

    @property
    def copies(self) -> str:
        return self.copy[1] if self.copy else self.resource

    @property
    def kind_of_copies(self) -> str:
        return self.copy[0] if self.copy else self.kind

    def make(self, story: Story, name: str) -> None:
        metadata = {"name": name, "annotations": ALLOW, "labels": self.labels or {}}
        story.consumer.api.create(
            self.resource, story.namespace, {"kind": self.kind, "metadata": metadata, **self.good}
        )

    def take(self, story: Story, name: str) -> None:
        """Somebody else at the provider makes an object under the name that a copy would have."""
        body = {"kind": self.kind_of_copies, "metadata": {"name": name}, **(self.theirs or self.good)}
        story.provider.api.create(self.copies, story.twin, body)

    def found(self, story: Story, name: str) -> dict[str, Any] | None:
        """The copy; None if there is none, or an object of somebody else."""
        there = story.provider.api.find(self.copies, story.twin, name)
        ours = there and there["metadata"].get("labels", {}).get(ORIGIN) == story.consumer.name
        return there if ours and "deletionTimestamp" not in there["metadata"] else None


NAMES = ("changed", "deleted", "warned", "taken")
TEMPLATE = {"addressType": "IPv4", "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}
KINDS = {
    "configmap": Copied(
        "ConfigMap",
        "configmaps",
        {"data": {"word": "ciao"}},
        {"data": {"word": "no", "theirs": "more"}},
        lambda it: it.get("data"),
    ),
    "secret": Copied(
        "Secret",
        "secrets",
        {"type": "Opaque", "data": {"word": "Y2lhbw=="}},
        {"data": {"word": None, "theirs": "eA=="}},
        lambda it: it.get("data"),
    ),
    "service": Copied(
        "Service",
        "services",
        {"spec": {"ports": PORTS, "selector": {"app": "web"}}},
        {"spec": {"selector": {"app": "theirs"}}},
        lambda it: (it["spec"]["selector"], [port["targetPort"] for port in it["spec"]["ports"]]),
    ),
    "ingress": Copied(
        "Ingress",
        "ingresses",
        {"spec": backend("web", *NAMES)},
        {"spec": backend("theirs")},
        lambda it: it["spec"]["defaultBackend"],
    ),
    "endpointslice": Copied(
        "EndpointSlice",
        "endpointslices",
        {**TEMPLATE, "endpoints": objects.endpoints("192.0.2.9")},
        {"spec": {"template": {"endpoints": objects.endpoints("192.0.2.66")}}},
        lambda it: addresses(it["spec"]["template"]),
        copy=("ShadowEndpointSlice", "shadowendpointslices"),
        theirs={"spec": {"template": {**TEMPLATE, "endpoints": objects.endpoints("192.0.2.66")}}},
        labels={"kubernetes.io/service-name": "db"},
    ),
}


@pytest.fixture
def with_ranges(story: Story) -> Iterator[Story]:
    """The provider believes addresses of the consumer outside of its pods' range."""
    tenant, key = f"liqo-tenant-{story.consumer.name}", "liqo.io/pod-policy"
    policy = json.dumps({"endpointCIDRs": ["192.0.2.0/24", "fd00:9::/64"]})
    story.provider.api.patch("namespaces", None, tenant, {"metadata": {"annotations": {key: policy}}})
    yield story
    story.provider.api.patch("namespaces", None, tenant, {"metadata": {"annotations": {key: None}}})


def told(story: Story, kind: str, name: str, reason: str) -> list[str]:
    """The messages of the Events at home about that object."""
    return [
        event["message"]
        for event in story.consumer.api.list("events", story.namespace, fields=f"reason={reason}")
        if (event["involvedObject"]["kind"], event["involvedObject"]["name"]) == (kind, name)
    ]


def warn(story: Story, kind: str, about: dict[str, Any]) -> None:
    """Two Events of somebody at the provider about an object there, of which one is no warning."""
    _say(story, kind, about, "Warning", f"the {kind}\nis broken")
    _say(story, kind, about, "Normal", f"the {kind} is well")


def _say(story: Story, kind: str, about: dict[str, Any], type_: str, message: str) -> None:
    name, now = about["metadata"]["name"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {
        "kind": "Event",
        "metadata": {"name": f"{kind.lower()}-{type_.lower()}-{name}"[:200]},
        "involvedObject": {"kind": kind, "namespace": story.twin, "name": name, "uid": about["metadata"]["uid"]},
        "type": type_,
        "reason": "Broken",
        "message": message,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "source": {"component": "somebody"},
    }
    story.provider.api.create("events", story.twin, body)


def test_every_kind_has_its_case() -> None:
    require_liqod()
    printed = subprocess.run([settings.liqod(), "--help"], capture_output=True, text=True, check=True).stdout
    kinds = set(re.findall(r"--(\w+)-reflection-workers", printed)) - {"pod"}
    assert kinds == set(KINDS), "a kind that is reflected wants a case here"


def test_copies_of_every_kind_are_put_right_and_what_is_wrong_with_them_is_told(with_ranges: Story) -> None:
    """All kinds side by side: what is to be right within 30 s costs that once."""
    story, there = with_ranges, with_ranges.provider.api
    database = {"kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": PORTS}}
    story.consumer.api.create("services", story.namespace, database)
    busy = {"kind": "EndpointSlice", "metadata": {"name": "busy"}, **TEMPLATE, "endpoints": objects.endpoints("192.0.2.66")}
    there.create("endpointslices", story.twin, busy)
    for each in KINDS.values():
        each.take(story, "taken")
        for name in NAMES:
            each.make(story, name)
    for name in ("lost", "busy"):
        KINDS["endpointslice"].make(story, name)

    before: dict[tuple[str, str], Any] = {}
    for kind, each in KINDS.items():
        for name in ("changed", "deleted", "warned"):
            copy = wait_for(
                lambda each=each, name=name: each.found(story, name), SOON, f"{each.kind} {name} to be copied"
            )
            before[kind, name] = each.shown(copy), copy["metadata"]["uid"]
        what = f"it to be told that the name of {each.kind} taken is taken"
        wait_for(lambda each=each: told(story, each.kind, "taken", "FailedReflection"), SOON, what)
        assert each.found(story, "taken") is None

    def led_to(name: str) -> list[str]:
        return addresses(there.find("endpointslices", story.twin, name) or {})

    for name in ("changed", "deleted", "warned", "lost"):
        wait_for(lambda name=name: led_to(name) == ["192.0.2.9"], SOON, f"endpoints of {name} in milan")
    refused = "no EndpointSlice is made of this: an EndpointSlice of this name exists"
    home_told = lambda: told(story, "EndpointSlice", "busy", "RemoteWarning")  # noqa: E731
    wait_for(lambda: any(refused in message for message in home_told()), SOON, "it to be told that busy is taken")
    assert led_to("busy") == ["192.0.2.66"]

    # Somebody at the provider changes all of them.
    there.patch("endpointslices", story.twin, "warned", {"endpoints": objects.endpoints("192.0.2.66")})
    for name in ("lost", "busy"):
        there.delete("endpointslices", story.twin, name)
    for each in KINDS.values():
        there.patch(each.copies, story.twin, "changed", each.spoilt)
        there.delete(each.copies, story.twin, "deleted")
        there.delete(each.copies, story.twin, "taken")
        warned = each.found(story, "warned")
        assert warned
        warn(story, each.kind_of_copies, warned)

    def all_are_right() -> bool:
        for kind, each in KINDS.items():
            for name in ("changed", "deleted", "taken"):
                copy = each.found(story, name)
                assert copy, f"{each.kind} {name} has no copy"
                shown, uid = before[kind, "warned" if name == "taken" else name]
                assert each.shown(copy) == shown, f"{each.kind} {name} is {each.shown(copy)}"
                assert name != "deleted" or copy["metadata"]["uid"] != uid
            message = f"cluster {story.provider.name} warns of its copy: the {each.kind_of_copies} is broken (Broken)"
            assert told(story, each.kind, "warned", "RemoteWarning") == [message]
        for name in (*NAMES, "lost", "busy"):
            assert led_to(name) == ["192.0.2.9"], f"endpoints of {name}: {led_to(name)}"
        return True

    wait_for(all_are_right, WITHIN, "all copies to be right, and what is wrong to be told", interval=0.5)


def test_bad_and_large_input_is_copied_or_told_once_and_the_rest_goes_on(with_ranges: Story) -> None:
    story, home, there = with_ranges, with_ranges.consumer.api, with_ranges.provider.api
    long_name = ("n" * 63 + ".") * 3 + "n" * 61
    assert len(long_name) == 253

    def make(kind: str, resource: str, name: str, **body: Any) -> None:
        home.create(resource, story.namespace, {"kind": kind, "metadata": {"name": name, "annotations": ALLOW}, **body})

    def copy(resource: str, name: str) -> dict[str, Any]:
        return there.find(resource, story.twin, name) or {}

    # The largest Secret that Kubernetes takes.
    large = base64.b64encode(b"\x00\xff" * (1 << 19)).decode()
    make("Secret", "secrets", "large", data={"key": large})
    many = [{"name": f"port-{number}", "port": number, "protocol": "TCP"} for number in range(1000, 1100)]
    make("Service", "services", "many", spec={"ports": many, "selector": {"app": "web"}})
    make("ConfigMap", "configmaps", long_name, data={"word": "ciao"})
    make("Secret", "secrets", long_name, data={"word": "Y2lhbw=="})
    make("Ingress", "ingresses", long_name, spec=backend("web", long_name, "large"))
    make("EndpointSlice", "endpointslices", long_name, **TEMPLATE, endpoints=objects.endpoints("192.0.2.9"))
    six = {**TEMPLATE, "addressType": "IPv6", "endpoints": objects.endpoints("fd00:9::1", "fd00:8::1")}
    make("EndpointSlice", "endpointslices", "six", **six)
    names = {**TEMPLATE, "addressType": "FQDN", "endpoints": objects.endpoints("db.example.com")}
    make("EndpointSlice", "endpointslices", "names", **names)
    make("ConfigMap", "configmaps", "fixed", data={"word": "ciao"}, immutable=True)
    make("ConfigMap", "configmaps", "plain", data={"word": "ciao"})

    wait_for(lambda: copy("configmaps", "fixed"), SOON, "the immutable ConfigMap to be copied")
    with pytest.raises(Refused, match="immutable"):
        home.patch("configmaps", story.namespace, "fixed", {"data": {"word": "salve"}})
    home.delete("configmaps", story.namespace, "fixed")
    make("ConfigMap", "configmaps", "fixed", data={"word": "salve"}, immutable=True)

    def is_there() -> bool:
        assert copy("secrets", "large").get("data") == {"key": large}, "the large Secret"
        assert [port["port"] for port in copy("services", "many").get("spec", {}).get("ports", [])] == [
            port["port"] for port in many
        ]
        for resource in ("configmaps", "secrets", "ingresses", "endpointslices"):
            assert copy(resource, long_name), f"the long name among {resource}"
        assert addresses(copy("endpointslices", "six")) == ["fd00:9::1"]
        assert copy("configmaps", "fixed").get("data") == {"word": "salve"}, "the immutable ConfigMap"
        assert copy("configmaps", "plain")
        return True

    wait_for(is_there, SOON, "all that can be copied to be there", interval=0.5)
    wait_for(
        lambda: (
            told(story, "EndpointSlice", "names", "ReflectionDisabled")
            == [
                f"EndpointSlice names is not reflected to cluster {story.provider.name}: "
                "it has names in place of addresses"
            ]
        ),
        SOON,
        "an Event about names",
    )
    # The provider reports there which address it does not believe, and Liqo repeats it at home.
    wait_for(
        lambda: any("fd00:8::1" in message for message in told(story, "EndpointSlice", "six", "RemoteWarning")),
        SOON,
        "an Event about an address that leads nowhere",
    )
    assert not copy("shadowendpointslices", "names")
