"""A hostile consumer cannot fill the provider's database with large objects; their number is bounded elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness import settings
from harness.api import MERGE, Refused, path
from harness.components import Options
from harness.hostile import HostileConsumer
from harness.peers import SOON, Peer
from harness.run import Run
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

TWIN = "shop-sparta"


class Hostile(HostileConsumer):
    def held(self) -> int:
        """How many objects Kubernetes has counted in the twin."""
        used = self.provider.api.get("resourcequotas", TWIN, "liqo-twin")["status"]["used"]
        return sum(int(amount) for name, amount in used.items() if name.startswith("count/"))

    def refused(self, kind: str, body: dict[str, Any]) -> bool:
        """Whether the creation is refused for its size; what gets in is taken away."""
        try:
            self.slice.create(kind, TWIN, body)
        except Refused as refusal:
            return "(maxTwinBytes in the policy)" in str(refusal)
        self.slice.delete(kind, TWIN, body["metadata"]["name"])
        return False


def of_size(kind: str, name: str, size: int) -> dict[str, Any]:
    text = "x" * size
    content: dict[str, Any] = {"stringData": {"key": text}} if kind == "Secret" else {"data": {"key": text}}
    if kind == "Service":
        # No field of a Service can be that long, but an annotation can.
        content = {"spec": {"ports": [{"port": 80}]}}
    annotations = {"note": text} if kind == "Service" else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "annotations": annotations}, **content}


@pytest.fixture(scope="module")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    if settings.liqod() is None or settings.liqoctl() is None:
        pytest.skip("liqod and liqoctl are not built")
    with run.borrow(sparta=Options(), delphi=Options()) as (sparta, delphi):
        sparta.add_kwok_nodes(1), delphi.add_kwok_nodes(1)
        yield Hostile(Peer(sparta), Peer(delphi), tmp_path_factory.mktemp("identities"))


def test_its_objects_are_as_large_as_their_number_lets_them_be(hostile: Hostile) -> None:
    secret = of_size("Secret", "large", 500_000)
    hostile.slice.create("secrets", TWIN, secret)
    # One object of this size would fit, but not if all objects had it.
    most = 100_000
    hostile.set_policy(maxTwinBytes=(hostile.held() + 1) * most)
    wait_for(lambda: hostile.refused("secrets", of_size("Secret", "more", most)), SOON, "a large Secret to be refused")
    for kind, plural in (("ConfigMap", "configmaps"), ("Service", "services")):
        more = of_size(kind, "more", most)
        wait_for(lambda one=plural, more=more: hostile.refused(one, more), SOON, f"a large {kind} to be refused")
        hostile.slice.create(plural, TWIN, of_size(kind, "less", most // 10))
        if kind != "Service":
            # Kubernetes counts the new object a moment later.
            wait_for(lambda one=plural: grows_no_more(hostile, one), SOON, f"a {kind} that grows to be refused")
        hostile.slice.delete(plural, TWIN, "less")

    # Stored objects stay and may be written, as long as they do not grow.
    patch = {"metadata": {"labels": {"seen": "yes"}}, "stringData": {"key": "x" * 400_000}}
    hostile.slice.patch("secrets", TWIN, "large", patch)
    with pytest.raises(Refused, match="maxTwinBytes"):
        hostile.slice.patch("secrets", TWIN, "large", {"stringData": {"key": "x" * 500_000}})
    # The bound holds for the consumer alone.
    hostile.provider.api.create("secrets", TWIN, of_size("Secret", "own", 500_000))
    hostile.provider.api.delete("secrets", TWIN, "own")
    hostile.slice.delete("secrets", TWIN, "large")
    hostile.set_policy()


def grows_no_more(hostile: Hostile, plural: str) -> bool:
    try:
        where = path(plural, TWIN, "less") + "?dryRun=All"
        hostile.slice.request("PATCH", where, {"data": {"more": "x" * 100_000}}, MERGE)
    except Refused as refusal:
        return "maxTwinBytes" in str(refusal)
    return False
