"""An API server that cannot show API extensions that it is one, as if nobody had set aggregation up.

abdera provides so: nobody is told figures, and everything else, the removal of namespaces above all, goes as ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.peers import SOON, USAGE_PORT, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import patient, stays, wait_for

# What unpeer takes elsewhere, and some.
USUAL = 45.0


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[tuple[Peer, Peer]]:
    """The provider, and its consumer."""
    require_programs()
    with run.borrow(abdera=Options(front_proxy=False), teos=Options()) as (abdera, teos):
        yield Peer(abdera, ("--metric-agent-port", str(USAGE_PORT))), Peer(teos)


def test_they_peer_and_part_in_their_usual_time_and_no_api_of_figures_is_made(pair: tuple[Peer, Peer]) -> None:
    provider, consumer = pair
    chart.allow_usage(provider.cluster)
    chart.lead_to_usage(provider.cluster, USAGE_PORT)
    events = lambda: [e for e in provider.api.list("events", "liqo") if e["reason"] == "FiguresNotServed"]  # noqa: E731
    wait_for(events, SOON, "an Event about it")
    assert "--requestheader-client-ca-file" in events()[0]["message"]
    consumer.peer_with(provider, "--cpu=1", "--memory=1Gi", "--pods=10")
    consumer.cluster.namespace("shop")
    consumer.liqoctl("offload", "namespace", "shop")
    wait_for(lambda: provider.api.find("namespaces", None, "shop-teos"), SOON, "the twin")
    stays(lambda: not provider.api.find("apiservices", None, chart.USAGE_API), 5, "the want of an APIService")
    # One that an earlier version has left is taken away, though it would never answer.
    spec = {"group": "metrics.liqo.io", "version": "v1beta1", "groupPriorityMinimum": 1000, "versionPriority": 15}
    service = {"namespace": "liqo", "name": chart.METRIC_AGENT, "port": 443}
    left = {"kind": "APIService", "metadata": {"name": chart.USAGE_API}, "spec": {**spec, "service": service, "insecureSkipTLSVerify": True}}
    provider.api.create("apiservices", None, left)
    wait_for(lambda: not provider.api.find("apiservices", None, chart.USAGE_API), SOON, "the APIService to go")
    began = time.monotonic()
    consumer.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    consumer.unpeer_from(provider)
    wait_for(lambda: not provider.api.find("namespaces", None, "shop-teos"), SOON, "the twin to go")
    assert time.monotonic() - began < patient(USUAL)
