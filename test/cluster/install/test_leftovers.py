"""If liqod is gone and its webhook configurations remain, everybody but consumers can still finish deletions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster import rights
from harness.cluster.api import Api, Refused, path
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.required import require_liqod
from harness.run import Run
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

TENANT, TWIN, USER = "liqo-tenant-rome", "shop-rome", "pool-1f00"
HELD = "example.com/held"
REPLICA = objects.replica_labels("rome", "siena")
ONLY_FINALIZERS = {"metadata": {"finalizers": None}}


@pytest.fixture(scope="module")
def siena(run: Run) -> Iterator[Cluster]:
    """A provider whose consumer has more rights than the chart gives it, so that it is admission that holds it."""
    require_liqod()
    with run.borrow(siena=Options()) as (cluster,):
        labels = {"liqo.io/remote-cluster-id": "rome"}
        cluster.namespace(TENANT, {**labels, "liqo.io/tenant-namespace": "true"})
        cluster.namespace(TWIN, labels)
        rules = [
            {"apiGroups": ["authentication.liqo.io"], "resources": ["resourceslices", "tenants"], "verbs": ["*"]},
            {"apiGroups": [""], "resources": ["services"], "verbs": ["*"]},
        ]
        cluster.api.apply("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "much"}, "rules": rules})
        for namespace, group in ((TENANT, "liqo.io"), (TWIN, "rome")):
            rights.bind(cluster, namespace, "much", rights.group(group), "much")
        yield cluster


def refusal(action: Callable[[], Any]) -> str:
    with pytest.raises(Refused) as raised:
        action()
    return str(raised.value)


def test_what_is_being_deleted_goes_without_liqod_but_not_by_a_consumer(siena: Cluster) -> None:
    daemon = Liqod(siena, chart.install(siena)).start()
    admin = siena.api
    control_plane = siena.as_user(siena.authority.issue("control-plane-of-rome", "rome", ["liqo.io"]))
    slice_user = siena.as_user(siena.authority.issue("slice-of-rome", USER, ["rome"]))
    slice_of_rome = objects.resource_slice("pool", REPLICA)
    # The API server refuses this once it asks the webhook.
    unlabelled = {**slice_of_rome, "metadata": {"name": "pool"}}

    def asked() -> bool:
        try:
            control_plane.request("POST", path("resourceslices", TENANT), unlabelled, query={"dryRun": "All"})
        except Refused as failure:
            return "liqo.io/replicated must be" in str(failure)
        return False

    wait_for(asked, 60, "the API server to ask the webhooks")
    control_plane.create("resourceslices", TENANT, slice_of_rome)
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    slice_user.create("services", TWIN, service)
    admin.create("quotas", TENANT, objects.quota("q", USER, {"cpu": "1"}))
    kept = (("resourceslices", TENANT, "pool"), ("services", TWIN, "web"), ("quotas", TENANT, "q"))

    def found(kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        return admin.find(kind, namespace, name)

    for where in kept:
        admin.patch(*where, {"metadata": {"finalizers": [HELD]}})
        admin.delete(*where)
        assert found(*where)["metadata"]["deletionTimestamp"]

    # While liqod runs, it says why.
    words = refusal(lambda: control_plane.patch("resourceslices", TENANT, "pool", ONLY_FINALIZERS))
    assert "finalizers of resourceslices cannot be set or removed" in words
    assert daemon.stop() == 0

    def without_liqod(api: Api, where: tuple[str, str, str], change: dict[str, Any]) -> None:
        assert "failed calling webhook" in refusal(lambda: api.patch(*where, change)), where

    # A consumer is refused with each of its identities, whatever else it changes.
    without_liqod(control_plane, kept[0], ONLY_FINALIZERS)
    without_liqod(slice_user, kept[1], ONLY_FINALIZERS)
    without_liqod(control_plane, kept[0], {"metadata": {"finalizers": None, "labels": {"a": "b"}}})
    # Other changes wait for liqod, and so do objects that are not being deleted.
    for change in ({"labels": {"a": "b"}}, {"annotations": {"a": "b"}}):
        for where in kept:
            without_liqod(admin, where, {"metadata": {"finalizers": None, **change}})
    without_liqod(admin, kept[1], {"metadata": {"finalizers": None}, "spec": {"ports": [{"port": 81}]}})
    without_liqod(admin, kept[2], {"metadata": {"finalizers": None}, "spec": {"resources": {"cpu": "2"}}})
    # Everybody else may remove the finalizers.
    for where in kept:
        admin.patch(*where, ONLY_FINALIZERS)
        assert found(*where) is None
